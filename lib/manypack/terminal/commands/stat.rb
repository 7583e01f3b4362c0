# frozen_string_literal: true

# manypack stat: what a stream is made of.
module Manypack
  module Terminal
    class Stat < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Shows for each file how often each type occurs, how many bytes each path has, keys included, and how deep and
        large messages are. An index is shown as *, and so are all paths after the first 1,000.
      TEXT
      EXAMPLES = <<~TEXT
        manypack stat events.msgpack
        manypack stat --paths 5 events.msgpack
      TEXT

      MOST_PATHS = 1000
      BAR = "█"
      WIDTH = 40

      private

      def options(parser)
        parser.on("--paths N", Integer, "Show the N paths with the most bytes (default: 20)") { |n| @shown = n }
      end

      def streams?
        false
      end

      def work
        each_input do |input|
          reset
          input.each_message { |message| count(message.to_s) }
        ensure
          output.write(text(input.name)) if @messages
        end
      end

      def reset
        @messages = @total = 0
        @types, @depths, @sizes, @bytes = Array.new(4) { Hash.new(0) }
      end

      def count(message)
        @messages += 1
        @total += message.bytesize
        @sizes[message.bytesize.bit_length] += 1
        deepest = 0
        Heads.new(message).each do |head|
          deepest = head.depth if head.depth > deepest
          @types[head.type] += 1
          @bytes[path_of(head)] += head.bytesize
        end
        @depths[deepest] += 1
      end

      def path_of(head)
        path = head.steps.map { |step| step.is_a?(Integer) || step == Heads::UNNAMED ? Path::ALL : step }
        @bytes.key?(path) || @bytes.size < MOST_PATHS ? path : [Path::ALL]
      end

      def text(name)
        "#{name}: #{@messages} message#{"s" if @messages != 1}, #{@total} bytes\n" +
          table("types", @types.sort_by { |type, count| [-count, type] }) + table("bytes by path", paths) +
          table("depth", @depths.sort) + table("size", sizes)
      end

      # Counts for each path everything below it, too.
      def paths
        sums = Hash.new(0)
        @bytes.each { |steps, bytes| (0..steps.size).each { |n| sums[steps.first(n)] += bytes } }
        sums.max_by(@shown || 20) { |steps, bytes| [bytes, -steps.size] }.map { |steps, bytes| [place(steps), bytes] }
      end

      def place(steps)
        Path.of(*steps).to_s
      end

      def sizes
        bits = @sizes.keys.minmax
        return [] unless bits.first

        (bits.first..bits.last).map { |bit| ["#{1 << bit - 1} to #{(1 << bit) - 1}", @sizes[bit]] }
      end

      def table(title, rows)
        return "" if rows.empty?

        names = rows.map { |row| row.first.to_s.size }.max
        most = rows.map(&:last).max
        numbers = most.to_s.size
        lines = rows.map do |row, number|
          bar = Colors.paint(BAR * (number * WIDTH / most), :blue)
          format("  %-#{names}s  %#{numbers}d  %s", row, number, bar).rstrip << "\n"
        end
        "\n#{title}\n#{lines.join}"
      end
    end
  end
end
