# frozen_string_literal: true

#--
# Manypack::Parallel::Error: which message an error is about.
#++
module Manypack
  module Parallel
    # Included in every error that a message causes, whatever its class, so that one rescue catches them all.
    #
    #   begin
    #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
    #   rescue Manypack::Parallel::Error => error
    #     error.class #=> ZeroDivisionError
    #     error.index #=> 1
    #   end
    module Error
      # The number of the message, from 0, an Integer.
      #
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.index #=> 1
      #   end
      def index
        @message_index
      end

      # The byte offset in the source at which the message starts, an Integer. For a DecodeError from unpacking the
      # message, the offset of the offending object.
      #
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.offset #=> 1
      #   end
      def offset
        @message_offset
      end

      # Returns the detailed message of the error's class, and says which message caused it. Ruby 3.2 and later
      # show it for an error that nobody rescues.
      #
      #   begin
      #     Manypack::Parallel.map("\x01\x00\x02") { |n| 10 / n }
      #   rescue Manypack::Parallel::Error => error
      #     error.detailed_message #=> "divided by 0 (ZeroDivisionError), in message 1, at byte 1"
      #   end
      def detailed_message(...)
        "#{defined?(super) ? super : message}, in message #{index}, at byte #{offset}"
      end
    end
  end
end
