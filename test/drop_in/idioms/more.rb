# frozen_string_literal: true

# What else the msgpack gem's documentation, specs and users do.

# --- methods and modules ---

idiom("every method of the gem is there") do
  { Packer: %i[write pack write_nil write_true write_false write_int write_float write_float32 write_string write_bin write_symbol write_array write_hash write_ext
               write_extension write_array_header write_map_header write_bin_header flush reset clear size empty? write_to to_str to_s to_a full_pack buffer
               compatibility_mode? register_type registered_types type_registered?],
    Unpacker: %i[feed feed_reference read unpack skip skip_nil read_array_header read_map_header each feed_each reset full_unpack buffer symbolize_keys? freeze?
                 allow_unknown_ext? register_type registered_types type_registered?],
    Factory: %i[packer unpacker load unpack dump pack pool register_type registered_types type_registered? dup],
    Buffer: %i[clear size empty? write << skip skip_all read read_all io flush close write_to to_str to_s to_a],
    Timestamp: %i[sec nsec to_msgpack_ext ==], "Factory::Pool": %i[load dump packer unpacker] }.map { |name, methods| methods - Object.const_get("MessagePack::#{name}").public_instance_methods }
end
idiom("arities") do
  [MessagePack::Factory.instance_method(:register_type), MessagePack::Factory.instance_method(:registered_types), MessagePack::Packer.instance_method(:register_type),
   MessagePack::Unpacker.instance_method(:register_type), MessagePack::Packer.instance_method(:write), MessagePack::Unpacker.instance_method(:feed), 1.method(:to_msgpack),
   MessagePack::Timestamp.instance_method(:initialize), MessagePack::Timestamp.method(:from_msgpack_ext), MessagePack::Timestamp.method(:to_msgpack_ext)].map(&:arity)
end
idiom("wrong numbers of arguments") do
  [-> { MessagePack::Packer.new.write }, -> { MessagePack::Packer.new.write(1, 2) }, -> { MessagePack::Unpacker.new.feed }, -> { MessagePack.load }, -> { MessagePack.load("\x01", {}, 3) },
   -> { MessagePack::Packer.new.write_ext(1) }, -> { MessagePack::Unpacker.new.read(1) }, -> { MessagePack::Buffer.new.skip }, -> { MessagePack::Buffer.new.read(1, +"", 3) },
   -> { MessagePack::Factory.new.register_type(1) }, -> { MessagePack::Factory.new.load }, -> { MessagePack::Factory.new.dump }, -> { MessagePack::Timestamp.new(1) },
   -> { MessagePack::Packer.new.write_array_header }, -> { MessagePack::Factory.new.pool(1, 2) }, -> { 1.to_msgpack(nil, nil) }].map { |call| outcome(&call) }
end
idiom("its classes and modules") { %i[Packer Unpacker Factory Buffer Timestamp ExtensionValue CoreExt TypeError Time DefaultFactory].map { |name| MessagePack.const_get(name).class } }
idiom("superclasses") { %i[Packer Unpacker Factory Buffer Timestamp ExtensionValue].map { |name| MessagePack.const_get(name).superclass } }
idiom("MessagePack itself") { [MessagePack.class, MessagePack.name, MessagePack.inspect, MessagePack.frozen?] }
idiom("rescue by a common class") do
  ["\xC1", "\xD4\x05a", "\x91" * 200, "\x01\x02"].map { |bytes| begin; MessagePack.unpack(bytes.b); rescue MessagePack::UnpackError => e; e.class.ancestors.take_while { |klass| klass != StandardError }.grep(Class); end }
end
idiom("errors that a program raises itself") { [MessagePack::UnpackError, MessagePack::MalformedFormatError, MessagePack::StackError, MessagePack::UnknownExtTypeError].map { |klass| begin; raise klass, "mine"; rescue MessagePack::UnpackError => e; [e.class, e.message]; end } }
idiom("errors without a message") { [MessagePack::UnpackError, MessagePack::UnexpectedTypeError].map { |klass| klass.new.message } }
idiom("a subclass of its errors") { Class.new(MessagePack::UnpackError).new("x").then { |e| [e.message, e.is_a?(StandardError)] } }
idiom("an exception in detail") { begin; MessagePack.unpack("\x92\x01".b); rescue EOFError => e; [e.cause, e.backtrace.class, e.full_message.class]; end }
idiom("the errors have no cause") { ["\xC1", "\xD4\x05a", "\x01\x02"].map { |bytes| begin; MessagePack.unpack(bytes.b); rescue StandardError => e; e.cause; end } }
idiom("refinements and aliases of MessagePack.pack") { MessagePack.singleton_class.instance_method(:pack).bind(MessagePack).call([1]) }
idiom("instance methods by include are private") { Class.new { include MessagePack }.new.then { |object| [object.respond_to?(:pack), outcome { object.pack(1) }] } }
idiom("extend MessagePack") { Module.new.extend(MessagePack).then { |mod| mod.__send__(:pack, [1]) } }
idiom("a wrapper around MessagePack.load") do
  wrapper = Module.new { def wrapped(bytes, **options) = MessagePack.load(bytes, **options) }
  Object.new.extend(wrapper).wrapped("\x81\xA1a\x01".b, symbolize_keys: true)
