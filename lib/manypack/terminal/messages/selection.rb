# frozen_string_literal: true

# Selects messages by a condition, or by the value that a path finds in them, and builds nothing else of them.
module Manypack
  module Terminal
    class Selection
      PARSER = Path.const_get(:Parser)
      private_constant :PARSER

      # Returns what --where means: a condition about a message, or PATH or PATH=VALUE.
      def self.where(text, looks)
        PathText.condition?(text) ? Condition.new(text, looks) : new(text, looks)
      end

      # The path, or nil for a condition.
      attr_reader :path

      # The text is PATH or PATH=VALUE. A value that is not JSON is a String. Raises ArgumentError for anything but a
      # path.
      #
      # looks:: has the Codec by which it looks
      def initialize(text, looks)
        @looks = looks
        @path, value = parse(text)
        @packed = value && FromJSON.pack(json(value))
      rescue ::RangeError
        raise ArgumentError, "#{text}: the value has more than the 64 bits of an Integer"
      end

      # Returns true if the path finds the value; without a value, if it finds anything but nil and false.
      def match?(bytes)
        @path.to_a(@looks.codec.view(bytes)).any? { |found| @packed ? Input::TIMES.pack(found) == @packed : found }
      end

      # Returns the messages that match, packed. Only if batched?. Raises a DecodeError.
      def chosen(messages)
        Internal.search_messages(messages.bytes, messages.start, messages.size, @looks.codec, @path.steps,
                                 @path.max_looks, @packed)
      end

      # Returns true if many messages can be searched at once: without a value, or for a scalar.
      def batched?
        !@packed&.match?(/\A[\x80-\x9f\xc7-\xc9\xd4-\xd8\xdc-\xdf]/n)
      end

      # A condition as it stands in a filter of a path, whose @ is the message. Answers as a Selection does.
      class Condition
        def initialize(text, looks)
          @looks = looks
          @steps = Ractor.make_shareable(PARSER.new(text).filter_steps)
        end

        def path; end

        def match?(bytes)
          !select(bytes, 0, bytes.bytesize).empty?
        end

        def chosen(messages)
          select(messages.bytes, messages.start, messages.size)
        end

        def batched?
          true
        end

        private

        def select(bytes, start, size)
          Internal.select_messages(bytes, start, size, @looks.codec, @steps, Path::MAX_LOOKS)
        end
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
