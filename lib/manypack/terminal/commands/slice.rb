# frozen_string_literal: true

# manypack slice: some of the messages, as they are.
module Manypack
  module Terminal
    class Slice < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = "Writes the messages of each file that all options select, unchanged."
      EXAMPLES = <<~TEXT
        manypack slice --skip 1000 -n 10 events.msgpack | manypack cat
        manypack slice --max-bytes 1000000 events.msgpack > sample.msgpack
        manypack slice --where '$.type=order' events.msgpack > orders.msgpack
      TEXT

      private

      def writes_messages?
        true
      end

      def options(parser)
        parser.on("-s", "--skip N", Integer, "Skip the first N messages") { |n| @skip = n }
        parser.on("-n", "--lines N", Integer, "Write at most N messages") { |n| @most = n }
        parser.on("-b", "--max-bytes N", Integer, "Write at most N bytes of whole messages") { |n| @most_bytes = n }
        parser.on("-w", "--where PATH[=VALUE]", "Select messages in which the path finds the value") do |text|
          @selection = Selection.new(text)
        end
      end

      def check(_paths)
        raise ArgumentError, "numbers must be 0 or more" if [@skip, @most, @most_bytes].compact.any?(&:negative?)
      end

      def work
        each_input { |input| slice(input) }
      end

      def slice(input)
        return if @most&.zero?

        skip = @skip.to_i
        count = bytes = 0
        input.each_message do |message|
          next if @selection && !@selection.match?(message.to_s)
          next if (skip -= 1) >= 0
          break if (bytes += message.size) > (@most_bytes || bytes)

          output.write(message.to_s)
          break if (count += 1) == @most
        end
      end
    end
  end
end
