# frozen_string_literal: true

# Packed values as rows of CSV (RFC 4180), or of tab-separated fields, in which tabs, line ends and backslashes are
# escaped as by jq's @tsv.
module Manypack
  module Terminal
    class Rows
      SEPARATORS = {"csv" => ",", "tsv" => "\t"}.freeze

      QUOTED = /[",\r\n]/
      ESCAPED = {"\t" => "\\t", "\n" => "\\n", "\r" => "\\r", "\\" => "\\\\"}.freeze

      def initialize(format)
        @format = format
        @json = Printer.new("json")
      end

      # Returns the rows of the values that were found in one message: each array is a row of its elements, each map a
      # row of its values, and all others are one row together.
      def print(packed)
        fields = []
        rows = +""
        Input::PLAIN.unpacker.feed_each(packed) do |value|
          case value
          when Array then rows << row(value)
          when Hash then rows << row(value.values)
          else fields << value
          end
        end
        fields.empty? ? rows : row(fields) << rows
      end

      private

      def row(values)
        fields = values.map do |value|
          text = field(value)
          @format == "csv" ? quoted(text) : escaped(text)
        end
        fields.join(SEPARATORS.fetch(@format)) << "\n"
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
