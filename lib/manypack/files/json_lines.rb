# frozen_string_literal: true

#--
# A stream of messages as lines of JSON, for Manypack.to_json of an io.
#++
module Manypack
  module Files
    # Writes each message of an io as a line of JSON, many lines at a time.
    class JSONLines # :nodoc:
      SIZE = 65_536

      # Loads a message as its bytes.
      module Whole # :nodoc:
        def self.load(bytes) = bytes
      end

      def initialize(codec, io)
        @codec = codec
        @io = io
        @text = String.new(encoding: Encoding::UTF_8)
        @lines = 0
      end

      # Called by an Unpacker, so that an error has its offset in the stream.
      def load(bytes)
        Internal.append_json(@text, bytes, @codec)
        @lines += 1
        flush if @text.bytesize >= SIZE
      end

      # Writes the lines of all messages, and returns nil. Before an error, the lines of all whole messages are written,
      # and it says how many they are.
      def write(source)
        @codec.unpacker(source, as: self).each(strict: true) { nil }
        flush
      rescue DecodeError => error
        flush
        words = "#{error.message}, after #{@lines} whole message#{"s" if @lines != 1}"
        raise error.exception(words), cause: error.cause
      end

      private

      def flush
        Internal.write_all(@io, @text) unless @text.empty?
        @text = String.new(encoding: Encoding::UTF_8)
        nil
      end
    end
  end
end
