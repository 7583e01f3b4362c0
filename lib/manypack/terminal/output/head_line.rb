# frozen_string_literal: true

# The words in the lines of `manypack inspect`: a line for a head has its offset, its byte, its type and its value.
module Manypack
  module Terminal
    class HeadLine
      # The type of each head byte, from the first byte that has it on.
      FIRST = {
        0x00 => "fixint", 0x80 => "map", 0x90 => "array", 0xa0 => "str", 0xc0 => "nil", 0xc1 => nil, 0xc2 => "false",
        0xc3 => "true", 0xc4 => "bin", 0xc7 => "ext", 0xca => "float32", 0xcb => "float64", 0xcc => "uint8",
        0xcd => "uint16", 0xce => "uint32", 0xcf => "uint64", 0xd0 => "int8", 0xd1 => "int16", 0xd2 => "int32",
        0xd3 => "int64", 0xd4 => "ext", 0xd9 => "str", 0xdc => "array", 0xde => "map", 0xe0 => "fixint"
      }.freeze
      TYPES = Array.new(256) { |byte| FIRST[FIRST.keys.select { |first| first <= byte }.last] }.freeze
      private_constant :FIRST

      # How many bytes of a text are shown.
      SHOWN = 60

      def initialize
        marks = Array.new(256) { |byte| Colors.paint(format("%02x", byte), :dim) }
        types = TYPES.map { |type| type && Colors.paint(type, :cyan) }
        @words = [marks, types, "#{Colors.paint("key", :blue)} "]
      end

      # Yields the lines of messages, some at a time. Raises a DecodeError after the lines before it.
      def each_piece(bytes, start, size, offset, &block)
        Internal.head_lines(bytes, start, size, offset, @words, self, &block)
      end

      # Yields the path and the lines of the object at a byte of a message that starts at +offset+.
      def at(byte, bytes, offset, &block)
        Internal.head_lines_at(bytes, byte, offset, @words, self, &block)
      end

      # Returns the first bytes of a str, at most SHOWN, as they are shown. cut:: true if there are more
      def text(bytes, cut)
        shown = bytes.dup.force_encoding(Encoding::UTF_8)
        shown = shown.scrub("") if cut # it may end inside a character
        "#{Visible.line(shown.inspect)}#{"..." if cut}"
      end

      # Returns the text of a key that is a bin: often text that an old library packed so. Returns nil for other bytes.
      def key(bytes)
        whole = bytes.dup.force_encoding(Encoding::UTF_8)
        return if whole.empty? || !whole.valid_encoding? || whole.match?(HIDDEN)

        text(bytes.byteslice(0, SHOWN), bytes.bytesize > SHOWN)
      end
    end
  end
end
