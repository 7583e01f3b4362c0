# frozen_string_literal: true

# manypack concat: the messages of several files as one stream.
module Manypack
  module Terminal
    class Concat < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = "Writes the messages of several files one after the other. Of a broken file it takes what is whole."
      EXAMPLES = <<~TEXT
        manypack concat monday.msgpack tuesday.msgpack > week.msgpack
        manypack concat broken.msgpack > repaired.msgpack
      TEXT

      private

      def work
        each_input { |input| input.each_batch { |batch| output.write(batch.to_s) } }
      end
    end
  end
end
