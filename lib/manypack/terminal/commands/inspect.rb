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

      private

      def options(parser)
        parser.on("--at OFFSET", Integer, "Show the object at that byte, and its path") { |offset| @at = offset }
      end

      def check(_paths)
        raise ArgumentError, "--at must be 0 or more" if @at&.negative?
      end

      def work
        each_input do |input|
          @found = false
          input.each_message { |message| break if show(message.to_s, message.offset) && @at }
        rescue Fault => e
          show(e.bytes, e.origin)
          raise
        ensure
          beyond_end(input) if @at && !@found && !$!
        end
      end

      def beyond_end(input)
        fail_with(INVALID, "#{input.name}: there is no byte #{@at}")
      end

      # Returns true if --at is in the message.
      def show(bytes, origin)
        return show_at(bytes, origin) if @at

        lines = +""
        Heads.new(bytes, origin, steps: false).each do |head|
          lines << line(head)
          lines = flush(lines)
        end
        output.write(lines)
      end

      # Writes the lines when there are many, because they can be longer than the message.
      def flush(lines)
        return lines if lines.bytesize < Input::READ_BYTES

        output.write(lines)
        +""
      end

      def show_at(bytes, origin)
        return unless (origin...origin + bytes.bytesize).cover?(@at)

        @found = true
        heads = Heads.new(bytes, origin).to_a
        at = heads.rindex { |head| head.offset <= @at }
        return unless at

        first = heads[at]
        inside = heads.drop(at + 1).take_while { |head| head.depth > first.depth }
        where = path_of(first)
        output.write("#{where}\n#{[first, *inside].map { |head| line(head, first.depth) }.join}")
      end

      def path_of(head)
        steps = head.steps.take_while { |step| step != Heads::UNNAMED }
        path = Path.of(*steps).to_s
        return "below a key of #{path} that a path cannot name" if steps.size < head.steps.size

        head.key ? "a key of #{path}" : path
      end

      def line(head, depth = 0)
        format("%8d  %s  %s%s\n", head.offset, Colors.paint(format("%02x", head.byte), :dim),
               "  " * (head.depth - depth), description(head))
      end

      def description(head)
        what = head.key ? "#{Colors.paint("key", :blue)} " : ""
        type = Colors.paint(head.type, :cyan)
        case head.type
        when "map" then "#{what}#{type} of #{head.count} pair#{"s" if head.count != 1}"
        when "array" then "#{what}#{type} of #{head.count} element#{"s" if head.count != 1}"
        when "str", "bin", "ext" then "#{what}#{type} of #{head.count} byte#{"s" if head.count != 1}: #{head.text}"
        else [what + type, head.text].compact.join(" ")
        end
      end
    end
  end
end
