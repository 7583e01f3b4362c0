# frozen_string_literal: true

# A compressed file, read as if it were not compressed. Bytes that its library cannot read are a Fault.
module Manypack
  module Terminal
    class Decompressed
      include Pushback

      # The io is one of Manypack::Files.
      def initialize(io)
        @io = io
        @offset = 0
      end

      # Raises Fault; its offset is the number of bytes that could be decompressed.
      def next_bytes(size)
        bytes = @io.readpartial(size)
        @offset += bytes.bytesize
        bytes
      rescue IOError, SystemCallError
        raise
      rescue StandardError => e # each library has errors of its own
        raise Fault.new(@offset, "cannot be decompressed after this byte: #{e.message}")
      end

      # Yields an IO with all of it, for a reader of lines. Raises Fault.
      def piped(&block)
        reader, writer = IO.pipe(binmode: true)
        feeder = Thread.new { feed(writer) }
        fault = fault_of(reader, &block)
        reader.close
        fault = feeder.value || fault # takes precedence: the file is broken, not the line that was cut off
        raise fault if fault
      ensure
        reader.close # ends a feeder that still writes
        feeder.join
      end

      private

      def fault_of(reader)
        yield reader
        nil
      rescue Fault => e
        e
      end

      # Writes everything to the pipe. Returns the error that stopped it; nil at the end, or if the reader closed the
      # pipe.
      def feed(writer)
        writer.write(readpartial(Input::READ_BYTES)) while true
      rescue EOFError, Errno::EPIPE
        nil
      rescue Fault, SystemCallError => e
        e
      ensure
        writer.close
      end
    end
  end
end
