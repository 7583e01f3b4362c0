# frozen_string_literal: true

# Packed values as rows of CSV (RFC 4180), or of tab-separated fields, in which tabs, line ends and backslashes are
# escaped as by jq's @tsv.
module Manypack
  module Terminal
    class Rows
      SEPARATORS = {"csv" => ",", "tsv" => "\t"}.freeze

      # Reads the arrays around what was found, and the maps with paths.
      GROUPS = OPTIONS.merge(max_depth: OPTIONS[:max_depth] + 2).freeze
      STRICT = Codec.new(**GROUPS, duplicate_keys: :error)
      private_constant :GROUPS, :STRICT

      QUOTED = /[",\r\n]/
      ESCAPED = {"\t" => "\\t", "\n" => "\\n", "\r" => "\\r", "\\" => "\\\\"}.freeze

      # visible:: true for a terminal, which would obey what is in a text
      def initialize(format, visible: false)
        @visible = visible
        @csv = format == "csv"
        @separator = SEPARATORS.fetch(format)
        @json = Printer.new("json")
      end

      # Yields rows, some at a time, of the values that were found: a packed array of those of each message.
      def each_piece(packed, &block)
        pieces = Pieces.new(&block)
        Manypack.split(packed, max_depth: GROUPS[:max_depth]) do |group|
          values = Twins.value(group, STRICT, **GROUPS)
          pieces.write(rows(values.is_a?(Array) ? values : values.elements))
        end
        pieces.flush
      end

      private

      # Each array is a row of its elements, each map a row of its values, and all other values are a row together.
      def rows(values)
        containers, others = values.partition { |value| cells(value) }
        rows = containers.map { |value| row(cells(value)) }
        rows.unshift(row(others)) unless others.empty?
        rows.join
      end

      # Returns what is in a container, or nil.
      def cells(value)
        case value
        when Array then value
        when Hash then value.values
        when Twins::Elements then value.elements
        when Twins::Pairs then value.pairs.map(&:last)
        end
      end

      def row(values)
        fields = values.map { |value| @csv ? quoted(value, shown(field(value))) : shown(escaped(field(value))) }
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

      def shown(text)
        @visible ? Visible.line(text) : text
      end

      def json(value)
        @json.print(Twins.packed(value)).chomp
      end

      # An empty text is in quotes: an empty field is nil.
      def quoted(value, text)
        value == "" || text.match?(QUOTED) ? %("#{text.gsub('"', '""')}") : text
      end

      def escaped(text)
        text.gsub(/[\t\n\r\\]/, ESCAPED)
      end
    end
  end
end
