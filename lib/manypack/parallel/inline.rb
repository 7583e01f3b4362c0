# frozen_string_literal: true

# A run in the caller, message by message, without workers.

require_relative "worker"

module Manypack
  module Parallel
    class Inline < Run
      # Hands over each result before the next message is unpacked.
      class Immediate
        def initialize(taker)
          @taker = taker
        end

        def <<(result)
          @taker.call(result)
        end

        # Returns the results that are left: none.
        def to_a = []
      end

      def initialize(source, work, codec, options, as, packs, on_start)
        codec = codec ? codec.with(**options) : Codec.new(options)
        super(source, codec, as)
        @worker = Worker.new(work, codec, Stop.new, as, packs, on_start)
        @packs = packs
      end

      # Yields each result before the next message is unpacked.
      def each_result(&taker)
        @results = Immediate.new(taker)
        each { nil } # no batch has results left
      end

      private

      def run
        refusal = @worker.start(0)
        raise refusal.error if refusal

        super
      end

      # No limit: BATCH_BYTES cannot hold more messages, because each has at least one byte.
      def messages = BATCH_BYTES

      def idle? = true
      def read(missing) = @source.read(missing)
      def wait; end

      def work_on(batch)
        return pack(batch) if @packs

        deliver(*@worker.run(*batch, @results ||= Immediate.new(->(result) { @taker.call([result]) })))
      end

      # If the block breaks out of the call, the collector still has the results of earlier messages.
      def pack(batch)
        results = @worker.collector
        done = @worker.run(*batch, results)
      ensure
        deliver(*(done || [results.to_a, nil]))
      end
    end
    private_constant :Inline
  end
end
