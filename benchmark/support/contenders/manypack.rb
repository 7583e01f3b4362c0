# frozen_string_literal: true

# This gem.

require_relative "../payloads/ext_types"

module Contenders
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
end
