# frozen_string_literal: true

# Packed values as rows of CSV (RFC 4180), or of tab-separated fields, in which tabs, line ends and backslashes are
# escaped as by jq's @tsv.
module Manypack
  module Terminal
    class Rows
      SEPARATORS = {"csv" => ",", "tsv" => "\t"}.freeze

      # The options for reading found values inside the arrays and maps that group them.
      GROUPS = OPTIONS.merge(max_depth: OPTIONS[:max_depth] + 2).freeze
      STRICT = Codec.new(**GROUPS, duplicate_keys: :error)
      private_constant :GROUPS, :STRICT

      # The text of a Timestamp.
      TIME = /(?<=\A\{"\$timestamp":")[^"]+(?="\}\z)/

      QUOTED = /[",\r\n]/
      ESCAPED = {"\t" => "\\t", "\n" => "\\n", "\r" => "\\r", "\\" => "\\\\"}.freeze

      # A value that has no place in the table.
      class Misfit < StandardError; end

      # Returns the names at the end of a path, one for each column; nil if it ends otherwise. A single name is a column
      # only if +header+ is true: otherwise an array that it finds is a row.
      def self.columns(path, header)
        last = path.steps.last
        kind, *names = last.is_a?(Array) ? last : (:child if header && last && last != Path::ALL) && [:child, last]
        names if kind == :child && names.none? { |name| name.is_a?(Array) || name == Path::ALL }
      end

      # titles:: the names of the columns, if they are known
      # header:: true to write them first
      # visible:: true to escape control characters, for a terminal
      def initialize(format, titles: nil, header: false, visible: false)
        @titles = titles
        @named = !titles.nil?
        @header = header
        @visible = visible
        @csv = format == "csv"
        @separator = SEPARATORS.fetch(format)
        @json = Printer.new("json")
      end

      # Yields rows, some at a time. +packed+ has an array of the found values for each message, or for each row if the
      # columns are known. Raises Misfit.
      def each_piece(packed, &block)
        pieces = Pieces.new(&block)
        Manypack.split(packed, max_depth: GROUPS[:max_depth]) do |group|
          values = Twins.value(group, STRICT, **GROUPS)
          pieces.write(@named ? row(values) : rows(values))
        end
        pieces.flush
      end

      # Returns the first line, if it is wanted and was not returned before.
      def header
        wanted, @header = @header, false
        wanted ? row(@titles) : ""
      end

      private

      # Makes the rows of one message: each array is a row of its elements, each map a row of its values. If any value
      # is neither, all values are the cells of one row.
      def rows(values)
        rows = values.all? { |value| container?(value) } ? values.map { |value| cells(value) } : [values]
        raise Misfit, "no names for the header; name the columns: $[\"a\", \"b\"]" if @header && !@titles

        rows.map { |cells| row(cells) }.join
      end

      def container?(value) = [Array, Hash, Twins::Elements, Twins::Pairs].include?(value.class)

      # Returns the cells of a container.
      def cells(value)
        case value
        when Array then value
        when Hash then in_columns(value)
        when Twins::Pairs then value.pairs.map(&:last)
        end
      end

      # The first map names the columns.
      def in_columns(map)
        @titles ||= map.keys
        more = map.keys.find { |key| !@titles.include?(key) } unless map.size <= @titles.size && map.keys == @titles
        return @titles.map { |key| map[key] } if more.nil?

        raise Misfit, "the first row has no column #{field(more)}; name the columns: $[\"a\", \"b\"]"
      end

      def row(values)
        fields = values.map { |value| @csv ? quoted(value, shown(field(value))) : shown(escaped(field(value))) }
        fields[0] = '""' if fields == [""] # a blank line would not count as a row
        fields.join(@separator) << "\n"
      end

      # Writes containers, exts and bytes that are no text as JSON.
      def field(value)
        case value
        when nil then ""
        when String then text?(value) ? value : json(value)
        when Integer, Float, true, false then value.to_s
        else json(value)[TIME] || json(value)
        end
      end

      def text?(string) = string.encoding == Encoding::UTF_8 && string.valid_encoding?
      def shown(text) = @visible ? Visible.line(text) : text
      def json(value) = @json.print(Twins.packed(value)).chomp

      # Puts empty text in quotes, because an empty field means nil.
      def quoted(value, text)
        value == "" || text.match?(QUOTED) ? %("#{text.gsub('"', '""')}") : text
      end

      def escaped(text) = text.gsub(/[\t\n\r\\]/, ESCAPED)
    end
  end
end
