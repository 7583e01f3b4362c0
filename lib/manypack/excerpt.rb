# frozen_string_literal: true

#--
# Shortens what a stranger sent before it becomes part of a message.
#++
module Manypack
  # Messages end up in logs and in responses, so they quote some hundred bytes, whatever the input has. The end of a
  # text is shown too, because the messages of DecodeErrors end with the offset.
  module Excerpt # :nodoc:
    HEAD = 160
    TAIL = 80

    # Returns the text, or its first and last bytes if it is longer than both together.
    #
    #   Excerpt.of("x" * 1_000_000).bytesize #=> 243
    def self.of(text)
      return text if text.bytesize <= HEAD + TAIL

      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding.ascii_compatible?
      "#{text.byteslice(0, HEAD).scrub("")}...#{text.byteslice(-TAIL, TAIL).scrub("")}"
    end
  end
  private_constant :Excerpt
end
