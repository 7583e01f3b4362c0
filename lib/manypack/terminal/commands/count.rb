# frozen_string_literal: true

# manypack count: how many messages there are.
module Manypack
  module Terminal
    class Count < Command
      ABOUT = <<~TEXT.chomp
        Counts messages without building them. For several files it shows each count, and the total. In a condition, as
        JSONPath has it, @ is the message. As grep -c does, count --where exits with 1 if it counts none.
      TEXT
      EXAMPLES = <<~TEXT
        manypack count events.msgpack
        manypack count --where '@.type == "order" && @.total > 99' events.msgpack
        zcat *.gz | manypack count
      TEXT

      private

      def options(parser)
        where_option(parser, "Count")
        looks_option(parser)
      end

      def found? = @total.positive?
      def streams? = false

      def work
        @total = 0
        each_input { |input| @total += count(input) }
        output.write("#{@total} total\n") if @paths.size > 1
      end

      # Counts whole messages, also those before a fault.
      def count(input)
        count = 0
        begin
          @selection ? count_chosen(input) { |n| count += n } : input.each_read { |messages| count += messages.count }
        rescue Fault => e
          report(input.name, e)
        end
        output.write(@paths.size > 1 ? "#{count} #{input.name}\n" : "#{count}\n")
        count
      end

      def count_chosen(input)
        many = ->(messages) { yield Input.count(@selection.chosen(messages)) }
        input.each_batch(many) { |message| yield 1 if @selection.match?(message.to_s) }
      end
    end
  end
end
