# frozen_string_literal: true

# Unpackers.
idiom("Unpacker#feed returns the Unpacker") { MessagePack::Unpacker.new.then { |u| [u.feed("\x01").equal?(u), u.read] } }
idiom("Unpacker#feed and each") { MessagePack::Unpacker.new.feed("\x01\x02\x91").then { |u| [u.each.to_a, u.feed("\x03").each.to_a] } }
idiom("Unpacker#each with a block returns") { MessagePack::Unpacker.new.feed("\x01").each { nil } }
idiom("Unpacker#each without a block") { MessagePack::Unpacker.new.feed("\x01").each.class }
idiom("Unpacker#feed_each") { MessagePack::Unpacker.new.then { |u| %W[\x92 \x01\x02\x03 \x04].map { |piece| [].tap { |all| u.feed_each(piece) { |object| all << object } } } } }
idiom("Unpacker#feed_each without a block") { MessagePack::Unpacker.new.feed_each("\x01\x02").to_a }
idiom("Unpacker#each over an io") { MessagePack::Unpacker.new(StringIO.new("\x01\x02\x03")).each.to_a }
idiom("Unpacker#each over an io that ends inside") { MessagePack::Unpacker.new(StringIO.new("\x01\x92\x03".b)).each.to_a }
idiom("Unpacker#each over an io that ends with an error of a subclass") { MessagePack::Unpacker.new(Pieces.new("\x01", last: Class.new(EOFError).new)).each.to_a }
idiom("Unpacker#each and break") { MessagePack::Unpacker.new.feed("\x01\x02\x03").then { |u| [u.each { |object| break object }, u.read, u.read] } }
idiom("Unpacker#each and an error of its block") { MessagePack::Unpacker.new.feed("\x01\x02\x03").then { |u| [outcome { u.each { raise IOError } }, u.read] } }
idiom("Unpacker#each over a pipe") do
  reader, writer = IO.pipe(binmode: true)
  writer.write("\x01\x92\x02\x03")
  writer.close
  MessagePack::Unpacker.new(reader).each.to_a
end
idiom("Unpacker#read from a pipe that ends") do
  reader, writer = IO.pipe(binmode: true)
  writer.write("\x92\x01".b)
  writer.close
  begin; MessagePack::Unpacker.new(reader).read; rescue EOFError => e; [e.class, e.message]; end
