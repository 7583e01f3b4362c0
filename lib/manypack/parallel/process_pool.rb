# frozen_string_literal: true

# The processes of a run: starting them, giving them batches, hearing from them, ending them.

require_relative "child_process"

module Manypack
  module Parallel
    class ProcessPool
      # Seconds after which the pool checks whether a process has ended: its pipe may not end, because a program that
      # was started meanwhile can hold the other end.
      PATIENCE = 0.5

      # Seconds that the ensure clauses of interrupted work may take.
      GRACE = 5

      # events:: a queue that gets [index of the process, outcome, nil], [index, nil, how it ended], or an unexpected
      #          Exception
      # source:: knows which bytes need to be sent
      def initialize(events, source)
        @events = events
        @source = source
        @workers = []
      end

      # Forks processes. Each calls the block with its index and the pipes that it reads jobs from and writes outcomes
      # to.
      def start(size, &work)
        Thread.handle_interrupt(Object => :never) do
          size.times { |index| @workers << ChildProcess.new(@workers) { |*pipes| work.call(index, *pipes) } }
          @listener = ReportedThread.start("hears from the worker processes", report) { listen }
        end
      end

      # Appends a batch, as the Splitter returns it, to the queue of a process.
      def give(index, number, batch)
        bytes, *place = batch
        @workers[index].give([number, *place], @source.sent(bytes, *place), report)
      end

      # Ends every process, in the middle of its work unless all are idle.
      def stop(idle)
        @listener&.kill&.join
        @workers.each { |worker| worker.close(idle) }
        @workers.each(&:interrupt) unless idle
        deadline = now + GRACE
        @workers.each { |worker| worker.await_end(deadline - now) }
      ensure
        @workers.each(&:kill)
      end

      private

      # Returns the Proc to which Threads report their end: an error that ends a Thread ends the run.
      def report
        @report ||= ->(error) { @events << error if error }
      end

      # The body of the Thread that listens until every process has ended. Now and then it checks all of them, so that
      # busy ones do not hide one that has died.
      def listen
        open = @workers.each_with_index.to_a
        looked = now
        until open.empty?
          ready, = IO.select(open.map(&:first), nil, nil, PATIENCE)
          ready, looked = nil, now if now - looked >= PATIENCE
          open.reject! { |worker, index| (ready.nil? || ready.include?(worker)) && !heard?(worker, index) }
        end
      end

      # Returns true if there may be more to hear from a process.
      def heard?(worker, index)
        return true if worker.each_outcome { |*outcome| @events << [index, outcome, nil] }

        @events << [index, nil, worker.last_words]
        false
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
    private_constant :ProcessPool
  end
end