end
idiom("require of its parts") { %w[msgpack msgpack/bigint msgpack/timestamp msgpack/factory msgpack/core_ext].map { |name| require(name); true } }

# --- to_msgpack of a program's classes ---

idiom("a Struct with to_msgpack") { Struct.new(:a, :b) { def to_msgpack(packer) = packer.write(to_h) }.new(1, 2).then { |object| MessagePack.unpack(MessagePack.pack([object])) } }
idiom("a subclass of Hash with to_msgpack") { Class.new(Hash) { def to_msgpack(packer) = packer.write(5) }.new.then { |hash| MessagePack.pack([hash.update("a" => 1)]) } }
idiom("a subclass of String with to_msgpack") { Class.new(String) { def to_msgpack(packer) = packer.write(5) }.new("a").then { |text| MessagePack.pack([text]) } }
idiom("to_msgpack(*)") { Class.new { def to_msgpack(*arguments) = arguments[0].write(arguments.size) }.new.then { |object| MessagePack.pack(object) } }
idiom("to_msgpack by method_missing") do
  object = Class.new(BasicObject) { def method_missing(name, *arguments) = name == :to_msgpack ? arguments[0].write(5) : super; def respond_to_missing?(name, _) = name == :to_msgpack }.new
  outcome { MessagePack.pack([object]) }
end
idiom("to_msgpack by a delegator") { require "delegate"; outcome { MessagePack.pack(SimpleDelegator.new({ "a" => [1] })) } }
idiom("a private to_msgpack") { Class.new { private def to_msgpack(packer) = packer.write(5) }.new.then { |object| outcome { MessagePack.pack(object) } } }
idiom("to_msgpack without arguments") { Class.new { def to_msgpack = "x" }.new.then { |object| outcome { MessagePack.pack(object) } } }
idiom("to_msgpack that raises") { Class.new { def to_msgpack(_) = raise(IOError, "mine") }.new.then { |object| begin; MessagePack.pack({ "a" => object }); rescue IOError => e; [e.class, e.message]; end } }
idiom("to_msgpack that raises NoMethodError") { Class.new { def to_msgpack(_) = nil.none }.new.then { |object| begin; MessagePack.pack(object); rescue NoMethodError => e; [e.name, e.receiver]; end } }
idiom("to_msgpack that throws") { Class.new { def to_msgpack(_) = throw(:out, 5) }.new.then { |object| catch(:out) { MessagePack.pack(object) } } }
idiom("to_msgpack of an array of objects with an io") { StringIO.new("".b).then { |io| [Own.new(1), Own.new(2)].to_msgpack(io) || io.string } }
idiom("to_msgpack with options of its Packer") { MessagePack::Packer.new(compatibility_mode: true).write([Own.new("x" * 40)]).to_s }
idiom("to_msgpack(packer) of every core class") { MessagePack::Packer.new.then { |pk| [nil, true, false, 1, 1.5, "s", :s, [1], { 1 => 2 }, MessagePack::ExtensionValue.new(1, "a")].each { |object| object.to_msgpack(pk) } && pk.to_s } }
idiom("to_msgpack(packer) of what has an ext type") { ext_factory.packer.then { |pk| [Ext.new(1), [Ext.new(2)]].to_msgpack(pk).to_s } }
idiom("a Symbol with an ext type by to_msgpack") { MessagePack::Factory.new.tap { |f| f.register_type(0, Symbol) }.packer.then { |pk| :a.to_msgpack(pk).to_s + [:a].to_msgpack } }
idiom("write_symbol with an ext type for Symbol") { MessagePack::Factory.new.tap { |f| f.register_type(0, Symbol) }.packer.write_symbol(:a).to_s }
idiom("write_string of a subclass with an ext type") { MessagePack::Factory.new.tap { |f| f.register_type(1, Text, packer: ->(_) { "t" }) }.packer.then { |pk| pk.write_string(Text.new("a")).write(Text.new("a")).to_s } }
idiom("write_hash and write_array with ext types inside") { ext_factory.packer.then { |pk| pk.write_hash({ Ext.new(1) => Ext.new(2) }).write_array([Ext.new(3)]).to_s } }

