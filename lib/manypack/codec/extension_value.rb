# frozen_string_literal: true

#--
# Manypack::ExtensionValue: an ext without a class of its own.
#++
module Manypack
  ExtensionValue = Struct.new(:type, :payload)

  # An ext without a class of its own: its type, -128 to 127, and the bytes of its payload.
  #
  #   Manypack.pack(Manypack::ExtensionValue.new(5, "ab"))           #=> "\xD5\x05ab"
  #   Manypack.unpack("\xD5\x05ab".b, allow_unknown_ext: true).type  #=> 5
  class ExtensionValue
    ##
    # :attr_accessor: type
    # An Integer, -128 to 127.

    ##
    # :attr_accessor: payload
    # A binary String.
  end
end
