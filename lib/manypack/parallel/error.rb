# frozen_string_literal: true

#--
# The public errors of Parallel: Error says which message caused an error, and DeadWorker says that a worker process
# ended before its work was done.
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

    # Raised when a worker process is killed, runs out of memory or exits by +exit!+. Its message says how the process
    # ended, and which messages it was working on: one of them may be the reason. None of their results were delivered.
    # It is an Error, whose index and offset are those of the first of these messages.
    #
    #   begin
    #     Manypack::Parallel.map("\x01\x02", processes: 1) { |n| n == 2 ? exit!(3) : n }
    #   rescue Manypack::Parallel::DeadWorker => error
    #     error.message #=> "worker process 4711 exited with status 3; it had message 1 (byte 1)"
    #   end
    class DeadWorker < StandardError
      include Manypack::Error
    end
  end
end
