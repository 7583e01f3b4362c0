# frozen_string_literal: true

# Payloads of str and bin as `manypack inspect` shows them.
module Manypack
  module Terminal
    module HeadText
      # How many bytes of a text are shown.
      SHOWN = 60

      module_function

      # Returns the first bytes of a str, at most SHOWN, as they are shown. cut:: true if there are more
      def text(bytes, cut)
        shown = bytes.dup.force_encoding(Encoding::UTF_8)
        shown = shown.scrub("") if cut # it may end inside a character
        "#{Visible.line(shown.inspect)}#{"..." if cut}"
      end

      # Returns the text of a key that is a bin: often text that an old library packed so. Returns nil for other bytes.
      def key(bytes)
        whole = bytes.dup.force_encoding(Encoding::UTF_8)
        return if whole.empty? || !whole.valid_encoding? || whole.match?(HIDDEN)

        text(bytes.byteslice(0, SHOWN), bytes.bytesize > SHOWN)
      end
    end
  end
end
