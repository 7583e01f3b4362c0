# frozen_string_literal: true

# Parallel::Error: index and offset of the message that an error is about.
module Manypack
  module Parallel
    # Extends every error that a message led to, whatever its class, so that one rescue catches them all.
    #
    # @example
    #   begin
    #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
    #   rescue Manypack::Parallel::Error => error
    #     error.class #=> ZeroDivisionError
    #     error.index #=> 1
    #   end
    module Error
      # @return [Integer] the number of the message, counting from 0
      # @example
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.index #=> 1
      #   end
      def index
        @message_index
      end

      # @return [Integer] the byte of the source at which the message starts; for a DecodeError raised by unpacking it,
      #   the byte at which the faulty object starts
      # @example
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.offset #=> 1
      #   end
      def offset
        @message_offset
      end

      # The text that Ruby 3.2 and later print for an error that is not rescued.
      #
      # @return [String] the detailed_message of the error's class, with index and offset of the message
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
