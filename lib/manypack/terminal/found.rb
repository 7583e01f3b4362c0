# frozen_string_literal: true

# What a path finds in the messages of an input, as packed bytes, a read at a time: nothing is built.
module Manypack
  module Terminal
    class Found
      def initialize(path)
        @path = path
      end

      # Yields the packed values that are found in the messages of each read. Raises Fault as Input#each_read does.
      def each_batch(input, &block)
        input.each_batch(->(messages) { give(in_many(messages), &block) }) { |message| give(in_one(message), &block) }
      end

      # Returns the packed values that are found in one message.
      def in_one(message)
        message.guard { in_many(message) }
      end

      private

      def in_many(messages)
        Internal.search_bytes(messages.bytes, messages.start, messages.size, Input::PLAIN, @path.steps, @path.max_looks)
      end

      def give(packed)
        yield packed unless packed.empty?
      end
    end
  end
end
