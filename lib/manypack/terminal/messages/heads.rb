# frozen_string_literal: true

# Reads head bytes one by one, in Ruby, for the commands that show them. It stops at the end or at an invalid head.
module Manypack
  module Terminal
    class Heads
      include Enumerable

      # A head: its offset, its byte, its type, its size in bytes, and the count of its bytes of payload, elements or
      # pairs. Depth and the steps of a Path say where it is; a key has the steps of its map. +key+ is true for a key,
      # and +text+ shows the value.
      Head = Struct.new(:offset, :byte, :type, :size, :count, :depth, :steps, :key, :text) do
        # The size with the payload, but without the contents of a container.
        def bytesize
          PAYLOAD.include?(type) ? size + count : size
        end
      end

      PAYLOAD = %w[str bin ext].freeze
      COUNTED = %w[str bin ext array map].freeze

      # The step of a key that a Path cannot name: an array, a map, an ext or NaN.
      UNNAMED = :unnamed

      # For each head byte: the type, how many bytes of number follow, and the count if the byte holds it.
      TABLE = Array.new(256) do |byte|
        case byte
        when 0x00..0x7f, 0xe0..0xff then ["fixint"]
        when 0x80..0x8f then ["map", 0, byte & 15]
        when 0x90..0x9f then ["array", 0, byte & 15]
        when 0xa0..0xbf then ["str", 0, byte & 31]
        when 0xc0 then ["nil"]
        when 0xc1 then nil
        when 0xc2 then ["false"]
        when 0xc3 then ["true"]
        when 0xc4..0xc6 then ["bin", 1 << byte - 0xc4]
        when 0xc7..0xc9 then ["ext", 1 << byte - 0xc7]
        when 0xca then ["float32", 4]
        when 0xcb then ["float64", 8]
        when 0xcc..0xcf then ["uint#{8 << byte - 0xcc}", 1 << byte - 0xcc]
        when 0xd0..0xd3 then ["int#{8 << byte - 0xd0}", 1 << byte - 0xd0]
        when 0xd4..0xd8 then ["ext", 0, 1 << byte - 0xd4]
        when 0xd9..0xdb then ["str", 1 << byte - 0xd9]
        when 0xdc..0xdd then ["array", 2 << byte - 0xdc]
        else ["map", 2 << byte - 0xde]
        end
      end.freeze

      NUMBERS = {1 => "C", 2 => "n", 4 => "N", 8 => "Q>"}.freeze

      # How many bytes of a payload are shown as hexadecimal.
      SHOWN_BYTES = 20

      # An open container: how many objects it lacks, whether it is a map, the steps to it, the key of the next value of
      # a map, and the index of the next element.
      Frame = Struct.new(:left, :map, :steps, :key, :index)

      # The bytes start at +origin+, an offset in the input. Without +steps+, which take time, the Heads have none.
      def initialize(bytes, origin = 0, steps: true)
        @bytes = bytes
        @origin = origin
        @steps = steps
      end

      # Yields each Head of one message, and returns the offset after the last one that is whole.
      def each
        at = 0
        open = []
        while (head = read(at, open))
          yield head
          break if at + head.bytesize > @bytes.bytesize

          at += head.bytesize
          pass(head, open)
          open.pop while open.last && open.last.left.zero?
          break if open.empty?
        end
        at
      end

      private

      # Returns the head at an index, or nil if it is incomplete or if its byte is invalid.
      def read(at, open)
        byte = @bytes.getbyte(at) or return
        type, number, count = TABLE[byte]
        return unless type

        size = 1 + number.to_i + (type == "ext" ? 1 : 0)
        return if at + size > @bytes.bytesize

        count ||= number_at(at + 1, number) if COUNTED.include?(type)
        frame = open.last
        head = Head.new(@origin + at, byte, type, size, count, open.size, steps_of(frame), key?(frame))
        head.text = text_of(head, at, number)
        head
      end

      def number_at(at, number)
        @bytes.byteslice(at, number).unpack1(NUMBERS[number])
      end

      def key?(frame)
        frame&.map && frame.left.even?
      end

      def steps_of(frame)
        return [] unless frame && @steps
        return frame.steps if key?(frame)

        [*frame.steps, frame.map ? frame.key : frame.index]
      end

      # Counts an object in the container around it, and opens it if it is a container itself.
      def pass(head, open)
        frame = open.last
        if frame
          frame.key = value_of(head) if @steps && key?(frame)
          frame.index += 1
          frame.left -= 1
        end
        return unless %w[map array].include?(head.type)

        steps = head.key && @steps ? [*head.steps, UNNAMED] : head.steps
        open << Frame.new(head.type == "map" ? head.count * 2 : head.count, head.type == "map", steps, nil, 0)
      end

      # Returns the step by which a Path finds the value of a key, or UNNAMED.
      def value_of(head)
        case head.type
        when "str", "bin" then name_of(@bytes.byteslice(head.offset - @origin + head.size, head.count), head.type)
        when "true" then true
        when "false" then false
        when "nil" then nil
        when /int/ then Integer(head.text)
        when /float/ then float_of(head)
        else UNNAMED
        end
      end

      # Bytes that are no text are binary: so a Path finds them in a bin and in a str. A bin of ASCII is found as text.
      def name_of(bytes, type)
        text = bytes.dup.force_encoding(Encoding::UTF_8)
        type == "str" && text.valid_encoding? ? text : bytes.b
      end

      def float_of(head)
        bytes = @bytes.byteslice(head.offset - @origin + 1, head.size - 1)
        float = bytes.unpack1(head.size == 5 ? "g" : "G")
        float.nan? ? UNNAMED : float
      end

      def text_of(head, at, number)
        case head.type
        when "fixint" then (head.byte < 0x80 ? head.byte : head.byte - 0x100).to_s
        when /\Auint/ then number_at(at + 1, number).to_s
        when /\Aint/ then signed(number_at(at + 1, number), number * 8).to_s
        when /\Afloat/ then Manypack.to_json(@bytes.byteslice(at, 1 + number), allow_nan: true)
        when "str" then str_text(at + head.size, head.count)
        when "bin" then key_text(head, at) || bin_text(at + head.size, head.count)
        when "ext" then "type #{ext_type(at + head.size - 1)}, #{bin_text(at + head.size, head.count)}"
        end
      end

      def ext_type(at)
        signed(@bytes.getbyte(at), 8)
      end

      def signed(number, bits)
        number[bits - 1].zero? ? number : number - (1 << bits)
      end

      def key_text(head, at)
        HeadText.key(@bytes.byteslice(at + head.size, head.count)) if head.key
      end

      def str_text(at, count)
        HeadText.text(@bytes.byteslice(at, [count, HeadText::SHOWN].min), count > HeadText::SHOWN)
      end

      def bin_text(at, count)
        digits = @bytes.byteslice(at, [count, SHOWN_BYTES].min).unpack1("H*").scan(/../)
        digits << "..." if count > SHOWN_BYTES
        digits.join(" ")
      end
    end
  end
end
