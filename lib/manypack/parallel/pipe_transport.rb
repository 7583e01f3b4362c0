# frozen_string_literal: true

# How a run hears from its Ractors on Ruby 3: by an Outbox for each of them and one pipe for their signals.
module Manypack
  module Parallel
    private_constant :Outbox

    # On Ruby 3.3 and 3.4 a Ractor must not wake one that has several Threads, as Ractor.yield, Ractor#take and the
    # end of a Ractor do: both can wait forever if a collection begins while another Thread is about to run. So the
    # run waits at a pipe. A Ractor puts an outcome into its Outbox, and then writes a signal to the pipe.
    class Transport
      # A signal: the index of a Ractor, and 1 if it is the last signal of that Ractor.
      SIGNAL = "LL"
      SIGNAL_BYTES = [0, 0].pack(SIGNAL).bytesize

      # A String that once had this many bytes keeps its own memory, outside of Ruby's heap. Where objects move, a read
      # into a heap slot fails with EFAULT while a collection in another Thread has locked the page.
      OWN_MEMORY_BYTES = 1_024

      # Seconds between two checks of a Ractor that is about to end.
      PAUSE = 0.0001

      # In a Ractor: receives batches, and copies objects that cannot be shared. Ractors copy what they send, so it
      # sends an object to itself; batches may arrive before the copy does.
      class Receiver
        Copy = Struct.new(:object)

        def initialize
          @batches = []
        end

        def receive
          @batches.empty? ? Ractor.receive : @batches.shift
        end

        # Raises TypeError or Ractor::Error for an object that cannot be copied.
        def copy(object)
          return object if Ractor.shareable?(object)

          Ractor.current.send(Copy.new(object))
          until (message = Ractor.receive).is_a?(Copy)
            @batches << message
          end
          message.object
        end
      end

      # Writes all of a signal or nothing of it: the pipe has room for thousands, and a run lets a Ractor have few
      # batches at a time. Where objects move, a write can fail with EFAULT for the same reason as a read: Ruby copies a
      # short String into a heap slot first.
      def self.signal(pipe, index, last)
        pipe.syswrite([index, last].pack(SIGNAL))
      rescue Errno::EFAULT
        retry
      end

      def initialize
        @reader, @writer = IO.pipe
        @outboxes = []
        @running = 0
      end

      # Each Ractor writes to a duplicate of the pipe: the run may close its own end before a Ractor has ended, and
      # another file may get that number.
      def start_ractor(index, setup)
        @outboxes << (outbox = Outbox.new)
        writer = @writer.dup
        ractor = Ractor.new(index, writer.fileno, outbox, setup) do |own_index, number, results, worker_setup|
          pipe = IO.for_fd(number, "wb")
          receiver = Receiver.new
          RactorLoop.run(own_index, worker_setup, receiver) do |outcome|
            results.put(receiver.copy(outcome))
            Transport.signal(pipe, own_index, 0)
          end
        ensure
          Transport.signal(pipe, own_index, 1)
          pipe.close
        end
        writer.autoclose = false
        @running += 1
        ractor
      end

      def each_message
        buffer = "\0" * OWN_MEMORY_BYTES
        while @running > 0
          index, last = @reader.read(SIGNAL_BYTES, buffer).unpack(SIGNAL)
          while (outcome = @outboxes[index].take)
            yield index, outcome
          end
          next if last.zero?

          @running -= 1
          yield index, nil
        end
      end

      def value_of(ractor)
        join(ractor)
        ractor.take
      end

      # Ruby 3 has no Ractor#join, and Ractor#take must not wait, for the reason above. So this asks until the Ractor
      # has ended. After its last signal that takes less than a millisecond; only if the Thread that listens was
      # killed can the Ractor still be at its last message.
      def join(ractor)
        sleep(PAUSE) until ractor.inspect.end_with?("terminated>")
      end

      def close
        [@reader, @writer].each(&:close)
      end
    end
    private_constant :Transport
  end
end