# --- numbers, texts, containers at their limits ---

idiom("Integers at each limit") { [2**5, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64].flat_map { |n| [n - 1, n, -n, -n - 1] }.map { |n| outcome { MessagePack.pack(n) } } }
idiom("Floats") { [0.0, -0.0, 1e300, Float::MIN, Float::NAN, -Float::INFINITY, 3.0].map { |number| MessagePack.pack(number) } }
idiom("float32 of odd numbers") { [0.1, 1e300, Float::NAN, 2**70, 1r / 3, BigDecimal("1.5")].map { |number| outcome { MessagePack::Packer.new.write_float32(number).to_s } } }
idiom("write_float of odd numbers") { [2**70, 1r / 3, BigDecimal("1.5"), nil, "1", Complex(1, 0)].map { |number| outcome { MessagePack::Packer.new.write_float(number).to_s } } }
idiom("write_int of odd numbers") { [1.5, 1r, nil, "1", 2**64 - 1, -2**63].map { |number| outcome { MessagePack::Packer.new.write_int(number).to_s } } }
idiom("Strings at each limit") { [31, 32, 255, 256, 65_535, 65_536].flat_map { |size| [MessagePack.pack("a" * size)[0, 6], MessagePack.pack(("a" * size).b)[0, 6], MessagePack.pack("a" * size, compatibility_mode: true)[0, 6]] } }
idiom("Arrays and Hashes at each limit") { [15, 16, 65_535, 65_536].flat_map { |size| [MessagePack.pack(Array.new(size))[0, 6], MessagePack.pack((0...size).to_h { |i| [i, nil] })[0, 6]] } }
idiom("headers at each limit") { [0, 15, 16, 65_535, 65_536, 2**32 - 1].flat_map { |size| %i[write_array_header write_map_header write_bin_header].map { |name| MessagePack::Packer.new.public_send(name, size).to_s } } }
idiom("headers read back") { ["\x9F", "\xDC\x00\x10", "\xDD\x00\x01\x00\x00"].map { |bytes| MessagePack::Unpacker.new.feed(bytes.b).read_array_header } + ["\x8F", "\xDE\x00\x10", "\xDF\x00\x01\x00\x00"].map { |bytes| MessagePack::Unpacker.new.feed(bytes.b).read_map_header } }
idiom("str of each length") { [0, 31, 32, 255, 256, 65_536].map { |size| MessagePack.unpack(MessagePack.pack("é" * (size / 2))).then { |text| [text.bytesize, text.encoding] } } }
idiom("bin of each length") { [0, 255, 256, 65_536].map { |size| MessagePack.unpack(MessagePack.pack(("\xFF" * size).b)).then { |text| [text.bytesize, text.encoding] } } }
idiom("old raw with bytes") { MessagePack.unpack("\xA2\xFF\xFE".b).then { |text| [text.encoding, text.bytes] } }
idiom("an ASCII String in BINARY") { [MessagePack.pack("abc".b), MessagePack.pack("abc".b, compatibility_mode: true), MessagePack.unpack(MessagePack.pack("abc".b)).encoding] }
idiom("Strings in UTF-16, UTF-32") { %w[UTF-16 UTF-16BE UTF-32LE EUC-JP Windows-1252].map { |name| outcome { MessagePack.pack("aé".encode(name)) } } }
idiom("a broken UTF-16") { outcome { MessagePack.pack("\xD8".dup.force_encoding("UTF-16BE")) } }
idiom("what Encoding.default_internal changes") { begin; old, $VERBOSE = $VERBOSE, nil; Encoding.default_internal = "UTF-16LE"; MessagePack.unpack("\xA1a").encoding; ensure; Encoding.default_internal = nil; $VERBOSE = old; end }
idiom("a key as Symbol with other bytes") { MessagePack.unpack(MessagePack.pack({ "é" => 1, "\xFF".b => 2 }), symbolize_keys: false).keys.map(&:encoding) }
idiom("keys of each class") { MessagePack.unpack(MessagePack.pack({ nil => 1, true => 2, 1 => 3, 1.5 => 4, "a" => 5, [1] => 6, { 1 => 2 } => 7, :s => 8 })) }
idiom("key_cache makes equal keys one object") { MessagePack.unpack(MessagePack.pack([{ "a" => 1 }, { "a" => 2 }]), key_cache: true).map { |hash| hash.keys[0] }.then { |one, two| one.equal?(two) } }
idiom("equal keys are one object without it") { MessagePack.unpack(MessagePack.pack([{ "a" => 1 }, { "a" => 2 }])).map { |hash| hash.keys[0] }.then { |one, two| one.equal?(two) } }
idiom("freeze makes ExtensionValue frozen") { MessagePack.unpack("\xD4\x05a".b, allow_unknown_ext: true, freeze: true).then { |ext| [ext.frozen?, ext.payload.frozen?] } }
idiom("freeze and ext types") { ext_factory.load("\x91\xD6\x01\x00\x00\x00\x01".b, freeze: true).then { |(ext)| ext.frozen? } }
idiom("an empty Array and Hash") { [MessagePack.unpack("\x90".b), MessagePack.unpack("\x80".b), MessagePack.unpack("\xA0".b), MessagePack.unpack("\xC4\x00".b)] }
idiom("a large document there and back") { Array.new(1_000) { |n| { "id" => n, "name" => "n#{n}", "tags" => ["a", nil, n * 1.5] } }.then { |all| MessagePack.unpack(MessagePack.pack(all)) == all } }
idiom("forged lengths") { ["\xDD\xFF\xFF\xFF\xFF", "\xDF\xFF\xFF\xFF\xFF", "\xDB\xFF\xFF\xFF\xFF", "\xC6\xFF\xFF\xFF\xFF", "\xC9\xFF\xFF\xFF\xFF\x01"].map { |bytes| outcome { MessagePack.unpack(bytes.b) } } }

