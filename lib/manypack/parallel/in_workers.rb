# frozen_string_literal: true

# A run by several workers, which are Ractors or processes.

require_relative "reported_thread"
require_relative "source"

module Manypack
  module Parallel
    # Deals batches out to workers and delivers what they return. Subclasses define
    #
    # start_worker(index):: starts a worker and returns it
    # give(index, number, batch):: appends a batch, as the Splitter returns it, to the queue of a worker
    # listen:: adds events to @events until every worker has ended: [index, outcome, nil] for a batch that is done, and
    #          [index, nil or the last outcome, how it ended] for the end of a worker. It is the body of a Thread
    # stop_workers:: ends them, and the listener
    # lost(index, reason):: is called when a worker ended without being told to
    # outcome_of(*outcome):: parses an outcome that a worker sent. Returns five values: the number of the batch, or nil
    #                        if the worker could not start; its results; a Failure or nil; how many messages; and how
    #                        many seconds they took
    class InWorkers < Run
      # PER_WORKER: the most batches that a worker has, including the current one. IN_FLIGHT: the most batches per
      # worker in the run as a whole, including finished batches whose results wait for an earlier batch.
      PER_WORKER = 2
      IN_FLIGHT = 4

      # Seconds that a batch should take: much longer than handing it over, but short.
      BATCH_SECONDS = 0.005

      # The most messages in a batch. Without this limit, a batch that is made large by many quick messages could be
      # full of slow ones.
      MAX_MESSAGES = 10_000

      def initialize(source, codec, as, size, ordered)
        super(source, codec, as)
        @size = needed(size)
        @ordered = ordered
        @messages = 1
        @events = Thread::Queue.new
        @workers = []
        @sent = @delivered = 0   # how many batches
        @done = {}               # by the number of a batch: results and Failure that are not delivered yet
        @given = Array.new(@size) { {} } # by worker and the number of a batch: the batches that it has
      end

      private

      attr_reader :messages

      # A String needs no more workers than it has messages, and each of them takes time to start.
      def needed(size)
        return size unless @source.is_a?(Source::Whole)

        splitter = Splitter.new(@limits).feed(@source.string)
        splitter.take(size, @source.string.bytesize, true)
        splitter.index.clamp(1, size)
      end

      def run
        start
        super
      ensure
        begin
          stop_workers
        ensure
          @reader&.stop
        end
      end

      # An interruption in the middle would lose a worker, or leave its pipe to be closed twice.
      def start
        Thread.handle_interrupt(Object => :never) do
          start_workers
          @listener = ReportedThread.start("hears from the workers", report) { listen }
        end
      end

      def start_workers
        @size.times { |index| @workers << start_worker(index) }
      end

      # Returns the Proc to which Threads report their end: an error that ends a Thread ends the run.
      def report
        @report ||= ->(error) { @events << error if error }
      end

      def idle?
        @sent == @delivered
      end

      def read(missing)
        return @source.read(missing) unless @source.waits?

        @reader || Thread.handle_interrupt(Object => :never) { @reader = BackgroundReader.new(@source, @events) }
        @reader.request(missing)
        handle(@events.pop) until @piece
        piece, @piece = @piece, nil
        raise piece.error unless piece.error.nil? || piece.error.is_a?(StandardError)

        piece
      end

      def work_on(batch)
        worker = free_worker
        while worker.nil? || @sent - @delivered >= IN_FLIGHT * @size
          handle(@events.pop)
          worker = free_worker
        end
        @given[worker][@sent] = batch
        give(worker, @sent, batch)
        @sent += 1
        handle(@events.pop) until @events.empty?
      end

      # The index of the worker that has the fewest batches, or nil.
      def free_worker
        worker = @given.each_index.min_by { |index| @given[index].size }
        worker if @given[worker].size < PER_WORKER
      end

      def wait
        handle(@events.pop) until idle?
      end

      # An event is a Piece that was read, the outcome of a batch, the end of a worker, or an error of a Thread.
      def handle(event)
        return @piece = event if event.is_a?(Source::Piece)
        raise event if event.is_a?(Exception)

        worker, outcome, reason = event
        return lost(worker, reason) unless outcome

        number, results, failure, messages, seconds = outcome_of(*outcome)
        raise failure.error unless number # the worker could not start
        @given[worker].delete(number)
        adapt_batch_size(messages, seconds) unless failure
        done(number, results, failure)
      end

      def done(number, results, failure)
        @done[number] = [results, failure]
        deliver_from(@ordered ? @delivered : number)
      end

      # Delivers the results of a batch, and then those of the next ones that are done.
      def deliver_from(number)
        while (results_and_failure = @done.delete(number))
          deliver(*results_and_failure)
          number = @delivered += 1
        end
      end

      # Changes the size of the next batches: to four times as many messages at most, or half as many at least.
      def adapt_batch_size(messages, seconds)
        quick = seconds.zero? ? MAX_MESSAGES : (messages * BATCH_SECONDS / seconds).ceil # a coarse clock can measure 0
        @messages = quick.clamp((@messages + 1) / 2, [@messages * 4, MAX_MESSAGES].min)
      end
    end
    private_constant :InWorkers
  end
end
