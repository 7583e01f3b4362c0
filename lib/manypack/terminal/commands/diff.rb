# frozen_string_literal: true

# manypack diff: where the messages of two streams differ.
module Manypack
  module Terminal
    class Diff < Command
      ARGUMENTS = "FILE FILE"
      ABOUT = <<~TEXT.chomp
        Compares two streams message by message: - marks what only the first has, + what only the second has. The order
        of map keys and the width of packed numbers do not matter. The exit code is 1 if the streams differ.
      TEXT
      EXAMPLES = <<~TEXT
        manypack diff before.msgpack after.msgpack
        curl -s https://example.com/feed | manypack diff yesterday.msgpack -
      TEXT

      private

      def options(parser)
        parser.on("-q", "--quiet", "Show nothing, and only set the exit code") { @quiet = true }
      end

      def check(paths)
        raise ArgumentError, "needs two files" unless paths.size == 2
        raise ArgumentError, "only one of the files can be standard input" if paths == %w[- -]
      end

      def work
        @printer = Printer.new("json")
        each_input(@paths.first(1)) do |one|
          each_input(@paths.last(1)) { |two| catch(:stop) { compare(one, two) } }
        end
      end

      def compare(*inputs)
        streams = inputs.map(&:each_message)
        (0..).each do |index|
          messages = inputs.zip(streams).map { |input, stream| stop_at_fault(input) { following(stream) } }
          break if messages.none?

          compare_messages(index, inputs.zip(messages)) unless same_bytes?(messages)
          break if @quiet && @status != FINE
        end
      end

      # Reports the fault by the name of the file that has it.
      def stop_at_fault(input)
        yield
      rescue Fault => e
        report(input.name, e)
        throw :stop
      end

      def following(stream)
        stream.next
      rescue StopIteration
        nil
      end

      def compare_messages(index, pairs)
        lines = differences([], *pairs.map { |input, message| objects(input, message) })
        found(index, lines) unless lines.empty?
      end

      def same_bytes?(messages)
        messages.all? && messages.map(&:to_s).uniq.size == 1
      end

      def objects(input, message)
        return [] unless message

        stop_at_fault(input) { message.guard { [Manypack.unpack(message.to_s, **OPTIONS)] } }
      end

      def found(index, lines)
        @status = [@status, INVALID].max
        output.write("#{Colors.paint("message #{index}", :cyan)}\n#{lines}") unless @quiet
      end

      # Left and right are Arrays with one value each, or empty if there is no value.
      def differences(steps, left, right)
        case [left, right]
        in [[Hash => one], [Hash => two]] then in_hashes(steps, one, two)
        in [[Array => one], [Array => two]] then in_arrays(steps, one, two)
        else left.map { |value| packed(value) } == right.map { |value| packed(value) } ? "" : lines(steps, left, right)
        end
      end

      def in_hashes(steps, one, two)
        (one.keys | two.keys).map do |key|
          differences([*steps, key], *[one, two].map { |hash| hash.key?(key) ? [hash[key]] : [] })
        end.join
      end

      def in_arrays(steps, one, two)
        Array.new([one.size, two.size].max) do |i|
          differences([*steps, i], *[one, two].map { |array| i < array.size ? [array[i]] : [] })
        end.join
      end

      def lines(steps, left, right)
        place = place(steps)
        left.map { |value| Colors.paint("- #{place}: #{json(value)}", :red) << "\n" }.join <<
          right.map { |value| Colors.paint("+ #{place}: #{json(value)}", :green) << "\n" }.join
      end

      def place(steps)
        "$#{steps.map { |step| step_text(step) }.join}"
      rescue EncodingError
        "$ (at a key that is not text)"
      end

      # A Path has no step for keys of other types.
      def step_text(step)
        step.is_a?(Integer) || step.is_a?(String) ? Path.of(step).to_s.delete_prefix("$") : "[#{json(step)}]"
      end

      def json(value)
        @printer.print(packed(value)).chomp
      end

      def packed(value)
        Manypack.pack(value)
      end
    end
  end
end
