# frozen_string_literal: true

# The cbor gem: another binary format, by the code that the msgpack gem grew from.

module Contenders
  module WithCbor
    def self.label = "cbor"
    def self.load = require("cbor")
    def self.version = CBOR::VERSION
    def self.pack(object) = CBOR.encode(object)
    def self.unpack(bytes) = CBOR.decode(bytes)
  end
end
