# frozen_string_literal: true

# manypack slice: some of the messages, as they are.
module Manypack
  module Terminal
    class Slice < Command
      ABOUT = <<~TEXT.chomp
        Writes the messages of each file that all options select, unchanged. In a condition, as JSONPath has it, @ is
        the message. As grep does, slice --where exits with 1 if it writes nothing.
      TEXT
      EXAMPLES = <<~TEXT
        manypack slice --skip 1000 -n 10 events.msgpack | manypack cat
        manypack slice --max-bytes 1000000 events.msgpack > sample.msgpack
        manypack slice --where '@.type == "order" && @.total > 99' events.msgpack > orders.msgpack
      TEXT

      private

      def writes_messages? = true

      def options(parser)
        parser.number("-s", "--skip N", "Skip the first N messages") { |n| @skip = n }
        parser.number("-n", "--lines N", "Write at most N messages") { |n| @most = n }
        parser.number("-b", "--max-bytes N", "Write at most N bytes of whole messages") { |n| @most_bytes = n }
        where_option(parser, "Select")
        looks_option(parser)
      end

      def work
        each_input { |input| slice(input) }
      end

      def slice(input)
        return if @most&.zero?

        @to_skip = @skip.to_i
        @count = @bytes = 0
        catch(:enough) { each_selected(input) { |message| take(message) } }
      end

      def each_selected(input, &block)
        return input.each_message(&block) unless @selection

        many = lambda do |messages|
          chosen = @selection.chosen(messages)
          Input::Messages.new(chosen, 0, chosen.bytesize, messages.index, messages.offset, messages.count).each(&block)
        end
        input.each_batch(many) { |message| yield message if @selection.match?(message.to_s) }
      end

      def take(message)
        return if (@to_skip -= 1) >= 0

        throw :enough if (@bytes += message.size) > (@most_bytes || @bytes)
        output.keep(message.to_s)
        throw :enough if (@count += 1) == @most
      end
    end
  end
end
