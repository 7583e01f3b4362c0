# frozen_string_literal: true

# The bson gem, which carries nothing but maps at the top.

module Contenders
  module WithBson
    def self.label = "bson"
    def self.load = require("bson")
    def self.version = BSON::VERSION
    def self.pack(object) = object.to_bson.to_s
    def self.unpack(bytes) = Hash.from_bson(BSON::ByteBuffer.new(bytes))

    # It takes a String for UTF-8 and no other, and an Integer of 64 bits with a sign.
    def self.check(payload)
      return unless payload.is_a?(Hash)

      bytes = pack(payload)
      { bytes: bytes.bytesize, same: nil } if unpack(bytes).inspect == payload.inspect
    rescue ArgumentError, EncodingError, RangeError
      nil
    end
  end
end
