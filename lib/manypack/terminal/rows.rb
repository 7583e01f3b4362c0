# frozen_string_literal: true

# Packed values as rows of CSV (RFC 4180), or of tab-separated fields, in which tabs, line ends and backslashes are
# escaped as by jq's @tsv.
module Manypack
  module Terminal
    class Rows
      SEPARATORS = {"csv" => ",", "tsv" => "\t"}.freeze

      # Reads the arrays around what was found.
      GROUPS = Input::PLAIN.with(max_depth: OPTIONS[:max_depth] + 1)

      QUOTED = /[",\r\n]/
      ESCAPED = {"\t" => "\\t", "\n" => "\\n", "\r" => "\\r", "\\" => "\\\\"}.freeze

      def initialize(format)
        @csv = format == "csv"
        @separator = SEPARATORS.fetch(format)
        @json = Printer.new("json")
      end

      # Yields rows, some at a time, of the values that were found: a packed array of those of each message.
      def each_piece(packed, &block)
        pieces = Pieces.new(&block)
        GROUPS.unpacker.feed_each(packed) { |values| pieces.write(rows(values)) }
        pieces.flush
      end

      private

      # Each array is a row of its elements, each map a row of its values, and all other values are a row together.
      def rows(values)
        containers, others = values.partition { |value| value.is_a?(Array) || value.is_a?(Hash) }
        rows = containers.map { |value| row(value.is_a?(Hash) ? value.values : value) }
        rows.unshift(row(others)) unless others.empty?
        rows.join
      end

      def row(values)
        fields = values.map { |value| @csv ? quoted(field(value)) : escaped(field(value)) }
        fields.join(@separator) << "\n"
      end

      # Containers, exts and bytes that are no text as JSON.
      def field(value)
        case value
        when nil then ""
        when String then text?(value) ? value : json(value)
        when Integer, Float, true, false then value.to_s
        else json(value)
        end
      end

      def text?(string)
        string.encoding == Encoding::UTF_8 && string.valid_encoding?
      end

      def json(value)
        @json.print(Manypack.pack(value)).chomp
      end

      def quoted(text)
        text.match?(QUOTED) ? %("#{text.gsub('"', '""')}") : text
      end

      def escaped(text)
        text.gsub(/[\t\n\r\\]/, ESCAPED)
      end
    end
  end
end
