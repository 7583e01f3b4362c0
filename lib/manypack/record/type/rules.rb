# frozen_string_literal: true

#--
# The conditions that a value must meet beyond its type, and its conversions: the rules in a spec [:ruled, spec, rules].
#
#   [:length, least, most or nil]  [:pattern, regexp, most bytes or nil, words or nil, schema]  [:unique]
#   [:multiple_of, number]  [:range, range]
#   [:check, message, callback]  [:via, class, callback, callback or nil, words or nil, schema]
#++
require_relative "pattern"

module Manypack
  class Type
    # A callable object of the program. It is compared by identity, because on Ruby 3.1 the hash of a Proc changes.
    class Callback # :nodoc:
      attr_reader :callable

      def initialize(callable)
        @callable = callable.is_a?(Proc) ? Callback.shareable(callable) : callable
        freeze
        Ractor.make_shareable(self) if Ractor.shareable?(@callable)
      end

      # Returns a shareable copy of a Proc, or the Proc if Ractors cannot share it.
      def self.shareable(proc)
        Ractor.make_shareable(proc.dup)
      rescue Ractor::Error, ArgumentError, ::TypeError
        proc
      end

      def ==(other)
        other.is_a?(Callback) && callable.equal?(other.callable)
      end
      alias eql? ==

      def hash = Callback.hash
    end
    private_constant :Callback

    module Rules # :nodoc:
      NAMES = %i[length pattern unique multiple_of range].freeze

      # The kinds of types that a constraint is for; class_takes? knows classes.
      KINDS = Ractor.make_shareable({
        length: %i[string text bytes symbol list map], pattern: %i[string text symbol], unique: %i[list],
        multiple_of: %i[integer float], range: %i[integer float]
      })
      private_constant :KINDS

      # Tells whether a number is a multiple of another. A Float counts as its decimal text.
      class Multiple
        def initialize(number)
          @number = Multiple.exact(number)
          freeze
        end

        def call(value)
          (!value.is_a?(Float) || value.finite?) && (Multiple.exact(value) % @number).zero?
        end

        def self.exact(number) = number.is_a?(Float) ? number.to_s.to_r : number.to_r
      end

      class << self
        # Returns a spec with constraints, a Hash: in a union, each is for the types that can have it. Raises
        # ArgumentError for one that no type can have.
        def constrained(spec, constraints)
          constraints.reduce(spec) { |constrained, (name, value)| value ? with(constrained, name, value) : constrained }
        end

        def add(spec, rule)
          kind, one, rules = spec
          kind == :ruled ? [:ruled, one, [*rules, rule]] : [:ruled, spec, [rule]]
        end

        # Returns the nodes of a spec's rules, for C. The Record around it, and its member, are for errors.
        def nodes(spec, rules, record = nil, member = nil)
          rules.map do |rule|
            { kind: rule[0], code: rule[0], words: words(rule, spec), record: record, member: member, **details(*rule) }
          end
        end

        def words(rule, spec)
          kind, one, two, three, four = rule
          case kind
          when :length then length_words(one, two, unit(spec))
          when :pattern then three || "a match of #{one.inspect}#{" (text of at most #{two} bytes)" if two}"
          when :unique then "unique elements"
          when :multiple_of then "a multiple of #{one}"
          when :range then "a value #{Expected.bounded(Expected.bounds(one))}"
          when :check then one
          else four || one.inspect
          end
        end

        def all_words(spec) = spec[2].map { |rule| words(rule, spec[1]) }.join(", ")

        # Returns the rules for values in a message: those before a conversion, other than to a Set.
        def of_written(rules)
          last = rules.index { |kind, klass, _, _, words| kind == :via && !(klass.name == "Set" && words) }
          last ? rules[..last] : rules
        end

        # Returns the words that the converter has for its values; nil if it has none.
        def converted_words(spec) = spec[2].find { |kind, *| kind == :via }&.at(4)

        private

        def with(spec, name, value)
          value = send("checked_#{name}", value)
          parts = Spec.alternatives(spec)
          ruled = parts.map { |part| takes?(part, name, value) ? narrowed(part, name, value) : part }
          if ruled == parts
            raise ArgumentError, "#{name}: is for #{FOR[name]}, and not for #{Spec.notation(spec)}"
          end

          ruled.size == 1 ? ruled[0] : [:union, ruled]
        end

        FOR = {
          length: "text, bytes, Arrays and Hashes", pattern: "text", unique: "Arrays", multiple_of: "numbers",
          range: "what can be compared with its bounds"
        }.freeze
        private_constant :FOR

        # Integers and Floats have Ranges of their own, which C compares fastest.
        def narrowed(spec, name, value)
          return [spec[0], value[0]] if name == :range && own_range?(spec, value[0])

          add(spec, [name, *value])
        end

        def own_range?(spec, range)
          bounds = [range.begin, range.end].compact
          spec[1].nil? && (spec[0] == :float || (spec[0] == :integer && bounds.all?(Integer))) && bounds.all?(Numeric)
        end

        def takes?(spec, name, value)
          kind, detail = subject(spec)
          return class_takes?(detail, name, value) if kind == :class

          KINDS[name].include?(kind) && (name != :range || comparable?(::Numeric, value[0]))
        end

        # Returns the spec of the values that the next rule gets.
        def subject(spec)
          return spec unless spec[0] == :ruled

          via = spec[2].reverse.find { |kind, *| kind == :via }
          via ? [:class, via[1]] : subject(spec[1])
        end

        def class_takes?(klass, name, value)
          case name
          when :length then klass.method_defined?(:size) && (klass <= ::Enumerable || klass <= ::String)
          when :pattern then klass <= ::String || klass <= ::Symbol
          when :unique then klass <= ::Array
          when :multiple_of then klass <= ::Numeric
          else comparable?(klass, value[0])
          end
        end

        def comparable?(klass, range)
          return false unless klass <= ::Comparable

          klass = ::Numeric if klass <= ::Numeric
          [range.begin, range.end].compact.all?(klass)
        end

        # --- one for each constraint: return what is behind its name in a rule -------------------------------------

        def checked_length(length)
          return checked_length(length..length) if length.is_a?(Integer)
          unless length.is_a?(Range) && [length.begin, length.end].compact.all?(Integer)
            raise ArgumentError, "length must be a Range of Integers, got #{length.inspect}"
          end

          least = [length.begin || 0, 0].max
          most = length.end && (length.exclude_end? ? length.end - 1 : length.end)
          raise ArgumentError, "length: #{length.inspect} is no length: no value has it" if most && most < least

          [[least, most].map { |bound| bound && [bound, 2**32].min }].flatten
        end

        def checked_pattern(pattern) = Pattern.new(pattern).rule

        def checked_unique(unique)
          raise ArgumentError, "unique must be true or false, got #{unique.inspect}" unless unique == true

          []
        end

        def checked_multiple_of(number)
          valid = (number.is_a?(Integer) || number.is_a?(Float)) && number.positive? && number.finite?
          raise ArgumentError, "multiple_of must be a number above 0, got #{number.inspect}" unless valid

          [number]
        end

        def checked_range(range)
          raise ArgumentError, "range must be a Range, got #{range.inspect}" unless range.is_a?(Range)

          first, last = range.begin, range.end
          order = first && last ? first <=> last : -1
          if (first.nil? && last.nil?) || order.nil? || order.positive? || (order.zero? && range.exclude_end?)
            raise ArgumentError, "range: #{range.inspect} is no range: no value is in it"
          end

          [Ractor.make_shareable(range, copy: true)]
        end

        # --- nodes --------------------------------------------------------------------------------------------------

        def details(kind, one = nil, two = nil, three = nil, four = nil, *)
          case kind
          when :length then { min: one, max: two }
          when :pattern then { object: one, max: two, steps: Steps.of(one) }
          when :multiple_of
            { min: one.is_a?(Integer) && one < 2**62 ? one : 0, object: Ractor.make_shareable(Multiple.new(one)) }
          when :range then { object: one }
          when :check then { object: two.callable }
          when :via then via(one, two, three, four)
          else {}
          end
        end

        # min is 1 if the rule has words of its own, which name no class.
        def via(klass, load, dump, words)
          { class: klass, code: :conversion, object: load.callable, dump: dump&.callable, min: words ? 1 : 0 }
        end

        def length_words(least, most, unit)
          return "#{least} #{most == 1 ? unit.chomp("s") : unit}" if least == most
          return "at least #{least} #{least == 1 ? unit.chomp("s") : unit}" unless most
          return "at most #{most} #{most == 1 ? unit.chomp("s") : unit}" if least.zero?

          "#{least} to #{most} #{unit}"
        end

        UNITS = { string: "characters", text: "characters", symbol: "characters", bytes: "bytes", map: "pairs" }.freeze
        private_constant :UNITS

        def unit(spec)
          kind, klass = spec
          return unit(spec[1]) if kind == :ruled

          UNITS.fetch(kind == :class && klass <= ::Hash ? :map : kind, "elements")
        end
      end
    end
    private_constant :Rules
  end
end
