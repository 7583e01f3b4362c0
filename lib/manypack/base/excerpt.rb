# frozen_string_literal: true

#--
# Shortens text from a stranger before it becomes part of an error message.
#++
module Manypack
  # Error messages end up in logs and in responses, so they quote at most a few hundred bytes of the input. An excerpt
  # keeps the end of a text, too, because the messages of DecodeErrors end with the offset.
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
