# frozen_string_literal: true

#--
# Which of the values that are no arrays and no maps are read.
#++
module Manypack
  class Compatibility
    class Scalars # :nodoc:
      # A str that is not UTF-8, a bin, and texts.
      STRINGS = Ractor.make_shareable(["a", "", "\xFF", "\xFF".b])
      EXACT = 2**53 # up to here a Float has every Integer
      private_constant :STRINGS, :EXACT

      # readers:: what the new version takes
      def initialize(readers, old_options, new_options)
        @readers = readers
        @checks_text = new_options["utf8"] && !old_options["utf8"]
      end

      # Returns some values of an atom that no reader takes, none if they take all.
      def refused(atom, sample)
        all = @readers
        @readers = all.select { |reader| reader["rules"].to_a.all? { |rule| Rules.implied?(rule, atom) } }
        found = refused_by_kind(atom, sample)
        found.empty? ? found : found | Rules.beside((all - @readers).flat_map { |reader| reader["rules"] })
      end

      private

      def refused_by_kind(atom, sample)
        case atom["kind"]
        when "enum" then atom["values"].reject { |value| takes?(value) }
        when "integer" then left(atom, integers, :succ, :pred)
        when "float" then left(atom, floats, :next_float, :prev_float) + [*(Float::NAN if atom["nan"] && !nan?)]
        when "string" then texts(@checks_text ? ["\xFF"] : [], "string")
        when "symbol", "text" then texts([], "string", "text", "symbol") # valid UTF-8
        when "bytes" then of("string", "bytes").empty? ? [sample] : []
        when "ext" then exts(atom["types"])
        else [sample]
        end
      end

      def of(*kinds) = @readers.select { |reader| kinds.include?(reader["kind"]) }
      def literals = of("enum").flat_map { |reader| reader["values"] }
      def covers?(range, value) = range["min"] <= value && value <= range["max"]

      def takes?(value)
        case value
        when Integer
          (integers.any? { |range| covers?(range, value) }) || literals.include?(value) || widened?(value)
        when Float then literals.any? { |one| one.eql?(value) } || of("float").any? { |range| covers?(range, value) }
        when String then text?(value)
        else literals.include?(value)
        end
      end

      def widened?(integer)
        integer.to_f == integer && of("float").any? { |range| covers?(range, integer.to_f) }
      end

      # A bin is a Symbol only if it is ASCII.
      def text?(text)
        binary = text.encoding == Encoding::BINARY
        return true if literals.any? { |one| one == text } || !of("string").empty? || (binary && !of("bytes").empty?)
        return true if !binary && text.valid_encoding? && !of("text").empty?

        (!of("symbol").empty? && (text.encoding == Encoding::BINARY ? text.ascii_only? : text.valid_encoding?))
      end

      # Of Integers also those that become Floats.
      def integers
        exact = of("float").filter_map do |range|
          min, max = [range["min"], -EXACT].max.ceil, [range["max"], EXACT].min.floor
          { "min" => min, "max" => max } if min <= max
        end
        single = literals.grep(Integer).map { |one| { "min" => one, "max" => one } }
        of("integer") + single + exact
      end

      def floats
        of("float") + literals.grep(Float).map { |one| { "min" => one, "max" => one } }
      end

      # Returns the ends of what is left of a range without others.
      def left(range, others, up, down)
        others.sort_by { |other| other["min"] }.reduce([[range["min"], range["max"]]]) do |parts, other|
          parts.flat_map { |min, max| without(min, max, other, up, down) }
        end.flatten.uniq.sort_by(&:abs)
      end

      def without(min, max, other, up, down)
        return [[min, max]] if other["max"] < min || other["min"] > max

        [([min, other["min"].public_send(down)] if other["min"] > min),
         ([other["max"].public_send(up), max] if other["max"] < max)].compact
      end

      def nan? = of("float").any? { |range| range["nan"] }

      def texts(refused, *kinds)
        of(*kinds).empty? ? [*STRINGS.reject { |text| takes?(text) }, "another text"] : refused
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

      # Returns true if all that is written of an atom meets a rule.
      def implied?(rule, atom)
        kind, one, two = rule
        same = atom["rules"].to_a.select { |other, *| other == kind }
        return true if same.include?(rule)

        case kind
        when "length" then one <= Lengths.of(atom)[0] && Lengths.of(atom)[1] <= (two || Float::INFINITY)
        when "multiple_of" then same.any? { |_, step| multiple?(step, one) }
        else false
        end
      end

      def multiple?(step, number)
        Type.const_get(:Rules)::Multiple.new(number).call(step)
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
