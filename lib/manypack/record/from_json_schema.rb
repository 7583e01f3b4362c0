# frozen_string_literal: true

#--
# A JSON Schema as a Type.
#++
module Manypack
  class Type
    # One function for each type of JSON. Each takes a schema and its pointer, a fragment such as "#/properties/x".
    class FromJsonSchema # :nodoc:
      ANNOTATIONS = %w[$schema $id $comment $defs definitions title description default examples deprecated readOnly
                       writeOnly format contentEncoding contentMediaType].freeze
      NUMBERS = %w[minimum maximum exclusiveMinimum exclusiveMaximum multipleOf].freeze
      TEXTS = %w[minLength maxLength pattern].freeze
      ITEMS = %w[minItems maxItems uniqueItems].freeze
      PAIRS = %w[minProperties maxProperties].freeze
      KEYWORDS = Ractor.make_shareable({
        "null" => [], "boolean" => [], "string" => TEXTS, "integer" => NUMBERS, "number" => NUMBERS,
        "array" => [*ITEMS, "items", "prefixItems"],
        "object" => [*PAIRS, *%w[properties required additionalProperties propertyNames allOf]]
      })
      RULES = [*NUMBERS, *TEXTS, *ITEMS, *PAIRS].freeze
      ALONE = %w[$ref enum const anyOf oneOf allOf].freeze
      ARRAY = /\.array(?:\.\d+)?\z/ # the end of the name of a Record as an array
      FORMATS = { "date-time" => "Time", "date" => "Date", "uri" => "URI" }.freeze
      ADDRESS = Ractor.make_shareable([{ "format" => "ipv4" }, { "format" => "ipv6" }])

      # The default of max_depth. Schemas, in which a level of a message takes two, seldom come near.
      DEPTH_MAX = 128

      # How many schemas are read, and how many of these again, because they contain one around them.
      SCHEMAS_MAX = 20_000
      AGAIN_MAX = 100

      # The time that a Record takes to make grows faster than its members.
      MEMBERS_MAX = 4_000
      private_constant(*constants)

      # A schema that is being read: how many are around it, the name of its type, and whether that was used.
      Open = Struct.new(:depth, :name, :used)
      private_constant :Open

      def initialize(root)
        @root = root
        @open = {} # by pointer, innermost last
        @made = {}
        @outermost = Float::INFINITY # the least depth of an open schema that the type being made names
        @depth = @count = @again = 0
      end

      def root = opened("#", @root) { any([type(@root, "#")], "#") }

      private

      def type(schema, pointer)
        return Object if schema == true

        check_schema(schema, pointer)
        @depth += 1
        alone = ALONE.find { |keyword| schema.key?(keyword) && !beside?(keyword, schema) }
        made = alone ? of_alone(alone, schema, pointer) : of_types(schema, pointer)
        @depth -= 1
        made
      end

      def check_schema(schema, pointer)
        refuse("nothing is valid there", pointer) if schema == false
        unless schema.is_a?(Hash) && schema.each_key.all? { |name| text?(name) }
          raise ::TypeError, "a JSON Schema is a Hash with String keys, got #{of_what(schema)} at #{shortened(pointer)}"
        end

        refuse("is one of more than #{SCHEMAS_MAX} schemas", pointer) if (@count += 1) > SCHEMAS_MAX
        refuse("is deeper than #{DEPTH_MAX} schemas", pointer) if @depth >= DEPTH_MAX
      end

      def of_what(schema)
        schema.is_a?(Hash) ? "one with the key #{schema.keys.find { |name| !text?(name) }.inspect}" : schema.class
      end

      # Returns true for a keyword that only completes the type beside it.
      def beside?(keyword, schema)
        case keyword
        when "anyOf" then schema["type"] == "string" && schema["anyOf"] == ADDRESS
        when "allOf" then schema.key?("properties")
        end
      end

      def of_alone(keyword, schema, pointer)
        refuse_others(schema, [keyword, "type", *(RULES if %w[$ref allOf].include?(keyword))], pointer)
        only = schema.key?("type") ? types(schema, pointer).flat_map { |name| JSON_TYPES.fetch(name) } : nil
        made = send("of_#{keyword.delete("$")}".downcase, schema[keyword], "#{pointer}/#{keyword}", only)
        if only && !(kinds(Spec.of(made)) - only).empty?
          refuse("does not go with #{keyword}: write it inside of that", "#{pointer}/type")
        end

        ruled(made, schema, pointer)
      end

      JSON_TYPES = { "null" => :null, "boolean" => :boolean, "string" => :string, "integer" => :number,
                     "number" => :number, "array" => :array, "object" => :object }.freeze
      private_constant :JSON_TYPES

      def of_types(schema, pointer)
        types = types(schema, pointer)
        return Object if types.empty?

        known = types.flat_map { |type| KEYWORDS[type] }
        refuse_others(schema, ["type", *known, *("anyOf" if beside?("anyOf", schema))], pointer)
        any(types.map { |type| send("of_#{type}", schema, pointer) }, pointer)
      end

      # A schema without a type restricts objects of one type only; all others are valid.
      def types(schema, pointer)
        given = schema.fetch("type") do
          refuse_others(schema, [*ALONE, "properties", *(KEYWORDS["object"] if schema.key?("properties"))], pointer)
          return schema.key?("properties") ? %w[object] : []
        end
        types = given.is_a?(Array) && !given.empty? ? given : [given]
        types.each { |type| KEYWORDS.key?(type) || refuse("#{type.inspect} is no type", "#{pointer}/type") }
      end

      # Returns the Type of any of the types. A single Type is returned itself, because a Record has more methods than a
      # Type of it.
      def any(types, pointer)
        types.size == 1 && types[0].is_a?(Type) ? types[0] : at(pointer) { Type[*types] }
      end

      # Adds the pointer to an error of the block.
      def at(pointer)
        yield
      rescue ArgumentError => error
        raise if error.message.start_with?("#")

        refuse(error.message, pointer)
      end

      def of_null(*) = nil
      def of_boolean(*) = Type[true, false]

      # --- text ---------------------------------------------------------------------------------------------

      def of_string(schema, pointer)
        return bytes(schema, pointer) if schema["contentEncoding"] == "base64"
        return ruled(Type.uuid, schema, pointer) if schema["format"] == "uuid"

        name = schema["anyOf"] == ADDRESS ? "IPAddr" : FORMATS[schema["format"]]
        made = ruled(name ? Type.text : String, schema, pointer)
        name ? converted(Spec.of(made), name) : made
      end

      # Three bytes are four characters of base64.
      def bytes(schema, pointer)
        refuse("no Type of bytes has one", "#{pointer}/pattern") if schema.key?("pattern")

        least, most = lengths(schema, "Length", pointer)
        return Type.bytes unless least || most

        least = [((least.to_i + 3) / 4 * 3) - 2, 0].max
        at(pointer) { Type[Type.bytes, length: least..(most && most / 4 * 3)] }
      end

      # Constraints for the text are checked before it is converted.
      def converted(spec, name)
        load_library(name.downcase) unless name == "Time"
        text, rules = Spec.of(Type.text(Object.const_get(name))).drop(1)
        given = spec[0] == :ruled ? spec[2] : []
        given |= rules unless given.any? { |kind, *| kind == :length }
        Spec.made_of([:ruled, text, given | rules.reject { |kind, *| kind == :length }], [])
      end

      # A Ractor of Ruby 3.1 cannot load a library, but can use one that is loaded.
      def load_library(name)
        require name
      rescue Ractor::IsolationError
        nil
      end

      # --- numbers ------------------------------------------------------------------------------------------

      def of_integer(schema, pointer)
        integers(schema, pointer) || refuse("no Integer is between its bounds", pointer)
      end

      def of_number(schema, pointer)
        return ruled(Numeric, schema, pointer) unless schema.key?("exclusiveMinimum")

        above = bound(schema, "exclusiveMinimum", pointer).to_f
        least = [above.next_float, bound(schema, "minimum", pointer)].compact.max
        floats = range({ **schema, "minimum" => least }, pointer)
        floats = Range.new(floats.begin.to_f, floats.end&.to_f, floats.exclude_end?)
        floats = at(pointer) { Type[Float, range: floats, **multiple(schema, pointer)] }
        any([integers(schema, pointer), floats].compact, pointer)
      end

      def integers(schema, pointer)
        excluded = bound(schema, "exclusiveMinimum", pointer)
        least = [bound(schema, "minimum", pointer), excluded && (excluded.floor + 1)].compact.max
        range = range({ **schema, **(least ? { "minimum" => least } : {}) }, pointer, check: false) || (nil..)
        most = range.end && (range.exclude_end? ? range.end.ceil - 1 : range.end.floor)
        first, last = (least || Spec::INTEGERS.begin).ceil, most || Spec::INTEGERS.end
        return if first > last || first > Spec::INTEGERS.end || last < Spec::INTEGERS.begin

        ends = [(least if first > Spec::INTEGERS.begin), (range.end if last < Spec::INTEGERS.end)]
        range = Range.new(*ends, range.exclude_end?) if ends.any?
        at(pointer) { Type[Integer, range: (range if ends.any?), **multiple(schema, pointer)] }
      end

      def range(schema, pointer, check: true)
        least, most, below = %w[minimum maximum exclusiveMaximum].map { |name| bound(schema, name, pointer) }
        excluded = below && (most.nil? || below <= most)
        most = below if excluded
        none = check && least && most && (excluded ? least >= most : least > most)
        refuse("no number is between its bounds", pointer) if none
        Range.new(least, most, excluded ? true : false) if least || most
      end

      def bound(schema, name, pointer)
        value = schema[name]
        return value if number?(value) || !schema.key?(name)

        refuse("expected a number, got #{value.inspect}", "#{pointer}/#{name}")
      end

      def number?(value) = value.is_a?(Integer) || (value.is_a?(Float) && value.finite?)

      def multiple(schema, pointer)
        number = bound(schema, "multipleOf", pointer) or return {}
        refuse("expected a number above 0, got #{number}", "#{pointer}/multipleOf") unless number.positive?
        { multiple_of: number }
      end

      # --- constraints --------------------------------------------------------------------------------------

      def ruled(type, schema, pointer)
        refuse("no Type can express that", "#{pointer}/exclusiveMinimum") if schema.key?("exclusiveMinimum")
        rules = { range: range(schema, pointer), length: length(schema, pointer), pattern: pattern(schema, pointer),
                  unique: unique(schema, pointer), **multiple(schema, pointer) }.compact
        rules.empty? ? type : at(pointer) { Type[type, **rules] }
      end

      def length(schema, pointer)
        least, most = %w[Length Items Properties].filter_map { |noun| lengths(schema, noun, pointer) }[0]
        (least || 0)..most if least || most
      end

      # Returns the least and the most, or nil for neither.
      def lengths(schema, noun, pointer)
        found = ["min#{noun}", "max#{noun}"].map do |name|
          value = bound(schema, name, pointer)
          next value&.to_i if value.nil? || (value >= 0 && value == value.to_i)

          refuse("expected a count, got #{value}", "#{pointer}/#{name}")
        end
        found if found.any?
      end

      def pattern(schema, pointer)
        return unless schema.key?("pattern")

        at("#{pointer}/pattern") { Pattern.of_ecma(schema["pattern"]).tap { |regexp| Pattern.new(regexp).rule } }
      end

      def unique(schema, pointer)
        unique = schema.fetch("uniqueItems", false)
        return unique || nil if [true, false].include?(unique)

        refuse("expected true or false, got #{unique.inspect}", "#{pointer}/uniqueItems")
      end

      # --- arrays -------------------------------------------------------------------------------------------

      def of_array(schema, pointer)
        return elements(schema, pointer) if schema.key?("prefixItems")

        items = schema.key?("items") ? [Type[type(schema["items"], "#{pointer}/items")]] : Array
        ruled(items, schema.slice(*ITEMS), pointer)
      end

      # Returns a tuple, or a Record as an array.
      def elements(schema, pointer)
        parts = filled(schema["prefixItems"], "#{pointer}/prefixItems")
        refuse("no Type can express that", "#{pointer}/uniqueItems") if unique(schema, pointer)
        least, open = sizes(schema, parts.size, pointer)
        check_count(parts, pointer) unless tuple?(schema, pointer)
        types = parts.each_with_index.map { |part, i| type(part, "#{pointer}/prefixItems/#{i}") }
        return Type.tuple(*types) if tuple?(schema, pointer)

        names = parts.each_index.map { |i| "item#{i}" }
        optional = names.zip(parts).drop(least).to_h
        record(names.zip(types).to_h, pointer, optional, unknown: open ? :skip : :raise).array
      end

      # Returns the least number of elements, and whether there may be more than prefixItems has.
      def sizes(schema, size, pointer)
        least, most = lengths(schema, "Items", pointer)
        open = schema.fetch("items", true) && most.nil?
        told = [true, false].include?(schema.fetch("items", true))
        refuse("beside prefixItems, it may be false", "#{pointer}/items") unless told
        refuse("expected the size of prefixItems", "#{pointer}/maxItems") unless most.nil? || most == size
        refuse("is more than prefixItems has", "#{pointer}/minItems") if least.to_i > size
        [least.to_i, open]
      end

      def tuple?(schema, pointer)
        schema["minItems"] == schema["prefixItems"].size && schema["items"] == false && !pointer.match?(ARRAY)
      end

      # --- objects ------------------------------------------------------------------------------------------

      def of_object(schema, pointer)
        return object(schema, pointer) if schema.key?("properties")
        refuse("needs properties beside it", "#{pointer}/required") unless required(schema, pointer).empty?

        others = schema.fetch("additionalProperties", true)
        return at(pointer) { Type[Hash, length: 0] } if others == false
        return ruled(Hash, schema.slice(*PAIRS), pointer) if others == true && !schema.key?("propertyNames")

        key = schema.key?("propertyNames") ? key(schema["propertyNames"], "#{pointer}/propertyNames") : String
        ruled({ key => type(others, "#{pointer}/additionalProperties") }, schema.slice(*PAIRS), pointer)
      end

      # Keys are text, even if they stand for numbers.
      def key(schema, pointer)
        return Integer if schema == { "pattern" => "^-?[0-9]+$" }

        schema = { "type" => "string", **schema } if schema.is_a?(Hash) && (schema.keys & ALONE).empty?
        made = type(schema, pointer)
        made = String if made == Object
        kinds(Spec.of(made)) == [:string] ? made : refuse("keys are text", pointer)
      end

      def object(schema, pointer)
        refuse_others(schema, KEYWORDS["object"] - PAIRS - %w[propertyNames] + %w[type], pointer)
        properties, required = schema["properties"], required(schema, pointer)
        check_members(properties, required, pointer)
        groups = groups(schema, pointer)
        first = properties.except(*groups.flat_map { |names| names.drop(1) })
        collected, unknown = additional(schema, pointer, first)
        check_count(first, pointer)
        types = first.to_h { |name, one| [name, type(one, "#{pointer}/properties/#{escaped(name)}")] }
        record({ **types, **collected }, pointer, first.except(*required, *groups.map(&:first)), omit: :defaults,
               keys: groups.to_h { |names| [names[0], names] }, **one_way(first), unknown: unknown)
      end

      def check_count(members, pointer)
        refuse("has more than #{MEMBERS_MAX} members", pointer) if members.size > MEMBERS_MAX
      end

      # Returns a Record of members with these types. +optional+ has the schemas of those that may be missing.
      def record(types, pointer, optional, **options)
        at(pointer) do
          defaults = optional.to_h { |name, schema| [name, default(types[name], schema)] }
          Record.new(klass(types.keys, name_of(pointer)), types).with(defaults: defaults, **options)
        end
      end

      def required(schema, pointer) = list(schema.fetch("required", []), "#{pointer}/required")

      # A default is written as JSON.
      def default(type, schema)
        value = schema.is_a?(Hash) ? schema["default"] : nil
        value.nil? || (value.respond_to?(:empty?) && value.empty?) ? value : Type[type].from(value)
      rescue DecodeError => error
        raise ArgumentError, "the default #{value.inspect} is of another type: #{error.message}"
      end

      # Gives a class without a constant the name that json_schema writes.
      module Named # :nodoc:
        def name = self::NAME
        def inspect = name
      end
      private_constant :Named

      def klass(members, name)
        members = members.map(&:to_sym)
        klass = defined?(Data) ? Data.define(*members) : Struct.new(*members, keyword_init: true)
        return klass unless name

        klass.const_set(:NAME, -name)
        klass.singleton_class.prepend(Named)
        klass
      end

      def check_members(properties, required, pointer)
        known = properties.is_a?(Hash) && !properties.empty? && properties.each_key.all? { |name| text?(name) }
        refuse("expected a Hash with properties", "#{pointer}/properties") unless known

        extra = required.find { |name| !properties.key?(name) }
        refuse("#{extra.inspect} is none of the properties", "#{pointer}/required") if extra
      end

      # Returns an Array for each member with several keys: an object must have one of them.
      def groups(schema, pointer)
        list(schema.fetch("allOf", []), "#{pointer}/allOf").each_with_index.map do |group, i|
          names = required_there(group)
          schemas = schema["properties"].values_at(*names)
          schemas = schemas.map { |one| one.is_a?(Hash) ? one.except("deprecated") : one }
          written = { "anyOf" => names.to_a.map { |name| { "required" => [name] } } }
          next names if names && group == written && schemas.uniq.size == 1 && !schemas[0].nil?

          refuse("no Type can express that", "#{pointer}/allOf/#{i}")
        end
      end

      def required_there(group)
        return unless group.is_a?(Hash) && group["anyOf"].is_a?(Array) && group["anyOf"].all?(Hash)

        group["anyOf"].flat_map { |one| one["required"] }
      end

      def one_way(properties)
        { load_only: "writeOnly", dump_only: "readOnly" }.transform_values do |keyword|
          properties.select { |_, one| one.is_a?(Hash) && one[keyword] == true }.keys
        end
      end

      # Returns the member that collects other properties, if any, with its type, and what to do with them.
      def additional(schema, pointer, properties)
        others = schema.fetch("additionalProperties", true)
        return [{}, others ? :skip : :raise] if [true, false].include?(others)

        name = "additional_properties"
        name += "_" while properties.key?(name)
        [{ name => { String => type(others, "#{pointer}/additionalProperties") } }, { into: name.to_sym }]
      end

      # --- literals and alternatives ------------------------------------------------------------------------

      # Keeps only the literals of the types beside them.
      def of_enum(values, pointer, only)
        wrong = list(values, pointer).find { |value| json_type(value).nil? }
        refuse("#{wrong.inspect} is no scalar", pointer) if wrong
        values = values.select { |value| only.include?(json_type(value)) } if only
        refuse("no value is valid", pointer) if values.empty?
        return values[0] if values.size == 1 && [nil, true, false].include?(values[0])

        at(pointer) { Type[[*values, values[0]]] }
      end

      def of_const(value, pointer, only) = of_enum([value], pointer, only)

      # The schema of a Record may say, under not, that its objects are not of the Records that are tried before it.
      def of_anyof(schemas, pointer, _only)
        parts = filled(schemas, pointer).each_with_index.map do |schema, i|
          type(schema.is_a?(Hash) ? schema.except("not") : schema, "#{pointer}/#{i}")
        end
        made = any(parts, pointer)
        told = schemas.map { |schema| schema.is_a?(Hash) ? schema["not"] : nil }
        records = Spec.alternatives(Spec.of(made)).map { |_, record| record }
        return made if told.none? || told == JsonSchema.others(records)

        refuse("no Type can express that", "#{pointer}/#{told.index { |one| one }}/not")
      end

      def of_oneof(schemas, pointer, only)
        union = tagged(filled(schemas, pointer), pointer) and return union

        made = of_anyof(schemas, pointer, only)
        specs = Spec.alternatives(Spec.of(made))
        return made if schemas.size == specs.size && apart?(specs)

        refuse("a value may be valid for two, which no Type refuses: anyOf allows that", pointer)
      end

      # Returns true if no value can be of two specs, or if they are Records with different required members.
      def apart?(specs)
        literals, others = specs.partition { |spec| literals(spec) }
        values = literals.flat_map { |spec| literals(spec) }
        kinds = others.flat_map { |spec| kinds(spec) }
        maps = others.select { |spec| kinds(spec).include?(:object) }
        kinds -= [:object] if maps.all? { |kind, record| kind == :record && record.form == :map }
        (kinds & values.map { |value| json_type(value) }).empty? && [values, kinds].all? { |all| all.uniq == all }
      end

      def literals(spec) = { enum: spec[1], nil: [nil], true: [true], false: [false] }[spec[0]]

      def of_allof(schemas, pointer, _only)
        first, *others = filled(schemas, pointer)
        others.each.with_index(1).reduce(type(first, "#{pointer}/0")) do |made, (schema, i)|
          place = "#{pointer}/#{i}"
          check_schema(schema, place)
          refuse_others(schema, RULES, place)
          ruled(made, schema, place)
        end
      end

      # --- unions by a tag ----------------------------------------------------------------------------------

      # Returns a union if a constant property, or a constant first element, tells the schemas apart; otherwise nil.
      def tagged(schemas, pointer)
        targets = schemas.map { |one| one.is_a?(Hash) && one.keys == %w[$ref] ? looked_up(one["$ref"]) : one }
        constants = targets.map { |one| constants(one) }
        tag = constants[0].keys.find { |key| tag?(key, constants) && others(key, constants, schemas) } or return

        types = constants.each_with_index.select { |one, _| one.key?(tag) }.to_h do |one, i|
          place = targets[i].equal?(schemas[i]) ? "#{pointer}/#{i}" : schemas[i]["$ref"]
          [one[tag], choice(targets[i], tag, place)]
        end
        rest = others(tag, constants, schemas)
        rest = rest.transform_values { |schema, *place| type(schema, [pointer, *place].join("/")) }
        at(pointer) { Record.union(tag == :first ? 0 : tag, types, **rest) }
      end

      def constants(schema)
        return {} unless schema.is_a?(Hash)

        first, least = schema.values_at("prefixItems", "minItems")
        return { first: first[0]["const"] } if first.is_a?(Array) && constant?(first[0]) && number?(least) && least >= 1
        return {} unless schema["properties"].is_a?(Hash) && schema["required"].is_a?(Array)

        schema["properties"].slice(*schema["required"]).select { |_, one| constant?(one) }
                            .transform_values { |one| one["const"] }
      end

      def constant?(schema) = schema.is_a?(Hash) && schema.key?("const") && !json_type(schema["const"]).nil?

      def tag?(tag, constants)
        values = constants.filter_map { |one| [one[tag]] if one.key?(tag) }
        values.uniq.size == values.size
      end

      # Returns the schemas for a missing and for an unknown tag with their places; nil if there are other alternatives.
      def others(tag, constants, schemas)
        tags = { "enum" => constants.select { |one| one.key?(tag) }.map { |one| one[tag] } }
        missing, unknown = { "not" => JsonSchema.with_tag(tag, {}) }, JsonSchema.with_tag(tag, { "not" => tags })
        constants.each_with_index.reject { |one, _| one.key?(tag) }.to_h do |_, i|
          schema = schemas[i]
          return unless schema.is_a?(Hash)
          next [:else, [schema.except("not"), i]] if schema["not"] == JsonSchema.with_tag(tag, tags)

          one, other = schema["allOf"] if schema.keys == %w[allOf] && schema["allOf"].is_a?(Array)
          name = { missing => :untagged, unknown => :else }[other] or return
          [name, [one, i, "allOf/0"]]
        end
      end

      # Returns the type of an alternative without its tag, which may be its only property.
      def choice(schema, tag, pointer)
        return first_choice(schema, pointer) if tag == :first

        properties = schema["properties"].except(tag)
        rest = { **schema, "required" => schema["required"] - [tag], "properties" => properties }
        return type(rest, pointer) unless properties.empty?

        rest = rest.except("properties", *("required" if rest["required"].empty?))
        rest["additionalProperties"] == false ? { [tag, tag] => Object } : type({ "type" => "object", **rest }, pointer)
      end

      def first_choice(schema, pointer)
        rest = { **schema, "prefixItems" => schema["prefixItems"].drop(1), "minItems" => schema["minItems"] - 1 }
        refuse_others(rest, %w[type prefixItems minItems maxItems items], pointer)
        most = bound(rest, "maxItems", pointer)
        elements({ **rest, **(most ? { "maxItems" => most - 1 } : {}) }, "#{pointer}.array")
      end

      # --- references ---------------------------------------------------------------------------------------

      def of_ref(reference, pointer, _only)
        return again(@open[reference]) if @open.key?(reference)

        @made[reference] || begin
          schema = looked_up(reference)
          refuse("#{reference.inspect} is not in this schema", pointer) if schema.nil?
          opened(reference, schema) { any([type(schema, reference)], reference) }
        end
      end

      def again(open)
        open.used = true
        @outermost = [@outermost, open.depth].min
        Spec.made_of([:name, open.name], [])
      end

      # Returns the type that the block makes of a schema, and keeps it for further references, unless it refers to a
      # schema around it: then it may be another type elsewhere.
      def opened(reference, schema)
        again = @made.key?(reference) && (@again += 1) > AGAIN_MAX
        refuse("contains others, and they contain it, in too many ways", reference) if again
        before, @outermost = @outermost, Float::INFINITY
        @made[reference] = nil
        open = @open[reference] = Open.new(@open.size, record_name(reference, schema) || (@open.size + 1), false)
        made = closed(yield, open, reference)
        @open.delete(reference)
        return @made[reference] = made.tap { @outermost = before } unless @outermost < open.depth

        @outermost = [before, @outermost].min
        made
      end

      def closed(made, open, reference)
        return made if !open.used || open.name.is_a?(::Symbol)

        spec = Spec.of(made)
        refuse("contains itself, and nothing else", reference) if Spec.endless?(spec, open.name)
        Spec.made_of([:recursive, open.name, spec], [])
      end

      # Returns the name of the Record that a schema defines; nil if it defines none, or if a Record around it has that
      # name.
      def record_name(reference, schema)
        return unless record?(schema, reference)

        name = reference == "#" ? "Record" : reference[%r{\A#/\$defs/([^/~%]+)\z}, 1]&.sub(ARRAY, "")
        known = @open.each_value.any? { |open| open.name == name&.to_sym }
        name.to_sym if name && !known && !name.match?(/\A(?:\d+|self)\z/)
      end

      def name_of(pointer)
        name = @open[pointer]&.name
        name.name if name.is_a?(::Symbol)
      end

      def record?(schema, pointer)
        return false unless schema.is_a?(Hash) && (schema.keys & (ALONE - %w[allOf])).empty?
        return [nil, "object"].include?(schema["type"]) if schema.key?("properties")

        schema["type"] == "array" && schema["prefixItems"].is_a?(Array) && !tuple?(schema, pointer)
      end

      # Returns the schema at a pointer, or nil.
      def looked_up(reference)
        return unless text?(reference) && reference.match?(%r{\A#(?:/|\z)})

        reference.split("/").drop(1).reduce(@root) do |schema, step|
          step = step.gsub(/(?:%\h\h)+/) { |bytes| [bytes.delete("%")].pack("H*").force_encoding(Encoding::UTF_8) }
          step = step.gsub("~1", "/").gsub("~0", "~")
          case schema
          when Hash then schema[step]
          when Array then step.match?(/\A\d+\z/) ? schema[step.to_i] : nil
          end
        end
      end

      # --- kinds of values ----------------------------------------------------------------------------------

      KINDS = Ractor.make_shareable({
        nil: [:null], true: [:boolean], false: [:boolean], integer: [:number], float: [:number], string: [:string],
        text: [:string], bytes: [:string], list: [:array], tuple: [:array], map: [:object]
      })
      CLASSES = Ractor.make_shareable({ ::Array => [:array], ::Hash => [:object], ::Numeric => [:number] })
      private_constant :KINDS, :CLASSES

      def kinds(spec)
        kind, one, two = spec
        case kind
        when :enum then one.map { |literal| json_type(literal) }.uniq
        when :union then one.flat_map { |part| kinds(part) }.uniq
        when :ruled then kinds(one)
        when :recursive then kinds(two)
        when :record then [one.form == :array ? :array : :object]
        when :tagged then [one == :first ? :array : :object]
        when :class then CLASSES.fetch(one, JSON_TYPES.values)
        else KINDS.fetch(kind, JSON_TYPES.values)
        end
      end

      def json_type(value)
        case value
        when nil then :null
        when true, false then :boolean
        when Numeric then number?(value) ? :number : nil
        when String then :string
        end
      end

      # --- errors -------------------------------------------------------------------------------------------

      def text?(name) = name.is_a?(String) && name.encoding.ascii_compatible? && name.valid_encoding?

      def list(value, pointer)
        value.is_a?(Array) ? value : refuse("expected an Array, got #{value.inspect}", pointer)
      end

      def filled(value, pointer)
        list(value, pointer).empty? ? refuse("expected at least one schema", pointer) : value
      end

      def escaped(name) = name.gsub("~", "~0").gsub("/", "~1")

      def refuse_others(schema, known, pointer)
        other = (schema.keys - known - ANNOTATIONS).first
        refuse("no Type can express that", "#{pointer}/#{escaped(other)}") if other
      end

      def shortened(pointer) = pointer.size > 200 ? "#{pointer[0, 200]}..." : pointer

      def refuse(why, pointer)
        why = "#{why[0, 300]}..." if why.size > 300
        raise ArgumentError, "#{shortened(pointer)}: #{why}"
      end
    end
  end
end
