# frozen_string_literal: true

# Factories, ext types and their handlers.
idiom("Factory: default handlers") { ext_factory.then { |f| [f.dump(Ext.new(5)), f.load(f.dump([Ext.new(5)]))] } }
idiom("Factory: handlers as Procs, Methods, names, callables") do
  callable = Class.new { def call(data) = data.is_a?(Ext) ? "c" : [:called, data] }.new
  [[->(ext) { ext.a.to_s }, ->(data) { data }], [Ext.instance_method(:to_msgpack_ext).bind(Ext.new(9)).owner.new(1).method(:==).unbind && :to_msgpack_ext, Ext.method(:from_msgpack_ext)],
   %w[to_msgpack_ext from_msgpack_ext], [callable, callable]].map do |packer, unpacker|
    factory = MessagePack::Factory.new
    factory.register_type(1, Ext, packer: packer, unpacker: unpacker)
    factory.load(factory.dump(Ext.new(3)))
  end
end
idiom("Factory: handlers that are none") { [5, Object.new, true, []].flat_map { |handler| %i[packer unpacker].map { |which| outcome { MessagePack::Factory.new.register_type(1, Ext, which => handler) } } } }
idiom("Factory: an unpacker that the class has not") { outcome { MessagePack::Factory.new.register_type(1, Held) } }
idiom("Factory: a packer that the object has not") { outcome { MessagePack::Factory.new.tap { |f| f.register_type(1, Held, packer: :none, unpacker: nil) }.dump(Held.new(1)) } }
idiom("Factory#register_type returns") { MessagePack::Factory.new.register_type(1, Ext) }
idiom("Factory#register_type with an options Hash") { MessagePack::Factory.new.register_type(1, Ext, { packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, code: 1, version: 2 }) }
idiom("Factory#register_type with empty options") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, {}); [f.registered_types, outcome { f.dump(Ext.new(1)) }] } }
idiom("Factory#register_type with nil as options") { outcome { MessagePack::Factory.new.then { |f| f.register_type(1, Ext, nil); f.registered_types.size } } }
idiom("Factory#register_type beyond its range") { [128, -129, 2**70].map { |type| outcome { MessagePack::Factory.new.register_type(type, Ext) } } }
idiom("Factory#register_type with no Integer") { ["1", nil, :a, 1.5].map { |type| outcome { MessagePack::Factory.new.register_type(type, Ext) } } }
idiom("Factory#register_type of what is no class") { ["Ext", nil, 5].map { |klass| outcome { MessagePack::Factory.new.register_type(1, klass, packer: ->(_) { "" }) } } }
idiom("Factory#register_type of a frozen one") { begin; MessagePack::Factory.new.freeze.register_type(1, Ext); rescue FrozenError => e; [e.class, e.message]; end }
idiom("Factory#register_type of String, nil, Array") { [String, NilClass, Array, Hash, Float].map { |klass| outcome { MessagePack::Factory.new.tap { |f| f.register_type(1, klass, packer: ->(_) { "x" }, unpacker: ->(_) { 1 }) }.dump([nil, 1.5, "a", {}]) } } }
idiom("Factory#register_type of Symbol") { MessagePack::Factory.new.tap { |f| f.register_type(0, Symbol) }.then { |f| [f.dump(:a), f.load(f.dump({ a: [:b, "c"] }))] } }
idiom("Factory#register_type of Symbol, optimized") { MessagePack::Factory.new.tap { |f| f.register_type(0, Symbol, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true) }.then { |f| f.load(f.dump({ a: :é })) } }
idiom("Factory#register_type of Integer, oversized") { big_factory.then { |f| [f.dump(2**70), f.load(f.dump([2**70, -2**100, 5]))] } }
idiom("oversized_integer_extension for another class") { outcome { MessagePack::Factory.new.register_type(1, Ext, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, oversized_integer_extension: true) } }
idiom("Factory#register_type of Integer alone") { MessagePack::Factory.new.tap { |f| f.register_type(1, Integer, packer: ->(_) { "i" }, unpacker: ->(_) { :i }) }.then { |f| outcome { f.load(f.dump([5])) } } }
idiom("Factory#register_type twice for a type") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext); f.register_type(1, Held, packer: ->(_) { "h" }, unpacker: ->(data) { data }); [f.load(f.dump([Held.new(1)])), f.registered_types.map { |entry| entry[:class] }] } }
idiom("Factory#register_type twice for a class") { MessagePack::Factory.new.then { |f| f.register_type(1, Ext); f.register_type(2, Ext); [f.dump(Ext.new(1)), f.registered_types.map { |entry| entry.slice(:type, :class) }] } }
idiom("Factory#register_type of Object") { MessagePack::Factory.new.tap { |f| f.register_type(1, Object, packer: ->(object) { object.class.name }, unpacker: ->(name) { name }) }.then { |f| f.load(f.dump([Held.new(1), 1, nil, 1r])) } }
idiom("Factory#register_type of a module") { MessagePack::Factory.new.tap { |f| f.register_type(1, Mixed, packer: ->(_) { "m" }, unpacker: ->(data) { data }) }.then { |f| f.load(f.dump(Class.new { include Mixed }.new)) } }
idiom("Factory#registered_types") { recursive_factory.tap { |f| f.register_type(1, Ext, packer: :to_msgpack_ext, unpacker: nil) }.then { |f| %i[both packer unpacker].map { |which| f.registered_types(which).map { |entry| entry.transform_values { |value| value.is_a?(Proc) ? Proc : value } } } } }
idiom("Factory#registered_types of something else") { MessagePack::Factory.new.registered_types(:none) }
idiom("Factory#type_registered?") { ext_factory.then { |f| [f.type_registered?(1), f.type_registered?(2), f.type_registered?(Ext), f.type_registered?(SubExt), f.type_registered?(Object), f.type_registered?(1, :packer), outcome { f.type_registered?("a") }] } }
idiom("Factory#packer and unpacker") { ext_factory.then { |f| [f.packer.class, f.unpacker.class, f.packer(nil).class, f.packer(StringIO.new, {}).class, f.unpacker(symbolize_keys: true).symbolize_keys?, f.unpacker(nil).class] } }
idiom("Factory#packer: its Packer made anew knows no types") { MessagePack::Factory.new.tap { |f| f.register_type(0, Symbol) }.packer.class.new.write(:a).to_s }
idiom("Factory#packer keeps the types that it was made with") { MessagePack::Factory.new.then { |f| pk = f.packer; f.register_type(1, Ext); outcome { pk.write(Ext.new(1)).to_s } } }
idiom("Factory#dump with an io") { StringIO.new("".b).then { |io| [ext_factory.dump(Ext.new(1), io), io.string] } }
idiom("Factory#dump with options") { MessagePack::Factory.new.dump("a" * 40, compatibility_mode: true) }
idiom("Factory#load with options") { MessagePack::Factory.new.load("\x81\xA1a\x01".b, symbolize_keys: true) }
idiom("Factory#load from an io") { ext_factory.load(StringIO.new("\x91\xD6\x01\x00\x00\x00\x01".b)) }
idiom("Factory#load with nil as options") { MessagePack::Factory.new.load("\x01", nil) }
idiom("Factory#load of cut input") { MessagePack::Factory.new.load("\x92") }
idiom("Factory#load of nil") { MessagePack::Factory.new.load(nil) }
idiom("Factory#pack and unpack") { ext_factory.then { |f| f.unpack(f.pack(Ext.new(2))) } }
idiom("Factory#dup is a copy") { ext_factory.then { |f| g = f.dup; g.register_type(2, Held, packer: ->(_) { "" }, unpacker: ->(_) { nil }); [f.registered_types.size, g.registered_types.size, g.class] } }
idiom("Factory#dup of a frozen one") { ext_factory.freeze.then { |f| [f.frozen?, f.dup.frozen?, f.clone.frozen?] } }
idiom("Factory#freeze works on") { ext_factory.freeze.then { |f| f.load(f.dump(Ext.new(1))) } }
idiom("a subclass of Factory") { Class.new(MessagePack::Factory) { def initialize = super.tap { register_type(1, Ext) } }.new.then { |f| [f.dump(Ext.new(1)), f.dup.class.superclass] } }
idiom("Factory.new with arguments") { MessagePack::Factory.new(1) }
idiom("Factory: nil as handlers") { MessagePack::Factory.new.tap { |f| f.register_type(1, Ext, packer: nil, unpacker: :from_msgpack_ext) }.then { |f| [outcome { f.dump(Ext.new(1)) }, f.load("\xD6\x01\x00\x00\x00\x01".b)] } }
idiom("recursive types") { recursive_factory.then { |f| [f.dump(Held.new([Held.new(1)])), f.load(f.dump([Held.new([Held.new({ "a" => Held.new(nil) })])]))] } }
idiom("classes that recursive handlers get") { MessagePack::Factory.new.then { |f| seen = []; f.register_type(2, Held, packer: ->(h, pk) { (seen << pk.class) && pk.write(h.value) }, unpacker: ->(u) { (seen << u.class) && u.read }, recursive: true); f.load(f.dump(Held.new(1))); seen } }
idiom("a recursive packer that writes several objects") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: ->(h, pk) { pk.write(h.value).write(2) }, unpacker: ->(u) { [u.read, u.read] }, recursive: true); f.load(f.dump([Held.new(1), 9])) } }
idiom("a recursive packer that writes headers") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: ->(h, pk) { pk.write_map_header(1).write("v").write(h.value) }, unpacker: ->(u) { u.read_map_header.then { [u.read, u.read] } }, recursive: true); f.load(f.dump([Held.new(1), 9])) } }
idiom("a recursive packer that writes nothing") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: ->(_, _) {}, unpacker: ->(_) { :none }, recursive: true); f.load(f.dump([Held.new(1)])) } }
idiom("a recursive packer that flushes") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: ->(h, pk) { pk.write(h.value).flush }, unpacker: ->(u) { u.read }, recursive: true); outcome { f.load(f.dump([Held.new(1)])) } } }
idiom("a recursive unpacker that reads too much") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: nil, unpacker: ->(u) { [u.read, u.read] }, recursive: true); outcome { f.load("\x92\xD4\x02\x01\x02".b) } } }
idiom("a recursive unpacker that leaves bytes") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: nil, unpacker: ->(u) { u.read }, recursive: true); outcome { f.load("\x92\xD5\x02\x01\x02\x03".b) } } }
idiom("a recursive unpacker that raises") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: nil, unpacker: ->(_) { raise IOError }, recursive: true); f.load("\xD4\x02\x01".b) } }
idiom("recursive types over an io") { recursive_factory.then { |f| io = StringIO.new("".b); f.packer(io).write([Held.new(1)]).flush; f.unpacker(StringIO.new(io.string)).each.to_a } }
idiom("an ext handler that calls MessagePack") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: ->(h) { MessagePack.pack(h.value) }, unpacker: ->(data) { Held.new(MessagePack.unpack(data)) }); f.load(f.dump(Held.new({ "a" => [1] }))) } }
idiom("an ext handler whose own input is cut") { MessagePack::Factory.new.then { |f| f.register_type(2, Held, packer: nil, unpacker: ->(data) { MessagePack.unpack(data) }); outcome { f.load("\xD4\x02\x91".b) } } }
idiom("an error of user code in a packer") { MessagePack::Factory.new.tap { |f| f.register_type(1, Ext, packer: ->(_) { raise ArgumentError, "mine" }, unpacker: nil) }.then { |f| begin; f.dump([Ext.new(1)]); rescue ArgumentError => e; [e.class, e.message]; end } }
idiom("an ext of every length") { MessagePack::Factory.new.tap { |f| f.register_type(1, Held, packer: ->(h) { "x" * h.value }, unpacker: ->(data) { Held.new(data.size) }) }.then { |f| [0, 1, 2, 3, 4, 8, 16, 17, 255, 256, 65_536].map { |size| [f.dump(Held.new(size))[0, 6], f.load(f.dump(Held.new(size))).value] } } }
