# frozen_string_literal: true

# A run in Ractors.

require_relative "background_reader"
require_relative "ractor_pool"
require_relative "ruby_bug_22072"

module Manypack
  module Parallel
    class InRactors < Run
      # Batches that a Ractor has, the current one included; and batches in flight in all, for each Ractor: those that
      # no Ractor has are done, and their results wait for a slower batch before them.
      PER_RACTOR = 2
      IN_FLIGHT = 4

      # Seconds that a batch should take: much longer than it takes to hand over, and short.
      BATCH_SECONDS = 0.001

      # Messages of a batch at most: a slow one may follow many quick ones.
      MAX_MESSAGES = 1_000

      def initialize(source, work, codec, options, packs, size, ordered)
        Isolation.check_codec(codec) if codec
        codec = codec ? codec.with(**options) : Codec.new(options)
        super(source, codec)
        # DefaultFactory's types may have handlers that are the main Ractor's. Then each Ractor makes a codec of its
        # own from the options, which refuses only messages that need those handlers.
        codec = options unless Ractor.shareable?(codec)
        @stop = Stop.new
        @setup = Ractor.make_shareable([Work.shareable(work), codec, @stop, packs])
        @size = size
        @ordered = ordered
        @messages = 1
      end

      def each
        start
        super
      ensure
        @stop.set
        begin
          @reader&.stop
        ensure
          @pool&.stop
        end
      end

      private

      attr_reader :messages

      def start
        RubyBug22072.warn_once
        @events = Thread::Queue.new
        @piece = nil             # what was read
        @sent = @delivered = 0   # batches
        @done = {}               # by the number of a batch: results and Failure that are not delivered yet
        @load = Array.new(@size, 0) # how many batches each Ractor has
        @pool = RactorPool.new(@events)
        @pool.start(@size, @setup)
      end

      def idle?
        @sent == @delivered
      end

      def read(missing)
        return @source.read(missing) unless @source.waits?

        @reader ||= BackgroundReader.new(@source, @events)
        @reader.request(missing)
        handle(@events.pop) until @piece
        piece, @piece = @piece, nil
        raise piece.error unless piece.error.nil? || piece.error.is_a?(StandardError)

        piece
      end

      def work_on(batch)
        handle(@events.pop) while @sent - @delivered >= IN_FLIGHT * @size || @load.min >= PER_RACTOR
        ractor = @load.index(@load.min)
        @load[ractor] += 1
        @pool.give(ractor, [@sent, *batch])
        @sent += 1
        handle(@events.pop) until @events.empty?
      end

      def wait
        handle(@events.pop) until idle?
      end

      # An event is a Piece that was read, the outcome of a batch, or an error of one of the Threads.
      def handle(event)
        return @piece = event if event.is_a?(Source::Piece)
        raise event if event.is_a?(Exception)

        ractor, outcome, ended = event
        raise Ractor::Error, "the work on a message ended its Ractor" if ended && !outcome

        number, results, failure, messages, seconds = outcome
        @load[ractor] -= 1
        adapt_batch_size(messages, seconds) unless failure
        @done[number] = [results, failure]
        deliver_from(@ordered ? @delivered : number)
      end

      # Delivers the results of a batch, and then those of the next ones that are done.
      def deliver_from(number)
        while (results_and_failure = @done.delete(number))
          deliver(*results_and_failure)
          number = @delivered += 1
        end
      end

      # At most doubles the size of the next batches, and at most halves it.
      def adapt_batch_size(messages, seconds)
        quick = seconds.zero? ? MAX_MESSAGES : (messages * BATCH_SECONDS / seconds).ceil # coarse clocks stand still
        @messages = quick.clamp((@messages + 1) / 2, [@messages * 2, MAX_MESSAGES].min)
      end
    end
    private_constant :InRactors
  end
end
