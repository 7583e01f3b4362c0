# frozen_string_literal: true

# Whose memory is measured: a module for each library, so that every Ractor may have it. Needs nothing before load.
module Peers
  # This gem.
  module Manypack
    def self.label = "Manypack"
    def self.load = require("manypack")
    def self.version = ::Manypack::VERSION
    def self.format = "msgpack"
    def self.pack(object) = ::Manypack.pack(object)
    def self.unpack(bytes) = ::Manypack.unpack(bytes)
    def self.unpacker = ::Manypack::Unpacker.new
    def self.packer = ::Manypack::Packer.new
  end

  # The msgpack gem.
  module Msgpack
    def self.label = "msgpack"
    def self.load = require("msgpack")
    def self.version = ::MessagePack::VERSION
    def self.format = "msgpack"
    def self.pack(object) = ::MessagePack.pack(object)
    def self.unpack(bytes) = ::MessagePack.unpack(bytes)
    def self.unpacker = ::MessagePack::Unpacker.new
    def self.packer = ::MessagePack::Packer.new
  end

  # The json library that this Ruby, or the bundle, has.
  module Json
    def self.label = "json"
    def self.load = require("json")
    def self.version = ::JSON::VERSION
    def self.format = "json"
    def self.pack(object) = ::JSON.generate(object)
    def self.unpack(bytes) = ::JSON.parse(bytes)
  end

  ALL = [Manypack, Msgpack, Json].freeze
  STREAMING = [Manypack, Msgpack].freeze
end
