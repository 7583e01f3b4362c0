# frozen_string_literal: true

#--
# Types as schemas: JSON Schema, RBS, and data that another version of a program compares. The classes that do it take
# longer to load than the rest of Record, and are loaded on first use: a comment in Parallel says how.
#++
module Manypack
  class Type
    # Returns the Type of a JSON Schema of the draft 2020-12, a Hash with String keys, as far as types can express it;
    # they can express all that Type#json_schema writes. An object with +properties+ is a Record, whose class, a Data
    # (on Ruby 3.1 a Struct), has a member for each property. A missing property that is not in +required+ becomes its
    # +default+, or nil, and dump leaves that out. A +readOnly+ property is +dump_only+, and a +writeOnly+ one
    # +load_only+. Other keys are skipped, or refused with <code>additionalProperties: false</code>; if
    # +additionalProperties+ is a schema, they go into the member +additional_properties+. Any other object is a Hash.
    #
    # It knows +type+, +enum+ and +const+ of scalars, bounds and lengths, +multipleOf+, +pattern+ in linear time,
    # +uniqueItems+, +items+, +prefixItems+, +properties+, +required+, +additionalProperties+, +propertyNames+, +anyOf+,
    # and <code>$ref</code> to a place in the schema, also to one around it. The formats +date-time+, +date+, +uri+ and
    # +uuid+ become Type.text and Type.uuid, and +base64+ becomes Type.bytes. An integer must be written as such: 1.0 is
    # none. +oneOf+ is possible if no value is of two alternatives: different types and literals, objects with a
    # constant property, as in Record.union, and objects with different required members, as in Type.[]. Keywords that
    # do not affect validity, such as +title+, and other formats are ignored.
    #
    # Raises ArgumentError, with the JSON Pointer, for any other keyword, for a schema that no Type can express, and for
    # one that is deeper than messages or far too large; TypeError for anything but a Hash.
    #
    #   POINT = Manypack::Type.from_json_schema({"type" => "object", "properties" => {"x" => {"type" => "number"}}})
    #   POINT.load(Manypack.pack({"x" => 1.5})).x #=> 1.5
    def self.from_json_schema(schema)
      Arguments.refuse_block(self, :from_json_schema) if block_given?
      Arguments.at_the_call { FromJsonSchema.new(schema).root }
    end

    # Returns the type as a JSON Schema of the draft 2020-12, a Hash with String keys. Records are in <code>$defs</code>
    # by the names of their classes. It puts no condition on a part for which JSON has no type, such as a View or an ext
    # type. It allows exactly what load_json takes, with two exceptions: 1.0 is an integer in JSON Schema, and a +Float+
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

    # Returns the type as data, a Hash that Manypack.pack takes. By it, another version of the program can find out
    # whether it reads what this type writes. It has the nodes of the type, which refer to each other by index, and the
    # options that matter. It leaves out code: Procs, constructors and handlers of ext types.
    #
    #   Manypack::Type[[1..3]].description["nodes"][1] #=> {"kind" => "integer", "words" => "Integer in 1..3", ...}
    def description
      Description.new(codec).document(spec)
    end

    # Returns true if this Type loads every message that another one, such as an older version of it, writes: what
    # <code>old.dump</code> makes of an object from <code>old.load</code>. Returns false if that is uncertain. Does not
    # examine constructors, Procs and handlers of ext types: an ext counts as read if both have the same class for its
    # number. A lazy Record counts as one that is not lazy. Raises TypeError for anything but a Type.
    #
    #   OLD = Manypack::Type[{String => 1..10}]
    #   Manypack::Type[{String => Integer}].reads?(OLD) #=> true
    def reads?(old)
      Compatibility.between(old, self).empty?
    end

    # Returns why Type#reads? is false: an Array of an Incompatibility for each place, empty if it is true. Each has an
    # example if one was found. Raises TypeError for anything but a Type.
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
