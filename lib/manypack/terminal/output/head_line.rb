# frozen_string_literal: true

# The line of `manypack inspect` for a head: its offset, its byte, its type and its value. head_lines.c makes the same
# lines of whole messages, many times as fast.
module Manypack
  module Terminal
    class HeadLine
      def initialize
        @marks = Array.new(256) { |byte| Colors.paint(format("%02x", byte), :dim) }
        @types = Heads::TABLE.map { |type, *| type && Colors.paint(type, :cyan) }
        @key = "#{Colors.paint("key", :blue)} "
      end

      # Yields the lines of whole messages, some at a time.
      def each_piece(messages, &block)
        Internal.head_lines(messages.bytes, messages.start, messages.size, messages.offset, [@marks, @types, @key],
                            HeadText, &block)
      end

      # Returns the line of a Head at +depth+ or deeper.
      def of(head, depth = 0)
        format("%8d  %s  %s%s\n", head.offset, @marks[head.byte], "  " * (head.depth - depth), description(head))
      end

      private

      def description(head)
        what = "#{@key if head.key}#{@types[head.byte]}"
        case head.type
        when "map" then "#{what} of #{count(head, "pair")}"
        when "array" then "#{what} of #{count(head, "element")}"
        when "str", "bin", "ext" then "#{what} of #{count(head, "byte")}: #{head.text}"
        else [what, head.text].compact.join(" ")
        end
      end

      def count(head, thing)
        "#{head.count} #{thing}#{"s" if head.count != 1}"
      end
    end
  end
end
