# frozen_string_literal: true

# From a source to batches of whole messages.
module Manypack
  module Parallel
    class Cutter
      # Bytes of a batch, unless one message has more; and what is read from an io at once.
      BATCH_BYTES = 64 << 10

      # Reads from an io what it has; at its end nil.
      #
      # @param io [#readpartial, #read]
      # @param missing [Integer] what the message at hand lacks: an io that waits for all that it is asked for is asked
      #   for no more
      # @raise [::TypeError] when the io returns what is no String
      def self.read(io, missing)
        Splitter.read(io, BATCH_BYTES, missing)
      end

      # @param source [String, #readpartial, #read, Enumerable<String>]
      # @param codec [Codec] for its limits
      # @raise [::TypeError] when source is none of these
      def initialize(source, codec)
        @splitter = Splitter.new(codec)
        @source = source
        @kind = %i[string io list].find { |kind| send(:"#{kind}?") }
        raise ::TypeError, "String, IO or Enumerable of Strings expected, not #{source.class}" unless @kind
      end

      # Yields batches as Splitter#take makes them. The last one may have an error.
      #
      # @param pace [#messages, #idle?, #read] how many messages a batch should have, whether one with fewer is
      #   welcome, and how to read from an io
      def each(pace, &block)
        case @kind
        when :string then cut(@source, pace, true, &block)
        when :io then cut_io(pace, &block)
        else cut_list(pace, &block)
        end
      end

      # Yields what is left once each is done: whole messages, and with rest what is after them.
      def finish(pace, rest, &block)
        take(pace, true, &block)
        batch = @splitter.rest if rest
        yield batch if batch
      end

      private

      def string?
        @source.respond_to?(:to_str)
      end

      def io?
        return false if @source.respond_to?(:to_path) && !@source.respond_to?(:close) # a Pathname opens the file anew

        @source.respond_to?(:readpartial) || @source.respond_to?(:read)
      end

      def list?
        @source.respond_to?(:each)
      end

      def cut_io(pace, &block)
        until @splitter.lost?
          bytes = pace.read(@source, @splitter.missing)
          break unless bytes

          cut(bytes, pace, true, &block)
        end
      end

      # Each element ends where a message does.
      def cut_list(pace, &block)
        @source.each do |bytes|
          cut(bytes, pace, pace.idle?, &block)
          break if @splitter.lost? || !@splitter.between?
        end
      end

      def cut(bytes, pace, all, &block)
        @splitter.feed(bytes)
        take(pace, all, &block)
      end

      def take(pace, all)
        while (batch = @splitter.take(pace.messages, BATCH_BYTES, all))
          yield batch
        end
      end
    end
    private_constant :Cutter
  end
end
