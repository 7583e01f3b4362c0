# frozen_string_literal: true

# Standard output: Ctrl-C interrupts no write, and a terminal gets colours.
module Manypack
  module Terminal
    class Output
      # The only Output.
      def self.stdout
        @stdout ||= new($stdout)
      end

      def initialize(io)
        @io = io
        @io.binmode
        @io.sync = true
        @kept = Pieces.new { |text| write(text) }
      end

      # Writes short text together with what follows. Input and Command call flush: when the input may be silent, at the
      # end of it, and before an error.
      def keep(text)
        @kept.write(text)
      end

      def flush = @kept.flush

      # Writes whole messages or lines. Raises ClosedPipe if nobody reads them any more.
      def write(text)
        @written ||= !text.empty?
        Thread.handle_interrupt(Interrupt => :never) { Progress.aside(@io) { @io.write(text) } }
      rescue Errno::EPIPE
        raise ClosedPipe
      end

      # Returns true if anything was written.
      def written? = @written
      def tty? = @io.tty?

      # Returns true if it is a regular file, which nobody reads while it is written.
      def file? = @io.stat.file?
    end

    # Colours, for a terminal whose user has not refused them (https://no-color.org).
    module Colors
      CODES = {dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36}.freeze

      module_function

      def paint(text, color) = wanted? ? "\e[#{CODES.fetch(color)}m#{text}\e[0m" : text

      def wanted?
        return @wanted unless @wanted.nil?

        @wanted = ENV.fetch("NO_COLOR", "").empty? && ENV["TERM"] != "dumb" && Output.stdout.tty?
      end
    end
  end
end
