# frozen_string_literal: true

#--
# Finds scalars and exts that the new version does not read.
#++
module Manypack
  class Compatibility
    class Scalars # :nodoc:
      # Texts, one of them not UTF-8, and bins.
      STRINGS = Ractor.make_shareable(["a", "", "another text", "\xFF", "\xFF".b])
      EXACT = 2**53 # up to here a Float holds every Integer exactly
      private_constant :STRINGS, :EXACT

      # readers:: what the new version takes
      def initialize(readers, old_options, new_options)
        @readers = readers
        @checks_text = new_options["utf8"] && !old_options["utf8"]
      end

      # Returns some values of an atom that no reader takes; none if the readers take all.
      def refused(atom, sample)
        all = @readers
        @readers = all.select { |reader| reader["rules"].to_a.all? { |rule| Rules.implied?(rule, atom) } }
        found = atom["kind"] == "ext" ? exts(atom["types"]) : candidates(atom, sample).reject { |value| takes?(value) }
        found.empty? ? found : found | Rules.beside((all - @readers).flat_map { |reader| reader["rules"] })
      end

      private

      # Returns values of an atom around the bounds of the readers. If any value is refused, one of these is.
      def candidates(atom, sample)
        case atom["kind"]
        when "enum" then atom["values"]
        when "integer" then near(atom) { |bound| [bound.floor - 1, bound.floor, bound.ceil, bound.ceil + 1] }
        when "float"
          near(atom) { |bound| [bound.prev_float, bound, bound.next_float] } + [*(Float::NAN if atom["nan"])]
        when "string" then STRINGS
        when "symbol", "text" then STRINGS.first(3)
        when "bytes" then [STRINGS.last]
        else [sample]
        end
      end

      # Returns the numbers that the block makes of each bound, if the atom has them, those near 0 first.
      def near(atom)
        ranges = [atom, *of("integer", "float")].flat_map { |range| range.values_at("min", "max") }
        bounds = [*ranges, *literals.grep(Numeric), EXACT, -EXACT].select(&:finite?)
        bounds = bounds.map(&:to_f) if atom["kind"] == "float"
        found = bounds.uniq.flat_map { |bound| yield(bound) } + atom.values_at("min", "max")
        found.uniq.select { |number| covers?(atom, number) }.sort_by(&:abs)
      end

      def of(*kinds) = @readers.select { |reader| kinds.include?(reader["kind"]) }
      def literals = of("enum").flat_map { |reader| reader["values"] }
      def covers?(range, value) = range["min"] <= value && value <= range["max"]

      def takes?(value)
        case value
        when Integer then among?("integer", value) || literals.include?(value) || widened?(value)
        when Float then among?("float", value) || literals.grep(Float).include?(value)
        when String then text?(value)
        else literals.include?(value)
        end
      end

      def among?(kind, number)
        of(kind).any? { |range| covers?(range, number) || (range["nan"] && number.is_a?(Float) && number.nan?) }
      end

      def widened?(integer) = integer.to_f == integer && among?("float", integer.to_f)

      # A bin is a Symbol only if it is ASCII.
      def text?(text)
        binary, valid = text.encoding == Encoding::BINARY, text.valid_encoding?
        return true if literals.any? { |one| one == text } || (binary && of("bytes").any?)
        return true if of("string").any? && (valid || !@checks_text)

        binary ? text.ascii_only? && of("symbol").any? : valid && of("text", "symbol").any?
      end

      def exts(types)
        read = of("ext").map { |reader| reader["types"] }
        return [] if read.include?("all")

        types = [[(0..127).find { |type| read.flatten(1).none? { |known, _| known == type } }, nil]] if types == "all"
        (types - read.flatten(1)).map { |type, _| ExtensionValue.new(type, type == -1 ? "\0\0\0\0".b : "".b) }
      end
    end

    # The rules of types that have constraints, as Description has them.
    module Rules # :nodoc:
      module_function

      def lengths(atom)
        found = atom["rules"].to_a.select { |kind, *| kind == "length" }
        [found.map { |_, least, _| least }.max || 0, found.filter_map { |_, _, most| most }.min || Float::INFINITY]
      end

      # Returns the next number that the rules of an atom allow.
      def multiple_near(atom, number)
        _, step = atom["rules"].to_a.find { |kind, *| kind == "multiple_of" }
        step ? (number / step.to_f).ceil * step : number
      end

      def implied?(rule, atom)
        kind, one, two = rule
        same = atom["rules"].to_a.select { |other, *| other == kind }
        return true if same.include?(rule)

        case kind
        when "length" then lengths(atom).then { |least, most| one <= least && most <= (two || Float::INFINITY) }
        when "multiple_of" then same.any? { |_, step| Type.const_get(:Rules)::Multiple.new(one).call(step) }
        else false
        end
      end

      # Returns values that may break rules.
      def beside(rules)
        rules.flat_map do |kind, one, two|
          case kind
          when "length" then ["a" * (two ? two + 1 : 0), "a" * [one - 1, 0].max]
          when "multiple_of" then [1, one + 1, one / 2.0]
          else ["", "?", 0]
          end
        end
      end
    end
    private_constant :Scalars, :Rules
  end
end
