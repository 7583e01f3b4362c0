# frozen_string_literal: true

# Manypack::Bigint: Integers above 64 bits as an ext.
module Manypack
  # Integers of any size as the body of an ext: a byte of sign, then 32-bit chunks, the least significant first. Both
  # directions take time in proportion to the size.
  #
  # @example
  #   factory.register_type(1, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
  #                                     unpacker: Manypack::Bigint.method(:from_msgpack_ext),
  #                                     oversized_integer_extension: true)
  module Bigint
    # Bits of one chunk.
    CHUNK_BITLENGTH = 32

    # The whole body, for Array#pack.
    FORMAT = "CL>*"

    # Hexadecimal digits of one chunk.
    CHUNK_DIGITS = CHUNK_BITLENGTH / 4
    private_constant :CHUNK_DIGITS

    module_function

    # The body of an Integer.
    #
    # @param bigint [Integer]
    # @return [String] binary
    # @raise [NoMethodError] for what is no Integer
    # @example
    #   Manypack::Bigint.to_msgpack_ext(-5) #=> "\x01\0\0\0\x05"
    def to_msgpack_ext(bigint)
      chunks = (bigint.abs.bit_length + CHUNK_BITLENGTH - 1) / CHUNK_BITLENGTH
      digits = bigint.zero? ? "" : bigint.abs.to_s(16).rjust(chunks * CHUNK_DIGITS, "0")
      [bigint.negative? ? 1 : 0, *[digits].pack("H*").unpack("L>*").reverse].pack(FORMAT)
    end

    # @param data [String]
    # @return [Integer]
    # @raise [MalformedFormatError] for a size that no Integer has
    # @example
    #   Manypack::Bigint.from_msgpack_ext("\x01\0\0\0\x05") #=> -5
    def from_msgpack_ext(data)
      unless data.bytesize % 4 == 1
        raise MalformedFormatError, "a bigint has a byte of sign and chunks of 4 bytes, not #{data.bytesize} bytes"
      end

      sign, *chunks = data.unpack(FORMAT)
      magnitude = chunks.reverse.pack("L>*").unpack1("H*").to_i(16)
      sign.zero? ? magnitude : -magnitude
    end
  end
end
