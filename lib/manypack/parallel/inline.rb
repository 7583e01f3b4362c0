# frozen_string_literal: true

# A run without Ractors, message by message.
module Manypack
  module Parallel
    class Inline < Run
      def initialize(source, work, codec, options, packs)
        codec = codec ? codec.with(**options) : Codec.new(options)
        @cutter = Cutter.new(source, codec)
        @worker = Worker.new(work, codec, Stop.new, packs)
        @packs = packs
      end

      # What the Cutter asks: as many messages as there are, as soon as they are there.
      def messages = Cutter::BATCH_BYTES
      def idle? = true
      def read(...) = Cutter.read(...)

      # Takes the result of each message before the next one is looked at.
      def <<(result)
        deliver([result], nil)
      end

      def to_a = []

      private

      def give(batch)
        return deliver(*@worker.run(*batch)) if @packs

        deliver(*@worker.run(*batch, self))
      end

      def wait; end
    end
    private_constant :Inline
  end
end
