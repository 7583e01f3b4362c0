# frozen_string_literal: true

# Libraries of the same format: this gem, and the msgpack gem as it is called and at its fastest.

require_relative "../payloads/ext_types"

module Contenders
  # This gem.
  module WithManypack
    def self.label = "Manypack"

    def self.load
      require("manypack")
      const_set(:FACTORY, Payloads::ExtTypes.register(Manypack::Factory.new, Manypack::Time).freeze)
      const_set(:UNPACKER, Manypack::Unpacker.new)
      const_set(:POOL, FACTORY.pool(5))
    end

    def self.feature = "manypack"
    def self.version = Manypack::VERSION
    def self.pack(object) = Manypack.pack(object)
    def self.unpack(bytes) = Manypack.unpack(bytes)

    def self.dump(object) = FACTORY.dump(object)
    def self.restore(bytes) = FACTORY.load(bytes)

    # As ActiveSupport::MessagePack calls it; 128 is its signature.
    def self.serialize(object)
      POOL.packer do |packer|
        packer.write(128)
        packer.write(object)
        packer.full_pack
      end
    end

    def self.deserialize(bytes)
      POOL.unpacker do |unpacker|
        unpacker.feed_reference(bytes)
        raise "no signature" unless unpacker.read == 128

        unpacker.full_unpack
      end
    end

    def self.pack_registering(object)
      packer = Manypack::Packer.new
      packer.register_type(0, Payloads::Extended, :to_msgpack_ext)
      packer.write(object).to_s
    end

    def self.unpack_registering(bytes)
      unpacker = Manypack::Unpacker.new
      unpacker.register_type(0, Payloads::Extended, :from_msgpack_ext)
      unpacker.feed(bytes).read
    end

    def self.packer(io) = Manypack::Packer.new(io)
    def self.unpacker(io = nil) = Manypack::Unpacker.new(io)
    def self.skip(bytes) = UNPACKER.feed(bytes).skip
    def self.next_object = UNPACKER.read
    def self.bytes(object) = Manypack.pack(object)
  end

  # This gem, reading what it could skip.
  module WithManypackRead
    def self.label = "read instead"

    def self.load
      require("manypack")
      const_set(:UNPACKER, Manypack::Unpacker.new)
    end

    def self.version = Manypack::VERSION
    def self.skip(bytes) = UNPACKER.feed(bytes).read
    def self.next_object = UNPACKER.read
    def self.bytes(object) = Manypack.pack(object)
  end

  # The msgpack gem as most programs call it.
  module WithMsgpack
    def self.label = "msgpack"

    def self.load
      require("msgpack")
      const_set(:FACTORY, Payloads::ExtTypes.register(MessagePack::Factory.new, MessagePack::Time))
      const_set(:UNPACKER, MessagePack::Unpacker.new)
      const_set(:POOL, FACTORY.dup.freeze.pool(5))
    end

    def self.feature = "msgpack"
    def self.version = MessagePack::VERSION
    def self.pack(object) = MessagePack.pack(object)
    def self.unpack(bytes) = MessagePack.unpack(bytes)

    def self.dump(object) = FACTORY.dump(object)
    def self.restore(bytes) = FACTORY.load(bytes)

    # As ActiveSupport::MessagePack calls it; 128 is its signature.
    def self.serialize(object)
      POOL.packer do |packer|
        packer.write(128)
        packer.write(object)
        packer.full_pack
      end
    end

    def self.deserialize(bytes)
      POOL.unpacker do |unpacker|
        unpacker.feed_reference(bytes)
        raise "no signature" unless unpacker.read == 128

        unpacker.full_unpack
      end
    end

    def self.pack_registering(object)
      packer = MessagePack::Packer.new
      packer.register_type(0, Payloads::Extended, :to_msgpack_ext)
      packer.write(object).to_s
    end

    def self.unpack_registering(bytes)
      unpacker = MessagePack::Unpacker.new
      unpacker.register_type(0, Payloads::Extended, :from_msgpack_ext)
      unpacker.feed(bytes).read
    end

    def self.packer(io) = MessagePack::Packer.new(io)
    def self.unpacker(io = nil) = MessagePack::Unpacker.new(io)
    def self.skip(bytes) = UNPACKER.feed(bytes).skip
    def self.next_object = UNPACKER.read
    def self.bytes(object) = MessagePack.pack(object)
  end

  # The fastest that the msgpack gem offers: a pool of a frozen factory, with its cache of map keys.
  module WithMsgpackPool
    def self.label = "msgpack pool"

    def self.load
      require("msgpack")
      renew
    end

    # For every case: a pool's cache takes the first 63 keys that it meets, and never others.
    def self.renew
      constants.grep(/POOL/).each { |name| remove_const(name) }
      const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, key_cache: true))
      factory = Payloads::ExtTypes.register(MessagePack::Factory.new, MessagePack::Time).freeze
      const_set(:EXT_POOL, factory.pool(1, key_cache: true))
    end

    def self.version = MessagePack::VERSION
    def self.pack(object) = POOL.dump(object)
    def self.unpack(bytes) = POOL.load(bytes)
    def self.dump(object) = EXT_POOL.dump(object)
    def self.restore(bytes) = EXT_POOL.load(bytes)
    def self.packer(io) = MessagePack::Packer.new(io)
    def self.unpacker(io = nil) = MessagePack::Unpacker.new(io, key_cache: true)
  end
end
