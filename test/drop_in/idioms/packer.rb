# frozen_string_literal: true

# Packers.
idiom("Packer#write returns the Packer") { MessagePack::Packer.new.then { |pk| [pk.write(1).equal?(pk), pk.pack(2).equal?(pk), pk.to_s] } }
idiom("Packer#write_ of each kind") do
  pk = MessagePack::Packer.new
  pk.write_nil.write_true.write_false.write_int(5).write_float(1).write_float32(1.5).write_string("a").write_bin("a").write_symbol(:a).write_array([1]).write_hash({ 1 => 2 })
  pk.write_array_header(1).write(1).write_map_header(1).write(1).write(2).write_bin_header(1).buffer.write("x")
  pk.write_ext(5, "ab").write_extension(MessagePack::ExtensionValue.new(6, "abc")).to_s
end
idiom("Packer#write_ of the wrong class") do
  { write_int: "1", write_float: "1", write_float32: "1", write_string: 1, write_bin: 1, write_symbol: "a", write_array: {}, write_hash: [], write_extension: 1,
    write_array_header: "1", write_map_header: nil, write_bin_header: "a" }.map { |name, value| outcome { MessagePack::Packer.new.public_send(name, value).to_s } }
end
idiom("Packer#write_ of a Symbol or nil") { %i[write_string write_bin write_array write_hash write_int].map { |name| outcome { MessagePack::Packer.new.public_send(name, nil).to_s } } }
idiom("Packer#write_float of an Integer") { MessagePack::Packer.new.write_float(3).to_s }
idiom("Packer#write_float32 of an Integer") { MessagePack::Packer.new.write_float32(3).to_s }
idiom("Packer#write_int of a big one") { MessagePack::Packer.new.write_int(2**64) }
idiom("Packer#write_array_header beyond 32 bits") { [2**32, -2**40].map { |size| outcome { MessagePack::Packer.new.write_array_header(size) } } }
idiom("Packer#write_array_header of -1") { outcome { MessagePack::Packer.new.write_array_header(-1).to_s } }
idiom("Packer#write_array_header of a Float") { MessagePack::Packer.new.write_array_header(1.7).to_s }
idiom("Packer#write_ext with a type beyond its range") { [128, -129].map { |type| outcome { MessagePack::Packer.new.write_ext(type, "a").to_s } } }
idiom("Packer#write_ext with no String") { outcome { MessagePack::Packer.new.write_ext(1, 5) } }
idiom("Packer#write_extension beyond its range") { outcome { MessagePack::Packer.new.write_extension(MessagePack::ExtensionValue.new(128, "a")) } }
idiom("Packer#write_extension of another Struct") { MessagePack::Packer.new.write_extension(Struct.new(:type, :payload).new(5, "a")).to_s }
idiom("Packer#write_extension without a payload") { outcome { MessagePack::Packer.new.write_extension(MessagePack::ExtensionValue.new(5, nil)) } }
idiom("Packer#write_bin of a text") { outcome { MessagePack::Packer.new.write_bin("é").to_s } }
idiom("Packer#full_pack empties it") { MessagePack::Packer.new.then { |pk| [pk.write(1).full_pack, pk.empty?, pk.to_s] } }
idiom("Packer#full_pack with an io") { StringIO.new("".b).then { |io| [MessagePack::Packer.new(io).write(1).full_pack, io.string] } }
idiom("Packer#flush with an io") { StringIO.new("".b).then { |io| pk = MessagePack::Packer.new(io).write(1); [io.string.dup, pk.flush.equal?(pk), io.string] } }
idiom("Packer#flush without an io") { MessagePack::Packer.new.write(1).flush.to_s }
idiom("Packer#reset and clear") { MessagePack::Packer.new.then { |pk| [pk.write(1).reset, pk.size, pk.write(2).clear, pk.to_s] } }
idiom("Packer#size, empty?, to_a, to_str, to_s") { MessagePack::Packer.new.then { |pk| [pk.size, pk.empty?, pk.to_a, pk.write(1).size, pk.empty?, pk.to_a, pk.to_str, pk.to_s] } }
idiom("Packer#write_to") { StringIO.new("".b).then { |io| pk = MessagePack::Packer.new.write([1]); [pk.write_to(io), io.string, pk.empty?] } }
idiom("Packer#write_to a String") { outcome { MessagePack::Packer.new.write(1).write_to(+"") } }
idiom("Packer#buffer") { MessagePack::Packer.new.then { |pk| pk.write(1).buffer << "x"; [pk.buffer.class, pk.buffer.size, pk.to_s] } }
idiom("Packer#compatibility_mode?") { [MessagePack::Packer.new.compatibility_mode?, MessagePack::Packer.new(compatibility_mode: true).compatibility_mode?] }
idiom("Packer.new with arguments") { [[], [nil], [nil, nil], [{}], [StringIO.new, {}], [StringIO.new, nil]].map { |arguments| MessagePack::Packer.new(*arguments).class } }
idiom("Packer.new with three arguments") { MessagePack::Packer.new(nil, nil, nil) }
idiom("Packer.new with what is no Hash") { outcome { MessagePack::Packer.new(nil, 5) } }
idiom("Packer.new with what is no io") { outcome { MessagePack::Packer.new(5).write(1).flush } }
idiom("Packer.new with sizes of the Buffer") { MessagePack::Packer.new(io_buffer_size: 64, read_reference_threshold: 1, write_reference_threshold: 1).write("a" * 300).to_s.bytesize }
idiom("Packer#dup and clone") { %i[dup clone].map { |name| outcome { MessagePack::Packer.new.public_send(name) } } }
idiom("a subclass of Packer") { Class.new(MessagePack::Packer) { def twice(object) = write(object).write(object) }.new.twice(1).to_s }
idiom("a subclass of Packer with its own initialize") do
  klass = Class.new(MessagePack::Packer) { def initialize(io, tag) = super(io).tap { write(tag) } }
  klass.new(nil, "t").to_s
