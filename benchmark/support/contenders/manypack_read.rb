# frozen_string_literal: true

# This gem, reading what it could skip.

module Contenders
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
end
