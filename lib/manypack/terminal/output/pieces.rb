# frozen_string_literal: true

# An io that yields what is written to it, some at a time.
module Manypack
  module Terminal
    class Pieces
      MOST = 1 << 18

      def initialize(&block)
        @block = block
        @text = "".b
      end

      def write(text)
        @text << text.b
        flush if @text.bytesize > MOST
        text.bytesize
      end

      def flush
        return if @text.empty?

        text = @text
        @text = "".b
        @block.call(text)
      end
    end
  end
end
