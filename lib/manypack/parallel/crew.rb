# frozen_string_literal: true

# Ractors that work on batches, by what this Ruby has for talking to them: ports since 4.0, before that yield and take.
module Manypack
  module Parallel
    class Crew
      # What a Ractor ends with: its last outcome where that has a Failure, which would not survive being copied.
      Ended = Struct.new(:outcome)

      # @return [Crew] as this Ruby can have it
      def self.of(...)
        (defined?(Ractor::Port) ? OverPorts : ByTaking).new(...)
      end

      # Waits until a Ractor is gone, which is a moment after its value is there.
      def self.await(ractor)
        ractor.join if ractor.respond_to?(:join)
        1_000.times { ractor.inspect.end_with?("terminated>") ? break : sleep(0.0001) }
      end

      # What each Ractor does: works on batches until it is given nil. Yields outcomes: the number of the batch,
      # results, Failure or nil, how many messages, in how many seconds.
      #
      # @return [Ended]
      def self.work(setup)
        worker = Worker.new(*setup)
        while (number, *batch = Ractor.receive)
          started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          results, failure, messages = worker.run(*batch)
          return Ended.new([number, results, failure]) if failure

          Ractor.shareable?(results.freeze) # says so of it when it is, so that it is not copied
          begin
            yield [number, results, nil, messages, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started]
          rescue ::TypeError, Ractor::Error => e
            return Ended.new([number, *worker.refused(results, e, *batch)])
          end
        end
        Ended.new(nil)
      end

      # @param events [Thread::Queue] gets [which Ractor, outcome, whether it ended], or an Exception nobody expected
      def initialize(events)
        @events = events
        @ractors = []
      end

      # Starts Ractors, which wait for batches.
      #
      # @param size [Integer] how many
      # @param setup [Array] shareable; what Worker.new takes
      def start(size, setup)
        size.times { |who| @ractors << hire(who, setup) }
        @listener = Thread.new do
          listen
        rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised where somebody waits for events
          @events << e
        end
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
        @ractors.each { |ractor| Crew.await(ractor) }
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
            @events << [who, outcome || @ractors[who].value&.outcome, !outcome]
          end
        ensure
          @port.close
        end
      end

      # Ruby 3. Up to 3.2 only one Thread of a Ractor can wait for another Ractor at a time. Therefore it is a pipe that
      # is waited at: who has something to say writes its number there, and taking that is a matter of moments.
      class ByTaking < Crew
        NUMBER = "L"

        def initialize(...)
          super
          @bell, @button = IO.pipe
          @takes = Ractor.current[:manypack_takes] ||= Thread::Mutex.new
        end

        private

        def hire(who, setup)
          Ractor.new([who].pack(NUMBER), @button.fileno, setup) do |me, fd, how|
            button = IO.for_fd(fd, "wb", autoclose: false)
            announced = false
            Crew.work(how) do |outcome|
              announced = button.syswrite(me)
              Ractor.yield(outcome)
              announced = false
            end
          ensure
            button.syswrite(me) unless announced # and could not be copied
          end
        end

        def listen
          left = @ractors.size
          while left > 0
            who = @bell.read(4).unpack1(NUMBER)
            outcome = @takes.synchronize { take(@ractors[who]) }
            ended = !outcome.is_a?(Array)
            left -= 1 if ended
            @events << [who, ended ? outcome&.outcome : outcome, ended]
          end
        ensure
          [@bell, @button].each(&:close)
        end

        # nil of a Ractor that was ended by something else than its end.
        def take(ractor)
          ractor.take
        rescue Ractor::ClosedError
          nil
        end
      end
    end
  end
end
