# frozen_string_literal: true

# The msgpack gem as most programs call it.

require_relative "../payloads/ext_types"

module Contenders
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
end
