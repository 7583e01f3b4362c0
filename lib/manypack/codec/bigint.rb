# frozen_string_literal: true

#--
# The Ruby half of Manypack::Bigint; the other half is bigint.c.
#++
module Manypack
  # Packs Integers of any size as the body of an ext: one byte for the sign, then 32-bit chunks, the least significant
  # first.
  #
  #   factory = Manypack::Factory.new
  #   factory.register_type(1, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
  #                                     unpacker: Manypack::Bigint.method(:from_msgpack_ext),
  #                                     oversized_integer_extension: true)
  module Bigint
    # The bits of one chunk.
    CHUNK_BITLENGTH = 32

    # The format of the chunks for Array#pack.
    CHUNK_FORMAT = "L>*"

    # The format of the whole body for Array#pack.
    FORMAT = "C#{CHUNK_FORMAT}".freeze
  end
end
