# frozen_string_literal: true

# An io that collects what is written to it, and yields it in pieces.
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
