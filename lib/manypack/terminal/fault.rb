# frozen_string_literal: true

# What is wrong with an input, and where.
module Manypack
  module Terminal
    class Fault < StandardError
      # @return [Integer] of the byte in the input
      attr_reader :offset

      # What there is of the message, and its offset.
      attr_reader :bytes, :origin

      # @param error [DecodeError] from bytes that begin at that offset of the input
      # @param bytes [String] the message
      def self.of(error, bytes, origin)
        message = error.message.sub(/, at byte \d+\z/, "")
        around = ", in the message at byte #{origin}" unless error.offset.zero?
        new(origin + error.offset, "#{[message, error.path].compact.join(", at ")}#{around}", bytes, origin)
      end

      # @param error [StandardError] of the user's code or of what it returned, with the message at that offset
      def self.of_code(error, offset)
        new(offset, "#{error.message.lines.first.to_s.chomp.sub(/, at byte \d+\z/, "")} (#{error.class})")
      end

      def initialize(offset, message, bytes = "", origin = offset)
        @offset = offset
        @bytes = bytes
        @origin = origin
        super(message)
      end
    end
  end
end
