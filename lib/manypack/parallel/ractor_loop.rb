# frozen_string_literal: true

# What each Ractor of a pool runs: batches come in, outcomes go out.

require_relative "worker"

module Manypack
  module Parallel
    module RactorLoop
      # What the Ractor returns: its last outcome if that has a Failure, or nil. A value is handed over as it is, where
      # a message would be a copy, and not every error survives being copied.
      Last = Struct.new(:outcome)

      # Works on batches until it receives nil. Yields outcomes: the number of the batch, results, Failure or nil, how
      # many messages, in how many seconds.
      #
      # @param index [Integer] of the Ractor
      # @param setup [Array] what Worker.new takes
      # @param receiver [#receive] where batches come from
      # @return [Last]
      def self.run(index, setup, receiver = Ractor)
        worker = Worker.new(*setup)
        refusal = worker.start(index)
        return Last.new([nil, [], refusal]) if refusal

        while (number, *batch = receiver.receive)
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          results, failure, messages = worker.run(*batch)
          return Last.new([number, results, failure]) if failure

          Ractor.shareable?(results.freeze) # has Ruby remember it, so that the results are not copied
          begin
            yield [number, results, nil, messages, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started]
          rescue StandardError, SystemStackError => e # whatever kept the results from being copied
            return Last.new([number, *worker.refused(results, e, *batch)])
          end
        end
        Last.new(nil)
      end
    end
    private_constant :RactorLoop
  end
end
