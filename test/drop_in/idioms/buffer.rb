# frozen_string_literal: true

# Buffers.
idiom("Buffer#write and read") { MessagePack::Buffer.new.then { |b| [b.write("abc"), (b << "de").equal?(b), b.size, b.read(2), b.read, b.read, b.read(1), b.read(0)] } }
idiom("Buffer#read into a String") { MessagePack::Buffer.new.then { |b| b << "abc"; out = +"old"; [b.read(2, out), out, b.read(5, out), b.read(1, out), out] } }
idiom("Buffer#read_all") { MessagePack::Buffer.new.then { |b| b << "abc"; [b.read_all(2), outcome { b.read_all(2) }, b.read_all, b.read_all, b.read_all(0)] } }
idiom("Buffer#read_all into a String") { MessagePack::Buffer.new.then { |b| out = +"old"; [(b << "abc").read_all(2, out), out, outcome { b.read_all(5, out) }, out] } }
idiom("Buffer#skip and skip_all") { MessagePack::Buffer.new.then { |b| b << "abcdef"; [b.skip(2), b.skip_all(1).equal?(b), outcome { b.skip_all(9) }, b.skip(9), b.skip(0), b.size] } }
idiom("Buffer#clear, empty?, size") { MessagePack::Buffer.new.then { |b| [b.empty?, (b << "a").empty?, b.clear, b.size] } }
idiom("Buffer#to_s, to_str, to_a") { MessagePack::Buffer.new.then { |b| [b.to_a, (b << "a" << "b").to_s, b.to_str, b.to_a, "x" + b, b.to_s.encoding] } }
idiom("Buffer#write_to") { StringIO.new("".b).then { |io| b = MessagePack::Buffer.new << "abc"; [b.write_to(io), io.string, b.empty?] } }
idiom("Buffer#flush, io and close") { StringIO.new("".b).then { |io| b = MessagePack::Buffer.new(io) << "abc"; [b.flush.equal?(b), io.string, b.io.equal?(io), b.close, io.closed?] } }
idiom("Buffer#flush without an io") { MessagePack::Buffer.new.then { |b| [(b << "a").flush.to_s, b.close, b.io] } }
idiom("Buffer reads from an io") { MessagePack::Buffer.new(StringIO.new("abcdef")).then { |b| [b.read(2), b.read_all(2), b.skip(1), b.read, b.read(1)] } }
idiom("Buffer reads from an io that has read alone") { MessagePack::Buffer.new(Reader.new("abc", "def")).then { |b| [b.read(2), b.read_all(2), b.read] } }
idiom("Buffer#write of what is no String") { [nil, 5, :a].map { |object| outcome { MessagePack::Buffer.new.write(object) } } }
idiom("Buffer#read of what is no Integer") { ["1", 1.5, :a].map { |size| outcome { (MessagePack::Buffer.new << "abc").read(size) } } }
idiom("Buffer#read of a negative number") { outcome { (MessagePack::Buffer.new << "abc").read(-1) } }
idiom("Buffer#dup and clone") { %i[dup clone].map { |name| outcome { MessagePack::Buffer.new.public_send(name) } } }
idiom("Buffer.new with options") { MessagePack::Buffer.new(io_buffer_size: 1024, unknown: 1).then { |b| (b << "a").to_s } }
idiom("Buffer.new with wrong options") { [{ io_buffer_size: "a" }, { io_buffer_size: nil }, { read_reference_threshold: -1 }].map { |options| outcome { MessagePack::Buffer.new(options).class } } }
idiom("Buffer.new with what is no io") { outcome { (MessagePack::Buffer.new(5) << "a").flush } }
idiom("a subclass of Buffer") { Class.new(MessagePack::Buffer) { def twice(string) = self << string << string }.new.twice("a").to_s }
