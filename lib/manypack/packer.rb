# frozen_string_literal: true

# Manypack::Packer: the Ruby half, with what is in packer.c.
module Manypack
  # Ext types of one Packer; see Factory#register_type for those of many.
  class Packer
    # Registers how a class is packed by this Packer.
    #
    # @param type [Integer] -128 to 127
    # @param klass [Module]
    # @param method_name [Symbol, String, Proc, Method, #call] instead of a block
    # @yieldparam object [Object]
    # @yieldreturn [String] the body
    # @return [nil]
    # @raise [RangeError, ArgumentError, ::TypeError, FrozenError] as Factory#register_type
    # @example
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.write(1..2).to_s #=> "\xD6\x011..2"
    def register_type(type, klass, method_name = nil, &block)
      raise ArgumentError, "expected Module/Class but found #{klass.class}." unless klass.is_a?(Module)

      Arguments.check_class(klass) unless Arguments.lenient?
      register_type_internal(type, klass, block || method_name || raise(ArgumentError, "no block and no method given"))
    end

    # @return [Array<Hash>] of +:type+, +:class+ and +:packer+, a Proc, by type
    # @example
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.registered_types.map { |entry| entry[:type] } #=> [1]
    def registered_types
      registered_types_internal.sort_by { |entry| entry[:type] }
    end

    # @param klass_or_type [Module, Integer]
    # @return [Boolean] whether the class, or one that it inherits or includes, or the type is registered
    # @raise [ArgumentError] for anything else
    # @example
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.type_registered?(1) #=> true
    def type_registered?(klass_or_type)
      case klass_or_type
      when Module then registered_types_internal.any? { |entry| klass_or_type <= entry[:class] }
      when Integer then registered_types_internal.any? { |entry| klass_or_type == entry[:type] }
      else raise ArgumentError, "class or type id"
      end
    end
  end
end
