# frozen_string_literal: true

# Timestamps, ExtensionValues and core classes; what other libraries write and read; programs.
idiom("Timestamp: its constants") { [MessagePack::Timestamp::TYPE, MessagePack::Timestamp::TIMESTAMP32_MAX_SEC, MessagePack::Timestamp::TIMESTAMP64_MAX_SEC] }
idiom("Timestamp: its bodies") { [[1, 0], [1, 1], [2**34, 0], [-1, 999_999_999], [2**34 - 1, 5]].map { |sec, nsec| MessagePack::Timestamp.to_msgpack_ext(sec, nsec).unpack1("H*") } }
idiom("Timestamp from bodies") { [[1].pack("N"), [4, 1].pack("NN"), [1, -1].pack("L>q>")].map { |body| MessagePack::Timestamp.from_msgpack_ext(body).then { |stamp| [stamp.sec, stamp.nsec] } } }
idiom("Timestamp from a bad body") { ["", "abc", "abcdef"].map { |body| outcome { MessagePack::Timestamp.from_msgpack_ext(body) } } }
idiom("Timestamp#==, to_msgpack_ext") { MessagePack::Timestamp.new(1, 2).then { |stamp| [stamp == MessagePack::Timestamp.new(1, 2), stamp == MessagePack::Timestamp.new(1, 3), stamp == 5, stamp.to_msgpack_ext] } }
idiom("Timestamp as a type") { MessagePack::Factory.new.tap { |f| f.register_type(-1, MessagePack::Timestamp, packer: MessagePack::Timestamp.method(:to_msgpack_ext).unbind && :to_msgpack_ext, unpacker: MessagePack::Timestamp.method(:from_msgpack_ext)) }.then { |f| f.load(f.dump(MessagePack::Timestamp.new(5, 6))).then { |stamp| [stamp.class, stamp.sec, stamp.nsec] } } }
idiom("Timestamp with bad arguments") { [[nil, 0], ["1", 0], [1, -1], [1, 10**9], [1.9, 0]].map { |sec, nsec| outcome { MessagePack::Timestamp.new(sec, nsec).class } } }
idiom("Timestamp as a key") { { MessagePack::Timestamp.new(1, 2) => 1 }[MessagePack::Timestamp.new(1, 2)] }
idiom("Timestamp#dup and frozen?") { MessagePack::Timestamp.new(1, 2).then { |stamp| [stamp.dup == stamp, stamp.frozen?] } }
idiom("Timestamp is Comparable") { MessagePack::Timestamp.ancestors.include?(Comparable) }
idiom("Time as a type") { time_factory.then { |f| [Time.at(1), Time.at(1, 5, :nsec), Time.at(-1), Time.at(2**40)].map { |time| [f.dump(time), f.load(f.dump(time)) == time] } } }
idiom("Time::Packer and Unpacker") { [MessagePack::Time::Packer.call(Time.at(5)), MessagePack::Time::Unpacker.call([5].pack("N")).to_i, MessagePack::Time::Packer.lambda?, MessagePack::Time::TIME_AT_3_AVAILABLE] }
idiom("Time without a type") { outcome { MessagePack.pack(Time.at(0)) } }
idiom("ExtensionValue") { MessagePack::ExtensionValue.new(5, "ab").then { |ext| [ext, ext.type, ext.payload, ext == MessagePack::ExtensionValue.new(5, "ab"), ext.to_a, MessagePack.pack(ext), ext.to_msgpack, ext.frozen?, ext.class.superclass] } }
idiom("ExtensionValue comes back") { MessagePack.unpack(MessagePack.pack([MessagePack::ExtensionValue.new(-100, "x" * 300)]), allow_unknown_ext: true).then { |(ext)| [ext.class, ext.type, ext.payload.size, ext.payload.encoding] } }
idiom("Bigint") { require "msgpack/bigint"; [2**64, -2**64, 2**200, 0].map { |integer| MessagePack::Bigint.from_msgpack_ext(MessagePack::Bigint.to_msgpack_ext(integer)) == integer } + [MessagePack::Bigint.to_msgpack_ext(2**70), MessagePack::Bigint::CHUNK_BITLENGTH, MessagePack::Bigint::FORMAT] }
idiom("Symbol#to_msgpack_ext") { [:a.to_msgpack_ext, Symbol.from_msgpack_ext("é".b), Symbol.from_msgpack_ext("\xFF".b)] }
idiom("CoreExt") { [1, nil, "a", :a, [], {}, 1.5, true, MessagePack::ExtensionValue.new(1, "")].map { |object| object.is_a?(MessagePack::CoreExt) } }
idiom("to_msgpack_with_packer is private") { [1, nil, "a"].map { |object| [object.respond_to?(:to_msgpack_with_packer), object.respond_to?(:to_msgpack_with_packer, true)] } }

