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

      TEXT = Path.const_get(:Text)
      private_constant :TEXT

      private

      def options(parser)
        parser.on("-q", "--quiet", "Show nothing, and only set the exit code") { @quiet = true }
      end

      def check(paths) = check_two(paths)

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
        left, right = pairs.map { |input, message| values(input, message) }
        @shown = false
        catch(:enough) do
          Difference.new { |steps, one, two| found(index, steps, one, two) }.compare(left, right)
        end
      end

      def same_bytes?(messages)
        left, right = messages
        left && right && left.size == right.size && left.to_s == right.to_s
      end

      # Returns an Array with the value of the message, or an empty one without a message.
      def values(input, message)
        return [] unless message

        stop_at_fault(input) { message.guard { [Difference.value(message.to_s)] } }
      end

      def found(index, steps, left, right)
        @status = [@status, INVALID].max
        throw :enough if @quiet

        output.keep("#{Colors.paint("message #{index}", :cyan)}\n") unless @shown
        @shown = true
        place = "$#{steps.map { |step| step_text(step) }.join}"
        left.each { |value| output.keep("#{Colors.paint("- #{place}: #{json(value)}", :red)}\n") }
        right.each { |value| output.keep("#{Colors.paint("+ #{place}: #{json(value)}", :green)}\n") }
      end

      # Returns what a Path reads, or the JSON of a key for which a Path has no step.
      def step_text(step)
        case step
        when String then TEXT.step(TEXT.text_of(step))
        when Integer, Float, true, false, nil then step.is_a?(Float) && step.nan? ? "[#{json(step)}]" : TEXT.step(step)
        else "[#{json(step.is_a?(Difference::Bin) ? step.bytes : step)}]"
        end
      end

      def json(value)
        return value if value.is_a?(Integer) || (value.is_a?(Float) && value.finite?)

        @printer.print(Twins.packed(value)).chomp
      end
    end
  end
end