# --- streams ---

idiom("a feed of every byte alone") { MessagePack::Unpacker.new.then { |u| [].tap { |all| MessagePack.pack([SAMPLE, 1]).each_char { |byte| u.feed_each(byte) { |object| all << object } } } } == [[SAMPLE.transform_values { |value| value == :sym ? "sym" : value }.transform_keys { |key| key }, 1]] }
idiom("each with an Enumerator") { MessagePack::Unpacker.new.feed("\x01\x02\x03").each.with_index.to_a }
idiom("each, lazily") { MessagePack::Unpacker.new.feed("\x01\x02\x03").each.lazy.map { |n| n * 2 }.first(2) }
idiom("each with external next") { MessagePack::Unpacker.new.feed("\x01\x02").each.then { |all| [all.next, all.next, outcome { all.next }] } }
idiom("the size of each") { MessagePack::Unpacker.new.feed("\x01").each.size }
idiom("feed inside each") { MessagePack::Unpacker.new.feed("\x01").then { |u| [].tap { |all| u.each { |object| (all << object) && all.size < 3 && u.feed("\x02") } } } }
idiom("read inside each") { MessagePack::Unpacker.new.feed("\x01\x02\x03").then { |u| [].tap { |all| u.each { |object| all << [object, outcome { u.read }] } } } }
idiom("skip inside each") { MessagePack::Unpacker.new.feed("\x01\x02\x03").then { |u| [].tap { |all| u.each { |object| all << [object, outcome { u.skip }] } } } }
idiom("reset inside each") { MessagePack::Unpacker.new.feed("\x01\x02").then { |u| [].tap { |all| u.each { |object| all << object && u.reset } } } }
idiom("each with next and redo") { MessagePack::Unpacker.new.feed("\x01\x02").each { |object| next object } }
idiom("return out of each") { Class.new { def first(unpacker) = unpacker.each { |object| return object } }.new.first(MessagePack::Unpacker.new.feed("\x07\x08")) }
idiom("throw out of each") { MessagePack::Unpacker.new.feed("\x07\x08").then { |u| [catch(:out) { u.each { |object| throw(:out, object) } }, u.read] } }
idiom("an io that blocks gives what is there") do
  reader, writer = IO.pipe(binmode: true)
  unpacker = MessagePack::Unpacker.new(reader)
  writer.write("\x01\x02\x93")
  first = [unpacker.read, unpacker.read]
  writer.write("\x01\x02\x03")
  [first, unpacker.read]
end
idiom("an io with readpartial and read") { MessagePack::Unpacker.new(Class.new { def readpartial(*) = (@n = @n.to_i + 1) > 1 ? raise(EOFError) : "\x05"; def read(*) = raise("read") }.new).read }
idiom("an io whose readpartial ignores its buffer") { MessagePack::Unpacker.new(Class.new { def readpartial(_size, _buffer = nil) = (@n = @n.to_i + 1) > 2 ? raise(EOFError) : "\x05" }.new).then { |u| outcome { [u.read, u.read] } } }
idiom("a socket") do
  require "socket"
  one, two = UNIXSocket.pair
  MessagePack::Packer.new(one).write({ "a" => 1 }).flush
  answer = MessagePack::Unpacker.new(two).read
  one.close
  [answer, outcome { MessagePack::Unpacker.new(two).read }]