idiom("Marshal of a Timestamp") { Marshal.dump(MessagePack::Timestamp.new(5, 7)) }
idiom("Marshal of an ExtensionValue") { Marshal.dump(MessagePack::ExtensionValue.new(5, "ab")) }
idiom("YAML of a Timestamp") { MessagePack::Timestamp.new(5, 7).to_yaml }
idiom("YAML of an ExtensionValue") { MessagePack::ExtensionValue.new(5, "ab").to_yaml }
idiom("Marshal of its errors") { ["\xC1", "\x91" * 200, "\xD4\x05a", "\x92"].map { |bytes| begin; MessagePack.unpack(bytes.b); rescue StandardError => e; Marshal.load(Marshal.dump(e)).class; end } }
idiom("Marshal of a Packer, a Factory") { [MessagePack::Packer.new, MessagePack::Unpacker.new, MessagePack::Factory.new, MessagePack::Buffer.new].map { |object| outcome { Marshal.dump(object) } } }
idiom("inspect of a Timestamp") { MessagePack::Timestamp.new(5, 7).inspect[/\A#<MessagePack::Timestamp\b/] }
idiom("inspect of an error") { begin; MessagePack.unpack("\xC1".b); rescue StandardError => e; e.inspect[/\A#<[\w:]+/]; end }
idiom("Rails: a signature before the value") do
  pool = ext_factory.pool(5)
  bytes = pool.packer { |pk| pk.write(128).write({ "a" => Ext.new(1) }).full_pack }
  pool.unpacker { |u| u.feed_reference(bytes) && [u.read, u.full_unpack] }
end
idiom("Bootsnap: a cache file that is damaged") { ["", "\xC1", "\xD4\x05a", "\x92\x01", "\x01\x02"].map { |bytes| begin; MessagePack.load(StringIO.new(bytes.b), freeze: true); rescue MessagePack::MalformedFormatError, MessagePack::UnknownExtTypeError, EOFError => e; e.class; end } }
idiom("Fluentd: events in chunks") do
  packer = MessagePack::Packer.new
  3.times { |n| packer.write_array_header(2).write(n).write({ "m" => "x" * n }) }
  [].tap { |all| MessagePack::Unpacker.new.feed_each(packer.to_s) { |time, record| all << [time, record] } }
end
idiom("RPC: a call and its answer over a pipe") do
  reader, writer = IO.pipe(binmode: true)
  MessagePack::Packer.new(writer).write([0, 1, "add", [1, 2]]).flush
  MessagePack::Unpacker.new(reader).read
end
idiom("Sidekiq: a middleware that packs its job") { MessagePack.unpack(MessagePack.pack({ "class" => "Job", "args" => [1, { "a" => nil }], "at" => 1.5 })) }
idiom("a patch of Object#to_msgpack") { Object.new.then { |object| object.singleton_class.define_method(:to_msgpack) { |pk| pk.pack(to_s[0, 8]) } && MessagePack.pack([object]) } }
idiom("class << MessagePack finds ::Time") { class << MessagePack; Time; end }
idiom("a class of its own in MessagePack") { module MessagePack; class Error < StandardError; end; end; MessagePack::Error.superclass }
