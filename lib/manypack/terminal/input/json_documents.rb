# frozen_string_literal: true

# The JSON texts of an input that follow each other, on lines of their own or not, as packed bytes. Most are packed by
# json_parse.c; the others are checked, parsed and packed one by one.
require "strscan"

module Manypack
  module Terminal
    class JSONDocuments
      JSON_TEXT = Manypack.const_get(:JSONText)
      private_constant :JSON_TEXT

      BOM = "\xef\xbb\xbf".b

      # Yields the packed bytes of the texts that are complete after each read.
      #
      # size:: how many bytes are read at once
      # lines:: true if each line is a text: then a broken line ends there
      def initialize(io, size, lines: false, &block)
        @io = io
        @size = size
        @lines = lines
        @block = block
        @rest = "".b
        @at = 0       # where in it the search for the end of a text goes on
        @depth = 0
        @state = :before
        @line = 1
        @column = 1
      end

      # Reads to the end. Raises Fault, whose offset is a line.
      def read
        start = true
        while (piece = next_piece)
          @rest << piece
          next if start && BOM.start_with?(@rest)

          @rest.delete_prefix!(BOM) if start
          start = false
          work unless @lines && !piece.include?("\n")
        end
        @rest.delete_prefix!(BOM) if start
        work
        finish
      end

      private

      def next_piece
        @io.readpartial(@size)
      rescue EOFError
        nil
      end

      # Packs whole texts until one is not complete.
      def work
        take_many
        while (stop = text_end)
          take_one(stop)
          take_many
        end
      end

      # Packs all texts that need nothing else, up to the first that does.
      def take_many
        return unless @state == :before

        text = @lines ? @rest.byteslice(0, (@rest.rindex("\n") || -1) + 1) : @rest
        packed, stop = JSON_TEXT.parse(text, 0, @lines || :documents)
        @block.call(packed) unless packed.empty?
        consume(stop)
      end

      def take_one(stop)
        text = @rest.byteslice(0, stop)
        packed, read = JSON_TEXT.parse(text, 0, false)
        @block.call(read == stop && !packed.empty? ? packed : slowly(text))
        consume(stop)
        @state = :before
      end

      def finish
        return if @rest.match?(/\A[ \t\r\n]*\z/n)

        @block.call(slowly(@rest))
      end

      def consume(bytes)
        return if bytes.zero?

        @line, @column = position(bytes)
        @rest = @rest.byteslice(bytes..)
        @at = 0
      end

      # Returns the line and the column of an offset in the rest.
      def position(offset)
        before = @rest.byteslice(0, offset)
        lines = before.count("\n")
        last = before.byteslice(((before.rindex("\n") || -1) + 1)..).force_encoding(Encoding::UTF_8).scrub("?").size
        [@line + lines, lines.zero? ? @column + last : last + 1]
      end

      def slowly(text)
        text = stripped(text)
        JSONCheck.check(text)
        require "json"
        text = text.dup.force_encoding(Encoding::UTF_8)
        object = ::JSON.parse(text, max_nesting: FromJSON::MAX_NESTING, allow_duplicate_key: true)
        return FromJSON.pack(object) if text.include?('"$') || text.include?("\\u0024")

        Manypack.pack(object, max_depth: OPTIONS[:max_depth])
      rescue JSONCheck::Invalid => e
        line, column = position(e.offset)
        raise Fault.new(line, "#{e.message}, at column #{column}")
      rescue StandardError => e
        raise Fault.of_line(e, position(text[/\A\s*/n].bytesize).first)
      end

      # Cuts white space at the end, so that what is missing is missing in the last line.
      def stripped(text)
        size = text.bytesize
        size -= 1 while size.positive? && " \t\r\n".include?(text.byteslice(size - 1, 1))
        text.byteslice(0, size)
      end

      # Returns where the next text ends, or nil if it is not complete.
      def text_end
        @lines ? @rest.index("\n")&.succ : document_end
      end

      # Goes on where it stopped.
      def document_end
        scanner = StringScanner.new(@rest)
        scanner.pos = @at
        found = catch(:incomplete) do
          start_text(scanner) if @state == :before
          pass_string(scanner) if @state == :string
          pass_containers(scanner) until @depth.zero?
          scanner.pos
        end
        @at = scanner.pos
        found
      end

      def start_text(scanner)
        scanner.skip(/[ \t\r\n]+/n)
        throw :incomplete if scanner.eos?
        case scanner.peek(1)
        when "{", "[", '"' then open_text(scanner)
        else pass_scalar(scanner)
        end
      end

      def open_text(scanner)
        @state = scanner.getch == '"' ? :string : :inside
        @depth = 1 if @state == :inside
      end

      # A number or word ends where something else starts, so the last one is known to end at the end of the input.
      def pass_scalar(scanner)
        from = scanner.pos
        scanner.skip(/[^ \t\r\n\[\]{}",:]+/n) || scanner.getch
        return unless scanner.eos?

        scanner.pos = from
        throw :incomplete
      end

      def pass_containers(scanner)
        unless scanner.skip_until(/["\[\]{}]/n)
          scanner.terminate
          throw :incomplete
        end
        case scanner.string.getbyte(scanner.pos - 1)
        when 0x22
          @state = :string
          pass_string(scanner)
        when 0x5b, 0x7b then @depth += 1
        else @depth -= 1
        end
      end

      def pass_string(scanner)
        scanner.skip(/(?>[^"\\]+|\\.)*+/mn)
        scanner.skip(/"/n) or throw :incomplete
        @state = :inside
      end
    end
  end
end
