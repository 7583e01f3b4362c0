# frozen_string_literal: true

# Finds the values of a path in the messages of an input, as packed bytes, a read at a time. Builds nothing.
module Manypack
  module Terminal
    class Found
      # The paths of a message may have 16 times as many bytes, as with untrusted input, or 16 times the size of the
      # message.
      MAX_BYTES = 1 << 20

      attr_reader :path

      # looks:: has the Codec by which the path looks
      # with_path:: true for pairs, maps of the value and the normalized path that leads to it
      # grouped:: true for an array of the values of each message, or of each pair; :rows for an array of what each name
      #           at the end of the path finds in each container
      # max_bytes:: with paths: the most bytes of a message, which limit its paths as in Path#each_with_path
      def initialize(path, looks, with_path: false, grouped: false, max_bytes: nil)
        @path = path
        @looks = looks
        @with_path = with_path
        @max_bytes = max_bytes
        @grouped = grouped
      end

      # Yields the packed values that are found in the messages of each read, and these messages. Raises Fault as
      # Input#each_read does.
      def each_batch(input, &block)
        input.each_read { |messages| in_batch(messages, &block) }
      end

      # Yields the packed values that are found in messages, and the messages: all at once or, if one is invalid, one by
      # one up to it. Raises Fault.
      def in_batch(messages, &block)
        packed = nil
        messages.at_once(->(all) { packed = packed_in(all) }) { |one| give(packed_in(one), one, &block) }
        give(packed, messages, &block) if packed
      end

      # Returns the packed values that are found in messages. Raises a DecodeError.
      def packed_in(messages)
        return with_paths(messages) if @with_path

        Internal.search_bytes(messages.bytes, messages.start, messages.size, @looks.codec, @path.steps, @path.max_looks,
                              @grouped)
      end

      private

      def with_paths(messages)
        found = "".b
        Manypack.split(messages.to_s, as: :view, codec: @looks.codec) do |view|
          most = @max_bytes || [view.bytesize, MAX_BYTES].max
          @path.each_with_path(view.bytes, codec: @looks.codec, max_bytes: most) do |value, path|
            pair = {"path" => path, "value" => value}
            found << Input::TIMES.pack(@grouped ? [pair] : pair)
          end
        end
        found
      end

      def give(packed, messages)
        yield packed, messages unless packed.empty?
      end
    end
  end
end
