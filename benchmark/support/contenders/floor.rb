# frozen_string_literal: true

# No serializer: it makes the graph that it knows beforehand, and walks over one. See benchmark/floor.
require_relative "../side_extension"

module Contenders
  module WithFloor
    def self.label = "floor"

    def self.load
      SideExtension.new("floor", "floor").load
      require "manypack"
    end

    def self.feature = nil # to require
    def self.version = "of #{RUBY_VERSION}"

    # @return [Floor::Plan, Floor::Walk] what the operation needs in place of bytes or of the object
    def self.argument(operation, payload)
      operation == "pack" ? Floor::Walk.new(payload, Manypack.pack(payload).bytesize) : Floor::Plan.new(payload)
    end

    def self.pack(walk) = walk.run
    def self.unpack(plan) = plan.run

    # It has no bytes to compare: the graph must be the same, and every string in the bytes.
    def self.check(payload)
      bytes = pack(argument("pack", payload))
      missing = strings(payload).any? { |string| !bytes.include?(string.b) }
      raise "the floor is cracked" if missing || unpack(argument("unpack", payload)).inspect != payload.inspect

      { bytes: bytes.bytesize, same: nil }
    rescue TypeError
      nil # a Symbol
    end

    def self.strings(object)
      case object
      when String then [object]
      when Array then object.flat_map { |element| strings(element) }.uniq
      when Hash then strings(object.to_a)
      else []
      end
    end
    private_class_method :strings
  end
end