end
idiom("Unpacker is not Enumerable") { MessagePack::Unpacker.include?(Enumerable) }
idiom("Unpacker#read at the end") { MessagePack::Unpacker.new.read }
idiom("Unpacker#read twice at the end") { MessagePack::Unpacker.new.feed("\x01").then { |u| reads(u, 3) } }
idiom("Unpacker#unpack") { MessagePack::Unpacker.new.feed("\x01\x02").then { |u| [u.unpack, u.unpack, outcome { u.unpack }] } }
idiom("Unpacker#full_unpack") { [MessagePack::Unpacker.new.feed("\x01").full_unpack, outcome { MessagePack::Unpacker.new.feed("\x01\x02").full_unpack }, outcome { MessagePack::Unpacker.new.full_unpack }] }
idiom("Unpacker#skip") { MessagePack::Unpacker.new.feed("\x92\x01\x02\x03").then { |u| [u.skip, u.read, outcome { u.skip }] } }
idiom("Unpacker#skip over an unknown ext") { outcome { MessagePack::Unpacker.new.feed("\xD4\x05a\x01".b).then { |u| [u.skip, u.read] } } }
idiom("Unpacker#skip_nil") { MessagePack::Unpacker.new.feed("\xC0\x01").then { |u| [u.skip_nil, u.skip_nil, u.read, outcome { u.skip_nil }] } }
idiom("Unpacker#read_array_header") { MessagePack::Unpacker.new.feed("\x92\x01\x02").then { |u| [u.read_array_header, u.read, u.read, outcome { u.read_array_header }] } }
idiom("Unpacker#read_map_header") { MessagePack::Unpacker.new.feed("\x81\x01\x02").then { |u| [u.read_map_header, u.read, u.read, outcome { u.read_map_header }] } }
idiom("Unpacker#read_array_header of something else") { MessagePack::Unpacker.new.feed("\x01").then { |u| [outcome { u.read_array_header }, outcome { u.read_map_header }, u.read] } }
idiom("its error is a TypeError of MessagePack") { begin; MessagePack::Unpacker.new.feed("\x01").read_array_header; rescue MessagePack::TypeError => e; e.class; end }
idiom("Unpacker#reset") { MessagePack::Unpacker.new.feed("\x01").then { |u| [u.reset, outcome { u.read }, u.feed("\x02").read] } }
idiom("Unpacker#buffer") { MessagePack::Unpacker.new.feed("\x01\x02").then { |u| [u.buffer.class, u.buffer.size, u.read, u.buffer.to_s, u.buffer.io] } }
idiom("Unpacker#buffer.skip") { MessagePack::Unpacker.new.feed("\x01\x02").then { |u| [u.buffer.skip(1), u.read] } }
idiom("Unpacker#feed_reference") { MessagePack::Unpacker.new.feed_reference("\x92\x01\x02").read }
idiom("Unpacker#feed of what is no String") { [nil, 5, :a].map { |object| outcome { MessagePack::Unpacker.new.feed(object) } } }
idiom("Unpacker#feed of what has to_str") { Object.new.then { |object| object.define_singleton_method(:to_str) { "\x01" } && outcome { MessagePack::Unpacker.new.feed(object).read } } }
idiom("a String that changes after feed") { (+"\x91\x01").then { |string| u = MessagePack::Unpacker.new.feed(string); string.replace("\xC0\xC0"); u.read } }
idiom("Unpacker.new with arguments") { [[], [nil], [nil, nil], [{}], [StringIO.new, {}], [StringIO.new, nil]].map { |arguments| MessagePack::Unpacker.new(*arguments).class } }
idiom("Unpacker.new with three arguments") { MessagePack::Unpacker.new(nil, nil, nil) }
idiom("Unpacker.new with what is no io") { outcome { MessagePack::Unpacker.new(5).read } }
idiom("Unpacker.new with unknown options") { MessagePack::Unpacker.new(unknown: 1).feed("\x01").read }
idiom("questions about its options") { [MessagePack::Unpacker.new, MessagePack::Unpacker.new(symbolize_keys: true, freeze: true, allow_unknown_ext: true)].map { |u| [u.symbolize_keys?, u.freeze?, u.allow_unknown_ext?] } }
idiom("Unpacker#dup and clone") { %i[dup clone].map { |name| outcome { MessagePack::Unpacker.new.public_send(name) } } }
idiom("a subclass of Unpacker") { Class.new(MessagePack::Unpacker) { def twice = [read, read] }.new.feed("\x01\x02").twice }
idiom("Unpacker#register_type with a block") { MessagePack::Unpacker.new.tap { |u| u.register_type(1) { |data| [data, data.encoding] } }.feed("\xD4\x01a".b).read }
idiom("Unpacker#register_type with a class and a name") { MessagePack::Unpacker.new.tap { |u| u.register_type(1, Ext, :from_msgpack_ext) }.feed("\xD6\x01\x00\x00\x00\x07".b).read }
idiom("Unpacker#register_type without a block") { [[1], [1, Ext]].map { |arguments| outcome { MessagePack::Unpacker.new.register_type(*arguments) } } }
idiom("Unpacker#register_type beyond its range") { outcome { MessagePack::Unpacker.new.register_type(128) { nil } } }
idiom("Unpacker#register_type of a frozen one") { MessagePack::Unpacker.new.freeze.register_type(1) { nil } }
idiom("Unpacker#registered_types") { MessagePack::Unpacker.new.tap { |u| u.register_type(5) { nil } && u.register_type(1, Ext, :from_msgpack_ext) }.registered_types.map { |entry| entry.merge(unpacker: entry[:unpacker].class) } }
idiom("Unpacker#type_registered?") { MessagePack::Unpacker.new.tap { |u| u.register_type(1, Ext, :from_msgpack_ext) }.then { |u| [u.type_registered?(1), u.type_registered?(2), u.type_registered?(Ext), u.type_registered?(SubExt), outcome { u.type_registered?("a") }] } }
idiom("an unpacker block that raises") { MessagePack::Unpacker.new.tap { |u| u.register_type(1) { raise IOError, "x" } }.feed("\x91\xD4\x01a".b).read }
idiom("an unpacker block that raises no StandardError") { MessagePack::Unpacker.new.tap { |u| u.register_type(1) { raise NotImplementedError } }.feed("\x91\xD4\x01a".b).read }
idiom("Unpacker after 0xc1") { MessagePack::Unpacker.new.feed("\xC1\x01".b).then { |u| [outcome { u.read }, outcome { u.reset || u.feed("\x05").read }] } }
idiom("Unpacker reads on after 0xc1") { reads(MessagePack::Unpacker.new.feed("\x92\xC1\x05\x06".b), 3) }
idiom("Unpacker reads on after an unknown ext") { reads(MessagePack::Unpacker.new.feed("\xD4\x05a\x06".b), 3) }
idiom("Unpacker reads on after the end") { MessagePack::Unpacker.new.feed("\x92\x01").then { |u| [outcome { u.read }, u.feed("\x02").read] } }
idiom("Unpacker#each reads on after the end") { MessagePack::Unpacker.new.feed("\x92\x01").then { |u| [u.each.to_a, u.feed("\x02\x03").each.to_a] } }
idiom("Unpacker: io that gives nil") { Reader.new.then { |io| outcome { MessagePack::Unpacker.new(io).read } } }
idiom("Unpacker: io that gives no String") { Object.new.then { |io| io.define_singleton_method(:read) { |*| 5 } && outcome { MessagePack::Unpacker.new(io).read } } }
idiom("Unpacker#inspect") { MessagePack::Unpacker.new.inspect[/\A#<[\w:]+/] }
idiom("bodies of ext are BINARY and not frozen") { MessagePack::Unpacker.new.tap { |u| u.register_type(1) { |data| [data.encoding, data.frozen?] } }.feed("\xD4\x01a".b).read }
idiom("full_unpack of an io with bytes left") { outcome { MessagePack::Unpacker.new(StringIO.new("\x01\x02")).full_unpack } }
