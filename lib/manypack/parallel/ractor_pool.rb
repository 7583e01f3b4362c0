# frozen_string_literal: true

# The Ractors of a run: starting them, giving them batches, hearing from them, stopping them.

require_relative "ractor_end"
require_relative "ractor_loop"
require_relative "reported_thread"
require_relative(defined?(Ractor::Port) ? "ractor_pool/port_transport" : "ractor_pool/pipe_transport")

module Manypack
  module Parallel
    # How Ractors are heard from depends on what this Ruby has. Each transport file defines Transport, and only the one
    # for this Ruby is loaded:
    #
    # start_ractor(index, setup):: starts a Ractor that runs RactorLoop, and returns it
    # each_message:: yields index and outcome of each batch that is done; yields nil as the outcome of a Ractor that has
    #                ended, and returns after the last one
    # value_of(ractor):: what a Ractor returned
    # close:: may be called twice
    class RactorPool
      # @param events [Thread::Queue] gets [index of the Ractor, outcome, whether it ended], or an unexpected Exception
      def initialize(events)
        @events = events
        @transport = Transport.new
        @ractors = []
        @all_ended = false
      end

      # Starts Ractors, which wait for batches.
      #
      # @param size [Integer] how many
      # @param setup [Array] shareable; what Worker.new takes
      def start(size, setup)
        size.times { |index| @ractors << @transport.start_ractor(index, setup) }
        ended = ->(error) { error ? @events << error : @all_ended = true }
        @listener = ReportedThread.start("hears from the Ractors", ended) { listen }
      end

      # Appends a batch to the queue of a Ractor.
      #
      # @param number [Integer] of the batch
      # @param batch [Array] what Worker#run takes
      def give(index, number, batch)
        post([number, *batch], index)
      end

      # Ends every Ractor after its current message, provided that the Stop is set, and waits for it.
      def stop
        @ractors.each_index { |index| post(nil, index) }
        @listener&.join
        @ractors.each { |ractor| sleep(0.001) until RactorEnd.reached?(ractor) } unless @all_ended
        @ractors.each { |ractor| RactorEnd.await(ractor) }
        @transport.close
      end

      private

      # What RactorLoop receives; nil ends it.
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
      rescue Ractor::ClosedError # the work ended it, so that it returned nothing
        [index, nil, true]
      rescue Ractor::Error => e
        e
      end
    end
    private_constant :RactorPool
  end
end
