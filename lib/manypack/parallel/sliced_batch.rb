# frozen_string_literal: true

# The messages of a batch as Views, or as what else is loaded from their bytes.
module Manypack
  module Parallel
    # Has the methods of Batch.
    class SlicedBatch
      attr_reader :offset, :passed

      # @param offset [Integer] of the first message in the whole input
      # @param as [:view, #load]
      def initialize(bytes, start, size, offset, codec, stop, as)
        @unpacker = codec.unpacker(as: as).feed(bytes.byteslice(start, size))
        @unpacker.__send__(:start_at, offset)
        @offset = offset
        @passed = 0
        @stop = stop
      end

      # Yields what each message is loaded as, until the Stop is set.
      def each
        @unpacker.each(strict: true) do |object|
          yield object
          @passed += 1
          @offset = @unpacker.position
          break if @stop.set?
        end
      end
    end
    private_constant :SlicedBatch
  end
end
