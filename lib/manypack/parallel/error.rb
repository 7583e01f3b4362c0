# frozen_string_literal: true

# Which message an error is about.
module Manypack
  module Parallel
    # In every error that a message led to, whatever its class, so that one rescue gets them all.
    #
    # @example
    #   begin
    #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
    #   rescue Manypack::Parallel::Error => error
    #     error.class #=> ZeroDivisionError
    #     error.index #=> 1
    #   end
    module Error
      # @return [Integer] which message it was, from 0 on
      # @example
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.index #=> 1
      #   end
      def index
        @message_index
      end

      # @return [Integer] where in the source the message starts, in bytes; of a DecodeError that unpacking it raised,
      #   where the object starts that is to blame
      # @example
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.offset #=> 1
      #   end
      def offset
        @message_offset
      end

      # What Ruby 3.2 and later show of an error that nobody rescues.
      #
      # @return [String] that of the error's class, and which message it is about
      # @example
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.detailed_message #=> "divided by 0 (ZeroDivisionError), in message 1 from byte 1 on"
      #   end
      def detailed_message(...)
        "#{defined?(super) ? super : message}, in message #{index} from byte #{offset} on"
      end
    end
  end
end
