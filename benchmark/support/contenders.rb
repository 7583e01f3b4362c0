# frozen_string_literal: true

# What Manypack is measured beside. A contender is a module, so that every Ractor may have it; it answers label, pack and
# unpack.

require "json"
require "manypack"

begin
  require "msgpack"
rescue LoadError
  # The bundle's group "bench" has it; without that group there is one contender less.
end

module Contenders
  # This gem.
  module WithManypack
    def self.label = "Manypack"
    def self.pack(object) = Manypack.pack(object)
    def self.unpack(bytes) = Manypack.unpack(bytes)
  end

  # The json library that this Ruby has.
  module WithJson
    def self.label = "JSON"
    def self.pack(object) = JSON.generate(object)
    def self.unpack(bytes) = JSON.parse(bytes)
  end

  # Ruby's own format.
  module WithMarshal
    def self.label = "Marshal"
    def self.pack(object) = Marshal.dump(object)
    def self.unpack(bytes) = Marshal.load(bytes)
  end

  # The msgpack gem.
  module WithMsgpack
    def self.label = "msgpack"
    def self.pack(object) = MessagePack.pack(object)
    def self.unpack(bytes) = MessagePack.unpack(bytes)
  end

  # @return [Array<Module>] those that can run here, Manypack first
  def self.all
    [WithManypack, WithJson, WithMarshal, *(WithMsgpack if msgpack?)]
  end

  # @return [Boolean] whether the msgpack gem is there
  def self.msgpack?
    !defined?(::MessagePack::VERSION).nil?
  end

  # @return [String] names and versions of what runs here
  def self.versions
    versions = ["Manypack #{Manypack::VERSION}", "JSON #{JSON::VERSION}"]
    versions << "msgpack #{MessagePack::VERSION}" if msgpack?
    versions.join(", ")
  end
end