end
idiom("gzip in and out") do
  require "zlib"
  io = StringIO.new("".b)
  Zlib::GzipWriter.wrap(io) { |gzip| MessagePack.pack([1, 2], gzip) }
  MessagePack.load(Zlib::GzipReader.new(StringIO.new(io.string)))
end
idiom("a Tempfile and a rewind") do
  require "tempfile"
  Tempfile.create("idiom") do |file|
    file.binmode
    3.times { |n| MessagePack.pack({ "n" => n }, file) }
    file.rewind
    MessagePack::Unpacker.new(file).each.to_a
  end
end
idiom("several objects to an io, one Packer") { StringIO.new("".b).then { |io| pk = MessagePack::Packer.new(io); 3.times { |n| pk.write(n) }; pk.flush; io.string } }
idiom("a Packer over an io that is closed") { StringIO.new("".b).then { |io| pk = MessagePack::Packer.new(io).write(1); io.close; outcome { pk.flush } } }
idiom("an Unpacker over an io that is closed") { StringIO.new("\x01").then { |io| io.close; outcome { MessagePack::Unpacker.new(io).read } } }
idiom("write_to an io that raises") { Object.new.then { |io| io.define_singleton_method(:write) { |_| raise IOError } && outcome { MessagePack::Packer.new.write(1).write_to(io) } } }
idiom("write_to what is no io") { [nil, :a, {}].map { |io| outcome { MessagePack::Packer.new.write(1).write_to(io) } } }
idiom("Buffer#write_to what is no io") { [nil, :a, {}].map { |io| outcome { (MessagePack::Buffer.new << "a").write_to(io) } } }
idiom("buffer.read of an Unpacker") { MessagePack::Unpacker.new.feed("\x01abc").then { |u| [u.read, u.buffer.read(2), u.buffer.read_all, u.buffer.size] } }
idiom("buffer << of an Unpacker") { MessagePack::Unpacker.new.then { |u| u.buffer << "\x05"; u.read } }
idiom("buffer.io of a Packer") { StringIO.new("".b).then { |io| [MessagePack::Packer.new(io).buffer.io.equal?(io), MessagePack::Packer.new.buffer.io] } }
idiom("buffer.clear of a Packer") { MessagePack::Packer.new.write([1]).then { |pk| [pk.buffer.clear, pk.to_s] } }
idiom("a Buffer as io") { MessagePack::Buffer.new.then { |b| MessagePack.pack([1], b); MessagePack::Unpacker.new(b).read } }
idiom("a Packer as String") { MessagePack::Packer.new.write(1).then { |pk| ["x" + pk, File.join("a", "b"), [pk].join] } }
idiom("MessagePack.unpack of a Packer") { outcome { MessagePack.unpack(MessagePack::Packer.new.write(1)) } }
idiom("Unpacker#feed of a Packer") { outcome { MessagePack::Unpacker.new.feed(MessagePack::Packer.new.write(1)).read } }
idiom("MessagePack.pack with a Packer as io") { outcome { MessagePack.pack([1], MessagePack::Packer.new).class } }

# --- more of factories ---

