# frozen_string_literal: true

# manypack inspect: a line for each head byte, as a tree.
module Manypack
  module Terminal
    class Inspect < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Shows the offset of each object, its head byte, its type and its size, and what it is. Of broken input it shows
        everything before the fault.
      TEXT
      EXAMPLES = <<~TEXT
        manypack inspect message.msgpack
        manypack inspect --at 18244 broken.msgpack
        head -c 100 events.msgpack | manypack inspect
      TEXT

      private

      def options(parser)
        parser.on("--at OFFSET", Integer, "Show what is at that byte, and the path to it") { |offset| @at = offset }
      end

      def check(_paths)
        raise ArgumentError, "--at is 0 or more" if @at&.negative?
      end

      def work
        each_input do |input|
          @found = false
          input.each_message { |batch| break if show(batch.to_s, batch.offset) && @at }
        rescue Fault => e
          show(e.bytes, e.origin)
          raise
        ensure
          missing(input) if @at && !@found && !$!
        end
      end

      def missing(input)
        fail_with(INVALID, "#{input.name}: there is no byte #{@at}")
      end

      # True if that is where --at is.
      def show(message, origin)
        return show_at(message, origin) if @at

        lines = +""
        Heads.new(message, origin).each do |head|
          lines << line(head)
          lines = flush(lines)
        end
        output.write(lines)
      end

      # Not more text in memory than the message is long.
      def flush(lines)
        return lines if lines.bytesize < Input::READ_BYTES

        output.write(lines)
        +""
      end

      def show_at(message, origin)
        return unless (origin...origin + message.bytesize).cover?(@at)

        @found = true
        heads = Heads.new(message, origin).to_a
        at = heads.rindex { |head| head.offset <= @at }
        return unless at

        first = heads[at]
        inside = heads.drop(at + 1).take_while { |head| head.depth > first.depth }
        where = path_of(first)
        output.write("#{where}\n#{[first, *inside].map { |head| line(head, first.depth) }.join}")
      end

      def path_of(head)
        path = Path.of(*head.steps).to_s
        head.key ? "a key of #{path}" : path
      rescue ::TypeError
        "in a map, at a key that a path cannot name"
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
