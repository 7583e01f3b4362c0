# frozen_string_literal: true

# manypack count: how many messages there are.
module Manypack
  module Terminal
    class Count < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = "Counts messages without building them. For several files it shows each count, and the total."
      EXAMPLES = <<~TEXT
        manypack count events.msgpack
        zcat *.gz | manypack count
      TEXT

      private

      def streams?
        false
      end

      def work
        total = 0
        each_input { |input| total += count(input) }
        output.write("#{total} total\n") if @paths.size > 1
      end

      # Counts whole messages, also those before a fault.
      def count(input)
        count = 0
        begin
          input.each_read { |messages| count += messages.count }
        rescue Fault => e
          report(input.name, e)
        end
        output.write(@paths.size > 1 ? "#{count} #{input.name}\n" : "#{count}\n")
        count
      end
    end
  end
end
