# frozen_string_literal: true

# Reads a path that a user typed. Path.from would take $.status>=500 and $.a+1 for names, but the user means an
# operator, which a path can only have in brackets.
module Manypack
  module Terminal
    module PathText
      # Characters of a comparison.
      COMPARING = "<>=!~"

      # Characters of other operators. After a dot, or in front of everything, * is a step.
      OPERATING = "+-*/%^&|"

      # The start of a condition: a value of the message, a negation, parentheses, a call.
      CONDITION = /\A\s*(?:@\s*(?:[.\[<>=!&|]|\z)|[!(]|[a-z][a-z0-9_]*\()/

      BRACKETS = /\[(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\]"'])*\]/m

      AT = /\A@(?=[.\[]|\z)/

      PIPE = "other questions are for jq: manypack cat FILE | jq"

      # What to write in a path instead of the operators of jq.
      QUESTIONS = {
        "," => "$[\"a\", \"b\"] finds several keys", "?" => "a key that is missing is no error", "|" => PIPE,
        "{" => "$[\"a\", \"b\"] finds several keys, and --to csv writes them as a row", "(" => PIPE, ";" => PIPE
      }.freeze

      module_function

      # Returns the Path. As in jq, a dot alone is the whole message, and may be in front of brackets. Raises
      # ArgumentError for an operator, and for anything else that is no path.
      def path(text, typed = text)
        raise ArgumentError, "a path starts with $; @ is for conditions, as in --where '@.a'" if text.match?(AT)

        outside = each_outside(text).map { |char, _| char }
        raise ArgumentError, comparison(typed) if outside.any? { |char| COMPARING.include?(char) }

        sign = outside.find { |char| QUESTIONS.key?(char) } || operator(text)
        raise ArgumentError, "a path has no #{sign}, as in #{typed}#{advice(sign, text)}" if sign

        Path.from(text.sub(/\A\.(?=\[|\z)/, "$"))
      end

      # Returns true for a condition; false for PATH or PATH=VALUE, whose first operator is a single =.
      def condition?(text)
        return true if text.match?(CONDITION)

        each_outside(text).each do |char, at|
          next unless "<>=!&|".include?(char)

          return text[at..].match?(/\A(?:[<>!]|==|&&|\|\|)/)
        end
        false
      end

      # Returns the condition of a path whose first step is a filter, or nil.
      def filter(path)
        kind, (selector, condition), *others = path.steps.first
        return unless kind == :child && selector == :filter && condition && others.empty?

        Path.const_get(:Text).step(path.steps.first)[2..-2]
      end

      # Returns the end of an error: what to type instead of a sign.
      def advice(sign, text)
        question = QUESTIONS[sign]
        key = "as a part of the key it is in quotes: #{in_quotes(text)}" unless text.match?(/\s/)
        [question, key].compact.map { |part| "; #{part}" }.join
      end

      # Returns the text with each key that needs it in brackets and quotes.
      def in_quotes(text)
        parts = text.delete_prefix("$").scan(/#{BRACKETS}|\.?[^.\[]+|\./m)
        keys = parts.map do |part|
          next part if part.start_with?("[") || part == "."

          name = part.delete_prefix(".")
          name.match?(/\A[\w\u0080-\u{10ffff}]+\z|\A\*\z/) ? ".#{name}" : "[#{Path.const_get(:Text).quote(name)}]"
        end
        "$#{keys.join}"
      end

      def operator(text)
        each_outside(text).find { |char, at| OPERATING.include?(char) && !(char == "*" && step?(text, at)) }&.first
      end

      # Returns true if a step starts there.
      def step?(text, at) = at.zero? || text[at - 1] == "."

      def comparison(text)
        "a path has no comparison, as in #{text}; filter --where compares: filter --where '@.a >= 1'"
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
