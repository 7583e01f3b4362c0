# frozen_string_literal: true

#--
# Patterns of text that are matched in linear time, whatever the text.
#++
module Manypack
  class Type
    # A Regexp that has to match a stranger's text in linear time, as Ruby 3.3 and newer can tell. On older ones it may
    # have no quantifier in a group with a quantifier, and the number of quantifiers limits the text.
    class Pattern # :nodoc:
      # For a counted repetition, such as \d{4}, Ruby remembers a place in the text for each count.
      COUNT_MAX = 256

      # The most steps of a search without Regexp.linear_time?.
      STEPS_MAX = 10_000_000

      def initialize(regexp)
        raise ArgumentError, "pattern must be a Regexp, got #{regexp.inspect}" unless regexp.is_a?(Regexp)

        @regexp = regexp
        @source = regexp.source
        raise ArgumentError, "pattern: #{regexp.inspect} is not UTF-8" unless text?
      end

      # Returns the Regexp for UTF-8, and how many bytes the text may have (nil: any number). Raises ArgumentError for
      # one that may take more than linear time.
      def rule
        scan
        refuse("counts up to #{@counts}, and #{COUNT_MAX} is the most") if @counts > COUNT_MAX
        linear = Regexp.respond_to?(:linear_time?)
        check_old unless linear
        refuse("may take more than linear time") if linear && !Regexp.linear_time?(@regexp)
        utf8 = Regexp.new(@source.encode(Encoding::UTF_8), @regexp.options | Regexp::FIXEDENCODING)
        [utf8.freeze, linear ? nil : most]
      end

      TOKEN = /\\[AzhHsS]|\\[dDwWtrnfv\W]|\(\?(?:<[a-z]\w*>|:|<?[=!])|[^\\.(]|\.|\((?!\?)/
      ECMA = { "\\A" => "^", "\\z" => "$", "\\h" => "[0-9a-fA-F]", "\\H" => "[^0-9a-fA-F]", "." => "[^\\n]",
               "\\s" => "[ \\t\\r\\n\\f\\v]", "\\S" => "[^ \\t\\r\\n\\f\\v]" }.freeze
      CLASS = /\[\^?(?:\\[dwtrnfv\W]|[^\\\[\]&])+\]/
      SPACE = "\\t\\r\\n\\f\\v\\ufeff\\u2028\\u2029\\p{Zs}"
      RUBY = Ractor.make_shareable({
        "^" => "\\A", "$" => "\\z", "." => "[^\\r\\n\\u2028\\u2029]", "\\s" => "[#{SPACE}]", "\\S" => "[^#{SPACE}]"
      })
      RUBY_CLASS = /\[\^?(?:\\[dDwWstrnfv\W]|\\u\h{4}|\\x\h{2}|[^\\\]])+\]/
      RUBY_TOKEN = /\\[dDwWsStrnfv\W]|\\u\h{4}|\\x\h{2}|[*+?}](?!\+)|\{(?!,)|[^\\(\[\]{}*+?]|
                    \((?:(?!\?)|\?(?:<[a-z]\w*>|:|<?[=!]))/mx
      ECMA_MAX = 2_000
      private_constant :ECMA_MAX, :TOKEN, :ECMA, :CLASS, :SPACE, :RUBY, :RUBY_CLASS, :RUBY_TOKEN

      # Returns the pattern as JSON Schema writes it, or nil if ECMAScript lacks a part of it or reads it otherwise.
      def self.ecma(regexp)
        return if regexp.options.anybits?(Regexp::IGNORECASE | Regexp::EXTENDED | Regexp::MULTILINE)

        parts = regexp.source.scan(/#{CLASS}|#{TOKEN}|./mo)
        parts.map { |part| ECMA.fetch(part, part) }.join if parts.all? { |part| ecma?(part) }
      end

      # Returns the Regexp of a pattern of JSON Schema. Raises ArgumentError for one that Ruby reads otherwise.
      def self.of_ecma(source)
        raise ArgumentError, "expected text, got #{source.inspect}" unless source.is_a?(String)
        raise ArgumentError, "has more than #{ECMA_MAX} characters" if source.size > ECMA_MAX

        parts = source.encode(Encoding::UTF_8).scan(/#{RUBY_CLASS}|#{RUBY_TOKEN}/o)
        raise ArgumentError, "#{source.inspect} has what Ruby reads otherwise" unless parts.join == source

        Regexp.new(parts.map { |part| RUBY.fetch(part) { part.size > 1 ? ruby_class(part) : part } }.join)
      rescue RegexpError, EncodingError => error
        raise ArgumentError, error.message
      end

      def self.ruby_class(part)
        return part unless part.start_with?("[")

        "[#{part[1..].gsub(/\\.|&|\[/m) { |one| { "\\s" => SPACE, "&" => "\\&", "[" => "\\[" }.fetch(one, one) }}"
      end
      private_class_method :ruby_class

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

      HARD = /\\[1-9kg]|\(\?<?[=!]|\(\?[(#imx-]/
      private_constant :HARD

      def check_old
        if @source.match?(HARD) || @regexp.options.anybits?(Regexp::EXTENDED)
          refuse("looks around or back or has comments, so this Ruby cannot tell whether it takes linear time")
        end
        refuse("repeats a group with a quantifier or an alternative, which may take more than linear time") if @nested
        refuse("has too many alternatives") if @choices > STEPS_MAX
      end

      def refuse(why)
        raise ArgumentError, "pattern: #{@regexp.inspect} #{why}"
      end

      # Returns the most bytes of a text. A match may begin at each byte, and an unbounded repetition may end at each.
      # All repetitions that end where the next part begins count as one.
      def most
        tried = @unbounded + @ended + (@source.start_with?("\\A") ? 0 : 1)
        tried > 1 ? ((STEPS_MAX / @choices)**(1.0 / tried)).floor : nil
      end

      ATOM = /\\[pPxuk]\{[^}]*\}|\\x\h{1,2}|\\u\h{4}|\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])*\]|
              (?<open>\((?:\?(?:<\w+>|[a-z-]*:|>|<?[=!]))?)|(?<close>\))|
              \{(?<least>\d*)(?<comma>,)?(?<most>\d*)\}|(?<many>[*+?])|./mx
      private_constant :ATOM

      # An atom or a group: its source, the counts in it, and whether it contains a choice; for a group, the atoms that
      # it has once, and the others. +open+ is true for an atom that is repeated without a bound.
      Part = Struct.new(:source, :counts, :choice, :once, :others, :open)
      private_constant :Part

      def part(source = "") = Part.new(source, 0, false, [], [])

      # Adds up the counts, each multiplied by those around it, and the choices, and looks for repeated choices.
      def scan
        @unbounded = @ended = 0
        @choices = 1
        groups = [part] # the open ones
        atom = part
        @source.scan(ATOM) { atom = step(Regexp.last_match, groups, atom) }
        @counts = groups.sum(&:counts)
      end

      # Returns the atom that a quantifier in the next step would repeat.
      def step(match, groups, atom)
        return quantified(match, groups.last, atom) if match[:many] || match[:least]

        if match[:open]
          groups.push(part)
        elsif match[:close] && groups.size > 1
          return closed(groups.pop, groups.last)
        elsif match[0] == "|"
          @choices *= 2
          groups.last.choice = true
          groups.last.others.push(part, part) # so that nothing delimits it
        else
          return single(match[0], groups.last, atom)
        end
        part
      end

      def single(source, group, before)
        if before.open && ended?(before.source, source)
          @unbounded -= 1
          @ended = 1
        end
        group.once << part(source)
        group.once.last
      end

      def closed(group, outer)
        outer.counts += group.counts
        outer.choice ||= group.choice
        outer.others.concat(group.once, group.others)
        group
      end

      def quantified(match, group, atom)
        least, most = match[:least].to_i, match[:most].to_i
        count = match[:many] ? 1 : [least, most].max
        bounded = match[:many] ? match[:many] == "?" : !match[:comma] || !match[:most].empty?
        @nested ||= atom.choice && (count > 1 || !bounded) && !delimited?(atom)
        bounded ? @choices *= match[:many] ? 2 : [most - least + 1, 1].max : @unbounded += 1
        group.counts += [atom.counts, 1].max * count - atom.counts if count > 1
        group.others.concat(group.once.select { |one| one.equal?(atom) })
        group.once.reject! { |one| one.equal?(atom) }
        group.choice ||= varies = match[:many] || match[:comma] ? true : false
        open = !bounded && !atom.source.empty?
        Part.new(atom.source, [atom.counts, 1].max * count, atom.choice || varies, [], [], open)
      end

      # Returns true for a group with one quantified atom and a character that this atom does not match, such as the
      # point in (?:[a-z]+\.)+: then a text can be divided into repetitions in only one way.
      def delimited?(group)
        return false unless group.others.size == 1

        group.once.any? { |one| ended?(group.others[0].source, one.source) }
      end

      # Returns true if a repeated atom is followed by the end, or by a character that it does not match.
      def ended?(repeated, following)
        return true if following == "\\z"

        text = following[/\A(?:[^.\\^$]|\\\W)\z/m]&.slice(-1)
        text && !Regexp.new("\\A(?:#{repeated})\\z", @regexp.options).match?(text)
      rescue RegexpError
        false
      end
    end
    private_constant :Pattern

    # Patterns such as /\A[A-Z]{2}\d+\z/: sets of characters, each repeated up to a character outside of the set. C
    # matches ASCII text with them in a sixteenth of the time that a Regexp takes.
    module Steps # :nodoc:
      SINGLE = /\A(?:\[.*\]|\\[dDwWsShHtnrfv\W]|[^\\.\[\](){}|^$*+?]|\.)\z/m
      ATOM = /\\.|\[(?:\\.|[^\]\[\\&])*\]|\{(?<least>\d+)(?<comma>,)?(?<most>\d*)\}|(?<many>[*+?])|./m
      MANY = Ractor.make_shareable({ "*" => [0, nil], "+" => [1, nil], "?" => [0, 1] })
      MOST = 2**32 - 1
      private_constant :SINGLE, :ATOM, :MANY, :MOST

      class << self
        # Returns the steps in the form that C reads, a String; nil for a pattern with any other part.
        def of(regexp)
          source, options = regexp.source, regexp.options
          return if options.anybits?(Regexp::EXTENDED) || !source.ascii_only? || !source.start_with?("\\A")

          atoms = read(source.delete_prefix("\\A")) or return
          steps = atoms.map { |atom, least, most| [set(atom, options), least, most || MOST] }
          steps.flatten.pack("b128LL" * steps.size).freeze if steps.each_index.all? { |i| ends?(steps, i) }
        end

        private

        # Returns Arrays of an atom, the least and the most number of its repetitions. The last atom must be the end.
        def read(source)
          atoms = []
          ended = false
          source.scan(ATOM) do
            match = Regexp.last_match
            return if ended
            next ended = true if match[0] == "\\z"

            count = count(match)
            next atoms << [match[0], 1, 1] if !count && match[0].match?(SINGLE)
            return unless count && atoms.any? && atoms.last[1, 2] == [1, 1] && !atoms.last[3]

            atoms.last.replace([atoms.last[0], *count, true])
          end
          atoms if ended
        end

        def count(match)
          return MANY[match[:many]] if match[:many]
          return unless match[:least]

          least = match[:least].to_i
          [least, match[:comma] ? match[:most].empty? ? nil : match[:most].to_i : least]
        end

        def set(atom, options)
          regexp = Regexp.new("\\A(?:#{atom})\\z", options)
          (0..127).map { |code| regexp.match?(code.chr) ? "1" : "0" }.join
        end

        # Returns true if a step has a fixed length, or if none of its characters can begin the next step.
        def ends?(steps, index)
          set, least, most = steps[index]
          return true if least == most

          steps.drop(index + 1).each do |next_set, next_least|
            return false if set.each_char.zip(next_set.each_char).any? { |one, other| one == "1" && other == "1" }
            return true if next_least.positive?
          end
          true
        end
      end
    end
    private_constant :Steps
  end
end
