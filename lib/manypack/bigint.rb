# frozen_string_literal: true

# Manypack::Bigint: the Ruby half, with what is in bigint.c.
module Manypack
  # Integers of any size as the body of an ext: a byte of sign, then 32-bit chunks, the least significant first.
  #
  # @example
  #   factory.register_type(1, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
  #                                     unpacker: Manypack::Bigint.method(:from_msgpack_ext),
  #                                     oversized_integer_extension: true)
  module Bigint
    # Bits of one chunk.
    CHUNK_BITLENGTH = 32

    # The chunks, for Array#pack.
    CHUNK_FORMAT = "L>*"

    # The whole body, for Array#pack.
    FORMAT = "C#{CHUNK_FORMAT}".freeze
  end
end
