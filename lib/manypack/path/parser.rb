# frozen_string_literal: true

#--
# Manypack::Path::Parser: reads the text of a path.
#++
module Manypack
  class Path
    # Reads a path from left to right, in time linear in its length: what comes next in the text decides what it is, so
    # nothing is read twice. Everything is bytes, because finding the nth character of a text that is not ASCII takes
    # longer the larger n is. It does without StringScanner, which every program that requires Manypack would load.
    #
    # Returns the steps: a String, Integer, Float, true, false, nil or ALL for a segment with one such selector, and
    # otherwise an Array:
    #
    #   [:child, selector, ...], [:descendant, selector, ...]   segments
    #   [:slice, first, last, step], [:filter, condition]       selectors, besides those above
    #   [:or, condition, ...], [:and, condition, ...], [:not, condition]
    #   [:compare, operator, operand, operand], [:exists, query]
    #   [:call, name, operands, Function of the user's, Pattern or nil]
    #   [:value, object], [:query, :root or :current, steps]    operands, besides calls
    class Parser # :nodoc:
      ESCAPES = {"n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b", "f" => "\f", "/" => "/", "\\" => "\\", '"' => '"',
                 "'" => "'"}.freeze

      # Text that needs no escape, for each kind of quotes.
      PLAIN = {'"' => /\G[^\\"\x00-\x1f]+/n, "'" => /\G[^\\'\x00-\x1f]+/n}.freeze
      LOOSE_PLAIN = {'"' => /\G[^\\"]+/n, "'" => /\G[^\\']+/n}.freeze

      # Names after a dot: in a condition only those of the standard; elsewhere more, because they cannot be mistaken.
      STANDARD_NAME = /\G[a-zA-Z_\x80-\xff][a-zA-Z0-9_\x80-\xff]*/n
      NAME = /\G[a-zA-Z_@\x80-\xff][^.\[\]\s<>=!~&|,?(){}"'+*;]*/n
      LOOSE_NAME = /\G[^.\[\]\s*"'$][^.\[\]\s<>=!~&|,?(){}"'+*;]*/n

      BLANK = /[ \t\n\r]*/
      SPACE = /\G#{BLANK}/n

      # With the space around them.
      STEP_AHEAD = /\G#{BLANK}(?=[.\[])/n
      ARGUMENT_ENDS = /\G#{BLANK}(?=[,)])/n
      COMMA = /\G#{BLANK},#{BLANK}/n
      COLON = /\G#{BLANK}:#{BLANK}/n
      OR = /\G#{BLANK}\|\|#{BLANK}/n
      AND = /\G#{BLANK}&&#{BLANK}/n
      OPERATOR = /\G#{BLANK}(?:==|!=|<=|>=|<|>)#{BLANK}/n

      INTEGER = /\G(?:0|-?[1-9][0-9]*)/n
      NUMBER = /\G-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/n
      FLOAT = /\G-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)/n
      OTHER_KEY = /\G(?:nil|true|false|-?Infinity)(?=\s*[,\]])/n
      WORD = /\G(?:null|true|false)(?![a-zA-Z0-9_(])/n
      FUNCTION = /\G[a-z][a-z0-9_]*(?=\()/n
      SIGN = /\G\s*([<>=!~&|]+|[,?(){}"'+*;])/n
      COMPARING = /[<>=!~&|]/n

      WORDS = {"nil" => nil, "null" => nil, "true" => true, "false" => false, "Infinity" => Float::INFINITY,
               "-Infinity" => -Float::INFINITY}.freeze

      # The integers that JSONPath allows as indices: those that a float64 represents exactly.
      INDICES = (-(2**53 - 1)..2**53 - 1).freeze

      # Conditions in parentheses, in calls and in filters, one inside the other.
      MAX_NESTING = 64

      # loose:: true to read also what the standard refuses although a Path has a meaning for it: names that start with
      #         any character, Integer keys beyond 2**53, Float keys without a fraction, and any escape in any quotes
      # dynamic_patterns:: as for Path.new
      def initialize(path, functions: {}, loose: false, dynamic_patterns: false)
        raise ::TypeError, "a path is a String, got #{path.class}" unless path.is_a?(String)

        @path = path.encode(Encoding::UTF_8)
        raise ArgumentError, "a path is UTF-8, got #{path.inspect}" unless @path.valid_encoding?

        @bytes = @path.b
        @at = @nesting = 0
        @functions = STANDARD.merge(functions)
        @loose = loose
        @dynamic_patterns = dynamic_patterns
      rescue EncodingError
        raise ArgumentError, "a path is UTF-8, got #{path.inspect}"
      end

      def steps
        skip("$") or expected("a path starts with $; Path.from takes one without")
        steps = segments
        expected(after_segments) if @at < @bytes.bytesize
        steps
      end

      # Parses the text as a condition, and returns the steps of a path with one filter. With it, a search can take a
      # message for @.
      def filter_steps
        space
        filter = filter()
        space
        expected("expected && or ||, or the end of the condition") if @at < @bytes.bytesize
        [[:child, filter]]
      end

      private

      # --- the text ---------------------------------------------------------------------------------------

      # Moves past what the pattern matches here, and returns it; nil if it does not match.
      def take(pattern)
        match = pattern.match(@bytes, @at) or return
        @at = match.end(0)
        match[0]
      end

      def next?(text) = @bytes.byteslice(@at, text.bytesize) == text

      def skip(text)
        @at += text.bytesize if next?(text)
      end

      def space = take(SPACE)
      def text_of(bytes) = bytes.force_encoding(Encoding::UTF_8)
      def expected(what, at = @at)
        column = @bytes.byteslice(0, at).force_encoding(Encoding::UTF_8).size
        raise ArgumentError, "#{what}\n  #{@path}\n  #{" " * column}^"
      end

      # Returns the complaint about a position where no segment starts: most often an operator, or a character that no
      # name has.
      def after_segments
        sign = SIGN.match(@bytes, @at)&.[](1) or return "expected . or ["
        condition = "only a condition compares, as in [?@.a >= 1], and " if COMPARING.match?(sign)
        "expected . or [; #{condition}a key with #{sign} is in brackets and quotes"
      end

      # Yields one level deeper: conditions are read by methods that call one another.
      def nested
        expected("too many conditions inside one another") if (@nesting += 1) > MAX_NESTING
        result = yield
        @nesting -= 1
        result
      end

      # --- segments ---------------------------------------------------------------------------------------

      def segments
        steps = []
        steps << segment while take(STEP_AHEAD)
        steps
      end

      def segment
        expected("the middle of the path is missing") if next?("...")
        if skip("..") then [:descendant, *(next?("[") ? bracket : [shorthand])]
        elsif skip(".") then shorthand
        else one_step(bracket)
        end
      end

      def one_step(selectors)
        selectors.size == 1 && !selectors[0].is_a?(Array) ? selectors[0] : [:child, *selectors]
      end

      def shorthand
        return ALL if skip("*")

        name = take(@nesting.positive? ? STANDARD_NAME : @loose ? LOOSE_NAME : NAME) or expected("expected a name or *")
        text_of(name)
      end

      def bracket
        skip("[")
        space
        selectors = [selector]
        selectors << selector while take(COMMA)
        space
        expected("the rest of the key is missing: it was too long for an error") if next?("...]")
        skip("]") or expected("expected ]")
        selectors
      end

      def selector
        if skip("*") then ALL
        elsif (name = quoted) then name
        elsif skip("?") then filter
        else index_or_key
        end
      end

      def filter
        space
        [:filter, nested { condition }]
      end

      def index_or_key
        start = @at
        expected("an array, a map, an ext or NaN is no step") if @bytes.match?(/\G(?:array|map|ext|float64)\]/n, @at)
        if (word = take(OTHER_KEY)) then WORDS[word]
        elsif (number = take(FLOAT)) then float_key(number, start)
        else index_or_slice
        end
      end

      def float_key(number, start)
        value = Float(number)
        return value if @loose || !number.match?(/\A-?[0-9]+\.0+\z/)

        expected("an index is an Integer; Path.of takes the key #{value}", start + number.index("."))
      end

      def index_or_slice
        start = @at
        first = index(@loose)
        return slice(first, start) if take(COLON)

        first || expected("expected an index, * or a name in quotes#{": [*] is all of them" if next?("]")}")
      end

      def slice(first, start)
        expected("an index of a slice is at most 2**53 - 1", start) if first && !INDICES.cover?(first)
        last = index
        step = index if take(COLON)
        [:slice, first, last, step || 1]
      end

      def index(loose = false)
        start = @at
        value = take(INTEGER)&.to_i or return
        return value if loose || INDICES.cover?(value)

        expected("an index is at most 2**53 - 1; Path.of takes larger keys", start)
      end

      # --- names in quotes --------------------------------------------------------------------------------

      def quoted
        quote = take(/\G["']/n) or return
        name = +""
        byte(name) || add(name, character(quote)) until skip(quote)
        name
      end

      # Appends an escaped byte of a key that is not text. It makes the name binary.
      def byte(name)
        digits = take(@loose ? /\G\\x\h\h/n : /\G\\x(?:7[fF]|[89a-fA-F]\h)/n) or return
        name.force_encoding(Encoding::BINARY) << digits[2, 2].hex
      end

      def add(name, text)
        name << (name.encoding == Encoding::BINARY ? text.b : text)
      end

      def character(quote)
        plain = take((@loose ? LOOSE_PLAIN : PLAIN)[quote]) and return text_of(plain)

        escape(quote) || expected(@at < @bytes.bytesize ? "write a control character as \\u001f" : "expected #{quote}")
      end

      def escape(quote)
        skip("\\") or return
        letter = @bytes[@at]
        return code_point if letter == "u"

        expected("unknown escape") if !ESCAPES.key?(letter) || (!@loose && "\"'".include?(letter) && letter != quote)
        @at += 1
        ESCAPES[letter]
      end

      # As in JSON, a character beyond U+FFFF is a pair of surrogates.
      def code_point
        if (pair = take(/\Gud[89ab]\h\h\\ud[c-f]\h\h/ni))
          [0x10000 + ((pair[1, 4].hex & 0x3ff) << 10 | pair[7, 4].hex & 0x3ff)].pack("U")
        elsif (one = take(/\Gu(?!d[89a-f])\h{4}/ni))
          [one[1, 4].hex].pack("U")
        else
          expected("unknown escape")
        end
      end

      # --- conditions -------------------------------------------------------------------------------------

      # first is the operand at the start of the condition if it was read already.
      def condition(first = nil)
        parts = [conjunction(first)]
        parts << conjunction while take(OR)
        parts.size == 1 ? parts[0] : [:or, *parts]
      end

      def conjunction(first = nil)
        parts = [basic(first)]
        parts << basic while take(AND)
        parts.size == 1 ? parts[0] : [:and, *parts]
      end

      def basic(first = nil)
        return comparison(*first) if first
        return [:not, negated] if skip("!")

        next?("(") ? parentheses : comparison(@at, operand)
      end

      def negated
        space
        return parentheses if next?("(")

        start = @at
        alone(operand, start)
      end

      def parentheses
        skip("(")
        space
        inside = nested { condition }
        space
        skip(")") or expected("expected )")
        inside
      end

      # A comparison, or an operand that is a condition by itself.
      def comparison(start, left)
        sign = take(OPERATOR) or return alone(left, start)
        right_start = @at
        right = operand
        [:compare, sign.strip.to_sym, comparable(left, start), comparable(right, right_start)]
      end

      def alone(operand, start)
        case operand[0]
        when :query then [:exists, operand]
        when :value then expected("a literal has to be compared", start)
        else
          returns(operand) == :value ? expected("the result of #{operand[1]} has to be compared", start) : operand
        end
      end

      def comparable(operand, start)
        if operand[0] == :query && !singular?(operand)
          expected("only a path of names and indices can be compared: it finds one value at most", start)
        elsif operand[0] == :call && returns(operand) != :value
          expected("the result of #{operand[1]} cannot be compared", start)
        end
        operand
      end

      def singular?(query) = query[2].none? { |step| step == ALL || step.is_a?(Array) }
      def returns(call) = @functions[call[1]].returns

      def operand
        if skip("@") then [:query, :current, segments]
        elsif skip("$") then [:query, :root, segments]
        elsif (word = take(WORD)) then [:value, WORDS[word]]
        elsif (text = quoted) then [:value, text]
        elsif (number = take(NUMBER)) then [:value, number(number)]
        elsif (name = take(FUNCTION)) then call(name)
        else expected("expected a condition, a path that starts with @ or $, or a literal")
        end
      end

      def number(text)
        expected("expected the end of the number") if @bytes.match?(/\G[0-9.eE]/n, @at)
        text.match?(/[.eE]/) || text == "-0" ? Float(text) : Integer(text, 10)
      end

      # --- functions --------------------------------------------------------------------------------------

      def call(name)
        start = @at - name.bytesize
        function = @functions[name.to_sym] or expected("unknown function #{name}", start)
        skip("(")
        space
        arguments = nested { arguments(function) }
        space
        skip(")") or expected("expected ) or ,")
        unless arguments.size == function.takes.size
          expected("#{name} takes #{function.takes.size} arguments, got #{arguments.size}", start)
        end
        [:call, name.to_sym, arguments, function.is_a?(Function) ? function : pattern(name, arguments, start)]
      end

      # Returns the Pattern of a call of match or search if the path itself has the text.
      def pattern(name, arguments, start)
        return unless %w[match search].include?(name)
        return check_pattern(arguments[1], start) unless arguments[1][0] == :value

        pattern = Pattern.of(arguments[1][1], name == "match")
        expected("the pattern could take time that is not linear in the length of the text", start) if pattern == :slow
        pattern
      end

      # Refuses a pattern from the message, unless the caller allows it. A pattern from a Function is the program's own.
      def check_pattern(operand, start)
        return if @dynamic_patterns || (operand[0] == :call && operand[1] != :value)

        expected("the message would bring this pattern, and whoever wrote it could make it slow: write it into the " \
                 "path, or pass dynamic_patterns: true to Path.new", start)
      end

      def arguments(function)
        return [] if next?(")")

        found = [argument(function.takes[0])]
        found << argument(function.takes[found.size]) while take(COMMA)
        found
      end

      def argument(type)
        start = @at
        return logical(condition, type, start) if next?("!") || next?("(")

        left = operand
        return typed(left, type, start) if take(ARGUMENT_ENDS)

        logical(condition([start, left]), type, start)
      end

      def logical(condition, type, start)
        type == :logical || type.nil? ? condition : expected("expected a #{type}, not a condition", start)
      end

      # An operand that is a whole argument.
      def typed(operand, type, start)
        case type
        when :logical then alone(operand, start)
        when :nodes then operand[0] == :query ? operand : expected("expected a path", start)
        when :value then comparable(operand, start)
        else operand
        end
      end
    end
  end
end
