# frozen_string_literal: true

#--
# Reads types, as programs write them, into nested Arrays: a kind and its details.
#
#   [:any]  [:view]  [:nil]  [:true]  [:false]  [:string]  [:text]  [:bytes]  [:symbol]  [:class, klass]
#   [:name, symbol]
#   [:integer, range or nil]  [:float, range or nil]  [:enum, literals]  [:list, spec]  [:tuple, specs]
#   [:map, key, value]  [:ruled, spec, rules]
#   [:union, specs]  [:record, record]  [:recursive, level, spec], in which [:name, level] is the same type again
#   [:tagged, tag key or :first, {tag => spec}, spec of else or nil, spec of untagged if any]
#++
module Manypack
  class Type
    # A recursive type around others, known by the number of its level.
    Recursion = Struct.new(:level, :definition) do # :nodoc:
      def named?(name) = name == level
    end
    private_constant :Recursion

    module Spec # :nodoc:
      SIMPLE = Ractor.make_shareable({
        Object => [:any], BasicObject => [:any], Integer => [:integer, nil], Float => [:float, nil],
        String => [:string], ::Symbol => [:symbol], NilClass => [:nil], TrueClass => [:true], FalseClass => [:false],
        nil => [:nil], true => [:true], false => [:false]
      })
      CORE = [NilClass, TrueClass, FalseClass, Integer, Float, String, Array, Hash].freeze
      LITERALS = [String, ::Symbol, Integer, Float, NilClass, TrueClass, FalseClass].freeze
      KEYS = %i[string text symbol integer enum].freeze
      private_constant :SIMPLE, :CORE, :LITERALS, :KEYS

      # What a message can have.
      INTEGERS = (-2**63..2**64 - 1).freeze

      # The argument of Type.new. +base+ is the codec of DefaultFactory if the Type follows that, or nil. Without a
      # codec, the Type has that of +types+, the Types in it.
      Parts = Struct.new(:spec, :codec, :base, :check, :types)

      class << self
        # Returns the Type of a spec with the options of the types that a program made it of.
        def made_of(spec, types)
          Type.new(Parts.new(spec, nil, nil, false, Inherited.parts(types)))
        end

        def of(type)
          return SIMPLE[type] if SIMPLE.key?(type)

          case type
          when Type then type.spec
          when Range then range(type)
          when Array then array(type)
          when Hash then map(type)
          when ::Symbol then named(type)
          when Module then of_class(type)
          else raise ArgumentError, "#{type.inspect} is no type#{meant(type)}"
          end
        end

        # Raises ArgumentError for a Symbol that cannot name a Record.
        def named(symbol)
          return [:name, symbol] if name?(symbol)

          meant = [Integer, Float, String, ::Symbol, Object, View].find { |klass| klass.name.casecmp?(symbol.name) }
          raise ArgumentError, "#{symbol.inspect} is no type#{": #{meant} is" if meant}; a Symbol names a Record, as " \
                               ":Point and :self do, or is one of the literals in an Array"
        end

        # Returns the spec of the Record that a class has, or else of the class.
        def of_class(klass)
          return [:view] if klass <= View

          Arguments.type_of(klass)&.spec || [:class, klass]
        end

        # Returns the Hash that was written without braces in Type[], in an Array. Raises ArgumentError for options.
        def braceless(options)
          return [options] unless options.keys.all?(::Symbol) && options.keys.none? { |key| name?(key) }

          names = options.keys.map { |key| "#{key}:" }.join(", ")
          raise ArgumentError, "Type[] takes types and the constraints #{Rules::NAMES.join(", ")}, got #{names}; " \
                               "a Range such as 1..10 bounds numbers, length: 1..10 text and lists, and an enum such " \
                               "as [\"a\", \"b\"] lists values"
        end

        def any_of(types) = any(types.map { |type| of(type) })

        def any(specs)
          specs = specs.flat_map { |spec| alternatives(spec) }.uniq
          specs.size == 1 ? specs[0] : [:union, specs]
        end

        # Returns the specs of a union, or the only one.
        def alternatives(spec) = spec[0] == :union ? spec[1] : [spec]

        # Returns the words by which errors name a spec.
        def words(spec)
          kind, detail, = spec
          case kind
          when :any, :view then "an object"
          when :nil, :true, :false then kind.name
          when :integer, :float then number_words(kind, detail)
          when :string, :symbol then kind.name.capitalize
          when :text then "text of valid UTF-8"
          when :bytes then "bytes"
          when :class then detail.inspect
          when :enum then list_words(detail.map(&:inspect))
          when :list then "Array"
          when :tuple then "Array of #{detail.size}"
          when :ruled then Rules.converted_words(spec) || words(detail)
          when :map then "Hash"
          when :union then detail.map { |one| words(one) }.uniq.join(" or ")
          when :record then detail.klass.to_s
          when :tagged
            "#{detail == :first ? "an array whose first element" : "a map whose #{detail.inspect}"} is " \
              "#{list_words(spec[2].keys.map(&:inspect))}"
          when :name then notation(spec)
          when :recursive then words(spec[2])
          else detail.inspect
          end
        end

        # Returns the spec as a program writes it, for inspect.
        def notation(spec)
          kind, one, two = spec
          case kind
          when :any then "Object"
          when :view then "View"
          when :list then "[#{notation(one)}]"
          when :tuple then "tuple(#{one.map { |part| notation(part) }.join(", ")})"
          when :ruled then Rules.converted_words(spec) || "#{notation(one)} (#{Rules.all_words(spec)})"
          when :map then "{#{notation(one)} => #{notation(two)}}"
          when :enum then one.inspect
          when :union then one.map { |part| notation(part) }.join(" or ")
          when :name then one.is_a?(::Symbol) ? one.inspect : "itself"
          when :recursive then "recursive #{notation(two)}"
          else words(spec)
          end
        end

        # Returns a deeply frozen copy. Its Records are frozen already, and shareable only if their codecs are.
        def frozen(part)
          case part
          when Array then part.map { |one| frozen(one) }.freeze
          when Hash then part.to_h { |key, value| [frozen(key), frozen(value)] }.freeze
          when String then -part
          else part
          end
        end

        # Returns true if the block returns true for a kind, a Type or any other detail in specs. Leaves out literals
        # and tags.
        def any?(part, &block)
          case part
          when Array then part[0] != :enum && part.any? { |one| any?(one, &block) }
          when Hash then any?(part.values, &block)
          else yield(part)
          end
        end

        def shareable?(parts)
          !any?(parts) { |part| (part.is_a?(Type) || part.is_a?(Callback)) && !Ractor.shareable?(part) }
        end

        # Returns true if the spec has a Record or names one.
        def records?(spec) = any?(spec) { |part| part.is_a?(Record) || part == :name }

        # Returns true if a Record in the specs checks what it dumps.
        def checks?(parts) = any?(parts) { |part| part.is_a?(Type) && part.check? }

        # Returns true if the specs, or a Record in them, contain bytes, which are text in JSON.
        def bytes?(parts)
          any?(parts) { |part| part.is_a?(Type) ? part.instance_variable_get(:@bytes) : part == :bytes }
        end

        # Returns true if a name means a Record or a recursive type around it.
        def named?(one, name) = name == :self ? one.is_a?(Record) : one.named?(name)
        def inner(spec) = spec[0] == :recursive ? inner(spec[2]) : spec

        # Returns the specs that a spec is made of without unions, recursion and rules. Without +converted+, leaves out
        # those that a rule converts.
        def leaves(spec, converted: true)
          case spec[0]
          when :union then spec[1].flat_map { |one| leaves(one, converted: converted) }
          when :recursive then leaves(spec[2], converted: converted)
          when :ruled
            converted || spec[2].none? { |kind, *| kind == :via } ? leaves(spec[1], converted: converted) : []
          else [spec]
          end
        end

        # Returns true if the spec is the type of that level, or has it as an alternative: no object would be of it.
        def endless?(spec, level)
          leaves(spec).any? do |kind, one, types, *others|
            next one == level if kind == :name

            kind == :tagged && [*types.values, *others.compact].any? { |part| endless?(part, level) }
          end
        end

        # Returns the spec with another one in place of each name, outside of Records, for which the block returns one.
        def renamed(part, &block)
          case part
          when Array
            return part if part[0] == :enum
            return yield(part[1]) || part if part[0] == :name

            part.map { |one| renamed(one, &block) }
          when Hash then part.transform_values { |one| renamed(one, &block) }
          else part
          end
        end

        # Returns true if objects of MessagePack's own types are of the class or module.
        def core?(klass) = CORE.any? { |core| core <= klass }

        def nullable?(spec)
          leaves(spec, converted: false).any? do |kind, detail|
            %i[any nil].include?(kind) || (kind == :enum && detail.include?(nil)) ||
              (kind == :class && NilClass <= detail)
          end
        end

        def hash?(spec)
          leaves(spec).any? { |kind, detail| %i[any map].include?(kind) || (kind == :class && Hash <= detail) }
        end

        private

        def meant(type)
          case type
          when String then ": [#{type.inspect}] is an enum of one literal, and String any text"
          when Integer, Float then ": [#{type.inspect}] is an enum of one literal, and #{type.class} any number"
          when Regexp then ": Type[String, pattern: #{type.inspect}] is text that matches"
          when Proc, Method then ": a type's check(\"must ...\") { |value| ... } asks a block"
          end
        end

        def range(range)
          bounds = [range.begin, range.end].compact
          return Rules.constrained([:class, ::Time], { range: range }) if !bounds.empty? && bounds.all?(::Time)

          unless !bounds.empty? && bounds.all? { |bound| bound.is_a?(Integer) || bound.is_a?(Float) }
            raise ArgumentError, "#{range.inspect} is no type: a Range must be of Integers, Floats or Times"
          end

          [bounds.any?(Float) ? :float : :integer, range]
        end

        def array(types)
          return enum(types) if types.size > 1 || (types.size == 1 && literal?(types[0]) && !name?(types[0]))
          raise ArgumentError, "[] is no type: use [Object] for an Array of anything" if types.empty?

          [:list, of(types[0])]
        end

        def literal?(type) = LITERALS.include?(type.class)

        # Returns true for a Symbol that names a Record. Any other Symbol alone in an Array is an enum of one literal.
        def name?(type) = type.is_a?(::Symbol) && (type == :self || type.match?(/\A[[:upper:]]/))

        def enum(literals)
          unless literals.all? { |literal| literal?(literal) }
            raise ArgumentError, "#{literals.inspect} is no type: an Array has one type or several literals; " \
                                 "Manypack::Type[String, Integer] is any of several types, and " \
                                 "Manypack::Type[String].or(nil) may be nil"
          end

          [:enum, literals.map { |literal| literal(literal) }.uniq]
        end

        # Returns the literal as load returns it. Raises ArgumentError for a literal that no message can have.
        def literal(literal)
          impossible = case literal
                       when Integer then !(-2**63...2**64).cover?(literal)
                       when Float then literal.nan?
                       when ::Symbol then ![Encoding::UTF_8, Encoding::US_ASCII].include?(literal.encoding)
                       end
          raise ArgumentError, "#{literal.inspect} is no literal: no message has it" if impossible

          literal.is_a?(String) ? Record.const_get(:Options).text(literal) : literal
        end

        def map(types)
          if types.size != 1
            raise ArgumentError, "#{types.inspect} is no type: a Hash has one type of keys and one of values, " \
                                 "as in {String => Integer}; a Record has members"
          end

          key, value = types.first
          key_spec = key.is_a?(::Symbol) ? [:name, key] : of(key)
          unless KEYS.include?(key_spec[0] == :ruled ? key_spec[1][0] : key_spec[0])
            raise ArgumentError, "#{types.inspect} is no type: #{key.inspect} is no type of keys; String, Symbol, " \
                                 "Integer, Ranges of Integers and enums are, as in {String => Integer}" \
                                 "#{"; a map with members of its own is another Record" if key.is_a?(::Symbol)}"
          end

          [:map, key_spec, of(value)]
        end

        def number_words(kind, range)
          range ? "#{kind.name.capitalize} in #{range.inspect}" : kind.name.capitalize
        end

        def list_words(words)
          words.size > 8 ? "one of #{words.take(8).join(", ")}, ..." : words.join(" or ")
        end
      end
    end
    private_constant :Spec
  end
end
