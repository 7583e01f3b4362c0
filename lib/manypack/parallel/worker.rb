# frozen_string_literal: true

# Works on one batch after another, in a Ractor or in the caller.

require_relative "error"
require_relative "ractor_end"
require_relative "sliced_batch"

module Manypack
  module Parallel
    class Worker
      # An error, and index and offset of the message that led to it.
      Failure = Struct.new(:error, :index, :offset) do
        # Raises the error, extended by Error.
        def raise!
          raised = error.frozen? ? error.dup : error
          raised.extend(Error)
          raised.instance_variable_set(:@message_index, index)
          raised.instance_variable_set(:@message_offset, offset)
          raise raised
        end
      end

      # Collects results by packing them. nil is left out.
      class Packed
        # @param packer [Packer]
        def initialize(packer)
          @packer = packer
          @count = 0
        end

        def <<(object)
          write(object) unless object.nil?
        end

        # How many objects there are, and their bytes.
        def to_a
          [@count, @packer.to_s.freeze]
        end

        private

        def write(object)
          @packer.write(object)
          @count += 1
        end
      end

      # The same in the canonical form, which is known only once an object is packed: a Packer writes piece by piece.
      class CanonicallyPacked < Packed
        # @param codec [Codec]
        def initialize(codec)
          super(Packer.new)
          @codec = codec
        end

        private

        def write(object)
          @packer.buffer << @codec.pack(object)
          @count += 1
        end
      end

      # @param work [#call]
      # @param codec [Codec, Hash] a Hash has options for one
      # @param stop [Stop]
      # @param as [:view, #load, nil] what messages are loaded by, instead of the codec
      # @param packs [Boolean] whether the results of a batch are those of Packed
      # @param on_start [#call, nil] takes the number of the worker
      def initialize(work, codec, stop, as, packs, on_start)
        @work = work
        @codec = codec.is_a?(Codec) ? codec : Codec.new(codec)
        @stop = stop
        @as = as
        @packs = packs
        @on_start = on_start
      end

      # Calls on_start.
      #
      # @param number [Integer] of this worker, from 0
      # @return [Failure, nil] without a place, because it belongs to no message
      def start(number)
        @on_start&.call(number)
        nil
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error as it is
        Failure.new(e)
      end

      # Makes the object that packs the results of one batch.
      #
      # @return [Packed]
      def collector
        canonical = @codec.__send__(:changed_options)[:canonical]
        canonical ? CanonicallyPacked.new(@codec) : Packed.new(@codec.packer)
      end

      # @param bytes [String] frozen
      # @param start [Integer] where in the bytes whole messages start; the last one may have an error
      # @param size [Integer] how many bytes they have
      # @param index [Integer] of the first message
      # @param offset [Integer] of the first message
      # @param results [#<<, #to_a] unless packs, an error that its << raises is no Failure: it is raised here
      # @return [Array] the results of all messages, or of those before a Failure; the Failure or nil; how many messages
      def run(bytes, start, size, index, offset, results = @packs ? collector : [])
        batch = batch_of(bytes, start, size, offset)
        stage = :unpack
        batch.each do |object|
          stage = :work
          result = @work.call(object)
          stage = :result unless @packs
          results << result
          stage = :unpack
        end
        [results.to_a, nil, batch.passed]
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error as it is
        raise if stage == :result

        e.path if e.is_a?(DecodeError) # found here, so that the bytes of the message need not cross with the error
        offset = stage == :unpack && e.is_a?(DecodeError) ? e.offset : batch.offset
        [results.to_a, Failure.new(e, index + batch.passed, offset), batch.passed]
      end

      # For results that could not be copied to the Ractor that waits for them.
      #
      # @param results [Array] what run returned for the batch
      # @param error [Exception] raised by copying them
      # @param batch [Array] what run took
      # @return [Array] what run returns, with a Failure of the first message whose result cannot be copied
      def refused(results, error, *batch)
        count = (0...results.size).bsearch { |i| !copyable?(results[0..i]) } || 0
        refusal = ::TypeError.new("the result cannot be copied to the Ractor that waits for it: #{error.message}")
        [results.first(count), Failure.new(refusal, *place(count, *batch)), count]
      end

      private

      def batch_of(*batch)
        return Batch.new(*batch, @codec, @stop) unless @as

        SlicedBatch.new(*batch, @codec, @stop, @as)
      end

      # Index and offset of one of a batch's messages.
      def place(number, bytes, start, size, index, offset)
        before = number > 0 ? Splitter.new(@codec).feed(bytes.byteslice(start, size)).take(number, size, true)[2] : 0
        [index + number, offset + before]
      end

      def copyable?(object)
        RactorEnd.await(Ractor.new(object) { nil })
        true
      rescue StandardError, SystemStackError
        false
      end
    end
    private_constant :Worker
  end
end
