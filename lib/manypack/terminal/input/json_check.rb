# frozen_string_literal: true

# Finds what is wrong with a JSON text, and where, by the rules of RFC 8259 alone. Libraries differ: some take comments,
# NaN or Latin-1, or read 1E400 as Infinity.
require "json"
require "strscan"

module Manypack
  module Terminal
    class JSONCheck
      # What is wrong, and the offset in bytes.
      class Invalid < StandardError
        attr_reader :offset

        def initialize(message, offset)
          @offset = offset
          super(message)
        end
      end

      SPACE = /[ \t\r\n]*/n
      CHARACTERS = /(?>[^"\\\x00-\x1f]+|\\(?:["\\\/bfnrt]|u\h{4}))*+/n
      NUMBER = /-?(?:0|[1-9]\d*)(?<real>(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/n
      WORD = /(?:true|false|null)(?!\w)/n
      HALF = /\\u(?:d[89ab]\h\h(?!\\ud[c-f]\h\h)|(?<!\\ud[89ab]\h\h\\u)d[c-f]\h\h)/in

      # How much of a wrong text is shown, in bytes.
      SHOWN = 20

      # Raises Invalid.
      def self.check(text)
        new(text).check
      end

      def initialize(text)
        @text = text.b
        @scanner = StringScanner.new(@text)
        @open = []
        @keys = [] # of each open map; nil for an array
      end

      def check
        check_encoding
        value
        element until @open.empty?
        space
        wrong("expected the end of the text") unless @scanner.eos?
      end

      private

      def check_encoding
        text = @text.dup.force_encoding(Encoding::UTF_8)
        return if text.valid_encoding?

        whole = text.each_char.take_while(&:valid_encoding?).sum(&:bytesize)
        raise Invalid.new(format("byte 0x%02x is not UTF-8", @text.getbyte(whole)), whole)
      end

      def space
        @scanner.skip(SPACE)
      end

      def value
        space
        case @scanner.peek(1)
        when "{", "[" then open_container
        when '"' then string
        when "" then wrong("expected a value")
        else @scanner.skip(WORD) || number || wrong("expected a value")
        end
      end

      # The first element comes without a comma.
      def open_container
        @open << @scanner.getch
        @keys << (@open.last == "{" ? {} : nil)
        @fresh = true
      end

      # Checks the next element of the innermost container, or its end.
      def element
        space
        map = @open.last == "{"
        fresh, @fresh = @fresh, false
        return close if @scanner.skip(map ? /\}/n : /\]/n)

        fresh || @scanner.skip(/,/n) || wrong("expected a comma or #{map ? "}" : "]"}")
        key if map
        value
      end

      def close
        @keys.pop
        @open.pop
      end

      def key
        space
        from = @scanner.pos
        @scanner.peek(1) == '"' ? string : wrong("expected a key in quotes")
        once(@text.byteslice(from, @scanner.pos - from), from)
        space
        @scanner.skip(/:/n) or wrong("expected a colon")
      end

      # Refuses a key that the map has, perhaps with other escapes.
      def once(quoted, from)
        quoted = ::JSON.generate(::JSON.parse("[#{quoted}]").first).b if quoted.include?("\\")
        return @keys.last[quoted] = true unless @keys.last.key?(quoted)

        raise Invalid.new("the key #{quoted.force_encoding(Encoding::UTF_8)} is there twice", from)
      end

      def string
        @scanner.getch
        from = @scanner.pos
        characters = @scanner.scan(CHARACTERS)
        half = characters.match(HALF) if characters.include?("\\u")
        raise Invalid.new("half of a pair of surrogates", from + half.begin(0)) if half

        @scanner.skip(/"/n) or wrong("expected the end of a string")
      end

      def number
        from = @scanner.pos
        number = @scanner.scan(NUMBER) or return
        real = !@scanner[:real].empty?
        return true unless real && Terminal.quietly { Float(number) }.infinite?

        raise Invalid.new("#{number[0, SHOWN]} is too large for a Float", from)
      end

      def wrong(expected)
        rest = @text.byteslice(@scanner.pos, SHOWN).force_encoding(Encoding::UTF_8).scrub("")
        got = @scanner.eos? ? "the end" : rest[/\A\S*/].then { |word| word.empty? ? rest[0] : word }.dump
        raise Invalid.new("#{expected}, got #{got}", @scanner.pos)
      end
    end
  end
end
