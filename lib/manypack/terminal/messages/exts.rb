# frozen_string_literal: true

# Collects the exts and the depth of all messages in a stream, to find the options that reading them needs.
module Manypack
  module Terminal
    class Exts
      # Heads of exts.
      HEADS = [*0xc7..0xc9, *0xd4..0xd8].freeze

      # How deep messages may be without an option.
      USUAL_DEPTH = 128

      def initialize
        @tally = Tally.new
        @times = 0
        @others = 0
      end

      # Counts the exts of a packed message, also those inside a key that is a map or an array.
      def count(bytes) = @tally.add(bytes, 0, bytes.bytesize)

      # Returns the type of an object that was packed as an ext, as Ruby code.
      def type_of(object)
        time = object.is_a?(::Time)
        time ? @times += 1 : @others += 1
        time ? "Time" : "Object"
      end

      # Returns true if all exts of type -1 can be read as Times. For those that type_of has not seen, that is unknown.
      def times? = @times.positive? && hidden.zero?

      # Returns the options that reading all messages needs, as Ruby code.
      def options
        depth = @tally.counts[1].rindex(&:positive?).to_i
        options = depth > USUAL_DEPTH ? ["max_depth: #{depth}"] : []
        options << "timestamp: true" if times?
        options << "allow_unknown_ext: true" if @others.positive? || hidden.positive? || (@times.positive? && !times?)
        options
      end

      private

      # Returns the number of exts that type_of has not seen.
      def hidden = @tally.counts.first.values_at(*HEADS).sum - @times - @others
    end
  end
end
