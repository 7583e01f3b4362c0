# frozen_string_literal: true

#--
# Manypack::Path::Pattern: the regular expressions of match and search, as RFC 9485 (I-Regexp) has them.
#++
module Manypack
  class Path
    # A Regexp that matches what an I-Regexp does, and what it may cost. Ruby 3.2 and later match most Regexps in linear
    # time. Where Ruby cannot, the number of ways in which it may try to match bounds the time: +ways+ for
    # <code>degree</code> 0, and for each degree as many times more as the text has bytes.
    Pattern = Struct.new(:regexp, :degree, :ways) do # :nodoc:
      # More ways to match are not tried: this takes a fraction of a second.
      const_set(:MOST_WAYS, 10_000_000)

      # Returns the Pattern of an I-Regexp; nil if it is none, and :slow if it could take exponential time.
      def self.of(text, whole)
        return unless text.is_a?(String)

        source, degree, ways = Translation.new(text).regexp
        return :slow if ways > self::MOST_WAYS

        regexp = Regexp.new(whole ? "\\A(?:#{source})\\z" : source)
        linear = Regexp.respond_to?(:linear_time?) && Regexp.linear_time?(regexp)
        linear ? new(regexp, 0, 1).freeze : slow(regexp, degree + (whole ? 0 : 1), ways)
      rescue Translation::Invalid, RegexpError
        nil
      end


      def self.slow(regexp, degree, ways)
        degree > 4 ? :slow : new(regexp, degree, ways.to_i).freeze
      end
      private_class_method :slow

      # Returns true or false; nil for a text that is too long for the Pattern.
      def match?(text)
        return false unless text.is_a?(String) && text.encoding == Encoding::UTF_8 && text.valid_encoding?
        return if text.bytesize**degree * ways > self.class::MOST_WAYS

        regexp.match?(text)
      end
    end

    # Translates an I-Regexp into the source of a Regexp. As in the suite of the standard, ^ and $ are the start and the
    # end of the text.
    class Translation # :nodoc:
      class Invalid < StandardError
      end

      CATEGORY = /\G\\([pP])\{(L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}/
      ESCAPE = /\G\\([()*+\-.?\[\\\]^nrt{|}])/
      LITERAL = /\G[^()*+.?\[\\\]{|}]/
      IN_CLASS = /\G[^\-\[\\\]]/
      QUANTIFIER = /\G(?:([*+?])|\{([0-9]{1,6})(,?)([0-9]{1,6})?\})/
      LETTERS = {"n" => "\n", "r" => "\r", "t" => "\t"}.freeze
      MAX_NESTING = 64

      def initialize(text)
        raise Invalid unless text.valid_encoding?

        @text = text
        @at = @nesting = 0
      end

      # Returns the source, and the degree and the ways of a Pattern.
      def regexp
        source, degree, ways = alternatives
        raise Invalid if @at < @text.size

        [source, degree, ways]
      end

      private

      def take(pattern)
        match = pattern.match(@text, @at) or return
        @at = match.end(0)
        match
      end

      def skip(char)
        @at += 1 if @text[@at] == char
      end

      def alternatives
        raise Invalid if (@nesting += 1) > MAX_NESTING

        branches = [branch]
        branches << branch while skip("|")
        @nesting -= 1
        [branches.map(&:first).join("|"), branches.map { |one| one[1] }.max, branches.sum { |one| one[2] }]
      end

      def branch
        source = +""
        degree = 0
        ways = 1
        while (piece = piece())
          source << piece[0]
          degree += piece[1]
          ways *= piece[2]
          ways = Float::INFINITY if ways > Pattern::MOST_WAYS
        end
        [source, degree, ways]
      end

      def piece
        atom = atom() or return
        quantifier = take(QUANTIFIER) or return atom
        repeated(atom, quantifier[0], *range(quantifier))
      end

      def range(quantifier)
        case quantifier[1]
        when "*" then [0, nil]
        when "+" then [1, nil]
        when "?" then [0, 1]
        else
          least = quantifier[2].to_i
          most = quantifier[3].empty? ? least : quantifier[4]&.to_i
          raise Invalid if (quantifier[3].empty? && quantifier[4]) || (most && most < least)

          [least, most]
        end
      end

      # What can be matched in several ways, again and again, can be matched in exponentially many.
      def repeated((source, degree, ways), quantifier, least, most)
        single = degree.zero? && ways == 1
        if most.nil? then [source + quantifier, degree + 1, single ? 1 : Float::INFINITY]
        elsif most > 1 && !single then [source + quantifier, degree * most, power(ways + 1, most)]
        else [source + quantifier, degree, ways * (most - least + 1)]
        end
      end

      def power(ways, times)
        times > 20 ? Float::INFINITY : ways**times
      end

      def atom
        if skip("(") then group
        elsif skip(".") then ["[^\\n\\r]", 0, 1]
        elsif skip("[") then [char_class, 0, 1]
        elsif skip("^") then ["\\A", 0, 1]
        elsif skip("$") then ["\\z", 0, 1]
        elsif (category = take(CATEGORY)) then [category[0], 0, 1]
        elsif (escape = take(ESCAPE)) then [Regexp.escape(LETTERS.fetch(escape[1], escape[1])), 0, 1]
        elsif (literal = take(LITERAL)) then [Regexp.escape(literal[0]), 0, 1]
        end
      end

      def group
        source, degree, ways = alternatives
        skip(")") or raise Invalid
        ["(?:#{source})", degree, ways]
      end

      def char_class
        source = skip("^") ? +"[^" : +"["
        source << "\\-" if (dash = skip("-"))
        empty = !dash
        parts = []
        until skip("]")
          parts << (@text[@at] == "-" && @text[@at + 1] == "]" && !(empty && parts.empty?) ? last_dash : class_part)
        end
        raise Invalid if empty && parts.empty?

        source << parts.uniq.join << "]" # Ruby warns of a character that comes twice
      end

      def last_dash
        @at += 1
        "\\-"
      end

      def class_part
        category = take(CATEGORY) and return category[0]
        first = class_char
        return quoted(first) unless @text[@at] == "-" && @text[@at + 1] != "]"

        @at += 1
        last = class_char
        raise Invalid if last.ord < first.ord

        "#{quoted(first)}-#{quoted(last)}"
      end

      def class_char
        escape = take(ESCAPE) and return LETTERS.fetch(escape[1], escape[1])
        (take(IN_CLASS) || raise(Invalid))[0]
      end

      def quoted(char)
        char.match?(/[a-zA-Z0-9]|[^\x00-\x7f]/) ? char : format("\\x%02x", char.ord)
      end
    end
    private_constant :Pattern, :Translation
  end
end
