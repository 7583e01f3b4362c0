# frozen_string_literal: true

# manypack stat: what a stream is made of.
module Manypack
  module Terminal
    class Stat < Command
      ABOUT = <<~TEXT.chomp
        Shows for each file how often each type occurs, how many bytes each path has, keys included, and how deep and
        large messages are. An index is shown as *, and so are a key of more than 256 bytes and all paths after the
        first 1,000.
      TEXT
      EXAMPLES = <<~TEXT
        manypack stat events.msgpack
        manypack stat --paths 5 events.msgpack
      TEXT

      BAR = "█"
      WIDTH = 40

      private

      def options(parser)
        parser.number("--paths N", "Show the N paths with the most bytes (default: 20)") { |n| @shown = n }
      end

      def streams? = false

      def work
        each_input do |input|
          @tally = Tally.new
          input.each_read { |messages| @tally.add(messages.bytes, messages.start, messages.size) }
        ensure
          output.write(text(input.name)) if @tally
        end
      end

      def text(name)
        heads, depths, sizes, bytes = @tally.counts
        "#{name}: #{counted(depths.sum, "message")}, #{counted(bytes, "byte")}\n" +
          table("types", types(heads)) + table("bytes by path", depths.sum.zero? ? [] : paths(@tally.nodes)) +
          table("depth", rows(depths)) + table("size", by_size(sizes))
      end

      # Returns what each number counts, and the number, if that is not 0.
      def rows(numbers)
        numbers.each_with_index.filter_map { |number, i| [i, number] if number.positive? }
      end

      def types(heads)
        counts = Hash.new(0)
        rows(heads).each { |byte, number| counts[HeadLine::TYPES[byte]] += number }
        counts.sort_by { |type, number| [-number, type] }
      end

      # Returns the paths with the most bytes, including everything inside: a path comes after the one around it.
      def paths(nodes)
        nodes.drop(1).reverse_each { |around, _, _, bytes| nodes[around][3] += bytes }
        rows = nodes.each_with_index.max_by(@shown || 20) { |(_, _, _, bytes), i| [bytes, -depth(nodes, i), -i] }
        rows.map { |node, i| [Path.of(*steps(nodes, i)).to_s, node[3]] }
      end

      def depth(nodes, index)
        depth = 0
        index = nodes[index].first and depth += 1 while index.positive?
        depth
      end

      def steps(nodes, index)
        steps = []
        while index.positive?
          around, kind, name, = nodes[index]
          steps.unshift(step(kind, name))
          index = around
        end
        steps
      end

      def step(kind, name)
        case kind
        when :any then Path::ALL
        when :text then name.force_encoding(Encoding::UTF_8)
        when :bytes then name
        else Manypack.unpack(name)
        end
      end

      # Leaves no gap between the smallest and the largest size.
      def by_size(counts)
        first = counts.index(&:positive?) or return []
        (first..counts.rindex(&:positive?)).map { |bits| ["#{1 << bits - 1} to #{(1 << bits) - 1}", counts[bits]] }
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
