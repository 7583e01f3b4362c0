# frozen_string_literal: true

#--
# Type.from_json_schema: a JSON Schema as a Type.
#++
module Manypack
  class Type
    # Returns the Type of a JSON Schema of the draft 2020-12, a Hash with String keys, for the part of it that types can
    # say. An object with +properties+ is a Record, whose class, a Data (on Ruby 3.1 a Struct), has a member for each
    # property; one that is not in +required+ is its +default+, or nil, if it is missing, and
    # <code>additionalProperties: false</code> refuses other keys. Any other object is a Hash. What says nothing about
    # validity, such as +title+ and +format+, is passed over.
    #
    # It knows +type+, +enum+ and +const+ of scalars, +anyOf+, <code>$ref</code> to <code>$defs</code>, +minimum+,
    # +maximum+, +exclusiveMinimum+, +exclusiveMaximum+, +items+, +properties+, +required+ and +additionalProperties+.
    # An object may contain itself by <code>$ref</code>. An integer is one that is written as such: 1.0 is none.
    #
    # Raises ArgumentError, with the JSON Pointer, for any other keyword and for what no Type can say, and TypeError for
    # anything but a Hash.
    #
    #   POINT = Manypack::Type.from_json_schema({"type" => "object", "properties" => {"x" => {"type" => "number"}}})
    #   POINT.load(Manypack.pack({"x" => 1.5})).x #=> 1.5
    def self.from_json_schema(schema)
      Arguments.refuse_block(self, :from_json_schema) if block_given?
      Arguments.at_the_call { self[FromJsonSchema.new(schema).type(schema, "#")] }
    end

    # One function for each type of JSON. Each takes a schema and its pointer, a fragment such as "#/properties/x".
    class FromJsonSchema # :nodoc:
      ANNOTATIONS = %w[$schema $id $comment $defs title description default examples deprecated readOnly writeOnly
                       format contentEncoding contentMediaType].freeze
      BOUNDS = %w[minimum maximum exclusiveMinimum exclusiveMaximum].freeze
      KEYWORDS = Ractor.make_shareable({
        "null" => [], "boolean" => [], "string" => [], "integer" => BOUNDS, "number" => BOUNDS, "array" => %w[items],
        "object" => %w[properties required additionalProperties]
      })
      private_constant :ANNOTATIONS, :BOUNDS, :KEYWORDS

      def initialize(root)
        @root = root
        @open = ["#"] # pointers of the schemas around, and nil for each that is a Record
        @made = {}
      end

      # Returns a type as Type[] takes it.
      def type(schema, pointer)
        return Object if schema == true

        unless schema.is_a?(Hash)
          raise ::TypeError, "a JSON Schema is a Hash with String keys, got #{schema.class} at #{pointer}"
        end

        alone = %w[$ref enum const anyOf].find { |keyword| schema.key?(keyword) }
        return of_types(schema, pointer) unless alone

        refuse_others(schema, [alone, "type"], pointer)
        send("of_#{alone.delete("$")}".downcase, schema[alone], "#{pointer}/#{alone}")
      end

      private

      def of_types(schema, pointer)
        types = Array(schema.fetch("type") { any(schema, pointer) || (return Object) })
        types.each { |type| KEYWORDS.key?(type) || refuse("#{type.inspect} is no type", "#{pointer}/type") }
        refuse_others(schema, ["type", *types.flat_map { |type| KEYWORDS[type] }], pointer)
        Type[*types.map { |type| send("of_#{type}", schema, pointer) }]
      end

      # A schema without a type says something about objects of one type only; the others are all valid.
      def any(schema, pointer)
        refuse_others(schema, %w[properties], pointer)
        "object" if schema.key?("properties")
      end

      def of_null(*) = nil
      def of_boolean(*) = Type[true, false]
      def of_string(*) = String

      def of_integer(schema, pointer)
        integers(schema, pointer) || refuse("no Integer is between its bounds", pointer)
      end

      # Integers stay Integers.
      def of_number(schema, pointer)
        least, most = bounds(schema, pointer) do |bound, excluded, inwards|
          excluded ? bound.to_f.public_send(inwards) : bound.to_f
        end
        refuse("no number is between its bounds", pointer) if least && most && least > most
        Type[*[integers(schema, pointer)].compact, least || most ? least..most : Float]
      end

      INTEGERS = (-2**63..2**64 - 1).freeze
      private_constant :INTEGERS

      # Returns a type of Integers, or nil for none.
      def integers(schema, pointer)
        least, most = bounds(schema, pointer) do |bound, excluded, up|
          step = excluded && bound == bound.to_i ? 1 : 0
          up == :next_float ? bound.ceil + step : bound.floor - step
        end
        return Integer unless least || most

        range = (least || INTEGERS.begin).clamp(INTEGERS)..(most || INTEGERS.end).clamp(INTEGERS)
        range if range.begin <= range.end
      end

      # Returns the lower and the upper bound, or nil, as the block makes them of each number: it gets whether the
      # number itself is excluded, and the way inwards.
      def bounds(schema, pointer)
        given = BOUNDS.to_h { |name| [name, bound(schema[name], "#{pointer}/#{name}")] }.compact
        made = given.to_h do |name, bound|
          [name, yield(bound, name.start_with?("exclusive"), name.match?(/min/i) ? :next_float : :prev_float)]
        end
        [made.values_at("minimum", "exclusiveMinimum").compact.max,
         made.values_at("maximum", "exclusiveMaximum").compact.min]
      end

      def bound(value, pointer)
        return value if value.nil? || value.is_a?(Integer) || (value.is_a?(Float) && value.finite?)

        refuse("expected a number, got #{value.inspect}", pointer)
      end

      def of_array(schema, pointer)
        schema.key?("items") ? [type(schema["items"], "#{pointer}/items")] : [Object]
      end

      def of_object(schema, pointer)
        return record(schema, pointer) if schema.key?("properties")
        refuse("needs properties beside it", "#{pointer}/required") unless required(schema, pointer).empty?

        others = schema.fetch("additionalProperties", true)
        others == true ? Hash : { String => type(others, "#{pointer}/additionalProperties") }
      end

      def record(schema, pointer)
        properties, required = schema["properties"], required(schema, pointer)
        check_members(properties, required, pointer)
        @open << nil
        types = properties.to_h { |name, one| [name, type(one, "#{pointer}/properties/#{escaped(name)}")] }
        @open.pop
        defaults = (properties.keys - required).to_h { |name| [name, default(properties[name])] }
        Record.new(klass(properties.keys), types).with(defaults: defaults, unknown: unknown(schema, pointer))
      end

      def required(schema, pointer) = list(schema.fetch("required", []), "#{pointer}/required")
      def default(schema) = schema.is_a?(Hash) ? schema["default"] : nil

      def klass(names)
        names = names.map(&:to_sym)
        defined?(Data) ? Data.define(*names) : Struct.new(*names, keyword_init: true)
      end

      def check_members(properties, required, pointer)
        known = properties.is_a?(Hash) && !properties.empty? && properties.each_key.all?(String)
        refuse("expected a Hash with properties", "#{pointer}/properties") unless known

        extra = (required - properties.keys).first
        refuse("#{extra.inspect} is none of the properties", "#{pointer}/required") if extra
      end

      def unknown(schema, pointer)
        others = schema.fetch("additionalProperties", true)
        return others ? :skip : :raise if [true, false].include?(others)

        refuse("beside properties, it may be true or false", "#{pointer}/additionalProperties")
      end

      # --- keywords that stand alone ------------------------------------------------------------------------

      def of_enum(values, pointer)
        wrong = list(values, pointer).find { |value| value.is_a?(Array) || value.is_a?(Hash) }
        refuse("#{wrong.inspect} is no scalar", pointer) if wrong || values.empty?
        Type[*values.map { |value| [nil, true, false].include?(value) ? value : [value] }]
      end

      def of_const(value, pointer) = of_enum([value], pointer)

      def of_anyof(schemas, pointer)
        Type[*list(schemas, pointer).each_with_index.map { |schema, i| type(schema, "#{pointer}/#{i}") }]
      end

      def of_ref(reference, pointer)
        return :self if @open.last(2) == [reference, nil]
        refuse("contains itself, and not as the object around it", pointer) if @open.include?(reference)

        @made[reference] ||= begin
          schema = looked_up(reference) or refuse("#{reference.inspect} is not in this schema", pointer)
          @open << reference
          type(schema, reference).tap { @open.pop }
        end
      end

      def looked_up(reference)
        return @root if reference == "#"

        return unless reference.is_a?(String) && reference.start_with?("#/")

        steps = reference.delete_prefix("#/").split("/").map { |step| step.gsub("~1", "/").gsub("~0", "~") }
        steps.reduce(@root) { |schema, step| schema.is_a?(Hash) ? schema[step] : nil }
      end

      def list(value, pointer)
        value.is_a?(Array) ? value : refuse("expected an Array, got #{value.inspect}", pointer)
      end

      def escaped(name) = name.gsub("~", "~0").gsub("/", "~1")

      def refuse_others(schema, known, pointer)
        other = (schema.keys - known - ANNOTATIONS).first
        refuse("no Type can express that", "#{pointer}/#{other}") if other
      end

      def refuse(why, pointer)
        raise ArgumentError, "#{pointer}: #{why}"
      end
    end
    private_constant :FromJsonSchema
  end
end
