# frozen_string_literal: true

# The JSON texts of an input that follow each other, on lines of their own or not, as packed bytes. The bytes are those
# of Manypack.from_json, unless a key starts with $: then FromJSON turns them into what the text stands for.
module Manypack
  module Terminal
    class JSONDocuments
      # Deep enough for JSON that stands for objects of the usual depth.
      CODEC = Codec.new(max_depth: FromJSON::MAX_NESTING)

      # The end of an error of from_json: advice that only helps programs, and the place.
      PLACE = /(?:; register_common.*?)?(?:, at \$.*)?, line \d+, column \d+(?:, after \d+ whole texts?)?\z/m

      # An io without the byte order mark that it may start with.
      class WithoutBOM
        BOM = "\xef\xbb\xbf".b

        def initialize(io)
          @io = io
        end

        def readpartial(size)
          return @io.readpartial(size) if @started

          @started = true
          start = "".b
          start << @io.readpartial(size) while start.bytesize < BOM.bytesize && BOM.start_with?(start)
          start.delete_prefix!(BOM)
          start.empty? ? @io.readpartial(size) : start
        rescue EOFError
          start.nil? || start.empty? ? raise : start
        end
      end

      # Yields the packed bytes of the texts that are complete after each read.
      #
      # lines:: true if each line is a text, so that a broken text ends with its line
      def initialize(io, lines: false, &block)
        @texts = JSONTexts.new(CODEC, WithoutBOM.new(io), lines: lines)
        @block = block
      end

      # Reads to the end. Raises Fault, whose offset is a line.
      def read
        @texts.each_batch(odd: true) { |packed, line| @block.call(line ? meant(packed, line) : packed) }
      rescue DecodeError => e
        raise unless e.line

        raise Fault.new(e.line, "#{Visible.line(e.message.sub(PLACE, ""))}, at column #{e.column}")
      end

      private

      # Returns the bytes of what a text stands for.
      def meant(packed, line)
        FromJSON.pack(FromJSON::CODEC.unpack(packed, max_depth: CODEC.options[:max_depth]))
      rescue StandardError => e
        raise Fault.of_line(e, line)
      end
    end
  end
end
