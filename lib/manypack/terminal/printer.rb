# frozen_string_literal: true

# Packed messages as text, in each of the formats of `manypack cat`.
module Manypack
  module Terminal
    class Printer
      FORMATS = %w[json pretty yaml ruby msgpack].freeze

      JSON_TEXT = Manypack.const_get(:JSONText)
      private_constant :JSON_TEXT

      # hex:: write bin as hexadecimal digits
      # text:: write bin that is text as a string
      # opening:: write the array or map that a bin holds
      def initialize(format, hex: false, text: false, opening: false)
        @format = format
        @forms = [hex, text, opening]
        require "json" if format == "yaml"
        require "yaml" if format == "yaml"
        @codec = DefaultFactory.codec(**OPTIONS, timestamp: true) if format == "ruby"
      end

      # Returns the text of all messages in a part of the bytes.
      def print(bytes, start = 0, size = bytes.bytesize)
        case @format
        when "json" then JSON_TEXT.generate(bytes, start, size, false, *@forms)
        when "pretty" then JSON_TEXT.generate(bytes, start, size, true, *@forms)
        when "msgpack" then bytes.byteslice(start, size)
        when "yaml" then yaml(bytes, start, size)
        else ruby(bytes.byteslice(start, size))
        end
      end

      private

      # Goes through JSON, so that both formats write a value that neither can express in the same form.
      def yaml(bytes, start, size)
        JSON_TEXT.generate(bytes, start, size, false, *@forms).each_line.map do |line|
          YAML.dump(::JSON.parse(line, max_nesting: false))
        end.join
      end

      def ruby(bytes)
        text = +""
        @codec.unpacker.feed_each(bytes) { |object| text << Visible.lines(object.inspect) << "\n" }
        text
      end
    end
  end
end
