# frozen_string_literal: true

# Ractors that work on batches, by what this Ruby has for hearing from them: ports since 4.0, before that an Outbox
# each.
module Manypack
  module Parallel
    class RactorPool
      # What a Ractor ends with: its last outcome where that has a Failure, which would not survive being copied.
      Ended = Struct.new(:outcome)

      # @return [RactorPool] as this Ruby can have it
      def self.of(...)
        (defined?(Ractor::Port) ? ByPorts : ByPipe).new(...)
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
      # @param receiver [#receive]
      # @return [Ended]
      def self.work(setup, receiver = Ractor)
        worker = Worker.new(*setup)
        while (number, *batch = receiver.receive)
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
        size.times { |index| @ractors << start_ractor(index, setup) }
        ended = ->(error) { error ? @events << error : @heard_all = true }
        @listener = ReportedThread.start("hears from the Ractors", ended) { listen }
      end

      # Puts a batch in line for a Ractor.
      def give(index, task)
        @ractors[index].send(task)
      rescue Ractor::ClosedError
        nil # it ended, and what it ended with is on its way
      end

      # Has every Ractor end after the message that it is at, once the Stop is set, and waits for it.
      def stop
        @ractors.each_index { |index| give(index, nil) }
        @listener&.join
        @ractors.each { |ractor| sleep(0.001) until RactorPool.gone?(ractor) } unless @heard_all
        @ractors.each { |ractor| RactorPool.await(ractor) }
        close
      end

      private

      # The last event of a Ractor, which has ended.
      def ending_of(index)
        [index, value_of(@ractors[index])&.outcome, true]
      rescue Ractor::ClosedError # ended by something else than its end
        [index, nil, true]
      rescue Ractor::Error => e
        e
      end

      # Ruby 4.0 and later.
      class ByPorts < RactorPool
        def initialize(...)
          @port = Ractor::Port.new
          super
        end

        private

        def start_ractor(index, setup)
          Ractor.new(@port, index, setup) do |port, me, how|
            RactorPool.work(how) { |outcome| port.send([me, outcome]) }
          ensure
            port.send([me, nil])
          end
        end

        def listen
          left = @ractors.size
          while left > 0
            index, outcome = @port.receive
            left -= 1 unless outcome
            @events << (outcome ? [index, outcome, false] : ending_of(index))
          end
          close
        end

        def close
          @port.close
        end

        def value_of(ractor)
          ractor.value
        end
      end

      # Ruby 3. There a Ractor must not wake another one that may have more than one Thread, as it does by yield, take
      # and its end: in 3.3 and 3.4 both wait for ever when a collection is about to begin and another Thread to run.
      # Therefore it is a pipe that is waited at, and what a Ractor has to say is in its Outbox when it rings there.
      class ByPipe < RactorPool
        # One signal: the index of a Ractor, and whether that was the last one.
        SIGNAL = "LL"
        SIGNAL_BYTES = [0, 0].pack(SIGNAL).bytesize

        # What the Ractor itself is given. It makes copies of what cannot be shared as Ractors do: by sending them, to
        # itself.
        class Receiver
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
          @signals, @signal = IO.pipe
          @outboxes = []
        end

        private

        # A Ractor has a signal of its own: the pool may close its own, and the number become that of a file, before the Ractor signals.
        def start_ractor(index, setup)
          @outboxes << (outbox = Outbox.new)
          own = @signal.dup
          ractor = Ractor.new(index, own.fileno, outbox, setup) do |me, fd, out, how|
            signal = IO.for_fd(fd, "wb")
            receiver = Receiver.new
            RactorPool.work(how, receiver) do |outcome|
              out.put(receiver.copy(outcome))
              signal.syswrite([me, 0].pack(SIGNAL))
            end
          ensure
            signal.syswrite([me, 1].pack(SIGNAL))
            signal.close
          end
          own.autoclose = false
          ractor
        end

        def listen
          left = @ractors.size
          while left > 0
            index, ended = @signals.read(SIGNAL_BYTES).unpack(SIGNAL)
            while (outcome = @outboxes[index].take)
              @events << [index, outcome, false]
            end
            next if ended.zero?

            left -= 1
            @events << ending_of(index)
          end
          close
        end

        def close
          [@signals, @signal].each(&:close)
        end

        def value_of(ractor)
          RactorPool.await(ractor)
          ractor.take
        end
      end
    end
    private_constant :RactorPool
  end
end
