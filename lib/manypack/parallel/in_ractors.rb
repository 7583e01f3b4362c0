# frozen_string_literal: true

# A run in Ractors.
module Manypack
  module Parallel
    class InRactors < Run
      # Batches in line at one Ractor, the one it is at included; and under way in all, for each Ractor: the rest are
      # those whose results have to wait for a slower one.
      AT_RACTOR = 2
      IN_FLIGHT = 4

      # Seconds that a batch should take: much longer than it takes to hand over, and short.
      BATCH_SECONDS = 0.001

      # Messages that it has at most: of quick ones a slow one may follow.
      MAX_MESSAGES = 1_000

      # How many messages a batch should have.
      attr_reader :messages

      def initialize(source, work, codec, options, packs, size, ordered)
        Isolation.check_codec(codec) if codec
        codec = codec ? codec.with(**options) : Codec.new(options)
        @cutter = Cutter.new(source, codec)
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

      # Whether nobody has anything to do.
      def idle?
        @given == @delivered
      end

      # What an io has; meanwhile results are delivered.
      def read(io, missing)
        @reader ||= Reader.new(io, @events)
        @reader.ask(missing)
        until @answer
          event = @events.pop
          meanwhile { handle(event) }
        end
        answer, @answer = @answer, nil
        answer.bytes
      end

      private

      def start
        RubyBug22072.warn_once
        @events = Thread::Queue.new
        @waiting = {}
        @given = @delivered = 0
        @answer = nil
        @load = Array.new(@size, 0)
        @pool = RactorPool.new(@events)
        @pool.start(@size, @setup)
      end

      def give(batch)
        handle(@events.pop) while @given - @delivered >= IN_FLIGHT * @size || @load.min >= AT_RACTOR
        index = @load.index(@load.min)
        @load[index] += 1
        @pool.give(index, [@given, *batch])
        @given += 1
        handle(@events.pop) until @events.empty?
      end

      # Until all results are delivered.
      def wait
        handle(@events.pop) until idle?
      end

      def handle(event)
        return @answer = event if event.is_a?(Reader::Answer)
        raise event if event.is_a?(Exception)

        index, outcome, ended = event
        raise Ractor::Error, "the work on a message ended its Ractor" if ended && !outcome

        number, results, failure, messages, seconds = outcome
        @load[index] -= 1
        pace(messages, seconds) unless failure
        @waiting[number] = [results, failure]
        number = @delivered if @ordered
        while (of_a_batch = @waiting.delete(number))
          deliver(*of_a_batch)
          number = @delivered += 1
        end
      end

      def pace(messages, seconds)
        quick = seconds.zero? ? MAX_MESSAGES : (messages * BATCH_SECONDS / seconds).ceil # coarse clocks stand still
        @messages = quick.clamp((@messages + 1) / 2, [@messages * 2, MAX_MESSAGES].min)
      end
    end
    private_constant :InRactors
  end
end
