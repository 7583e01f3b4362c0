# frozen_string_literal: true

# For readers that are no IO: the bytes that were read too early come again. The class has +next_bytes+.
module Manypack
  module Terminal
    module Pushback
      # Takes bytes back, under the name that IO has for it.
      def ungetbyte(bytes)
        @ahead = bytes
      end

      # Returns the next bytes, +size+ at most. Raises EOFError at the end.
      def readpartial(size)
        return next_bytes(size) unless @ahead

        bytes = @ahead.byteslice(0, size)
        @ahead = bytes.bytesize < @ahead.bytesize ? @ahead.byteslice(size..) : nil
        bytes
      end
    end
  end
end
