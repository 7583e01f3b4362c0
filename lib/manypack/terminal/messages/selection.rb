# frozen_string_literal: true

# Selects messages by a condition, or by the value that a path finds in them, and builds nothing else of them.
module Manypack
  module Terminal
    class Selection
      PARSER = Path.const_get(:Parser)
      private_constant :PARSER

      # Returns the Selection for the argument of --where: a condition, PATH or PATH=VALUE.
      def self.where(text, looks) = new(text, looks, condition: PathText.condition?(text))

      # The path, or nil for a condition.
      attr_reader :path

      # The text is PATH or PATH=VALUE. A value that is not JSON is a String. Raises ArgumentError for anything but a
      # path.
      #
      # looks:: has the Codec by which it looks
      # condition:: true for a condition as it stands in a filter of a path, whose @ is the message
      def initialize(text, looks, condition: false)
        @looks = looks
        return @steps = Ractor.make_shareable(PARSER.new(text).filter_steps) if condition

        @path, value = parse(text)
        @packed = value && FromJSON.pack(json(value))
      rescue ::RangeError
        raise ArgumentError, "#{text}: the value has more than the 64 bits of an Integer"
      end

      # Returns true if the path finds the value; without a value, if it finds anything but nil and false.
      def match?(bytes) = !in_part(bytes, 0, bytes.bytesize).empty?

      # Returns the messages that match, packed. Raises a DecodeError.
      def chosen(messages) = in_part(messages.bytes, messages.start, messages.size)

      private

      # A packed array, map or ext, which the extension does not compare with what it finds.
      COMPOUND = /\A[\x80-\x9f\xc7-\xc9\xd4-\xd8\xdc-\xdf]/n
      private_constant :COMPOUND

      def in_part(bytes, start, size)
        return with_compound(bytes.byteslice(start, size)) if @packed&.match?(COMPOUND)

        Internal.search_messages(bytes, start, size, @looks.codec, @steps || @path.steps,
                                 @path&.max_looks || Path::MAX_LOOKS, @steps ? true : @packed)
      end

      def with_compound(bytes)
        Manypack.split(bytes, codec: @looks.codec).select do |message|
          @path.to_a(@looks.codec.view(message)).any? { |found| Input::TIMES.pack(found) == @packed }
        end.join
      end

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
