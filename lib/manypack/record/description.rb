# frozen_string_literal: true

#--
# A Type as data that can be packed, kept, and compared with that of another version of a program.
#++
module Manypack
  class Type
    # Describes each node that the Compiler makes. Each Record gets its own nodes, even if its shapes are shared.
    class Description < Compiler # :nodoc:
      FORMAT = 1

      # The limits of <code>untrusted: true</code>.
      UNTRUSTED = { max_bytes: 1 << 20, max_depth: 32, max_objects: 100_000, max_map_size: 1000,
                    max_array_size: 10_000, max_string_bytes: 1 << 18 }.freeze

      # The kinds of nodes for the classes of MessagePack's own objects.
      KINDS = { NilClass => "nil", TrueClass => "true", FalseClass => "false", Integer => "integer", Float => "float",
                String => "string", Array => "list", Hash => "map" }.freeze
      private_constant :KINDS

      def document(spec)
        { "format" => FORMAT, "nodes" => nodes(spec), "exts" => exts(BasicObject),
          "skipped" => (exts(BasicObject) if checked?), "options" => options }
      end

      private

      def options
        given = @codec.options
        limits = given[:untrusted] ? { **UNTRUSTED, **given } : { max_depth: 128, **given }
        { **limits.slice(*UNTRUSTED.keys, :max_ext_bytes).transform_keys(&:name),
          "utf8" => strict?(given, :utf8, :strict), "unique_keys" => strict?(given, :duplicate_keys, :error) }
      end

      def strict?(given, option, value)
        given.fetch(option) { value if given[:untrusted] } == value
      end

      # Returns true if the options require a check of every object in a message, even if it is skipped or in a View.
      def checked?
        names = %i[untrusted max_objects max_map_size max_array_size max_string_bytes max_ext_bytes]
        options.values_at("utf8", "unique_keys").any? || @codec.options.values_at(*names).any?
      end

      def shared?(_record) = false

      def place
        super { yield.then { |node| node.key?(:kind) ? unknown(node) : node } }
      end

      # A name without a Record, or a class of which the codec makes no objects.
      def unknown(node) = { "kind" => "unknown", "words" => node[:words], "exts" => [] }

      def node(spec)
        node = super
        return node if node[:kind] == :unnamed

        { "kind" => spec[0].name, "words" => node[:words], **described(spec, node) }
      end

      def described(spec, node)
        case spec[0]
        when :integer then { **integers(node), "exts" => exts(Integer) }
        when :float then { **floats(node), "exts" => exts(Float) }
        when :string then { "exts" => exts(String) }
        when :symbol then { "exts" => exts(::Symbol) }
        when :nil, :true, :false then { "kind" => "enum", "values" => node[:objects] }
        when :enum then { "values" => node[:objects].map { |one| one.is_a?(::Symbol) ? one.name : one } }
        when :any then of(BasicObject)
        when :ruled then { "words" => Spec.notation(spec), "parts" => node[:parts], "rules" => rules(spec[2]) }
        when :view then { "exts" => checked? ? exts(BasicObject) : "all" }
        when :class then of(spec[1])
        when :tagged then tags(spec, node[:objects], node[:parts])
        when :text, :bytes then {}
        else { "parts" => node[:parts] }
        end
      end

      # Includes the index of the type for objects with an unknown tag, and for those without a tag, if there is one.
      def tags(spec, tags, parts)
        _, tag, _, unknown, missing = spec
        others = parts.drop(tags.size)
        unknown &&= others.first
        { "kind" => "tagged", "form" => tag == :first ? "array" : "map", "tag" => tag, "tags" => tags,
          "parts" => parts.take(tags.size), "else" => unknown, "untagged" => missing ? others.last : unknown }
      end

      # Rules of a type as data. Rules for converted objects say nothing about the bytes.
      def rules(rules)
        written = Rules.of_written(rules.to_a).size
        rules.to_a.each_with_index.map do |rule, i|
          name, *details = rule(*rule)
          [i < written ? name : "converted #{name}", *details]
        end
      end

      # Describes code only by its purpose.
      def rule(kind, one = nil, two = nil, *)
        case kind
        when :length then ["length", one, two]
        when :range then ["range", *[one.begin, one.end].map { |bound| bound && bound.to_s }, one.exclude_end?]
        when :unique then ["unique"]
        when :multiple_of then ["multiple_of", one]
        else [kind.name, one.to_s]
        end
      end

      def of(klass)
        { "kind" => "class", "takes" => KINDS.select { |core, _| core <= klass }.values, "exts" => exts(klass) }
      end

      # Returns the ext types that become objects of the class, Arrays of the number and a class; "all" for any.
      def exts(klass)
        return "all" if @codec.options[:allow_unknown_ext] && ExtensionValue <= klass

        known = Internal.unpacker_classes(@codec).select { |_, one| one && (one <= klass || klass <= one) }
        known << [-1, ::Time] if @codec.options[:timestamp] && ::Time <= klass
        known.map { |type, one| [type, Module.instance_method(:inspect).bind_call(one)] }.uniq(&:first)
      end

      def integers(node)
        min, max, above_min, above_max = node.values_at(:min, :max, :above_min, :above_max)
        { "min" => min > max ? above_min : min, "max" => above_max < above_min ? max : above_max }
      end

      def floats(node)
        min, max = node.values_at(:min, :max)
        max = max.prev_float if node[:below_max]
        { "min" => min || -Float::INFINITY, "max" => max || Float::INFINITY, "nan" => min.nil? && max.nil? }
      end

      def record_node(record)
        fields = super.fetch(:fields).map { |field| described_field(record, field) }
        words = "#{record.klass.name || record.klass.inspect}#{" as an array" if record.form == :array}"
        { "kind" => "record", "words" => words, "form" => record.form == :array ? "array" : "map",
          "unknown" => record.unknown.is_a?(Hash) ? "into" : record.unknown.name,
          "own_tag" => record.instance_variable_get(:@tag_key), "fields" => fields,
          "rules" => rules(record.instance_variable_get(:@rules)) }
      end

      def described_field(record, field)
        { "name" => field[:name].name, "keys" => field[:keys], "into" => field[:into], "part" => field[:part],
          "required" => !record.optional?(field[:name]) && !field[:dump_only], "omitted" => field.key?(:omitted),
          "read" => !field[:dump_only], "written" => !field[:load_only] }
      end
    end
  end
end
