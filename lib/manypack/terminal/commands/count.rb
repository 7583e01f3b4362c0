# frozen_string_literal: true

# manypack count: how many messages there are.
module Manypack
  module Terminal
    class Count < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = "Counts messages, without building them. Of several files it shows each, and all together."
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

      # Counts what is whole, also before a fault.
      def count(input)
        messages = 0
        begin
          input.each_batch { |batch| messages += batch.count }
        rescue Fault => e
          report(input.name, e)
        end
        output.write(@paths.size > 1 ? "#{messages} #{input.name}\n" : "#{messages}\n")
        messages
      end
    end
  end
end
