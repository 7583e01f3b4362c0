# frozen_string_literal: true

# The Ractors of a run: starts them, gives them batches, hears from them, stops them; and what each of them runs.

require_relative "reported_thread"
require_relative "worker"
require_relative(defined?(Ractor::Port) ? "ractor_pool/port_transport" : "ractor_pool/pipe_transport")

module Manypack
  module Parallel
    # The body of a Ractor: batches come in, outcomes go out.
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

    # How a pool hears from its Ractors depends on the Ruby. Each transport file defines Transport, and only the file
    # for this Ruby is loaded:
    #
    # start_ractor(index, setup):: starts a Ractor that runs RactorLoop, and returns it
    # each_message:: yields index and outcome of each batch that is done; yields nil as the outcome of a Ractor that has
    #                ended, and returns after the last one
    # value_of(ractor):: what a Ractor returned
    # join(ractor):: waits until a Ractor has ended
    # close:: may be called twice
    class RactorPool
      # The queue of events gets Arrays with the index of a Ractor, an outcome, and true if the Ractor has ended; or an
      # unexpected Exception.
      def initialize(events)
        @events = events
        @transport = Transport.new
        @ractors = []
      end

      # Starts Ractors, which wait for batches. The setup is shareable: the arguments of Worker.new. An interruption in
      # the middle would lose a Ractor, or leave its pipe to be closed twice, by the Ractor and by the collector.
      def start(size, setup)
        ended = ->(error) { @events << error if error }
        Thread.handle_interrupt(Object => :never) do
          size.times { |index| @ractors << @transport.start_ractor(index, setup) }
          @listener = ReportedThread.start("hears from the Ractors", ended) { listen }
        end
      end

      # Appends a batch, the arguments of Worker#run, to the queue of a Ractor.
      def give(index, number, batch)
        post([number, *batch], index)
      end

      # Ends every Ractor and waits for it. Set the Stop first: then each ends after its current message, otherwise
      # after all batches that it was given.
      def stop
        @ractors.each_index { |index| post(nil, index) }
        @listener&.join
        @ractors.each { |ractor| @transport.join(ractor) }
        @transport.close
      end

      private

      # Sends what RactorLoop receives; nil ends it.
      def post(message, index)
        @ractors[index].send(message)
      rescue Ractor::ClosedError
        nil # it ended, and its last outcome is on the way
      end

      # The body of the Thread that listens until every Ractor has ended.
      def listen
        @transport.each_message do |index, outcome|
          @events << (outcome ? [index, outcome, false] : last_event_of(index))
        end
        @transport.close
      end

      # The event of a Ractor that has ended.
      def last_event_of(index)
        [index, @transport.value_of(@ractors[index])&.outcome, true]
      rescue Ractor::ClosedError # the work ended the Ractor, so it returned nothing
        [index, nil, true]
      rescue Ractor::Error => e
        e
      end
    end
    private_constant :RactorPool, :RactorLoop
  end
end
