# frozen_string_literal: true

# Pools, and the factory of MessagePack.pack.
idiom("Factory#pool") { ext_factory.pool(2).then { |pool| [pool.class, pool.load(pool.dump([Ext.new(1)]))] } }
idiom("Factory#pool with options") { MessagePack::Factory.new.pool(1, symbolize_keys: true, freeze: true).load("\x81\xA1a\xA1b".b).then { |hash| [hash, hash.frozen?] } }
idiom("Factory#pool with unknown options") { MessagePack::Factory.new.pool(1, unknown: 1).load("\x01") }
idiom("Pool#packer") { ext_factory.pool.packer { |pk| [pk.class, pk.write(Ext.new(1)).full_pack, pk.frozen?] } }
idiom("Pool#unpacker") { ext_factory.pool.unpacker { |u| [u.class, u.feed("\x01").full_unpack, u.frozen?] } }
idiom("Pool#packer resets it") { MessagePack::Factory.new.pool.then { |pool| pool.packer { |pk| pk.write(1) && nil }; pool.packer { |pk| pk.write(2).to_s } } }
idiom("Pool#unpacker resets it") { MessagePack::Factory.new.pool.then { |pool| pool.unpacker { |u| u.feed("\x92") && nil }; pool.load("\x05") } }
idiom("Pool#packer and register_type") { MessagePack::Factory.new.pool.packer { |pk| pk.register_type(1, Ext) { "" } } }
idiom("Pool of a Pool") { MessagePack::Factory.new.pool(1).then { |pool| pool.packer { |one| pool.packer { |two| [one.equal?(two), one.write(1).to_s, two.write(2).to_s] } } } }
idiom("Pool#load after an error") { MessagePack::Factory.new.pool(1).then { |pool| [outcome { pool.load("\x92") }, outcome { pool.load("\xC1".b) }, pool.load("\x05")] } }
idiom("Pool#dump after an error") { MessagePack::Factory.new.pool(1).then { |pool| [outcome { pool.dump([1, Object.new]) }, pool.dump(5)] } }
idiom("Pool#load from an io") { outcome { MessagePack::Factory.new.pool.load(StringIO.new("\x01")) } }
idiom("Pool.new") { MessagePack::Factory::Pool.new(ext_factory, 2).then { |pool| pool.load(pool.dump(Ext.new(1))) } }
idiom("a pool in Threads") { MessagePack::Factory.new.pool(2).then { |pool| Array.new(4) { |n| Thread.new { pool.load(pool.dump([n])) } }.map(&:value) } }
idiom("a pool does not see later types") { MessagePack::Factory.new.then { |f| pool = f.pool; f.register_type(1, Ext); outcome { pool.dump(Ext.new(1)) } } }

idiom("DefaultFactory") { [MessagePack::DefaultFactory.class, MessagePack::DefaultFactory.frozen?] }
idiom("DefaultFactory#register_type") { MessagePack::DefaultFactory.register_type(100, Ext) && nil || [MessagePack.pack(Ext.new(1)), MessagePack.unpack(MessagePack.pack([Ext.new(1)])), Ext.new(1).then { |ext| [ext].to_msgpack }] }
idiom("DefaultFactory#registered_types") { MessagePack::DefaultFactory.registered_types.map { |entry| entry.slice(:type, :class) } }
idiom("DefaultFactory#type_registered?") { [MessagePack::DefaultFactory.type_registered?(Ext), MessagePack::DefaultFactory.type_registered?(99)] }
idiom("DefaultFactory#packer and dup") { [MessagePack::DefaultFactory.packer.write(Ext.new(1)).to_s, MessagePack::DefaultFactory.dup.dump(Ext.new(1)), MessagePack::DefaultFactory.pool.dump(Ext.new(1))] }
idiom("Packer.new knows no types of it") { outcome { MessagePack::Packer.new.write(Ext.new(1)) } }
idiom("Unpacker.new knows no types of it") { outcome { MessagePack::Unpacker.new.feed("\xD6\x64\x00\x00\x00\x01".b).read } }
