# frozen_string_literal: true

# Packed messages as text, in each of the formats of `manypack cat`.
module Manypack
  module Terminal
    class Printer
      FORMATS = %w[json pretty yaml ruby msgpack].freeze

      # hex:: write bin as hexadecimal digits
      # text:: write bin that is text as a string
      # opening:: write the array or map that a bin holds
      def initialize(format, hex: false, text: false, opening: false)
        @format = format
        @forms = [hex, text, opening]
        require "json" if format == "yaml"
        @codec = DefaultFactory.codec(**OPTIONS, timestamp: true, duplicate_keys: :error) if format == "ruby"
      end

      # Returns the text of all messages in a part of the bytes.
      def print(bytes, start = 0, size = bytes.bytesize)
        return JSONText.generate(bytes, start, size, pretty?, *@forms) if pretty? || @format == "json"

        text = +""
        each_piece(bytes, start, size) { |piece| text << piece }
        text
      end

      # Yields the text of all messages in a part of the bytes, some at a time: it can be many times as long.
      def each_piece(bytes, start = 0, size = bytes.bytesize, &block)
        case @format
        when "json", "pretty" then JSONText.generate(bytes, start, size, pretty?, *@forms, &block)
        when "msgpack" then yield bytes.byteslice(start, size)
        when "yaml" then yaml(bytes, start, size, &block)
        else ruby(bytes.byteslice(start, size), &block)
        end
      end

      private

      def pretty? = @format == "pretty"

      # Goes through JSON, so that both formats write a value that neither can express in the same form.
      def yaml(bytes, start, size, &block)
        pieces = Pieces.new(&block)
        JSONText.generate(bytes, start, size, false, *@forms).each_line do |line|
          YAMLStream.dump(::JSON.parse(line, max_nesting: false), pieces)
        end
        pieces.flush
      end

      def ruby(bytes, &block)
        pieces = Pieces.new(&block)
        Manypack.split(bytes, max_depth: OPTIONS[:max_depth]) do |message|
          object = Twins.value(message, @codec, **OPTIONS, timestamp: true)
          pieces.write(Visible.lines(object.inspect) << "\n")
        end
      ensure
        pieces.flush
      end
    end
  end
end
