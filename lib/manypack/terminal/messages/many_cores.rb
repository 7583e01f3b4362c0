# frozen_string_literal: true

# Has several processes make the text of what a path finds in an input, and yields it in the order of the messages.
module Manypack
  module Terminal
    class ManyCores
      # The longest text, in bytes, that a process makes of the messages of one read. If the text would be longer, the
      # caller makes it, piece by piece.
      MOST_TEXT = 1 << 22

      # text:: yields the text of packed values that were found in some Messages, some at a time; raises Fault
      def initialize(found, jobs, &text)
        @found = found
        @jobs = jobs
        @text = text
      end

      # Yields text. Raises Fault as Input#each_read does, after the text of all messages before the fault, and if a
      # process was killed.
      def each_piece(input, &block)
        places = Places.new(input)
        work = ->(place) { work(places.messages(place)) }
        done = input.origin
        Parallel.each(places, map: work, processes: @jobs) do |text, found, fault, last|
          yield text if text
          found.each { |packed, offset| @text.call(packed, Input::Messages.new("", 0, 0, 0, offset, 1), &block) }
          raise Fault.new(*fault) if fault

          done = last
        end
      rescue Parallel::DeadWorker => e
        raise Fault.of_code(e, done, e.message[/\A[^;]*/]) # the rest of the message has numbers of places
      end

      # An io with the messages of each read, packed for a process: their place in the input, which is a file that each
      # process can read, or their place and bytes. Parallel waits for an io in the background, so that what was found
      # comes out while the input is silent.
      class Places
        def initialize(input)
          @input = input
          @reads = input.enum_for(:each_read)
        end

        # Returns one place, whatever the size.
        def readpartial(_size)
          messages = @reads.next
          bytes = messages.to_s.b unless @input.regular?
          Manypack.pack([messages.size, messages.index, messages.offset, messages.count, bytes])
        rescue StopIteration
          raise EOFError
        end

        # Returns the Messages of an unpacked place.
        def messages((size, index, offset, count, bytes))
          bytes ||= @input.bytes_at(offset, size)
          Input::Messages.new(bytes.freeze, 0, size, index, offset, count)
        end
      end

      private

      # Returns the text, or nil if it is too long; then, instead of [], the packed values and the offsets of their
      # messages; the arguments of a Fault, or nil; and the end of the messages in the input.
      def work(messages)
        text = "".b
        found = []
        fault = fault_of do
          @found.in_batch(messages) do |packed, from|
            found << [packed.b, from.offset]
            text &&= longer(text, packed, from)
          end
        end
        [text, text ? [] : found, fault, messages.offset + messages.size]
      end

      # Appends the text of packed values. Returns nil if it becomes too long.
      def longer(text, packed, messages)
        @text.call(packed, messages) do |piece|
          text << piece.b
          return if text.bytesize > MOST_TEXT
        end
        text
      end

      def fault_of
        yield
        nil
      rescue Fault => e
        [e.offset, e.message]
      end
    end
  end
end
