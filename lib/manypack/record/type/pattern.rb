# frozen_string_literal: true

#--
# Patterns of text that are matched in linear time, whatever the text.
#++
module Manypack
  class Type
    # A Regexp of a program, which a stranger's text is compared with. Ruby 3.3 and newer say which ones take linear
    # time. Older ones do not, so that of them the pattern may have no quantifier in a group with a quantifier, and the
    # text is limited as the number of quantifiers demands.
    class Pattern # :nodoc:
      # Of what Ruby counts, as \d{4} does, it remembers a place in the text for each count.
      COUNT_MAX = 256

      # What a search may take without Regexp.linear_time?.
      STEPS_MAX = 10_000_000

      def initialize(regexp)
        raise ArgumentError, "pattern must be a Regexp, got #{regexp.inspect}" unless regexp.is_a?(Regexp)

        @regexp = regexp
        @source = regexp.source
        raise ArgumentError, "pattern: #{regexp.inspect} is not UTF-8" unless text?
      end

      # Returns the Regexp, which matches UTF-8 without being compiled again, and how many bytes the text may have (nil
      # for any number). Raises ArgumentError for one that may take more than linear time.
      def rule
        scan
        refuse("counts up to #{@counts}, and #{COUNT_MAX} is the most") if @counts > COUNT_MAX
        linear = Regexp.respond_to?(:linear_time?)
        linear ? check_linear : check_old
        utf8 = Regexp.new(@source.encode(Encoding::UTF_8), @regexp.options | Regexp::FIXEDENCODING)
        [utf8.freeze, linear ? nil : most]
      end

      TOKEN = /\\[AzhHsS]|\\[dDwWtrnfv\W]|\(\?(?:<[a-z]\w*>|:|<?[=!])|[^\\.(]|\.|\((?!\?)/
      ECMA = { "\\A" => "^", "\\z" => "$", "\\h" => "[0-9a-fA-F]", "\\H" => "[^0-9a-fA-F]", "." => "[^\\n]",
               "\\s" => "[ \\t\\r\\n\\f\\v]", "\\S" => "[^ \\t\\r\\n\\f\\v]" }.freeze
      CLASS = /\[\^?(?:\\[dwtrnfv\W]|[^\\\[\]&])+\]/
      private_constant :TOKEN, :ECMA, :CLASS

      # Returns the pattern as JSON Schema writes it, or nil if it has what ECMAScript does not have or reads otherwise.
      def self.ecma(regexp)
        return if regexp.options.anybits?(Regexp::IGNORECASE | Regexp::EXTENDED | Regexp::MULTILINE)

        parts = regexp.source.scan(/#{CLASS}|#{TOKEN}|./mo)
        parts.map { |part| ECMA.fetch(part, part) }.join if parts.all? { |part| ecma?(part) }
      end

      def self.ecma?(part)
        return part.match?(/\A#{CLASS}\z/o) if part.start_with?("[")

        part.match?(/\A#{TOKEN}\z/o) && !part.match?(/\A[\^$\]]\z/)
      end
      private_class_method :ecma?

      private

      def text?
        encodings = [Encoding::UTF_8, Encoding::US_ASCII]
        encodings.include?(@regexp.encoding) && !@regexp.options.anybits?(Regexp::NOENCODING)
      end

      def check_linear
        refuse("may take more than linear time") unless Regexp.linear_time?(@regexp)
      end

      HARD = /\\[1-9kg]|\(\?<?[=!]|\(\?\(|\(\?[#a-z-]*[#x]/
      private_constant :HARD

      def check_old
        if @source.match?(HARD) || @regexp.options.anybits?(Regexp::EXTENDED)
          refuse("looks around or back or has comments, so this Ruby cannot tell whether it takes linear time")
        end
        refuse("has a quantifier in a group that is repeated, which may take more than linear time") if @nested
        refuse("has too many alternatives") if @choices > STEPS_MAX
      end

      def refuse(why)
        raise ArgumentError, "pattern: #{@regexp.inspect} #{why}"
      end

      # Returns the most bytes of a text: what has no bound, and the place where a match begins, is tried at each.
      def most
        tried = @unbounded + (@source.start_with?("\\A") ? 0 : 1)
        tried > 1 ? ((STEPS_MAX / @choices)**(1.0 / tried)).floor : nil
      end

      ATOM = /\\[pPxuk]\{[^}]*\}|\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])*\]|(?<open>\((?:\?(?:<\w+>|[a-z-]*:|>|<?[=!]))?)|
              (?<close>\))|\{(?<least>\d*)(?<comma>,)?(?<most>\d*)\}|(?<many>[*+?])|./mx
      NONE = [0, false].freeze # an atom: the counts in it, and whether it has a choice of its own
      private_constant :ATOM, :NONE

      # Adds up the counts, each multiplied by those around it, and the choices, and looks for repeated choices.
      def scan
        @unbounded = 0
        @choices = 1
        @nested = false
        groups = [NONE.dup] # the open ones
        atom = NONE
        @source.scan(ATOM) { atom = step(Regexp.last_match, groups, atom) }
        @counts = groups.sum(&:first)
      end

      # Returns the atom that a quantifier in the next step would repeat.
      def step(match, groups, atom)
        return quantified(match, groups, atom) if match[:many] || match[:least]

        if match[:open]
          groups.push(NONE.dup)
        elsif match[:close] && groups.size > 1
          return closed(groups.pop, groups.last)
        elsif match[0] == "|"
          @choices *= 2
          groups.last[1] = true
        end
        NONE
      end

      def closed(group, outer)
        outer[0] += group[0]
        outer[1] ||= group[1]
        group
      end

      def quantified(match, groups, atom)
        least, most = match[:least].to_i, match[:most].to_i
        count = match[:many] ? 1 : [least, most].max
        bounded = match[:many] ? match[:many] == "?" : !match[:comma] || !match[:most].empty?
        @nested ||= atom[1] && (count > 1 || !bounded)
        @unbounded += 1 unless bounded
        @choices *= match[:many] ? 2 : [most - least + 1, 1].max if bounded
        counts = count > 1 ? [atom[0], 1].max * count : atom[0]
        groups.last[0] += counts - atom[0]
        groups.last[1] ||= varies = match[:many] || match[:comma] ? true : false
        [counts, atom[1] || varies]
      end
    end
    private_constant :Pattern
  end
end
