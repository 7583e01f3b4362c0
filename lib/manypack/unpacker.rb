# frozen_string_literal: true

#--
# The Ruby half of Manypack::Unpacker: ext types of a single Unpacker. The other half is unpacker.c.
#++
module Manypack
  class Unpacker
    # Registers an ext type with this Unpacker alone and returns nil; see Factory#register_type for more.
    #
    # type:: an Integer, -128 to 127
    # klass:: the Class or Module that has the method, or nil
    # method_name:: instead of a block: the name of a method, a Proc, a Method, or any object with +call+
    #
    # The block receives the body, a binary String, and returns the object. Raises the errors of Factory#register_type.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.feed("\xD5\x01ab").read #=> "ba"
    def register_type(type, klass = nil, method_name = nil, &block)
      handler = block || method_name || raise(ArgumentError, "no block or method given")
      register_type_internal(type, klass, handler)
    end

    # Returns an Array with a Hash for each ext type, sorted by type: +:type+, +:class+ and the Proc +:unpacker+.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.registered_types.map { |entry| entry[:type] } #=> [1]
    def registered_types
      registered_types_internal.sort_by { |entry| entry[:type] }
    end

    # Returns true for an ext type, an Integer, or a class that is registered. Raises ArgumentError for anything else.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.type_registered?(1) #=> true
    def type_registered?(klass_or_type)
      Arguments.registered?(registered_types_internal, klass_or_type, exact: true)
    end
  end
end
