# frozen_string_literal: true

# MessagePack.pack and to_msgpack.
idiom("pack each kind") { MessagePack.pack(SAMPLE) }
idiom("pack and unpack each kind") { MessagePack.unpack(MessagePack.pack(SAMPLE)) }
idiom("the encoding of what is packed") { MessagePack.pack("é").encoding }
idiom("dump and load") { MessagePack.load(MessagePack.dump([1, nil])) }
idiom("to_msgpack of core classes") { [nil, true, false, 1, 1.5, "s", :s, [1], { "a" => 1 }, 2**63].map(&:to_msgpack) }
idiom("to_msgpack with a Packer") { MessagePack::Packer.new.then { |pk| [1.to_msgpack(pk).equal?(pk), pk.to_s] } }
idiom("to_msgpack with an io") { StringIO.new("".b).then { |io| [[1].to_msgpack(io), io.string] } }
idiom("to_msgpack of an object") { Own.new([1]).to_msgpack }
idiom("pack an object with to_msgpack") { MessagePack.pack([Own.new(1), { "k" => Own.new(nil) }]) }
idiom("to_msgpack that compares the class of its Packer") do
  object = Object.new
  def object.to_msgpack(packer = nil) = packer.instance_of?(MessagePack::Packer) ? packer.write(5) : raise(packer.class.name)
  MessagePack.pack([object])
end
idiom("to_msgpack that asks is_a?") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(packer.is_a?(MessagePack::Packer))
  MessagePack.pack(object)
end
idiom("to_msgpack that delegates to the object inside") do
  object = Object.new
  def object.to_msgpack(packer) = { "a" => 1 }.to_msgpack(packer)
  MessagePack.pack([object, object])
end
idiom("to_msgpack that returns something else") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(1) && nil
  MessagePack.pack(object)
end
idiom("to_msgpack that writes to the buffer") do
  object = Object.new
  def object.to_msgpack(packer) = packer.buffer << "\xC0".b
  MessagePack.pack([object])
end
idiom("flush in to_msgpack, with an io") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(1).flush
  io = StringIO.new("".b)
  MessagePack.pack([object, 2], io)
  io.string
end
idiom("flush in to_msgpack, without an io") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(1).flush
  MessagePack.pack([object, 2])
end
idiom("full_pack in to_msgpack, with an io") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(1).full_pack
  io = StringIO.new("".b)
  MessagePack.pack([object, 2], io)
  io.string
end
idiom("full_pack in to_msgpack of a Packer with an io") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write(1).full_pack
  io = StringIO.new("".b)
  packer = MessagePack::Packer.new(io)
  [packer.write([object, 2]).flush.class, io.string]
end
idiom("full_pack at the end of to_msgpack, without an io") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write_array_header(1).write(1).full_pack
  MessagePack.pack(object)
end
idiom("reset in to_msgpack") do
  object = Object.new
  def object.to_msgpack(packer) = packer.reset || packer.write(1)
  MessagePack.pack(object)
end
idiom("to_msgpack by a Packer of its own") do
  object = Object.new
  def object.to_msgpack(packer = nil) = MessagePack::Packer.new.write(1).then { |own| packer ? packer.buffer.write(own.to_s) : own.to_s }
  [MessagePack.pack([object]), object.to_msgpack]
end
idiom("to_s, size and empty? in to_msgpack") do
  object = Object.new
  def object.to_msgpack(packer) = packer.write([packer.to_s, packer.empty?])
  MessagePack.pack([object])
end
idiom("pack what has no to_msgpack") { MessagePack.pack(Object.new) }
idiom("the receiver of its error") do
  object = Object.new
  MessagePack.pack([object])
rescue NoMethodError => e
  [e.receiver.equal?(object), e.name, e.args.map(&:class), e.message[/\Aundefined method .to_msgpack. for/].class, e.instance_of?(NoMethodError)]
