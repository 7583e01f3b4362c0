# frozen_string_literal: true

#--
# Manypack::Parallel::DeadWorker: a worker process ended before its work did.
#++
module Manypack
  module Parallel
    # Raised when a worker process is killed, runs out of memory or exits by +exit!+. Its message says how the process
    # ended, and which messages it had: one of them may be the reason. None of their results were delivered. It is an
    # Error, whose index and offset are those of the first of these messages.
    #
    #   begin
    #     Manypack::Parallel.map("\x01\x02", processes: 1) { |n| n == 2 ? exit!(3) : n }
    #   rescue Manypack::Parallel::DeadWorker => error
    #     error.message #=> "worker process 4711 exited with status 3; it had message 1 (byte 1)"
    #   end
    class DeadWorker < StandardError
    end
  end
end
