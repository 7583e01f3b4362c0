# frozen_string_literal: true

# A run in processes.

require_relative "child_process"
require_relative "error"
require_relative "in_workers"
require_relative "process_loop"
require_relative "process_protocol"

module Manypack
  module Parallel
    # The workers are forked when the run starts, so they have everything that the caller has. If the source is a String
    # or a file, they have that, too, and read their batches from it. The bytes of other sources are sent to them.
    class InProcesses < InWorkers
      # Seconds after which the listener checks whether a process has ended: its pipe may not end, because a program
      # that was started meanwhile can hold the other end.
      PATIENCE = 0.5

      # Seconds that the ensure clauses of interrupted work may take.
      GRACE = 5

      def initialize(source, work, codec, options, as, packs, size, ordered, on_start)
        unless Process.respond_to?(:fork)
          raise NotImplementedError, "processes: needs fork, which #{RUBY_PLATFORM} does not have; use ractors:"
        end

        codec = codec ? codec.with(**options) : Codec.new(options)
        super(source, codec, as, size, ordered)
        @codec = codec
        @work = work
        @on_start = on_start
        @as = as
        @results = packs ? nil : Results.new(codec)
      end

      private

      def start_workers
        ChildProcess.starting { super }
      end

      def start_worker(index)
        ChildProcess.new(@workers) do |jobs, outcomes|
          ProcessLoop.new(@work, @codec, @as, @results, @source, @on_start).run(index, jobs, outcomes)
        end
      end

      def give(index, number, batch)
        bytes, *place = batch
        @workers[index].give([number, *place], @source.sent(bytes, *place), report)
      end

      # Ends every process; unless all are idle, in the middle of its work. An interruption cuts the wait short, but the
      # processes are killed in any case.
      def stop_workers
        @listener&.kill&.join
        @workers.each { |worker| worker.close(idle?) }
        @workers.each(&:interrupt) unless idle?
        deadline = now + GRACE
        @workers.each { |worker| worker.await_end(deadline - now) }
      ensure
        Thread.handle_interrupt(Object => :never) { @workers.each(&:kill) }
      end

      # Checks all processes from time to time, so that busy ones do not hide one that has died.
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

      # The arguments are the values and the bytes of a Frame from ProcessLoop.
      def outcome_of((number, messages, seconds, failure, count), pieces)
        carried, *place = failure
        failure = Worker::Failure.new(CarriedError.load(carried), *place) if failure
        [number, [count, pieces], failure, messages, seconds]
      end

      def deliver(results, failure)
        count, pieces = results
        super(@results ? @results.unpack(pieces, count) : [count, pieces.join], failure)
      end

      # The first batch without an outcome gets a Failure, which is raised after the results of earlier messages.
      def lost(worker, reason)
        batches = @given[worker]
        raise DeadWorker, "#{reason}; it had no messages" if batches.empty?

        error = DeadWorker.new("#{reason}; it had #{batches.values.map { |batch| described(*batch) }.join(" and ")}")
        number, (_, _, _, *place) = batches.first
        done(number, [0, []], Worker::Failure.new(error, *place))
        handle(@events.pop) while true # until it raises the Failure, or an earlier error
      end

      # Says which messages and bytes of the input are in a batch.
      def described(bytes, start, size, index, offset)
        "#{range("message", index, count(bytes.byteslice(start, size)))} (#{range("byte", offset, size)})"
      end

      # Counts whole messages, and one more if the last one is incomplete.
      def count(bytes)
        splitter = Splitter.new(@limits).feed(bytes)
        whole = (0..).find { splitter.take(1, bytes.bytesize, false).nil? }
        whole + (splitter.rest ? 1 : 0)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def range(what, first, count)
        count == 1 ? "#{what} #{first}" : "#{what}s #{first} to #{first + count - 1}"
      end
    end
    private_constant :InProcesses
  end
end