end
idiom("pack a Time, a Date, a Set, a Rational") { [Time.at(0), Date.new(2020, 1, 1), Set[1], 1r, BigDecimal("1")].map { |object| outcome { MessagePack.pack(object) } } }
idiom("pack a Range, a Struct, a class, a Proc") { [1..2, Held.new(1), Object, -> {}].map { |object| outcome { MessagePack.pack(object) } } }
idiom("pack an Integer of more than 64 bits") { [2**64, -2**63 - 1, 2**200].map { |integer| outcome { MessagePack.pack(integer) } } }
idiom("the words of its error") { begin; MessagePack.pack(2**64); rescue RangeError => e; e.message[0, 29]; end }
idiom("pack subclasses of String, Array and Hash") { MessagePack.pack([Text.new("a"), List.new([1]), Table.new.update("a" => 1)]) }
idiom("pack a Hash with a default, compare_by_identity") { MessagePack.pack([Hash.new(5).update(1 => 2), { "a" => 1 }.compare_by_identity]) }
idiom("pack Strings of other encodings") { MessagePack.pack(["é".encode("UTF-16LE"), "é".encode("ISO-8859-1"), "a".encode("US-ASCII"), "あ".encode("Shift_JIS")]) }
idiom("pack a String that cannot be transcoded") { MessagePack.pack("\xFF".dup.force_encoding("Shift_JIS")) }
idiom("pack a String that is no valid UTF-8") { MessagePack.pack("\xFF") }
idiom("pack a dummy encoding") { outcome { MessagePack.pack("a".dup.force_encoding("UTF-7")) } }
idiom("pack Symbols of other encodings") { MessagePack.pack([:é, "é".encode("ISO-8859-1").to_sym, "\xFF".b.to_sym]) }
idiom("pack to an io") { StringIO.new("".b).then { |io| [MessagePack.pack({ "a" => 1 }, io), io.string] } }
idiom("pack to an io with options") { StringIO.new("".b).then { |io| [MessagePack.dump("a" * 40, io, compatibility_mode: true), io.string] } }
idiom("pack to what has << alone") { Appends.new.then { |io| [MessagePack.pack([1], io), io.bytes] } }
idiom("pack to what has write alone") { Writes.new.then { |io| [MessagePack.pack([1], io), io.bytes] } }
idiom("pack to a String") { (+"").b.then { |io| [MessagePack.pack([1], io), io] } }
idiom("pack to what is no io") { MessagePack.pack([1], 5) }
idiom("pack to a file and load it") do
  Dir.mktmpdir do |dir|
    path = File.join(dir, "a")
    File.open(path, "wb") { |io| MessagePack.dump({ "a" => [1] }, io) }
    [File.binread(path), File.open(path, "rb") { |io| MessagePack.load(io) }, MessagePack.load(File.binread(path), freeze: true).frozen?]
  end
end
idiom("pack to an io that raises") do
  io = Object.new
  def io.write(_) = raise(IOError, "full")
  MessagePack.pack([1], io)
end
idiom("pack with compatibility_mode") { MessagePack.pack(["a" * 40, "\xFF".b], compatibility_mode: true) }
idiom("pack with unknown options") { MessagePack.pack([1], unknown: 1, other: nil) }
idiom("pack with nil as io and options") { MessagePack.pack([1], nil, nil) }
idiom("pack without arguments") { MessagePack.pack }
idiom("pack with four arguments") { MessagePack.pack(1, nil, nil, nil) }
idiom("pack what contains itself") { MessagePack.pack(cycle) }
idiom("pack a Hash that contains itself") { MessagePack.pack({}.tap { |hash| hash["a"] = hash }) }
idiom("pack 100 levels") { MessagePack.pack(nested(100)).bytesize }
idiom("pack 128 levels and unpack them") { MessagePack.unpack(MessagePack.pack(nested(128))) == nested(128) }
idiom("pack 500 levels") { MessagePack.pack(nested(500)).bytesize }
idiom("pack a Hash that changes") do
  hash = {}
  object = Object.new
  object.define_singleton_method(:to_msgpack) { |packer| hash["new"] = 1 and packer.write(1) }
  hash["a"] = object
  MessagePack.pack(hash)
end
idiom("include MessagePack and pack") { Class.new { include MessagePack; def packed = pack([1]).then { |bytes| unpack(bytes) } }.new.packed }
idiom("MessagePack.method(:pack)") { [MessagePack.method(:pack).call(1), [1, 2].map(&MessagePack.method(:dump))] }
idiom("the functions of MessagePack") { %i[pack unpack load dump].map { |name| MessagePack.respond_to?(name) } }
idiom("its constants") { MessagePack.constants.sort - %i[Bigint HeldBuffer DEFAULT_EMPTY_PARAMS] }
idiom("its names") do
  [MessagePack::Packer, MessagePack::Unpacker, MessagePack::Factory, MessagePack::Factory::Pool, MessagePack::Buffer, MessagePack::Timestamp, MessagePack::ExtensionValue,
   MessagePack::UnpackError, MessagePack::MalformedFormatError, MessagePack::StackError, MessagePack::UnexpectedTypeError, MessagePack::UnknownExtTypeError,
   MessagePack::TypeError, MessagePack::CoreExt, MessagePack::Time].map(&:name)
end
idiom("superclasses of its errors") do
  %i[UnpackError MalformedFormatError StackError UnexpectedTypeError UnknownExtTypeError].map { |name| MessagePack.const_get(name).superclass }
end
idiom("its version") { Gem::Version.new(MessagePack::VERSION) >= Gem::Version.new("1.7.0") }
