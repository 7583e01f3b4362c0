# frozen_string_literal: true

# Selects messages by the value that a path finds in them, and builds nothing else of them.
module Manypack
  module Terminal
    class Selection
      # The text is PATH or PATH=VALUE. A value that is not JSON is a String. Raises ArgumentError for anything but a
      # path.
      def initialize(text)
        @path, value = parse(text)
        @packed = value && FromJSON.pack(json(value))
      rescue ::RangeError
        raise ArgumentError, "#{text}: the value has more than the 64 bits of an Integer"
      end

      # Returns true if the path finds the value; without a value, if it finds anything but nil and false.
      def match?(bytes)
        @path.to_a(Input::PLAIN.view(bytes)).any? { |found| @packed ? Input::TIMES.pack(found) == @packed : found }
      end

      # Returns the messages that match, packed. Only if batched?. Raises a DecodeError.
      def chosen(messages)
        Internal.search_messages(messages.bytes, messages.start, messages.size, Input::PLAIN, @path.steps,
                                 @path.max_looks, @packed)
      end

      # Returns true if many messages can be searched at once: without a value, or for a scalar.
      def batched?
        !@packed&.match?(/\A[\x80-\x9f\xc7-\xc9\xd4-\xd8\xdc-\xdf]/n)
      end

      private

      # Splits at the first = outside of brackets.
      def parse(text)
        at = PathText.each_outside(text).find { |char, _| char == "=" }&.last
        at ? [PathText.path(text[0...at], text), value_of(text, at)] : [PathText.path(text), nil]
      end

      def value_of(text, at)
        value = text[at + 1..]
        raise ArgumentError, PathText.comparison(text) if value.start_with?("=", "~")

        value
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