end
idiom("Packer#register_type with a block") { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Ext) { |ext| [ext.a].pack("N") } }.write([Ext.new(1)]).to_s }
idiom("Packer#register_type with a name") { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Ext, :to_msgpack_ext) }.write(Ext.new(1)).to_s }
idiom("Packer#register_type returns") { MessagePack::Packer.new.register_type(1, Ext, :to_msgpack_ext) }
idiom("Packer#register_type of what is no class") { MessagePack::Packer.new.register_type(1, "Ext") { "" } }
idiom("Packer#register_type without a block") { outcome { MessagePack::Packer.new.register_type(1, Ext) } }
idiom("Packer#register_type beyond its range") { [128, -129].map { |type| outcome { MessagePack::Packer.new.register_type(type, Ext) { "" } } } }
idiom("Packer#register_type of a frozen one") { MessagePack::Packer.new.freeze.register_type(1, Ext) { "" } }
idiom("Packer#registered_types") do
  pk = MessagePack::Packer.new
  pk.register_type(5, Held) { "" }
  pk.register_type(1, Ext, :to_msgpack_ext)
  pk.registered_types.map { |entry| entry.merge(packer: entry[:packer].class) }
end
idiom("Packer#type_registered?") do
  pk = MessagePack::Packer.new
  pk.register_type(1, Ext) { "" }
  [pk.type_registered?(1), pk.type_registered?(2), pk.type_registered?(Ext), pk.type_registered?(SubExt), pk.type_registered?(Object), outcome { pk.type_registered?("Ext") }]
end
idiom("Packer: a subclass is packed as its ancestor") { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Ext, :to_msgpack_ext) }.write(SubExt.new(1)).to_s }
idiom("Packer: a module as type") { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Mixed) { "m" } }.write(Object.new.extend(Mixed)).to_s }
idiom("Packer: a block that returns no String") { [1, nil, :a, Object.new].map { |answer| outcome { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Ext) { answer } }.write(Ext.new(1)).to_s } } }
idiom("Packer: a block that raises") { MessagePack::Packer.new.tap { |pk| pk.register_type(1, Ext) { raise IOError, "x" } }.write([Ext.new(1)]) }
idiom("Packer: types of core classes") do
  [String, Array, Hash, Symbol, Integer, Float, NilClass, TrueClass].map do |klass|
    outcome { MessagePack::Packer.new.tap { |pk| pk.register_type(1, klass) { "x" } }.write([nil, true, 1, 1.5, "a", :a, {}]).to_s }
  end
end
idiom("Packer: types of subclasses of core classes") { MessagePack::Packer.new.tap { |pk| [Text, List, Table].each_with_index { |klass, i| pk.register_type(i, klass) { "x" } } }.write([Text.new, List.new, Table.new, ""]).to_s }
idiom("Packer after an error") { MessagePack::Packer.new.then { |pk| outcome { pk.write(Object.new) } && pk.reset || pk.write(1).to_s } }
idiom("a Packer that is used again") { MessagePack::Packer.new.then { |pk| Array.new(3) { |n| pk.write(n).full_pack } } }
idiom("Packer#inspect") { MessagePack::Packer.new.inspect[/\A#<[\w:]+/] }
idiom("Packer: big Strings go by reference") { MessagePack::Packer.new.write("a" * 600_000).to_a.map(&:bytesize) }
