# frozen_string_literal: true

# A path as it is typed. Path.from reads $.status>=500 and $.a+1 as names. Whoever types them at a terminal means an
# operator, which a path has in brackets only.
module Manypack
  module Terminal
    module PathText
      # Characters of a comparison.
      COMPARING = "<>=!~"

      # Characters of other operators. After a dot, or in front of everything, * is a step.
      OPERATING = "+-*/%^&|"

      module_function

      # Returns the Path. As in jq, a dot alone is the whole message, and may be in front of brackets. Raises
      # ArgumentError for an operator, and for anything else that is no path.
      def path(text, typed = text)
        raise ArgumentError, comparison(typed) if each_outside(text).any? { |char, _| COMPARING.include?(char) }

        path = Path.from(text.sub(/\A\.(?=\[|\z)/, "$"))
        sign = operator(text) or return path
        raise ArgumentError, "a path has no #{sign}, as in #{typed}; as a part of the key it is in quotes: #{path}"
      end

      def operator(text)
        each_outside(text).find { |char, at| OPERATING.include?(char) && !(char == "*" && step?(text, at)) }&.first
      end

      # Returns true if a step starts there.
      def step?(text, at)
        at.zero? || text[at - 1] == "."
      end

      def comparison(text)
        "a path has no comparison, as in #{text}; filter -e compares: filter -e '_1 if _1[\"a\"] >= 1'"
      end

      # Yields each character outside of brackets and quotes, and its index.
      def each_outside(text)
        return enum_for(:each_outside, text) unless block_given?

        depth = 0
        text.scan(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|./m) do |part|
          depth += 1 if part == "["
          yield part, $~.begin(0) if depth.zero?
          depth -= 1 if part == "]" && depth.positive?
        end
      end
    end
  end
end
