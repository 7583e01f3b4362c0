# frozen_string_literal: true

# manypack inspect: a line for each head byte, as a tree.
module Manypack
  module Terminal
    class Inspect < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Shows the offset, head byte, type, size and value of each object. Of broken input it shows everything before the
        fault.
      TEXT
      EXAMPLES = <<~TEXT
        manypack inspect message.msgpack
        manypack inspect --at 18244 broken.msgpack
        head -c 100 events.msgpack | manypack inspect
      TEXT

      # How many heads are shown at a time.
      LINES = 1000

      private

      def options(parser)
        parser.on("--at OFFSET", Integer, "Show the object at that byte, and its path") { |offset| @at = offset }
      end

      def check(_paths)
        raise ArgumentError, "--at must be 0 or more" if @at&.negative?
      end

      def work
        @line = HeadLine.new
        each_input do |input|
          @at ? find(input) : input.each_read { |messages| show(messages) }
        rescue Fault => e
          @at ? show_at(e.bytes, e.origin) : show_broken(e)
          raise
        end
      end

      def find(input)
        input.each_message { |message| return if show_at(message.to_s, message.offset) }
        beyond_end(input)
      end

      def beyond_end(input)
        fail_with(INVALID, "#{input.name}: there is no byte #{@at}")
      end

      # Writes some lines at a time, because they can be longer than the messages.
      def show(messages)
        @line.each_piece(messages) { |lines| output.write(lines) }
      end

      # Shows the heads before the fault.
      def show_broken(fault)
        write_lines(Heads.new(fault.bytes, fault.origin, steps: false)) { |head| @line.of(head) }
      end

      # Writes the line that the block returns for each head, some at a time.
      def write_lines(heads)
        heads.each_slice(LINES) { |some| output.write(some.map { |head| yield head }.join) }
      end

      # Returns true if --at is in the message.
      def show_at(bytes, origin)
        return false unless (origin...origin + bytes.bytesize).cover?(@at)

        heads = Heads.new(bytes, origin)
        first = last_up_to_offset(heads) or return true
        output.write("#{path_of(first)}\n#{@line.of(first, first.depth)}")
        after = heads.lazy.drop_while { |head| head.offset <= first.offset }
        inside = after.take_while { |head| head.depth > first.depth }
        write_lines(inside) { |head| @line.of(head, first.depth) }
        true
      end

      # Returns the head of the object at --at, or nil before the first one.
      def last_up_to_offset(heads)
        last = nil
        heads.each { |head| head.offset <= @at ? last = head : break }
        last
      end

      def path_of(head)
        steps = head.steps.take_while { |step| step != Heads::UNNAMED }
        path = Path.of(*steps).to_s
        return "below a key of #{path} that a path cannot name" if steps.size < head.steps.size

        head.key ? "a key of #{path}" : path
      end
    end
  end
end
