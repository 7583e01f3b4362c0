# frozen_string_literal: true

# Where messages go: each write is whole, whatever happens meanwhile.
module Manypack
  module Terminal
    class Output
      # @return [Output] the only one
      def self.stdout
        @stdout ||= new($stdout)
      end

      def initialize(io)
        @io = io
        @io.binmode
        @io.sync = true
      end

      # @param text [String] whole messages or lines
      # @raise [ClosedPipe]
      def write(text)
        Thread.handle_interrupt(Interrupt => :never) { Progress.aside(@io) { @io.write(text) } }
      rescue Errno::EPIPE
        raise ClosedPipe
      end

      def tty?
        @io.tty?
      end

      # True if nobody reads it while it is written.
      def file?
        @io.stat.file?
      end
    end
  end
end
