# frozen_string_literal: true

#--
# Types as RBS, Ruby's language of signatures.
#++
module Manypack
  class Type
    # One function for each kind of type. Each takes the node of the spec and the Records around it, innermost last.
    module Rbs # :nodoc:
      NAME = /\A[a-z_]\w*\z/
      CLASS_NAME = /\A[A-Z]\w*(::[A-Z]\w*)*\z/
      ELEMENTS = { ::Array => "Array[untyped]", ::Hash => "Hash[untyped, untyped]", ::Range => "Range[untyped]",
                   ::Struct => "Struct[untyped]", ::Enumerable => "Enumerable[untyped]" }.freeze
      FIXED = { any: "untyped", view: "Manypack::View", nil: "nil", true: "true", false: "false", integer: "Integer",
                float: "Float", string: "String", symbol: "Symbol", text: "String", bytes: "String" }.freeze

      module_function

      # Returns the declaration of the class, with the methods that the Record knows.
      def declaration(record)
        name = record.klass.name or raise ::ArgumentError, "#{record.klass.inspect} has no name: put it in a constant"
        types = record.types.to_h { |member, type| [member, member_type(record, member, type)] }
        lines = [*types.map { |member, type| member_line(record, member, type) }, *initializer(record, types),
                 *additions(record, name)]
        "class #{name}#{superclass(record.klass)}\n#{lines.map { |line| "  #{line}\n" }.join}end\n"
      end

      def expression(spec, around = [])
        kind, *rest = spec
        FIXED.fetch(kind) { send("of_#{kind}", *rest, around) }
      end

      # --- kinds ------------------------------------------------------------------------------------------

      def of_class(klass, _around) = ELEMENTS.fetch(klass) { class_name(klass) }

      # RBS has literals for all but Floats.
      def of_enum(literals, _around)
        join(literals.map { |literal| literal.is_a?(Float) ? "Float" : literal.inspect })
      end

      def of_list(spec, around) = "Array[#{expression(spec, around)}]"
      def of_tuple(specs, around) = "[#{specs.map { |spec| expression(spec, around) }.join(", ")}]"

      def of_ruled(spec, rules, around)
        klass = rules.reverse.find { |kind, *| kind == :via }&.at(1)
        return expression(spec, around) unless klass

        klass.name == "Set" ? "Set[#{expression(spec[1], around)}]" : class_name(klass)
      end

      def of_map(key, value, around) = "Hash[#{expression(key, around)}, #{expression(value, around)}]"
      def of_union(specs, around) = join(specs.map { |spec| expression(spec, around) })
      def of_record(record, _around) = record.form == :lazy ? "Manypack::LazyRecord" : class_name(record.klass)

      def of_name(symbol, around)
        return "untyped" unless symbol.is_a?(Symbol)

        record = symbol == :self ? around.last : around.reverse.find { |one| one.named?(symbol) }
        record ? class_name(record.klass) : symbol.name
      end

      def of_tagged(_tag, types, *others, around)
        join([*types.values, *others.compact].map { |spec| expression(spec, around) })
      end

      # RBS has no type that contains itself without a name.
      def of_recursive(_level, spec, around) = expression(spec, around)

      # --- parts of a declaration ---------------------------------------------------------------------------

      # Adds nil if that is the default. ABSENT as a default has no type.
      def member_type(record, member, type)
        default = record.instance_exec { default(member) }
        return "untyped" if default && ABSENT.equal?(default[0])

        join([expression(type.spec, [record]), *("nil" if default == [nil])])
      end

      def member_line(record, member, type)
        return "@#{member}: #{type}" if record.instance_variable_get(:@build) == :ivars

        kind = record.klass < ::Struct ? "attr_accessor" : "attr_reader"
        member.match?(NAME) ? "#{kind} #{member}: #{type}" : "def `#{member}`: () -> #{type}"
      end

      # A class that overrides initialize needs a signature of its own.
      def initializer(record, types)
        klass = record.klass
        return [] unless record_class?(klass) && [::Struct, data].include?(klass.instance_method(:initialize).owner)

        optional = "?" if klass < ::Struct
        named = types.map { |member, type| "#{optional}#{member}: #{type}" }.join(", ")
        keywords = named if types.keys.grep_v(NAME).empty?
        positional = types.values.map { |type| "#{optional}#{parenthesize(type)}" }.join(", ")
        forms = klass < ::Struct ? [klass.keyword_init? ? keywords : positional] : [positional, keywords]
        ["def initialize: #{forms.compact.uniq.map { |form| "(#{form}) -> void" }.join(" | ")}"]
      end

      # Returns signatures of the methods that Record#attach adds.
      def additions(record, name)
        return [] unless record.klass.is_a?(Record.const_get(:Attached)::Loading)

        ["def self.record: () -> Manypack::Record", "def self.load: (String bytes, ?collect: bool) -> #{name}",
         "def dump: (?check: bool) -> String",
         "def to_msgpack: (?nil) -> String | (Manypack::Packer packer) -> Manypack::Packer"]
      end

      def superclass(klass)
        named = klass.superclass
        named = named.superclass until named.name
        named == ::Object ? "" : " < #{named == ::Struct ? "Struct[untyped]" : named.name}"
      end

      # --- words ----------------------------------------------------------------------------------------------

      # :draft? is a literal, and (:draft)? is optional.
      def optional?(type) = type.end_with?("?") && !type.match?(/:\w+\?\z/)

      # Returns the union of the types, with RBS's short forms of nil and of true or false.
      def join(types)
        types = types.flat_map { |type| optional?(type) ? [type.delete_suffix("?"), "nil"] : [type] }.uniq
        return "untyped" if types.include?("untyped")

        types = ["bool", *types - %w[true false]] if (%w[true false] - types).empty?
        others = types - ["nil"]
        return others.empty? ? "nil" : others.join(" | ") if others.size == types.size || others.empty?

        union = others.join(" | ")
        union.start_with?(":") || union.include?(" | ") ? "(#{union})?" : "#{union}?"
      end

      def parenthesize(type) = type.match?(/ \| (?![^\[(]*[\])])/) ? "(#{type})" : type
      def class_name(klass) = klass.name&.match?(CLASS_NAME) ? klass.name : "untyped"
      def record_class?(klass) = klass < ::Struct || (data && klass < data)
      def data = defined?(::Data.define) && ::Data
    end
  end
end
