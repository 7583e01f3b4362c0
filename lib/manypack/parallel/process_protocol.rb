# frozen_string_literal: true

# What goes through a pipe between a worker process and its parent: a few values and a String, with their lengths.
module Manypack
  module Parallel
    module Frame
      # The bytes of the packed values, and of the String.
      HEAD = "NQ>"
      HEAD_BYTES = [0, 0].pack(HEAD).bytesize

      module_function

      # @param io [IO]
      # @param values [Array] that can be packed without an ext type
      # @param bytes [String]
      def write(io, values, bytes)
        packed = Manypack.pack(values)
        io.write([packed.bytesize, bytes.bytesize].pack(HEAD), packed, bytes)
      end

      # Waits for the next frame.
      #
      # @return [Array, nil] values and bytes; nil at the end
      def read(io)
        head = io.read(HEAD_BYTES)
        return unless head&.bytesize == HEAD_BYTES

        sizes = head.unpack(HEAD)
        body = io.read(sizes.sum)
        split(body, sizes) if body&.bytesize == sizes.sum
      end

      # Takes the next frame from the start of what was read, if it is there as a whole.
      #
      # @param unread [String]
      # @return [Array, nil] values and bytes
      def take(unread)
        return if unread.bytesize < HEAD_BYTES

        sizes = unread.unpack(HEAD)
        return if unread.bytesize < HEAD_BYTES + sizes.sum

        unread.slice!(0, HEAD_BYTES)
        split(unread.slice!(0, sizes.sum), sizes)
      end

      def split(body, sizes)
        [Manypack.unpack(body.byteslice(0, sizes.first)), body.byteslice(sizes.first, sizes.last)]
      end
    end
    private_constant :Frame
  end
end
