# frozen_string_literal: true

#--
# Manypack::Path::Pattern: the regular expressions of match and search, as RFC 9485 (I-Regexp) has them.
#++
module Manypack
  class Path
    # A Regexp that matches the same as an I-Regexp, and how much it may cost. Ruby 3.2 and later match most Regexps in
    # linear time. For the others, the number of ways in which Ruby may try to match bounds the time: +ways+, times the
    # size of the text in bytes to the power of +degree+. +size+ is the number of characters and classes in the Regexp
    # with its counts written out.
    Pattern = Struct.new(:regexp, :degree, :ways, :size) do # :nodoc:
      # The most ways to match that are tried, which takes a fraction of a second.
      const_set(:MOST_WAYS, 10_000_000)

      # Returns the Pattern of an I-Regexp; nil if it is none, and :slow if it could take exponential time.
      def self.of(text, whole)
        return unless text.is_a?(String)

        source, degree, ways, size = Translation.new(text).regexp
        return :slow if ways > self::MOST_WAYS

        regexp = Regexp.new(whole ? "\\A(?:#{source})\\z" : source)
        linear = Regexp.respond_to?(:linear_time?) && Regexp.linear_time?(regexp)
        linear ? new(regexp, 0, 1, size).freeze : slow(regexp, degree + (whole ? 0 : 1), ways, size)
      rescue Translation::Invalid, RegexpError
        nil
      end

      def self.slow(regexp, degree, ways, size)
        degree > 4 ? :slow : new(regexp, degree, ways.to_i, size).freeze
      end
      private_class_method :slow

      # Returns true or false; nil for a text that is too long for the Pattern.
      def match?(text)
        return false unless text.is_a?(String) && text.encoding == Encoding::UTF_8 && text.valid_encoding?
        return if text.bytesize**degree * ways > self.class::MOST_WAYS

        regexp.match?(text)
      end

      # The looks that matching a text of so many bytes counts as, if the Pattern is not the program's own.
      def looks(bytesize) = [(bytesize**[degree, 1].max) * ways * size, 2**63].min
    end

    # Translates an I-Regexp into the source of a Regexp. As in the suite of the standard, ^ and $ are the start and the
    # end of the text. Everything is bytes, as in Parser.
    class Translation # :nodoc:
      class Invalid < StandardError
      end

      CATEGORY = /\G\\([pP])\{(L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}/n
      ESCAPE = /\G\\([()*+\-.?\[\\\]^nrt{|}])/n
      LITERAL = /\G(?:[\x80-\xff][\x80-\xbf]*|[^()*+.?\[\\\]{|}])/n
      IN_CLASS = /\G(?:[\x80-\xff][\x80-\xbf]*|[^\-\[\\\]])/n
      QUANTIFIER = /\G(?:([*+?])|\{([0-9]{1,6})(,?)([0-9]{1,6})?\})/n
      LETTERS = {"n" => "\n", "r" => "\r", "t" => "\t"}.freeze
      MAX_NESTING = 64

      def initialize(text)
        raise Invalid unless text.valid_encoding?

        @bytes = text.b
        @at = @nesting = 0
      end

      # Returns the source, and the degree, the ways and the size of a Pattern.
      def regexp
        found = alternatives
        raise Invalid if @at < @bytes.bytesize

        found
      end

      private

      def take(pattern)
        match = pattern.match(@bytes, @at) or return
        @at = match.end(0)
        match
      end

      def text_of(bytes) = bytes.force_encoding(Encoding::UTF_8)

      def skip(char)
        @at += 1 if @bytes[@at] == char
      end

      def alternatives
        raise Invalid if (@nesting += 1) > MAX_NESTING

        branches = [branch]
        branches << branch while skip("|")
        @nesting -= 1
        sources, degrees, ways, sizes = branches.transpose
        [sources.join("|"), degrees.max, ways.sum, sizes.sum]
      end

      def branch
        source = +""
        degree = 0
        ways = size = 1
        while (piece = piece())
          source << piece[0]
          degree += piece[1]
          ways *= piece[2]
          ways = Float::INFINITY if ways > Pattern::MOST_WAYS
          size += piece[3]
        end
        [source, degree, ways, size]
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

      # A part that matches in several ways, and is repeated, matches in exponentially many ways.
      def repeated((source, degree, ways, size), quantifier, least, most)
        single = degree.zero? && ways == 1
        source += quantifier
        size *= [most || least, 1].max
        if most.nil? then [source, degree + 1, single ? 1 : Float::INFINITY, size]
        elsif most > 1 && !single then [source, degree * most, power(ways + 1, most), size]
        else [source, degree, ways * (most - least + 1), size]
        end
      end

      def power(ways, times) = times > 20 ? Float::INFINITY : ways**times

      def atom
        if skip("(") then group
        elsif (source = single) then [source, 0, 1, 1]
        end
      end

      # The source of a Regexp for one character, or for a position.
      def single
        if skip(".") then "[^\\n\\r]"
        elsif skip("[") then char_class
        elsif skip("^") then "\\A"
        elsif skip("$") then "\\z"
        elsif (category = take(CATEGORY)) then category[0]
        elsif (escape = take(ESCAPE)) then Regexp.escape(LETTERS.fetch(escape[1], escape[1]))
        elsif (literal = take(LITERAL)) then Regexp.escape(text_of(literal[0]))
        end
      end

      def group
        source, *figures = alternatives
        skip(")") or raise Invalid
        ["(?:#{source})", *figures]
      end

      def char_class
        source = skip("^") ? +"[^" : +"["
        source << "\\-" if (dash = skip("-"))
        empty = !dash
        parts = []
        until skip("]")
          parts << (dash? && @bytes[@at + 1] == "]" && !(empty && parts.empty?) ? last_dash : class_part)
        end
        raise Invalid if empty && parts.empty?

        source << parts.uniq.join << "]" # Ruby warns of a character that comes twice
      end

      def dash? = @bytes[@at] == "-"

      def last_dash
        @at += 1
        "\\-"
      end

      def class_part
        category = take(CATEGORY) and return category[0]
        first = class_char
        return quoted(first) unless dash? && @bytes[@at + 1] != "]"

        @at += 1
        last = class_char
        raise Invalid if last.ord < first.ord

        "#{quoted(first)}-#{quoted(last)}"
      end

      def class_char
        escape = take(ESCAPE) and return LETTERS.fetch(escape[1], escape[1])
        text_of((take(IN_CLASS) || raise(Invalid))[0])
      end

      def quoted(char)
        char.match?(/[a-zA-Z0-9]|[^\x00-\x7f]/) ? char : format("\\x%02x", char.ord)
      end
    end
    private_constant :Translation
  end
end
