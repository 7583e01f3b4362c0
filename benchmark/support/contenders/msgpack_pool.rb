# frozen_string_literal: true

# The fastest that the msgpack gem offers: a pool of a frozen factory, with its cache of map keys.

require_relative "../payloads/ext_types"

module Contenders
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
