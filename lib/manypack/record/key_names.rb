# frozen_string_literal: true

#--
# Keys that are made of the names of members: keys: :camel and its like.
#++
module Manypack
  class Record < Type
    # Underscores at the start of a name are kept, other runs of them end a word, and a final <code>?</code> or
    # <code>!</code> is dropped: of html_url, id2, _private, a__b and ok?, +:camel+ makes htmlUrl, id2, _private, aB and
    # ok.
    module KeyNames # :nodoc:
      STYLES = %i[camel pascal kebab screaming].freeze

      class << self
        # Returns the parts of what Record#with takes as +keys+: a style, or nil, and a Hash of members and keys.
        def parts(keys)
          style, keys = keys.is_a?(Array) ? checked_pair(keys) : [keys, {}]
          return [nil, Members.by_name(style)] if style.is_a?(Hash)

          check_style(style)
          [style, Members.by_name(keys)]
        end

        def key(style, member)
          return style.call(member) unless style.is_a?(::Symbol)

          front = member.name[/\A_*/]
          words = member.name.delete_prefix(front).sub(/[?!]\z/, "").split(/_+/)
          words.empty? ? member.name : "#{front}#{send(style, words)}"
        end

        private

        def camel(words) = words[0] + pascal(words.drop(1))
        def pascal(words) = words.map { |word| word[0].upcase + word[1..] }.join
        def kebab(words) = words.join("-")
        def screaming(words) = words.join("_").upcase

        def checked_pair(keys)
          return keys if keys.size == 2 && !keys[0].is_a?(Hash)

          raise ArgumentError, "#{keys.inspect} are no keys: an Array is a style and its exceptions, as in " \
                               "[:camel, {html_url: \"htmlURL\"}]"
        end

        def check_style(style)
          return if STYLES.include?(style) || style.respond_to?(:call)

          similar = Guesses.similar(style, STYLES) if style.is_a?(::Symbol)
          raise ::TypeError, "expected a Hash of members and keys, #{STYLES.map(&:inspect).join(", ")} or a Proc, " \
                             "got #{style.is_a?(::Symbol) ? style.inspect : style.class}" \
                             "#{", did you mean #{similar.to_sym.inspect}?" if similar}"
        end
      end
    end
    private_constant :KeyNames
  end
end
