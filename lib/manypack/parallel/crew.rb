# frozen_string_literal: true

# Ractors that work on batches, by what this Ruby has for hearing from them: ports since 4.0, before that an Outbox
# each.
module Manypack
  module Parallel
    class Crew
      # What a Ractor ends with: its last outcome where that has a Failure, which would not survive being copied.
      Ended = Struct.new(:outcome)

      # @return [Crew] as this Ruby can have it
      def self.of(...)
        (defined?(Ractor::Port) ? OverPorts : ByOutboxes).new(...)
      end

      # Waits until a Ractor is gone, which is a moment after its value is there.
      def self.await(ractor)
        ractor.join if ractor.respond_to?(:join)
        10_000.times { gone?(ractor) ? break : sleep(0.0001) }
      end

      def self.gone?(ractor)
        ractor.inspect.end_with?("terminated>")
      end

      # What each Ractor does: works on batches until it receives nil. Yields outcomes: the number of the batch,
      # results, Failure or nil, how many messages, in how many seconds.
      #
      # @param inbox [#receive]
      # @return [Ended]
      def self.work(setup, inbox = Ractor)
        worker = Worker.new(*setup)
        while (number, *batch = inbox.receive)
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          results, failure, messages = worker.run(*batch)
          return Ended.new([number, results, failure]) if failure

          Ractor.shareable?(results.freeze) # says so of it when it is, so that it is not copied
          begin
            yield [number, results, nil, messages, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started]
          rescue StandardError, SystemStackError => e # whatever kept the results from being copied
            return Ended.new([number, *worker.refused(results, e, *batch)])
          end
        end
        Ended.new(nil)
      end

      # @param events [Thread::Queue] gets [which Ractor, outcome, whether it ended], or an Exception nobody expected
      def initialize(events)
        @events = events
        @ractors = []
        @heard_all = false
      end

      # Starts Ractors, which wait for batches.
      #
      # @param size [Integer] how many
      # @param setup [Array] shareable; what Worker.new takes
      def start(size, setup)
        size.times { |who| @ractors << hire(who, setup) }
        ended = ->(error) { error ? @events << error : @heard_all = true }
        @listener = ReportedThread.start("hears from the Ractors", ended) { listen }
      end

      # Puts a batch in line for a Ractor.
      def give(who, task)
        @ractors[who].send(task)
      rescue Ractor::ClosedError
        nil # it ended, and what it ended with is on its way
      end

      # Has every Ractor end after the message that it is at, once the Stop is set, and waits for it.
      def dismiss
        @ractors.each_index { |who| give(who, nil) }
        @listener&.join
        @ractors.each { |ractor| sleep(0.001) until Crew.gone?(ractor) } unless @heard_all
        @ractors.each { |ractor| Crew.await(ractor) }
        hang_up
      end

      private

      # The last event of a Ractor, which has ended.
      def ending_of(who)
        [who, value_of(@ractors[who])&.outcome, true]
      rescue Ractor::ClosedError # ended by something else than its end
        [who, nil, true]
      rescue Ractor::Error => e
        e
      end

      # Ruby 4.0 and later.
      class OverPorts < Crew
        def initialize(...)
          @port = Ractor::Port.new
          super
        end

        private

        def hire(who, setup)
          Ractor.new(@port, who, setup) do |port, me, how|
            Crew.work(how) { |outcome| port.send([me, outcome]) }
          ensure
            port.send([me, nil])
          end
        end

        def listen
          left = @ractors.size
          while left > 0
            who, outcome = @port.receive
            left -= 1 unless outcome
            @events << (outcome ? [who, outcome, false] : ending_of(who))
          end
          hang_up
        end

        def hang_up
          @port.close
        end

        def value_of(ractor)
          ractor.value
        end
      end

      # Ruby 3. There a Ractor must not wake another one that may have more than one Thread, as it does by yield, take
      # and its end: in 3.3 and 3.4 both wait for ever when a collection is about to begin and another Thread to run.
      # Therefore it is a pipe that is waited at, and what a Ractor has to say is in its Outbox when it rings there.
      class ByOutboxes < Crew
        # One ring: who, and whether that was the last one.
        RING = "LL"
        RING_BYTES = [0, 0].pack(RING).bytesize

        # What the Ractor itself is given. It makes copies of what cannot be shared as Ractors do: by sending them, to
        # itself.
        class Inbox
          Copy = Struct.new(:object)

          def initialize
            @tasks = []
          end

          def receive
            @tasks.empty? ? Ractor.receive : @tasks.shift
          end

          # @raise [::TypeError, Ractor::Error] for what cannot be copied
          def copy(object)
            return object if Ractor.shareable?(object)

            Ractor.current.send(Copy.new(object))
            until (message = Ractor.receive).is_a?(Copy)
              @tasks << message
            end
            message.object
          end
        end

        def initialize(...)
          super
          @bell, @button = IO.pipe
          @outboxes = []
        end

        private

        # A Ractor has a button of its own: this one's may be closed, and its number a file's, before it rings.
        def hire(who, setup)
          @outboxes << (outbox = Outbox.new)
          own = @button.dup
          ractor = Ractor.new(who, own.fileno, outbox, setup) do |me, fd, out, how|
            button = IO.for_fd(fd, "wb")
            inbox = Inbox.new
            Crew.work(how, inbox) do |outcome|
              out.put(inbox.copy(outcome))
              button.syswrite([me, 0].pack(RING))
            end
          ensure
            button.syswrite([me, 1].pack(RING))
            button.close
          end
          own.autoclose = false
          ractor
        end

        def listen
          left = @ractors.size
          while left > 0
            who, ended = @bell.read(RING_BYTES).unpack(RING)
            while (outcome = @outboxes[who].take)
              @events << [who, outcome, false]
            end
            next if ended.zero?

            left -= 1
            @events << ending_of(who)
          end
          hang_up
        end

        def hang_up
          [@bell, @button].each(&:close)
        end

        def value_of(ractor)
          Crew.await(ractor)
          ractor.take
        end
      end
    end
    private_constant :Crew
  end
end
