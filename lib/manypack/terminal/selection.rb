# frozen_string_literal: true

# Selects messages by the value that a path finds in them, and builds nothing else of them.
module Manypack
  module Terminal
    class Selection
      # The text is PATH or PATH=VALUE. A value that is not JSON is a String. Raises ArgumentError for anything but a
      # path.
      def initialize(text)
        @path, value = parse(text)
        @packed = value && Manypack.pack(FromJSON.object(json(value)))
      end

      # Returns true if the path finds the value; without a value, if it finds anything but nil and false.
      def match?(bytes)
        @path.each(bytes, **OPTIONS) do |found|
          return true if @packed ? Manypack.pack(found, timestamp: true) == @packed : found
        end
        false
      end

      private

      # Splits at the first = that is not inside a quoted key.
      def parse(text)
        text.each_char.with_index do |char, i|
          next unless char == "="

          return [Path.from(text[0...i]), text[i + 1..]]
        rescue ArgumentError
          next
        end
        [Path.from(text), nil]
      end

      def json(text)
        require "json"
        ::JSON.parse(text)
      rescue ::JSON::ParserError
        text
      end
    end
  end
end
