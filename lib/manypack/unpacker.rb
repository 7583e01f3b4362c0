# frozen_string_literal: true

# Manypack::Unpacker: the Ruby half, with what is in unpacker.c.
module Manypack
  # Ext types of one Unpacker; see Factory#register_type for those of many.
  class Unpacker
    # Registers how a type is unpacked by this Unpacker.
    #
    # @param type [Integer] -128 to 127
    # @param klass [Module, nil] whose method +method_name+ is
    # @param method_name [Symbol, String, Proc, Method, #call] instead of a block
    # @yieldparam body [String] binary
    # @yieldreturn [Object]
    # @return [nil]
    # @raise [RangeError, ArgumentError, ::TypeError, FrozenError] as Factory#register_type
    # @example
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.feed("\xD5\x01ab").read #=> "ba"
    def register_type(type, klass = nil, method_name = nil, &block)
      handler = block || method_name || raise(ArgumentError, "no block and no method given")
      register_type_internal(type, klass, handler)
    end

    # @return [Array<Hash>] of +:type+, +:class+ and +:unpacker+, a Proc, by type
    # @example
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.registered_types.map { |entry| entry[:type] } #=> [1]
    def registered_types
      registered_types_internal.sort_by { |entry| entry[:type] }
    end

    # @param klass_or_type [Module, Integer]
    # @return [Boolean] whether the class or the type is registered
    # @raise [ArgumentError] for anything else
    # @example
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.type_registered?(1) #=> true
    def type_registered?(klass_or_type)
      case klass_or_type
      when Module then registered_types_internal.any? { |entry| klass_or_type == entry[:class] }
      when Integer then registered_types_internal.any? { |entry| klass_or_type == entry[:type] }
      else raise ArgumentError, "class or type id"
      end
    end
  end
end
