# frozen_string_literal: true

#--
# Types as JSON Schema, for documentation and for programs that send the same data as JSON.
#++
module Manypack
  class Type
    # One function for each kind of type. Each takes the node of the spec and the Records around it, innermost last.
    class JsonSchema # :nodoc:
      DRAFT = "https://json-schema.org/draft/2020-12/schema"
      FIXED = Ractor.make_shareable({
        any: {}, view: {}, nil: { "type" => "null" }, true: { "const" => true }, false: { "const" => false },
        string: { "type" => "string" }, symbol: { "type" => "string" }, text: { "type" => "string" },
        bytes: { "type" => "string", "contentEncoding" => "base64" }
      })

      CLASSES = Ractor.make_shareable({
        ::Time => { "type" => "string", "format" => "date-time" },
        ::Array => { "type" => "array" }, ::Hash => { "type" => "object" }
      })

      def initialize(codec)
        @codec = codec
        @definitions = {}
        @open = []
        @names = {}.compare_by_identity
        @next_numbers = Hash.new(2) # for each base of names, the least number that may be free
        @finished = {} # the name of each definition
      end

      # Returns for each alternative the schema of the Records that are tried before it; nil for the first, and for one
      # that is no Record.
      def self.others(specs)
        maps = specs.each_with_index.select { |one, _| one.is_a?(Record) && one.form != :array }
        choices = Choices.of(maps.to_h(&:reverse))
        choices.each_with_index.with_object(specs.map { nil }) do |(one, rank), others|
          others[one.position] = { "anyOf" => choices.take(rank).map { |other| required(other.keys) } } if rank > 0
        end
      end

      # Requires one key of each member.
      def self.required(keys)
        aliased, simple = keys.map { |names| names.map(&:to_s) }.partition { |names| names.size > 1 }
        aliased = aliased.map { |names| { "anyOf" => names.map { |name| { "required" => [name] } } } }
        { "required" => simple.flatten, **(aliased.empty? ? {} : { "allOf" => aliased }) }
      end

      def self.with_tag(tag, schema)
        return { "prefixItems" => [schema], "minItems" => 1 } if tag == :first

        { "properties" => { tag.to_s => schema }, "required" => [tag.to_s] }
      end

      def document(spec)
        root = schema(spec, [])
        { "$schema" => DRAFT, **root, **(@definitions.empty? ? {} : { "$defs" => @definitions }) }
      end

      private

      def schema(spec, around)
        kind, *rest = spec
        FIXED.fetch(kind) { send("of_#{kind}", *rest, around) }
      end

      # --- kinds ------------------------------------------------------------------------------------------

      def of_integer(range, _around) = { "type" => "integer", **bounds(range) }
      def of_float(range, _around) = { "type" => "number", **bounds(range) }

      def of_class(klass, _around)
        return { "type" => "number" } if klass == ::Numeric && !other_numbers?

        CLASSES.fetch(klass) { { "title" => klass.inspect } }
      end

      # Returns true if the codec makes Rationals or other numbers that JSON does not have.
      def other_numbers?
        Internal.unpacker_classes(@codec).any? { |_, klass| klass && klass <= ::Numeric && klass != ::Integer }
      end

      def of_enum(literals, _around) = { "enum" => literals.map { |literal| plain(literal) } }
      def of_list(spec, around) = { "type" => "array", "items" => schema(spec, around) }

      def of_tuple(specs, around)
        { "type" => "array", "prefixItems" => specs.map { |spec| schema(spec, around) }, "minItems" => specs.size,
          "items" => false }
      end

      # A keyword that is already present needs a schema of its own.
      def of_ruled(spec, rules, around)
        Rules.of_written(rules).reduce(schema(spec, around)) do |schema, rule|
          more = rule_schema(spec, *rule)
          (schema.keys & more.keys).empty? ? { **schema, **more } : { "allOf" => [schema, more] }
        end
      end

      def of_map(key, value, around)
        names = key_names(key, around)
        { "type" => "object", **(names ? { "propertyNames" => names } : {}),
          "additionalProperties" => schema(value, around) }
      end

      def of_union(specs, around)
        others = JsonSchema.others(specs.map { |spec| spec[0] == :name ? named(spec[1], around) : spec[1] })
        any = specs.zip(others).map { |spec, other| { **schema(spec, around), "not" => other }.compact }.uniq
        any.size > 1 ? { "anyOf" => any } : any[0]
      end

      def of_record(record, around) = reference(name_of(record, around))

      def of_name(symbol, around)
        depth = around.rindex { |one| Spec.named?(one, symbol) }
        raise ::ArgumentError, "no Record around it has the name #{symbol.inspect}" unless depth

        @open |= around.drop(depth + 1)
        around[depth].is_a?(Recursion) ? reference(around[depth].definition) : of_record(around[depth], around)
      end

      def of_recursive(level, spec, around)
        name = free_name("Recursive")
        @definitions[name] = nil
        @definitions[name] = schema(spec, [*around, Recursion.new(level, name)])
        reference(name)
      end

      # If there is a type for objects without a tag, +otherwise+ is only for those with an unknown one.
      def of_tagged(tag, types, otherwise, *untagged, around)
        tags = { "enum" => types.keys }
        choices = types.map { |value, spec| tagged_choice(tag, value, spec, around) }
        if untagged.any?
          choices << { "allOf" => [schema(untagged[0], around), { "not" => JsonSchema.with_tag(tag, {}) }] }
          unknown = JsonSchema.with_tag(tag, { "not" => tags })
          choices << { "allOf" => [schema(otherwise, around), unknown] } if otherwise
        elsif otherwise
          choices << { **schema(otherwise, around), "not" => JsonSchema.with_tag(tag, tags) }
        end
        { "oneOf" => choices }
      end

      def named(name, around)
        around.reverse.find { |one| Spec.named?(one, name) }
      end

      def reference(name) = { "$ref" => "#/$defs/#{name}" }

      # --- rules --------------------------------------------------------------------------------------------

      # Returns the part of a schema for a rule. Checks, and rules for converted objects, have none.
      def rule_schema(spec, kind, one = nil, two = nil, _three = nil, four = nil, five = nil)
        case kind
        when :length then lengths(spec, one, two)
        when :pattern then four || { "pattern" => Pattern.ecma(one) }.compact
        when :unique then { "uniqueItems" => true }
        when :multiple_of then { "multipleOf" => one }
        when :range then bounds([one.begin, one.end].compact.all?(::Numeric) ? one : nil)
        when :via then five || {}
        else {}
        end
      end

      NOUNS = { map: "Properties", list: "Items", string: "Length", text: "Length", symbol: "Length" }.freeze
      private_constant :NOUNS

      # Three bytes are four characters of base64.
      def lengths(spec, least, most)
        kind, klass = spec
        noun = NOUNS[{ ::Hash => :map, ::Array => :list }.fetch(klass, kind)]
        least, most = [least, most].map { |bytes| bytes && (bytes + 2) / 3 * 4 } if kind == :bytes
        noun = "Length" if kind == :bytes
        noun ? { "min#{noun}" => least.positive? ? least : nil, "max#{noun}" => most }.compact : {}
      end

      # --- Records ------------------------------------------------------------------------------------------

      # Returns the name of a Record's definition, and makes it if necessary. A Record that names one around it may be
      # another type in each place, so it gets a definition for each.
      def name_of(record, around)
        @names.fetch(record) do
          name = @names[record] = free_name(record.klass.name&.gsub("::", ".") || "Record", record.form)
          @definitions[name] = nil # reserves the place: the order is that of the names
          @definitions[name] = definition(record, around)
          @names.delete(record) if @open.delete(record)
          equal_to(name)
        end
      end

      # Returns the name of an older, equal definition, and removes the given one; without one, returns the given name.
      def equal_to(name)
        first = @finished[@definitions[name]] ||= name
        return name if first == name

        @definitions.delete(name)
        base, number = name.match(/\A(.*?)(?:\.(\d+))?\z/).captures
        @next_numbers[base] = [@next_numbers[base], number.to_i].min if number
        first
      end

      def free_name(base, form = :map)
        base = "#{base}.array" if form == :array
        return base unless @definitions.key?(base)

        number = (@next_numbers[base]..).find { |n| !@definitions.key?("#{base}.#{n}") }
        @next_numbers[base] = number + 1
        "#{base}.#{number}"
      end

      def definition(record, around)
        around = [*around, record]
        record.form == :array ? positional(record, around) : object(record, around)
      end

      def object(record, around)
        keys = record.keys.except(collector(record)).transform_values { |names| names.map(&:to_s) }
        { "type" => "object", "properties" => { **own_tag(record), **properties(record, keys, around) },
          **JsonSchema.required(keys.except(*optional(record)).values), **additional(record, around) }
      end

      def optional(record) = record.members.select { |member| record.optional?(member) }

      # An alias is a property too, because a map may have it in place of the first key.
      def properties(record, keys, around)
        keys.each_with_object({}) do |(member, (first, *aliases)), found|
          found[first] = member_schema(record, member, around)
          aliases.each { |name| found[name] = { **found[first], "deprecated" => true } }
        end
      end

      def member_schema(record, member, around)
        { **schema(record.types[member].spec, around), **default(record, member), **one_way(record, member) }
      end

      def one_way(record, member)
        options = record.instance_variable_get(:@options)
        return { "writeOnly" => true } if options.load_only.include?(member)

        options.dump_only.include?(member) ? { "readOnly" => true } : {}
      end

      # Adds the tag that objects of the class have wherever they are packed.
      def own_tag(record)
        key = record.instance_variable_get(:@tag_key)
        key ? { key.to_s => {} } : {}
      end

      def additional(record, around)
        return { "additionalProperties" => false } if record.unknown == :raise

        spec = record.types[collector(record)]&.spec or return {}
        _, _key, value = Spec.alternatives(spec).find { |kind, _| kind == :map }
        value ? { "additionalProperties" => schema(value, around) } : {}
      end

      def positional(record, around)
        least = record.members.index((record.members - optional(record)).last)
        items = record.members.map { |member| member_schema(record, member, around) }
        { "type" => "array", "prefixItems" => items, "minItems" => least ? least + 1 : 0,
          **(record.unknown == :raise ? { "items" => false } : {}) }
      end

      def collector(record) = record.unknown.is_a?(::Hash) ? record.unknown.fetch(:into) : nil

      def default(record, member)
        record.defaults[member].nil? ? {} : { "default" => plain(record.defaults[member]) }
      rescue ::ArgumentError
        {} # JSON has no such value
      end

      # --- tags ---------------------------------------------------------------------------------------------

      # Puts the tag key among a Record's properties, because additionalProperties would refuse it otherwise.
      def tagged_choice(tag, value, spec, around)
        kind, record = spec
        own = kind == :record ? definition(record, around) : schema(spec, around)
        return tagged_elements(own, value) if tag == :first

        properties = { **(own["properties"] || {}), tag.to_s => { "const" => plain(value) } }
        { **own, "properties" => properties, "required" => [tag.to_s, *own["required"]].uniq }
      end

      def tagged_elements(own, value)
        items = [{ "const" => plain(value) }, *own["prefixItems"]]
        { **own, "prefixItems" => items, "minItems" => own["minItems"] + 1 }
      end

      # --- values -------------------------------------------------------------------------------------------

      def bounds(range)
        return {} unless range

        last = range.exclude_end? ? "exclusiveMaximum" : "maximum"
        { "minimum" => range.begin, last => range.end }.select { |_, bound| bound&.finite? }
      end

      # Returns a schema for the names of keys, which are text, even for integers; nil if it has nothing to say.
      def key_names(key, around)
        kind, detail, = key
        case kind
        when :integer then { "pattern" => "^-?[0-9]+$" }
        when :enum then { "enum" => detail.map(&:to_s) }
        when :ruled then key_names(detail, around) || schema(key, around)
        end
      end

      def binary(text)
        text.ascii_only? ? text : raise(::ArgumentError, "JSON has no binary Strings: a literal or default has one")
      end

      # Returns a value as JSON expresses it. Raises ArgumentError if JSON has no such value.
      def plain(value)
        case value
        when nil, true, false, Integer then value
        when Float then value.finite? ? value : raise(::ArgumentError, "JSON has no #{value}")
        when String then value.valid_encoding? && value.encoding != Encoding::BINARY ? value : binary(value)
        when Symbol then value.name
        when Array then value.map { |element| plain(element) }
        when Hash then value.to_h { |key, element| [key.to_s, plain(element)] }
        else raise ::ArgumentError, "JSON has no #{value.class}"
        end
      end
    end
  end
end
