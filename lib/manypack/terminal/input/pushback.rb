# frozen_string_literal: true

# For readers that are no IO: lets them take back bytes that were read too early. The class needs +next_bytes+, which
# may return more than it was asked for.
module Manypack
  module Terminal
    module Pushback
      # Takes bytes back, under the name that IO has for it.
      def ungetbyte(bytes)
        @ahead = @ahead ? bytes + @ahead : bytes
      end

      # Returns the next bytes, +size+ at most. Raises EOFError at the end.
      def readpartial(size)
        bytes = @ahead || next_bytes(size)
        @ahead = bytes.bytesize > size ? bytes.byteslice(size..) : nil
        @ahead ? bytes.byteslice(0, size) : bytes
      end
    end
  end
end
