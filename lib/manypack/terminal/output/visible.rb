# frozen_string_literal: true

# Text from a file, such as its name or a key, made safe for a terminal: what a reader would not see, or what a terminal
# would obey, becomes an escape.
require_relative "../../base/hidden"

module Manypack
  module Terminal
    module Visible
      ESCAPES = {"\n" => "\\n", "\r" => "\\r", "\t" => "\\t"}.freeze

      module_function

      # Returns the text as one line, so that a file cannot forge a second one.
      def line(text)
        whole(text).gsub(HIDDEN) { |char| escape(char) }
      end

      # Returns text of the program itself, whose lines are meant.
      def lines(text)
        whole(text).gsub(HIDDEN) { |char| char == "\n" ? char : escape(char) }
      end

      # As UTF-8; bytes that are none become escapes such as \xFF.
      def whole(text)
        text.dup.force_encoding(Encoding::UTF_8).scrub do |bytes|
          bytes.unpack("C*").map { |byte| format("\\x%02X", byte) }.join
        end
      end

      def escape(char)
        ESCAPES.fetch(char) { format("\\u%04x", char.ord) }
      end
    end
  end
end
