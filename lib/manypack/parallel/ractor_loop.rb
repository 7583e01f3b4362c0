# frozen_string_literal: true

# What each Ractor of a run does: batches come in, outcomes go out.

require_relative "worker"

module Manypack
  module Parallel
    module RactorLoop
      # What the Ractor returns: its last outcome if that has a Failure, or nil. A message would be copied, and not
      # every error survives that; the value of a Ractor is handed over as it is.
      Last = Struct.new(:outcome)

      # Works on batches until it receives nil, and returns a Last. Yields outcomes: the number of the batch, results,
      # Failure or nil, how many messages, in how many seconds.
      #
      # index:: the index of the Ractor
      # setup:: the arguments of Worker.new
      # receiver:: an object whose +receive+ returns the next batch, and whose +copy+ raises what sending an object
      #            would raise
      def self.run(index, setup, receiver, &taker)
        # Before Ruby 4.1 a Ractor inherits the interrupt mask of the Thread that starts it.
        Thread.handle_interrupt(Object => :immediate) { work(index, setup, receiver, &taker) }
      end

      def self.work(index, setup, receiver)
        worker = Worker.new(*setup)
        refusal = worker.start(index)
        return Last.new([nil, [], refusal]) if refusal

        while (number, *batch = receiver.receive)
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          results, failure, messages = worker.run(*batch)
          return Last.new([number, results, failure]) if failure

          Ractor.shareable?(results.freeze) # Ruby remembers the answer, and does not copy such results
          begin
            yield [number, results, nil, messages, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started]
          rescue StandardError, SystemStackError => e # the results could not be copied
            return Last.new([number, *worker.refused(results, e, *batch) { |part| receiver.copy(part) }])
          end
        end
        Last.new(nil)
      end
      private_class_method :work
    end
    private_constant :RactorLoop
  end
end
