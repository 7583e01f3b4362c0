# frozen_string_literal: true

# What Manypack raises of its own. The classes and their tree are those of the msgpack gem where it has them.
module Manypack
  # In every error that decoding raises, so that one rescue gets them all.
  #
  # @example
  #   begin
  #     Manypack.unpack(bytes)
  #   rescue Manypack::DecodeError => error
  #     warn "bad message: #{error.message}"
  #   end
  module DecodeError
    # An error that comes out of the handler of an ext type has the offset of that ext. So has an error of another
    # message that the handler unpacked; the offset in that message stays in the error's words. A TruncatedError becomes
    # the cause of a MalformedFormatError then, because the input around the ext has not ended. Without any input around
    # it, as when a handler is called by hand, the offset is 0.
    #
    # @return [Integer] where in the input, in bytes, the object starts that is to blame
    # @example
    #   begin
    #     Manypack.unpack("\x92\x01\xC1")
    #   rescue Manypack::DecodeError => error
    #     error.offset #=> 2
    #   end
    def offset
      @offset || 0
    end
  end

  # In the errors that say that an object of another type was expected.
  module TypeError
  end

  # The input is not what was asked for.
  class UnpackError < StandardError
    include DecodeError
  end

  # The input is not MessagePack, or has more than one object.
  class MalformedFormatError < UnpackError
  end

  # The input has more containers inside each other than +max_depth+, or than are allowed in map keys.
  class StackError < UnpackError
  end

  # The input has an object of another type than the method reads.
  class UnexpectedTypeError < UnpackError
    include TypeError
  end

  # The input has an ext type that nobody registered.
  class UnknownExtTypeError < UnpackError
    include TypeError
  end

  # The input exceeds a limit, or says that it will. A map that has more than 16 different keys of one hash, or more
  # than 4 that are containers, which only NaN and user classes can have, exceeds +max_same_hash+: no option, as it
  # would take quadratic time.
  #
  # @example
  #   Manypack.unpack("\x93\x01\x02\x03", max_bytes: 3)
  #   # raises LimitError: max_bytes is 3, the input has 4 bytes or more, at byte 3
  class LimitError < UnpackError
    # @return [Symbol] the option that sets the limit; +:max_same_hash+
    # @example
    #   error.limit #=> :max_bytes
    attr_reader :limit

    # @return [Integer] what the input has, or declares
    # @example
    #   error.value #=> 4
    attr_reader :value
  end

  # The input ends inside an object. An EOFError, as the msgpack gem raises.
  class TruncatedError < ::EOFError
    include DecodeError
  end

  # Packing met more levels of nesting than +max_depth+, or data that contains itself.
  class NestingError < StandardError
  end
end
