# frozen_string_literal: true

# The records of CSV, each as soon as its line end is there: "\n", "\r\n" or "\r", or some of each. The gem csv, which
# turns the records into rows, expects one kind of line end in a file, and detects it in the first kilobyte.
require "strscan"

module Manypack
  module Terminal
    class CSVRecords
      PIECE_BYTES = 1 << 16

      def initialize(io)
        @io = io
        @record = "".b
        @quoted = false # inside quotes, where a line end belongs to the cell
        @closed = false # the last byte closed quotes
        @return = false # a line end was the last byte of a piece: the "\n" that may follow belongs to it
      end

      # Yields the records of each read, an Array of binary Strings without their line ends.
      def each
        while (piece = read)
          records = split(piece)
          yield records unless records.empty?
        end
        yield [@record] unless @record.empty?
      end

      private

      def read
        @io.readpartial(PIECE_BYTES)
      rescue EOFError
        nil
      end

      def split(piece)
        scanner = StringScanner.new(piece)
        scanner.skip(/\n/n) if @return
        @return = false
        records = []
        step(scanner, records) until scanner.eos?
        records
      end

      def step(scanner, records)
        return @record << quoted(scanner) if @quoted

        text = scanner.scan(/[^"\r\n]*/n)
        @closed = false unless text.empty?
        @record << text
        case scanner.get_byte
        when '"' then quote
        when "\r" then records << ended.tap { @return = scanner.skip(/\n/n).nil? && scanner.eos? }
        when "\n" then records << ended
        end
      end

      # Returns what is in the quotes, up to the closing one if that is there.
      def quoted(scanner)
        closed = scanner.scan_until(/"/n)
        @closed = !(@quoted = closed.nil?)
        closed || scanner.rest.tap { scanner.terminate }
      end

      # Handles a quote: at the start of a cell, or right after a quoted part, it begins a quoted part. Elsewhere it is
      # an error, and must not turn the rest of the input into one cell.
      def quote
        @quoted = @record.empty? || @record.end_with?(",") || @closed
        @record << '"'
      end

      def ended
        record, @record = @record, "".b
        @closed = false
        record
      end
    end
  end
end
