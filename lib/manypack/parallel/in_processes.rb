# frozen_string_literal: true

# A run in processes.

require_relative "error"
require_relative "in_workers"
require_relative "process_loop"
require_relative "process_pool"
require_relative "process_protocol"

module Manypack
  module Parallel
    # The workers are forked when the run starts, so they have everything that the caller has. If the source is a String
    # or a file, they have that, too, and read their batches from it. The bytes of other sources are sent to them.
    class InProcesses < InWorkers
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

      def start_pool
        @pool = ProcessPool.new(@events, @source)
        @pool.start(@size) do |index, jobs, outcomes|
          ProcessLoop.new(@work, @codec, @as, @results, @source, @on_start).run(index, jobs, outcomes)
        end
      end

      def stop_pool
        @pool&.stop(idle?)
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

      def range(what, first, count)
        count == 1 ? "#{what} #{first}" : "#{what}s #{first} to #{first + count - 1}"
      end
    end
    private_constant :InProcesses
  end
end
