# frozen_string_literal: true

# manypack concat: the messages of several files as one stream.
module Manypack
  module Terminal
    class Concat < Command
      ABOUT = <<~TEXT.chomp
        Writes the messages of several files one after the other. From a broken file it takes the whole messages before
        the fault.
      TEXT
      EXAMPLES = <<~TEXT
        manypack concat monday.msgpack tuesday.msgpack > week.msgpack
        manypack concat broken.msgpack > repaired.msgpack
      TEXT

      private

      def writes_messages? = true

      def work
        each_input { |input| input.each_read { |messages| output.write(messages.to_s) } }
      end
    end
  end
end
