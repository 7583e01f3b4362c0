# frozen_string_literal: true

# What every worker does, be it a Ractor, a process or the caller: it calls the block for each message of a batch.

require_relative "error"

module Manypack
  module Parallel
    class Worker
      # An error, and the index and offset of the message that caused it.
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

      # Collects what is written for each message: true keeps the message, nil and false leave it out, and any other
      # result is packed.
      class Packed
        def initialize(packer)
          @packer = packer
          @count = 0
        end

        # batch:: a Batch whose message the result is for
        def add(result, batch)
          if true.equal?(result)
            keep(batch.message)
          elsif result
            write(result)
          end
        end

        # Returns how many objects there are, and their bytes.
        def to_a
          [@count, @packer.to_s.freeze]
        end

        private

        def write(object)
          @packer.write(object)
          @count += 1
        end

        def keep(bytes)
          @packer.buffer << bytes
          @count += 1
        end
      end

      # Packs results in the canonical form. A Packer writes piece by piece, but the canonical form is known only once
      # the whole object is packed.
      class CanonicallyPacked < Packed
        def initialize(codec)
          super(Packer.new)
          @codec = codec
        end

        private

        def write(object)
          @packer.buffer << @codec.pack(object)
          @count += 1
        end

        def keep(bytes)
          super(Manypack.canonicalize(bytes))
        end
      end

      # codec:: a Codec, or a Hash of options for one
      # stop:: a Stop, which ends a batch early
      # as:: what loads the messages instead of the codec: <code>:view</code>, an object with load, or nil
      # packs:: true to pack the results of a batch, as Packed does
      # on_start:: nil, or an object whose call takes the number of the worker
      def initialize(work, codec, stop, as, packs, on_start)
        @work = work
        @codec = codec.is_a?(Codec) ? codec : Codec.new(codec)
        @stop = stop
        @as = as
        @packs = packs
        @on_start = on_start
      end

      # Calls on_start with the number of this worker, from 0. Returns nil, or a Failure without a place, because it
      # belongs to no message.
      def start(number)
        @on_start&.call(number)
        nil
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error as it is
        Failure.new(e)
      end

      # Returns a Packed for the results of one batch.
      def collector
        @codec.options[:canonical] ? CanonicallyPacked.new(@codec) : Packed.new(@codec.packer)
      end

      # Works on a batch: +size+ bytes from +start+ of a frozen String. They are whole messages, but the last one may be
      # malformed. +index+ and +offset+ are those of the first message in the whole input. Returns the results of all
      # messages, or of those before a Failure; the Failure or nil; and how many messages there were.
      #
      # results:: a Packed, or an object with << and to_a. Its errors are Failures with packs; otherwise they are raised
      #           here
      def run(bytes, start, size, index, offset, results = @packs ? collector : [])
        batch = batch_of(bytes, start, size, offset)
        stage = :unpack
        batch.each do |object|
          stage = :work
          result = @work.call(object)
          stage = :result unless @packs
          results.is_a?(Packed) ? results.add(result, batch) : results << result
          stage = :unpack
        end
        [results.to_a, nil, batch.passed]
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error as it is
        raise if stage == :result
        return [results.to_a, Failure.new(e, index, offset), 0] unless batch # an interrupt came before there was one

        e.path if e.is_a?(DecodeError) # found here, so that the error need not carry the bytes of the message
        offset = stage == :unpack && e.is_a?(DecodeError) ? e.offset : batch.offset
        [results.to_a, Failure.new(e, index + batch.passed, offset), batch.passed]
      end

      # Takes the results of a batch that could not be copied to the Ractor that waits for them, and the error of
      # copying. Returns the same as run, with a Failure for the first message whose result the block cannot copy.
      def refused(results, error, *batch, &copy)
        count = results.index { |result| !copied?([result], &copy) } || 0
        refusal = ::TypeError.new("the result cannot be copied to the Ractor that waits for it: #{error.message}")
        [results.first(count), Failure.new(refusal, *place(count, *batch)), count]
      end

      private

      # Loads the messages of a batch as Views, or by an object with load. It has the methods of Batch.
      class BatchLoader
        attr_reader :offset, :passed

        def initialize(bytes, start, size, offset, codec, stop, as)
          @bytes = bytes.byteslice(start, size)
          # Run has given a Type the options of the front: the codec of the front is not to change it again.
          unpacker = Arguments.type_of(as) ? Unpacker.new(as: as) : codec.unpacker(as: as)
          @unpacker = unpacker.feed(@bytes)
          Internal.start_at(@unpacker, offset)
          @start = @offset = offset
          @passed = 0
          @stop = stop
        end

        # Yields each loaded message, until the Stop is set.
        def each
          @unpacker.each(strict: true) do |object|
            yield object
            @passed += 1
            @offset = @unpacker.position
            break if @stop.set?
          end
        end

        # Returns the bytes of the message that +each+ has yielded last.
        def message
          @bytes.byteslice(@offset - @start, @unpacker.position - @offset)
        end
      end
      private_constant :BatchLoader

      def batch_of(*batch)
        return Batch.new(*batch, @codec, @stop) unless @as

        BatchLoader.new(*batch, @codec, @stop, @as)
      end

      # Returns the index and offset of the message with that number in a batch.
      def place(number, bytes, start, size, index, offset)
        limits = Arguments.codec_of_loader(@as, @codec)
        before = number > 0 ? Splitter.new(limits).feed(bytes.byteslice(start, size)).take(number, size, true)[2] : 0
        [index + number, offset + before]
      end

      def copied?(object)
        yield object
        true
      rescue StandardError, SystemStackError
        false
      end
    end
    private_constant :Worker
  end
end
