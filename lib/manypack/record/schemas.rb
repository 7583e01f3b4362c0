# frozen_string_literal: true

#--
# Types as schemas: JSON Schema, RBS, and data that another version of a program compares. The classes that do it take
# longer to load than the rest of Record, and are loaded on first use: a comment in Parallel says how.
#++
module Manypack
  class Type
    # Returns the Type of a JSON Schema of the draft 2020-12, a Hash with String keys, for the part of it that types can
    # say; what Type#json_schema writes is part of that. An object with +properties+ is a Record, whose class, a Data
    # (on Ruby 3.1 a Struct), has a member for each property. One that is not in +required+ is its +default+, or nil, if
    # it is missing, and then left out by dump. What is +readOnly+ is +dump_only+, and what is +writeOnly+ +load_only+.
    # Other keys are skipped, with <code>additionalProperties: false</code> refused, and in the member
    # +additional_properties+ if that has a schema. Any other object is a Hash.
    #
    # It knows +type+, +enum+ and +const+ of scalars, bounds and lengths, +multipleOf+, +pattern+ in linear time,
    # +uniqueItems+, +items+, +prefixItems+, +properties+, +required+, +additionalProperties+, +propertyNames+, +anyOf+,
    # and <code>$ref</code> to a place in the schema, also to one around it. The formats +date-time+, +date+, +uri+ and
    # +uuid+ are what Type.text and Type.uuid take, and +base64+ is Type.bytes. An integer is one that is written as
    # such: 1.0 is none. +oneOf+ is for what no value is twice: other types and literals, objects with a constant
    # property, as in Record.union, and objects that their required members tell apart, as in Type.[]. What says nothing
    # about validity, such as +title+ and other formats, is passed over.
    #
    # Raises ArgumentError, with the JSON Pointer, for any other keyword, for what no Type can say, and for a schema
    # that is deeper than messages are or far too large; TypeError for anything but a Hash.
    #
    #   POINT = Manypack::Type.from_json_schema({"type" => "object", "properties" => {"x" => {"type" => "number"}}})
    #   POINT.load(Manypack.pack({"x" => 1.5})).x #=> 1.5
    def self.from_json_schema(schema)
      Arguments.refuse_block(self, :from_json_schema) if block_given?
      Arguments.at_the_call { FromJsonSchema.new(schema).root }
    end

    # Returns the type as a JSON Schema of the draft 2020-12, a Hash with String keys. Records are in <code>$defs</code>
    # by the names of their classes. It says nothing about a part for which JSON has no type, such as a View or an ext
    # type. What load_json takes is what it allows, with two exceptions: 1.0 is an integer in JSON Schema, and a +Float+
    # takes no integer that it does not hold exactly. Raises ArgumentError for a name that no Record around it has.
    #
    #   Point = Data.define(:x, :y)
    #   Manypack::Record.new(Point, x: Float, y: Float).json_schema["$defs"]["Point"]["required"] #=> ["x", "y"]
    def json_schema
      JsonSchema.new(codec).document(spec)
    end

    # Returns the type as RBS, a String: the declaration of its class for a Record, an expression for any other type.
    # Raises ArgumentError for a Record whose class has no name.
    #
    #   Point = Data.define(:x, :y)
    #   puts Manypack::Record.new(Point, x: Float, y: Float).to_rbs
    #   # class Point < Data
    #   #   attr_reader x: Float
    #   #   attr_reader y: Float
    #   # ...
    #   Manypack::Type[[Integer], nil].to_rbs #=> "Array[Integer]?"
    def to_rbs
      kind, record = spec
      kind == :record ? Rbs.declaration(record) : Rbs.expression(spec)
    end

    # Returns the type as data, a Hash that Manypack.pack takes: what another version of the program needs to find out
    # whether it can read what this type writes. It has the nodes of the type, which refer to each other by index, and
    # the options that matter. Procs, constructors and handlers of ext types are code, and not in it.
    #
    #   Manypack::Type[[1..3]].description["nodes"][1] #=> {"kind" => "integer", "words" => "Integer in 1..3", ...}
    def description
      Description.new(codec).document(spec)
    end

    # Returns true if this Type loads every message that another one, such as an older version of it, writes: that
    # <code>old.dump</code> makes of an object which <code>old.load</code> returned. It says no if it cannot know.
    # Constructors, Procs and handlers of ext types are not looked into: an ext counts as read if both have the same
    # class for its number. A lazy Record counts as one that is not lazy. Raises TypeError for anything but a Type.
    #
    #   OLD = Manypack::Type[{String => 1..10}]
    #   Manypack::Type[{String => Integer}].reads?(OLD) #=> true
    def reads?(old)
      Compatibility.between(old, self).empty?
    end

    # Returns why Type#reads? is false: an Array of an Incompatibility for each place, empty if it is true. Each has an
    # example, as far as one was found. Raises TypeError for anything but a Type.
    #
    #   OLD = Manypack::Type[[Manypack::Type[Float, nil]]]
    #   NEW = Manypack::Type[[Float]]
    #   NEW.incompatibilities(OLD).map(&:to_s) #=> ["$[*]: the old version writes nil, the new one takes Float"]
    def incompatibilities(old)
      Compatibility.between(old, self).map { |found| found.proved(Arguments.type_of(old), self) }
    end
  end

  schemas = { Description: "#{__dir__}/description", JsonSchema: "#{__dir__}/json_schema",
              FromJsonSchema: "#{__dir__}/from_json_schema", Rbs: "#{__dir__}/rbs" }
  Type.private_constant(*Library.load_on_first_use(Type, schemas))
  private_constant(*Library.load_on_first_use(self, Compatibility: "#{__dir__}/compatibility"))
end
