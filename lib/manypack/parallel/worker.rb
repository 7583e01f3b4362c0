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
        # canonical:: the Codec that packs results in the canonical form, or nil. A Packer cannot: it writes piece by
        #             piece, and that form is known only once the whole object is packed
        def initialize(packer, canonical = nil)
          @packer = packer
          @canonical = canonical
          @count = 0
        end

        # Adds the result for a message, whose bytes the block returns.
        def add(result)
          if true.equal?(result)
            keep(yield)
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
          @canonical ? @packer.buffer << @canonical.pack(object) : @packer.write(object)
          @count += 1
        end

        def keep(bytes)
          @packer.buffer << (@canonical ? Manypack.canonicalize(bytes) : bytes)
          @count += 1
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
        @codec.options[:canonical] ? Packed.new(Packer.new, @codec) : Packed.new(@codec.packer)
      end

      # Works on a batch: +size+ bytes from +start+ of a frozen String. They are whole messages, but the last one may be
      # malformed. +index+ and +offset+ are those of the first message in the whole input. Returns the results of all
      # messages, or of those before a Failure; the Failure or nil; and how many messages there were.
      #
      # results:: a Packed, or an object with << and to_a. With packs its errors become Failures; otherwise they are
      #           raised
      def run(bytes, start, size, index, offset, results = @packs ? collector : [])
        passed = 0
        stage = :unpack
        from = offset
        unpacker = unpacker_of(bytes, start, size, offset)
        unpacker.each(strict: true) do |object|
          break if @stop.set?

          stage = :work
          result = @work.call(object)
          if results.is_a?(Packed)
            to = unpacker.position
            results.add(result) { bytes.byteslice(start + from - offset, to - from) }
            from = to
          else
            stage = :result unless @packs
            results << result
          end
          passed += 1
          stage = :unpack
        end
        [results.to_a, nil, passed]
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller gets every error as it is
        raise if stage == :result

        passed ||= 0 # an interrupt came before the first line
        failure = Failure.new(e, *place(passed, bytes, start, size, index, offset))
        if e.is_a?(DecodeError)
          e.path # found here, so that the error need not carry the bytes of its message
          failure.offset = e.offset if stage == :unpack
        end
        [results.to_a, failure, passed]
      end

      # Takes the results of a batch that could not be copied to the Ractor that waits for them, and the error of
      # copying. Returns the same as run, with a Failure for the first message whose result the block cannot copy.
      def refused(results, error, *batch, &copy)
        count = results.index { |result| !copied?([result], &copy) } || 0
        refusal = ::TypeError.new("the result cannot be copied to the Ractor that waits for it: #{error.message}")
        [results.first(count), Failure.new(refusal, *place(count, *batch)), count]
      end

      private

      # Run has given a Type the options of the front: the codec of the front is not to change it again.
      def unpacker_of(bytes, start, size, offset)
        unpacker = Arguments.type_of(@as) ? Unpacker.new(as: @as) : @codec.unpacker(as: @as)
        Internal.start_at(unpacker, offset, bytes, start, size)
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
