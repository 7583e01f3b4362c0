# frozen_string_literal: true

# Text from a file, such as its name or a key, made safe for a terminal: characters that a reader would not see, or a
# terminal would obey, become escapes.
require_relative "../../base/hidden"

module Manypack
  module Terminal
    module Visible
      ESCAPES = {"\n" => "\\n", "\r" => "\\r", "\t" => "\\t"}.freeze

      module_function

      # Returns the text as one line, so that a file cannot forge a second one.
      def line(text) = whole(text).gsub(HIDDEN) { |char| escape(char) }

      # Returns text of the program itself, which may have several lines.
      def lines(text) = whole(text).gsub(HIDDEN) { |char| char == "\n" ? char : escape(char) }

      # Returns the text as UTF-8; invalid bytes become escapes such as \xFF.
      def whole(text)
        text.dup.force_encoding(Encoding::UTF_8).scrub do |bytes|
          bytes.unpack("C*").map { |byte| format("\\x%02X", byte) }.join
        end
      end

      def escape(char) = ESCAPES.fetch(char) { format("\\u%04x", char.ord) }
    end
  end
end
