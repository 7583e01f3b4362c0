# frozen_string_literal: true

# Types told to others: RBS for type checkers, JSON Schema for documentation.
require "test_helper"
require "rbs"

class RecordSchemaTest < Minitest::Test
  Record = Manypack::Record
  Type = Manypack::Type
  View = Manypack::View

  User = Struct.new(:id, :name, :tags, :home, :raw)
  Named = Struct.new(:name, :size, keyword_init: true)
  Node = Struct.new(:value, :children)
  Person = Struct.new(:name, :pets)
  Pet = Struct.new(:name, :owner)
  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  class Plain
    def initialize(id) = @id = id
  end

  # A subclass with its own constructor.
  class Sorted < Struct.new(:a, :b)
    def initialize(one, two) = super(*[one, two].sort)
  end

  USER = Record.new(User, id: Integer, name: String, tags: [String], home: Type[Float].or(nil), raw: View)
  NODE = Record.new(Node, value: Integer, children: [:Node])
  PET = Record.new(Pet, name: String, owner: Type[:Person, nil])
  PERSON = Record.new(Person, name: String, pets: [PET])
  CIRCLE = Record.new(Circle, radius: Float).with(unknown: :raise)
  SQUARE = Record.new(Square, side: Float)

  # --- RBS ------------------------------------------------------------------------------------------------

  EXPRESSIONS = {
    Integer => "Integer", Float => "Float", String => "String", Symbol => "Symbol", Object => "untyped", View => "Manypack::View",
    nil => "nil", true => "true", false => "false", (1..9) => "Integer", (0.0..1.0) => "Float", Time => "Time",
    [String] => "Array[String]", { String => Integer } => "Hash[String, Integer]", { %i[a b] => [Float] } => "Hash[:a | :b, Array[Float]]",
    %w[ja en] => '"ja" | "en"', [true, false] => "bool", [1, nil] => "1?", [1.5, 2.5] => "Float"
  }.freeze

  EXPRESSIONS.each do |type, expected|
    define_method("test_rbs_of_#{type.inspect}") do
      assert_equal expected, Type[type].to_rbs
      RBS::Parser.parse_type(expected)
    end
  end

  def test_rbs_of_types_of_which_a_value_has_one
    assert_equal "Integer | String", Type[Integer, String].to_rbs
    { Type[%i[draft? final]] => ":draft? | :final", Type[%i[draft? final], nil] => "(:draft? | :final)?",
      Type[%i[a b?], nil] => "(:a | :b?)?", Type[%i[b?]] => ":b?", Type[[:b, nil]] => "(:b)?", Type[[:b?, nil], Integer] => "((:b?) | Integer)?",
      Type[%w[a b], nil] => '("a" | "b")?' }.each do |type, expected|
      assert_equal expected, type.to_rbs
      RBS::Parser.parse_type(expected)
    end
    assert_equal "Integer?", Type[Integer].or(nil).to_rbs
    assert_equal "(Integer | String)?", Type[nil, Integer, String].to_rbs
    assert_equal "bool?", Type[nil, true, false].to_rbs
    assert_equal "untyped", Type[nil, Object].to_rbs
    assert_equal "Array[(Integer | String)?]", Type[[Type[Integer, String, nil]]].to_rbs
  end

  def test_rbs_names_the_classes_of_records
    assert_equal "Array[RecordSchemaTest::User]", Type[[USER]].to_rbs
    assert_equal "Array[RecordSchemaTest::User]", Type[[USER.array]].to_rbs
    assert_equal "Array[Manypack::LazyRecord]", Type[[USER.lazy]].to_rbs
    assert_equal "RecordSchemaTest::Circle | RecordSchemaTest::Square | Manypack::View",
                 Record.union("type", "circle" => CIRCLE, "square" => SQUARE, else: View).to_rbs
  end

  def test_rbs_declares_a_struct
    assert_equal <<~RBS, USER.to_rbs
      class RecordSchemaTest::User < Struct[untyped]
        attr_accessor id: Integer
        attr_accessor name: String
        attr_accessor tags: Array[String]
        attr_accessor home: Float?
        attr_accessor raw: Manypack::View
        def initialize: (?Integer, ?String, ?Array[String], ?Float?, ?Manypack::View) -> void
      end
    RBS
    assert_includes Record.new(Named, name: String, size: Type[Integer, nil]).to_rbs, "def initialize: (?name: String, ?size: Integer?) -> void"
    refute_includes Record.new(Sorted, a: Integer, b: Integer).to_rbs, "initialize"
  end

  def test_rbs_of_rules_and_defaults_is_that_of_the_objects
    klass = Record.define(id: Type.uuid, at: Type.text(Time), tags: Type[Type.set(Type.text(Symbol)), length: 1..], raw: Type.bytes, pair: Type.tuple(Float, Type[Integer, nil]),
                          count: Type[Integer].check("must be even") { |one| one.even? }, up: Type[:self, nil], size: Integer, note: String,
                          with: { defaults: { size: nil, note: Manypack::ABSENT } })
    self.class.const_set(:Ruled, klass)
    types = klass.record.to_rbs.scan(/^  attr_\w+ (.*)$/).flatten
    assert_equal ["id: String", "at: Time", "tags: Set[Symbol]", "raw: String", "pair: [Float, Integer?]", "count: Integer", "up: RecordSchemaTest::Ruled?", "size: Integer?", "note: untyped"], types
  end

  def test_rbs_declares_a_plain_class_by_its_instance_variables
    assert_equal "class RecordSchemaTest::Plain\n  @id: Integer\nend\n", Record.ivars(Plain, id: Integer).to_rbs
  end

  def test_rbs_follows_names
    assert_includes NODE.to_rbs, "attr_accessor children: Array[RecordSchemaTest::Node]"
    assert_includes PET.to_rbs, "attr_accessor owner: Person?"
    assert_includes Record.new(Node, value: Integer, children: [:self]).to_rbs, "Array[RecordSchemaTest::Node]"
  end

  def test_declarations_are_rbs
    [USER, NODE, PET, PERSON, CIRCLE, USER.array, Record.new(Named, name: Type[[Type[1..2, nil]]], size: Type[Integer, String, nil])].each do |record|
      declarations = RBS::Parser.parse_signature(RBS::Buffer.new(name: "test", content: record.to_rbs)).last
      assert_equal [record.klass.name], declarations.map { |declaration| declaration.name.to_s }
    end
  end

  def test_a_class_without_a_name_cannot_be_declared
    error = assert_raises(ArgumentError) { Record.new(Struct.new(:a), a: Integer).to_rbs }
    assert_match(/has no name/, error.message)
  end

  # --- JSON Schema ----------------------------------------------------------------------------------------

  DRAFT = "https://json-schema.org/draft/2020-12/schema"

  SCHEMAS = {
    Integer => { "type" => "integer" }, Float => { "type" => "number" }, String => { "type" => "string" }, Symbol => { "type" => "string" },
    Object => {}, View => {}, nil => { "type" => "null" }, true => { "const" => true }, false => { "const" => false },
    (1..9) => { "type" => "integer", "minimum" => 1, "maximum" => 9 }, (1...9) => { "type" => "integer", "minimum" => 1, "exclusiveMaximum" => 9 },
    (1..) => { "type" => "integer", "minimum" => 1 }, (..0.5) => { "type" => "number", "maximum" => 0.5 },
    Time => { "type" => "string", "format" => "date-time" }, %i[a b] => { "enum" => %w[a b] }, [1, nil] => { "enum" => [1, nil] },
    [String] => { "type" => "array", "items" => { "type" => "string" } },
    { String => Integer } => { "type" => "object", "additionalProperties" => { "type" => "integer" } },
    { %w[a b] => Object } => { "type" => "object", "propertyNames" => { "enum" => %w[a b] }, "additionalProperties" => {} },
    { Integer => Object } => { "type" => "object", "propertyNames" => { "pattern" => "^-?[0-9]+$" }, "additionalProperties" => {} },
    { Type[Integer, multiple_of: 2] => Object } => { "type" => "object", "propertyNames" => { "pattern" => "^-?[0-9]+$" }, "additionalProperties" => {} },
    { Type[String, length: 1..2] => Object } =>
      { "type" => "object", "propertyNames" => { "type" => "string", "minLength" => 1, "maxLength" => 2 }, "additionalProperties" => {} }
  }.freeze

  SCHEMAS.each do |type, expected|
    define_method("test_json_schema_of_#{type.inspect}") { assert_equal({ "$schema" => DRAFT, **expected }, Type[type].json_schema) }
  end

  def test_json_schema_of_types_of_which_a_value_has_one
    assert_equal({ "$schema" => DRAFT, "anyOf" => [{ "type" => "integer" }, { "type" => "null" }] }, Type[Integer].or(nil).json_schema)
  end

  # Of objects that are converted, a message has something else.
  def test_json_schema_of_rules_after_a_conversion_says_nothing_about_them
    parts = Manypack::Type.via(Array, String, load: ->(text) { text.split(",") }, dump: ->(array) { array.join(",") })
    assert_equal({ "type" => "string" }, Manypack::Type[parts, length: ..1].json_schema.except("$schema"))
    assert_equal 1, Manypack::Type[Manypack::Type.set(Integer), length: ..1].json_schema["maxItems"]
  end

  def test_json_schema_of_a_record
    schema = USER.with(defaults: { tags: [] }).json_schema
    assert_equal "#/$defs/RecordSchemaTest.User", schema["$ref"]
    user = schema["$defs"].fetch("RecordSchemaTest.User")
    assert_equal %w[id name home raw], user["required"]
    assert_equal %w[id name tags home raw], user["properties"].keys
    assert_equal({ "type" => "array", "items" => { "type" => "string" }, "default" => [] }, user["properties"]["tags"])
    refute_includes user, "additionalProperties"
  end

  def definition(record) = record.json_schema["$defs"].values.first

  def test_json_schema_of_unknown_keys
    assert_equal false, definition(USER.with(unknown: :raise))["additionalProperties"]
    rest = definition(Record.new(Circle, radius: { String => Integer }).with(unknown: { into: :radius }))
    assert_equal({ "type" => "object", "properties" => {}, "required" => [], "additionalProperties" => { "type" => "integer" } }, rest)
  end

  def test_json_schema_of_aliases
    circle = definition(SQUARE.with(keys: { side: %w[side length] }))
    number = { "type" => "number" }
    assert_equal({ "side" => number, "length" => { **number, "deprecated" => true } }, circle["properties"])
    assert_equal [{ "anyOf" => [{ "required" => ["side"] }, { "required" => ["length"] }] }], circle["allOf"]
    assert_empty circle["required"]
    assert_equal ["1"], definition(SQUARE.with(keys: { side: 1 }))["properties"].keys
  end

  def test_json_schema_can_always_be_written_as_json
    infinite = Record.new(Square, side: 0.0..Float::INFINITY)
    assert_equal({ "type" => "number", "minimum" => 0.0 }, definition(infinite)["properties"]["side"])
    [Float::NAN, -Float::INFINITY, "\xff".b, "\xff"].each do |default|
      schema = Record.new(Square, side: Object).with(defaults: { side: default }).json_schema
      refute_includes JSON.generate(schema), "default"
    end
  end

  def test_json_schema_of_defaults_that_json_cannot_have_leaves_them_out
    square = definition(Record.new(Square, side: Object).with(defaults: { side: 1..2 }))
    assert_equal({ "side" => {} }, square["properties"])
    assert_empty square["required"]
  end

  def test_json_schema_of_the_positional_form
    array = definition(USER.with(defaults: { raw: nil, home: nil }).array)
    assert_equal 5, array["prefixItems"].size
    assert_equal ["array", 3], array.values_at("type", "minItems")
  end

  def test_json_schema_follows_names
    assert_equal({ "$ref" => "#/$defs/RecordSchemaTest.Node" }, definition(NODE)["properties"]["children"]["items"])
    defs = PERSON.json_schema["$defs"]
    assert_equal %w[RecordSchemaTest.Person RecordSchemaTest.Pet], defs.keys
    assert_equal [{ "$ref" => "#/$defs/RecordSchemaTest.Person" }, { "type" => "null" }], defs["RecordSchemaTest.Pet"]["properties"]["owner"]["anyOf"]
    assert_match(/:Person/, assert_raises(ArgumentError) { PET.json_schema }.message)
  end

  # Constructors with something to say about what is missing.
  class Titled < Struct.new(:name, :title, keyword_init: true)
    def initialize(name:, title: "none") = super
  end

  # By position.
  class Pair < Struct.new(:one, :two)
    def initialize(one, two = nil) = super
  end

  def test_json_schema_asks_for_what_a_constructor_needs
    assert_equal ["name"], definition(Record.new(Titled, name: String, title: String))["required"]
    assert_equal ["one"], definition(Record.new(Pair, one: String, two: String))["required"]
  end

  module Town
    Person = Struct.new(:pets)
  end

  module Village
    Person = Struct.new(:pets)
  end

  def test_json_schema_of_a_record_that_means_another_in_each_place
    one, two = [Town::Person, Village::Person].map { |klass| Record.new(klass, pets: [PET]) }
    defs = Type[[one], { String => two }].json_schema["$defs"]
    assert_equal %w[Town.Person Pet Village.Person Pet.2], defs.keys.map { |name| name.delete_prefix("RecordSchemaTest.") }
    owners = ["Pet", "Pet.2"].map { |name| defs["RecordSchemaTest.#{name}"]["properties"]["owner"]["anyOf"][0]["$ref"] }
    assert_equal ["#/$defs/RecordSchemaTest.Town.Person", "#/$defs/RecordSchemaTest.Village.Person"], owners
  end

  def test_json_schema_of_two_records_of_one_class_has_both
    schema = Record.new(Struct.new(:one, :two), one: [USER], two: USER.array).json_schema
    assert_equal %w[Record RecordSchemaTest.User RecordSchemaTest.User.array], schema["$defs"].keys
    schema = Type[[SQUARE], SQUARE.with(unknown: :raise)].json_schema
    assert_equal [nil, false], schema["$defs"].values.map { |one| one["additionalProperties"] }
  end

  def test_json_schema_of_unions_by_tag
    schema = Record.union("type", "circle" => CIRCLE, "square" => SQUARE, else: View).json_schema
    circle, square, otherwise = schema["oneOf"]
    assert_equal({ "const" => "circle" }, circle["properties"]["type"])
    assert_equal [%w[type radius], false], circle.values_at("required", "additionalProperties")
    assert_equal %w[type side], square["required"]
    assert_equal({ "properties" => { "type" => { "enum" => %w[circle square] } }, "required" => ["type"] }, otherwise["not"])
  end
end

if defined?(Data.define)
  class RecordSchemaOfDataTest < Minitest::Test
    Point = Data.define(:x, :y)

    def test_rbs_declares_a_data
      assert_equal <<~RBS, Manypack::Record.new(Point, x: Float, y: Manypack::Type[1..2, nil]).to_rbs
        class RecordSchemaOfDataTest::Point < Data
          attr_reader x: Float
          attr_reader y: Integer?
          def initialize: (Float, Integer?) -> void | (x: Float, y: Integer?) -> void
        end
      RBS
    end

    Defined = Manypack::Record.define(x: Integer) { def twice = x * 2 }

    def test_rbs_declares_what_define_adds
      rbs = Defined.record.to_rbs
      assert_includes rbs, "def self.load: (String bytes, ?collect: bool) -> RecordSchemaOfDataTest::Defined"
      RBS::Parser.parse_signature(RBS::Buffer.new(name: "test", content: rbs))
    end
  end
end
