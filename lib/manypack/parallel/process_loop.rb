# frozen_string_literal: true

# What each process of a run does: batches come in, outcomes go out.

require_relative "process_protocol"
require_relative "worker"

module Manypack
  module Parallel
    class ProcessLoop
      # results:: a Results, or nil for Parallel.filter, whose results are packed objects
      # source:: finds the bytes of a batch
      def initialize(work, codec, as, results, source, on_start)
        @worker = Worker.new(work, codec, Stop.new, as, true, on_start)
        @results = results
        @source = source
      end

      # Sent after the last job: the pipe itself may not end, because other processes can hold its writing end.
      NO_MORE = [].freeze

      # Works on batches until there are no more, or one has a Failure.
      #
      # index:: the index of the process
      # jobs:: an IO with Frames: number, start, size, index and offset of a batch, and its bytes if they are sent
      # outcomes:: an IO for Frames: the number of a batch, how many messages, how many seconds, a failure or nil, and
      #            how many results, followed by the results. The first Frame is empty: it says that work begins
      def run(index, jobs, outcomes)
        Frame.write(outcomes, [], [])
        failed = !started?(index, outcomes)
        unpacker = Unpacker.new(jobs)
        while (job = next_job(unpacker))
          next if failed # a Failure ends the run

          outcome, results = work_on(*job)
          Frame.write(outcomes, outcome, results)
          failed = !outcome[3].nil?
        end
      rescue Errno::EPIPE
        nil # the parent was killed
      end

      private

      def started?(index, outcomes)
        refusal = @worker.start(index)
        Frame.write(outcomes, [nil, 0, 0.0, carried(refusal), 0], []) if refusal
        refusal.nil?
      end

      # The parts of a job and its bytes, or nil if there are no more.
      def next_job(unpacker)
        job = unpacker.read
        job unless job.first == NO_MORE
      rescue EOFError
        nil # the parent was killed
      end

      def work_on((number, *place), pieces)
        started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        results, failure, messages = run_batch(*place, pieces.one? ? pieces.first : pieces.join)
        seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
        [[number, messages, seconds, carried(failure), results.first], Array(results.last)]
      end

      def run_batch(start, size, index, offset, bytes)
        batch = [*@source.found(bytes, start, size, offset), index, offset]
        @results ? @worker.run(*batch, @results.collector) : @worker.run(*batch)
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error
        [[0, []], Worker::Failure.new(e, index, offset), 0]
      end

      def carried(failure)
        failure && [CarriedError.dump(failure.error), failure.index, failure.offset]
      end
    end
    private_constant :ProcessLoop
  end
end