idiom("a type for a class and its subclass") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, packer: ->(_) { "e" }, unpacker: ->(data) { data }); f.register_type(2, SubExt, packer: ->(_) { "s" }, unpacker: ->(data) { data }); f.load(f.dump([Ext.new(1), SubExt.new(2), Class.new(SubExt).new(3)])) } }
idiom("a type for BasicObject") { MessagePack::Factory.new.then { |f| f.register_type(1, BasicObject, packer: ->(_) { "b" }, unpacker: ->(data) { data }); outcome { f.load(f.dump([Object.new, 1])) } } }
idiom("a type for Comparable") { MessagePack::Factory.new.then { |f| f.register_type(1, Comparable, packer: ->(_) { "c" }, unpacker: ->(data) { data }); f.load(f.dump([Date.new(2020), "a", 1])) } }
idiom("a type for an object's singleton class") { Object.new.then { |object| f = MessagePack::Factory.new; f.register_type(1, object.singleton_class, packer: ->(_) { "o" }, unpacker: ->(data) { data }); [f.load(f.dump(object)), outcome { f.dump(Object.new) }] } }
idiom("types for Float, Time and Range") { MessagePack::Factory.new.then { |f| [[1, Float], [2, Time], [3, Range]].each { |type, klass| f.register_type(type, klass, packer: ->(_) { "x" }, unpacker: ->(_) { klass }) }; f.load(f.dump([1.5, Time.at(0), 1..2])) } }
idiom("a type for Struct") { MessagePack::Factory.new.then { |f| f.register_type(1, Struct, packer: ->(struct) { MessagePack.pack(struct.to_a) }, unpacker: ->(data) { MessagePack.unpack(data) }); f.load(f.dump(Held.new([1]))) } }
idiom("a type for Class and Module") { MessagePack::Factory.new.then { |f| f.register_type(1, Class, packer: ->(klass) { klass.name }, unpacker: ->(name) { Object.const_get(name) }); f.load(f.dump([String, Held])) } }
idiom("a type for Proc") { MessagePack::Factory.new.then { |f| f.register_type(1, Proc, packer: ->(_) { "p" }, unpacker: ->(data) { data }); f.load(f.dump(-> {})) } }
idiom("a packer that returns a frozen String, a UTF-8 one") { MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: ->(_) { "é" }, unpacker: ->(data) { [data, data.encoding] }); f.load(f.dump(Held.new(1))) } }
idiom("a packer that returns something else") { [nil, 1, :a, []].map { |answer| MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: ->(_) { answer }, unpacker: nil); outcome { f.dump(Held.new(1)) } } } }
idiom("a packer with two parameters that is not recursive") { MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: ->(_, _) { "x" }, unpacker: nil); outcome { f.dump(Held.new(1)) } } }
idiom("a recursive packer with one parameter") { MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: ->(_) { "x" }, unpacker: nil, recursive: true); outcome { f.dump(Held.new(1)) } } }
idiom("a proc with too few parameters") { MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: proc { "x" }, unpacker: proc { :y }); f.load(f.dump(Held.new(1))) } }
idiom("an unpacker that returns nil, false") { [nil, false].map { |answer| MessagePack::Factory.new.then { |f| f.register_type(1, Held, packer: ->(_) { "" }, unpacker: ->(_) { answer }); f.load(f.dump([Held.new(1)])) } } }
idiom("an unpacker as key") { ext_factory.then { |f| f.load(f.dump({ Ext.new(1) => 2 })).keys } }
idiom("a String as method name of a class") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, packer: "to_msgpack_ext", unpacker: "from_msgpack_ext"); f.load(f.dump(Ext.new(4))) } }
idiom("only an unpacker") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, unpacker: :from_msgpack_ext); [f.load("\xD6\x01\x00\x00\x00\x01".b), outcome { f.dump(Ext.new(1)) }, f.registered_types.map { |entry| entry[:packer] }] } }
idiom("only a packer") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, packer: :to_msgpack_ext); [f.dump(Ext.new(1)), outcome { f.load("\xD6\x01\x00\x00\x00\x01".b) }, f.load("\xD6\x01\x00\x00\x00\x01".b, allow_unknown_ext: true).class] } }
idiom("a type number as Float") { outcome { MessagePack::Factory.new.register_type(1.0, Ext) } }
idiom("types -128, -1, 0 and 127") { MessagePack::Factory.new.then { |f| [-128, -1, 0, 127].map { |type| f.register_type(type, Ext); [f.dump(Ext.new(1))[1].unpack1("c"), f.load(f.dump(Ext.new(1)))] } } }
idiom("ext values of unregistered types in a Factory") { ext_factory.then { |f| [outcome { f.load("\xD4\x09a".b) }, f.load("\xD4\x09a".b, allow_unknown_ext: true)] } }
idiom("registered_types of a new one") { [MessagePack::Factory.new.registered_types, MessagePack::Packer.new.registered_types, MessagePack::Unpacker.new.registered_types] }
idiom("registered_types cannot change it") { ext_factory.then { |f| f.registered_types.clear; f.registered_types[0][:type] = 9; f.registered_types.map { |entry| entry[:type] } } }
idiom("handlers of registered_types can be called") { ext_factory.registered_types[0].then { |entry| [entry[:packer].call(Ext.new(5)), entry[:unpacker].call("\x00\x00\x00\x05")] } }
idiom("a Packer of a frozen Factory takes types") { MessagePack::Factory.new.freeze.packer.then { |pk| pk.register_type(1, Ext, :to_msgpack_ext); pk.write(Ext.new(1)).to_s } }
idiom("an Unpacker of a Factory takes types") { ext_factory.unpacker.then { |u| u.register_type(5) { |data| data }; u.feed("\x92\xD4\x05a\xD6\x01\x00\x00\x00\x01".b).read } }
idiom("two Factories do not share types") { [ext_factory, MessagePack::Factory.new].map { |f| outcome { f.dump(Ext.new(1)) } } }
idiom("dup of a Factory, then types of the first") { MessagePack::Factory.new.then { |f| g = f.dup; f.register_type(1, Ext); outcome { g.dump(Ext.new(1)) } } }
idiom("Factory#pool of a frozen one") { ext_factory.freeze.pool(1).dump(Ext.new(1)) }
idiom("Pool: sizes") { [0, 1, 100].map { |size| MessagePack::Factory.new.pool(size).then { |pool| pool.load(pool.dump(size)) } } }
idiom("Pool#packer without a block") { outcome { MessagePack::Factory.new.pool.packer } }
idiom("Pool#packer that raises") { MessagePack::Factory.new.pool(1).then { |pool| [outcome { pool.packer { |pk| pk.write(1) && raise(IOError) } }, pool.dump(2)] } }
idiom("Pool#packer that returns early") { MessagePack::Factory.new.pool(1).then { |pool| [pool.packer { |pk| pk.write(1); break 5 }, pool.dump(2)] } }
idiom("Pool#unpacker and several objects") { MessagePack::Factory.new.pool.unpacker { |u| u.feed("\x01\x02\x03") && u.each.to_a } }
idiom("Pool#load with extra bytes") { [outcome { MessagePack::Factory.new.pool.load("\x01\x02") }, outcome { MessagePack::Factory.new.pool.load("") }] }
idiom("Pool#dump with an argument too many") { outcome { MessagePack::Factory.new.pool.dump(1, 2) } }
idiom("Pool#load of nil") { outcome { MessagePack::Factory.new.pool.load(nil) } }
idiom("Pool#inspect") { MessagePack::Factory.new.pool.inspect[/\A#<[\w:]+/] }
idiom("Factory#inspect") { MessagePack::Factory.new.inspect[/\A#<MessagePack::Factory\b/] }
idiom("Buffer#inspect") { MessagePack::Buffer.new.inspect[/\A#<[\w:]+/] }

# --- programs ---

idiom("a log of records that is cut") do
  log = Array.new(3) { |n| MessagePack.pack({ "n" => n, "m" => "x" * 10 }) }.join[0..-4]
  MessagePack::Unpacker.new(StringIO.new(log)).each.map { |record| record["n"] }
end
idiom("a cache with versions") do
  store = {}
  write = ->(key, value) { store[key] = MessagePack.pack([2, value]) }
  read = ->(key) { version, value = MessagePack.unpack(store[key]); version == 2 ? value : nil }
  write.call("a", { "x" => [1, nil] })
  read.call("a")
end
idiom("a size that is written first") do
  bodies = [[1, 2], { "a" => 1 }].map { |object| MessagePack.pack(object) }
  stream = bodies.map { |body| [body.bytesize].pack("N") + body }.join
  io = StringIO.new(stream)
  [].tap { |all| while (head = io.read(4)) do all << MessagePack.unpack(io.read(head.unpack1("N"))) end }
end
idiom("HTTP: a body with symbol keys") { MessagePack.unpack({ user: { id: 1, tags: %i[a b] } }.to_msgpack, symbolize_keys: true) }
idiom("headers first, values later") do
  packer = MessagePack::Packer.new
  packer.write_map_header(2).write("a").write([1]).write("b")
  packer.write_array_header(2)
  packer.write(1).write(nil)
  MessagePack.unpack(packer.to_s)
end
idiom("a large array in pieces") do
  io = StringIO.new("".b)
  packer = MessagePack::Packer.new(io)
  packer.write_array_header(10_000)
  10_000.times { |n| packer.write({ "n" => n }) }
  packer.flush
  MessagePack.unpack(io.string).last
end
idiom("a large array read in pieces") do
  unpacker = MessagePack::Unpacker.new(StringIO.new(MessagePack.pack(Array.new(1_000) { |n| n })))
  Array.new(unpacker.read_array_header) { unpacker.read }.sum
end
idiom("a map read in pieces, with a value skipped") do
  unpacker = MessagePack::Unpacker.new.feed(MessagePack.pack({ "a" => 1, "skip" => [1, [2]], "b" => 2 }))
  Array.new(unpacker.read_map_header) { unpacker.read.then { |key| key == "skip" ? unpacker.skip : [key, unpacker.read] } }.compact
end
idiom("Time by names of its own") { MessagePack::Factory.new.then { |f| f.register_type(1, Time, packer: ->(time) { [time.to_i, time.nsec].pack("q>L>") }, unpacker: ->(data) { Time.at(*data.unpack("q>L>"), :nsec) }); f.load(f.dump([Time.at(5, 7, :nsec)])).map(&:nsec) } }
idiom("Date, BigDecimal, Set and Rational as types") do
  factory = MessagePack::Factory.new
  factory.register_type(1, Date, packer: ->(date) { [date.year, date.month, date.day].pack("s>CC") }, unpacker: ->(data) { Date.new(*data.unpack("s>CC")) })
  factory.register_type(2, BigDecimal, packer: :_dump, unpacker: :_load)
  factory.register_type(3, Set, packer: ->(set, packer) { packer.write(set.to_a) }, unpacker: ->(unpacker) { unpacker.read.to_set }, recursive: true)
  factory.register_type(4, Rational, packer: :to_s, unpacker: Kernel.method(:Rational))
  factory.load(factory.dump([Date.new(2020, 1, 2), BigDecimal("1.5"), Set[1, "a"], 1r / 3])).map(&:to_s)
end
idiom("Threads with a Packer each") { Array.new(4) { |n| Thread.new { MessagePack::Packer.new.write([n] * 100).to_s.bytesize } }.map(&:value) }
idiom("Fibers that share an Unpacker") { MessagePack::Unpacker.new.feed("\x01\x02\x03\x04").then { |u| Array.new(2) { Fiber.new { [u.read, Fiber.yield, u.read] } }.then { |fibers| fibers.each(&:resume) && fibers.map(&:resume) } } }
idiom("a fork with a Packer") do
  packer = MessagePack::Packer.new.write(1)
  reader, writer = IO.pipe(binmode: true)
  pid = fork { writer.write(packer.write(2).to_s) && exit!(0) }
  Process.wait(pid)
  writer.close
  reader.read
end
idiom("ObjectSpace.memsize_of") { require "objspace"; [MessagePack::Packer.new, MessagePack::Unpacker.new, MessagePack::Factory.new, MessagePack::Buffer.new].map { |object| ObjectSpace.memsize_of(object).positive? } }
idiom("Packer#freeze and write") { MessagePack::Packer.new.freeze.then { |pk| outcome { pk.write(1).to_s } } }
idiom("Unpacker#freeze and read") { MessagePack::Unpacker.new.freeze.then { |u| outcome { u.feed("\x01").read } } }
idiom("Buffer#freeze and write") { MessagePack::Buffer.new.freeze.then { |b| outcome { (b << "a").to_s } } }
idiom("Packer.allocate") { outcome { MessagePack::Packer.allocate.write(1) }.class }
idiom("instance variables on a Packer") { MessagePack::Packer.new.then { |pk| pk.instance_variable_set(:@tag, 1); pk.instance_variable_get(:@tag) } }
idiom("a singleton method on a Packer") { MessagePack::Packer.new.then { |pk| pk.define_singleton_method(:twice) { |object| write(object).write(object) } && pk.twice(1).to_s } }
idiom("== and eql? of Packers") { MessagePack::Packer.new.then { |pk| [pk == pk.itself, pk == MessagePack::Packer.new, pk.hash == pk.hash] } }
idiom("ExtensionValue as a Struct") { MessagePack::ExtensionValue.new(1, "a").then { |ext| ext.payload = "b"; [ext.members, ext.to_h, ext.eql?(MessagePack::ExtensionValue.new(1, "b")), ext[0], ext.each.to_a, MessagePack::ExtensionValue.new.to_a] } }
idiom("ExtensionValue in a pattern") { case MessagePack::ExtensionValue.new(1, "a"); in [type, payload]; [type, payload]; end }
idiom("ExtensionValue with bad parts") { [[nil, "a"], [1, nil], ["1", "a"], [200, "a"], [1, :a]].map { |type, payload| outcome { MessagePack.pack(MessagePack::ExtensionValue.new(type, payload)) } } }
idiom("Timestamp by to_msgpack_ext of odd numbers") { [[0, 0], [2**32 - 1, 0], [2**32, 0], [2**34 - 1, 999_999_999], [2**34, 1], [-2**63, 0], [2**63 - 1, 0]].map { |sec, nsec| MessagePack::Timestamp.to_msgpack_ext(sec, nsec) } }
idiom("Timestamp in a Hash of its parts") { MessagePack::Timestamp.new(1, 2).then { |stamp| { sec: stamp.sec, nsec: stamp.nsec } } }
idiom("a subclass of Timestamp") { Class.new(MessagePack::Timestamp) { def to_f = sec + nsec / 1e9 }.from_msgpack_ext([5].pack("N")).to_f }
idiom("Time::Unpacker of each body") { [[1].pack("N"), [4 << 2, 1].pack("NN"), [5, -1].pack("L>q>")].map { |body| MessagePack::Time::Unpacker.call(body).then { |time| [time.to_i, time.nsec] } } }
idiom("Bigint in a Factory, at each sign") { big_factory.then { |f| [2**64, -2**64, 2**64 - 1, -2**63 - 1, 10**50, -10**50].map { |n| f.load(f.dump(n)) == n } } }
idiom("Bigint from an odd body") { require "msgpack/bigint"; ["\x00", "\x01\x00\x00\x00\x01"].map { |body| outcome { MessagePack::Bigint.from_msgpack_ext(body) } } }
