# frozen_string_literal: true

# Type.from_json_schema: what types can say of JSON Schema, and the pointer of what they cannot.
require "test_helper"
require_relative "../../fuzz/schemas"

class FromJsonSchemaTest < Minitest::Test
  def type(schema) = Manypack::Type.from_json_schema(schema)
  def takes?(schema, value) = type(schema).valid?(Manypack.pack(value))

  TREE = { "$ref" => "#/$defs/Node", "$defs" => { "Node" => {
    "type" => "object", "required" => ["value"], "additionalProperties" => false,
    "properties" => { "value" => { "type" => "integer" }, "nodes" => { "type" => "array", "items" => { "$ref" => "#/$defs/Node" }, "default" => [] } }
  } } }.freeze

  def test_types_of_json_are_types
    { { "type" => "integer", "minimum" => 1.5, "exclusiveMaximum" => 10 } => [[2, 9], [1, 10, 2.0, nil]],
      { "type" => "number", "exclusiveMinimum" => 1, "maximum" => 2.5 } => [[2, 1.5, 2.5], [1, 1.0, 3, 2.6]],
      { "type" => "number", "exclusiveMinimum" => 1, "exclusiveMaximum" => 2 } => [[1.5], [1, 2, 1.0]],
      { "type" => "integer", "minimum" => -10**30 } => [[-2**63, 2**64 - 1], [0.5]],
      { "type" => %w[string null] } => [["a", nil], [1]], { "type" => "boolean" } => [[true, false], [nil]],
      { "enum" => ["a", 1, nil, true] } => [["a", 1, nil, true], ["b", 2, false]], { "const" => false } => [[false], [nil]],
      { "anyOf" => [{ "type" => "string" }, { "type" => "array", "items" => { "type" => "boolean" } }] } => [["a", [true]], [[1], true]],
      { "type" => "object", "additionalProperties" => { "type" => "string" } } => [[{}, { "a" => "b" }], [{ "a" => 1 }]],
      { "type" => "object" } => [[{ "a" => 1 }], [[]]], { "type" => "array" } => [[[1, nil]], [{}]], true => [[1, nil, {}], []],
      { "title" => "T", "format" => "date" } => [[1], []] }.each do |schema, (valid, invalid)|
      assert_empty valid.reject { |value| takes?(schema, value) }, schema
      assert_empty invalid.select { |value| takes?(schema, value) }, schema
    end
  end

  def test_an_object_with_properties_is_a_record
    object = { "type" => "object", "properties" => { "id" => { "type" => "integer" }, "firstName" => { "type" => "string", "default" => "?" } }, "required" => ["id"] }
    assert_equal [5, "?"], type(object).load(Manypack.pack({ "id" => 5, "other" => 1 })).then { |one| [one.id, one.firstName] }
    refute takes?(object, { "firstName" => "Ada" })
    refute takes?({ **object, "additionalProperties" => false }, { "id" => 5, "other" => 1 })
  end

  def test_an_object_may_contain_itself
    tree = type(TREE).load(Manypack.pack({ "value" => 1, "nodes" => [{ "value" => 2 }] }))
    assert_equal [1, 2, []], [tree.value, tree.nodes[0].value, tree.nodes[0].nodes]
    refute takes?(TREE, { "value" => 1, "nodes" => [{ "value" => "2" }] })
    assert takes?({ "type" => "array", "items" => { "$ref" => "#" } }, [[], [[]]])
    error = assert_raises(ArgumentError) { type({ "anyOf" => [{ "$ref" => "#" }, { "type" => "null" }] }) }
    assert_match "#: contains itself", error.message
  end

  def test_what_no_type_says_is_refused_with_its_pointer
    { { "not" => {} } => "#/not: ", { "properties" => { "a/b~" => { "oneOf" => [] } } } => "#/properties/a~1b~0/oneOf: ",
      { "anyOf" => [true, { "type" => "array", "contains" => {} }] } => "#/anyOf/1/contains: ", { "type" => "strng" } => "#/type: ",
      { "type" => "integer", "minimum" => 0.2, "maximum" => 0.5 } => "#: no Integer", { "$ref" => "#/$defs/No" } => "#/$ref: ",
      { "enum" => [[1]] } => "#/enum: ", { "type" => "object", "required" => ["a"] } => "#/required: ", { "minimum" => 1 } => "#/minimum: ",
      { "properties" => { "a" => true }, "required" => ["b"] } => "#/required: ", { "type" => "number", "minimum" => "1" } => "#/minimum: ",
      { "$ref" => "https://example.com/schema" } => "#/$ref: ", { "$ref" => 5 } => "#/$ref: ", { "enum" => "a" } => "#/enum: ", { "anyOf" => {} } => "#/anyOf: ",
      { "properties" => { "a" => true }, "required" => "a" } => "#/required: ", { "properties" => { 1 => true } } => "#/properties: ",
      { "type" => "number", "minimum" => 5, "maximum" => 1 } => "#: no number", { "$ref" => "#".encode("UTF-16LE") } => "#/$ref: ",
      { "anyOf" => [{ "type" => "null", "not" => {} }] } => "#/anyOf/0/not: " }.each do |schema, start|
      error = assert_raises(ArgumentError, schema.inspect) { type(schema) }
      assert error.message.start_with?(start), error.message
    end
    assert_raises(TypeError) { type(nil) }
  end

  def test_counts_and_references_of_tagged_arrays_are_checked
    first = { "type" => "array", "prefixItems" => [{ "const" => 1 }], "minItems" => 1 }
    [[], {}, "1", true, -1, Float::INFINITY].product(%w[minItems maxItems]) do |count, keyword|
      error = assert_raises(ArgumentError) { type({ "oneOf" => [{ **first, keyword => count }] }) }
      assert error.message.start_with?("#/oneOf"), error.message
    end
    error = assert_raises(ArgumentError) { type({ "oneOf" => [{ **first, "$ref" => {} }] }) }
    assert error.message.start_with?("#/oneOf/0"), error.message
  end

  def test_names_are_text
    ["\xff", "a".encode("UTF-16LE")].each do |name|
      assert_raises(TypeError) { type({ name => 1 }) }
      assert_raises(ArgumentError) { type({ "properties" => { name => true } }) }
    end
  end

  def test_constraints_are_those_of_types
    { { "type" => "string", "minLength" => 2, "maxLength" => 3.0 } => [%w[ab é€é], ["a", "abcd", 5]],
      { "type" => "string", "pattern" => "^[a-z]+\\.\\d{2}$" } => [%w[a.01], ["a.1", "a.01\n"]],
      { "type" => "string", "pattern" => "^\\S+$" } => [["aé"], ["a\u00a0b"]],
      { "type" => "string", "format" => "date", "maxLength" => 10 } => [["2030-01-31"], ["2030-02-30", "a"]],
      { "type" => "string", "format" => "uuid" } => [["0f0e0d0c-0b0a-0908-0706-050403020100"], ["x"]],
      { "type" => "string", "format" => "email" } => [["x"], [1]],
      { "type" => "number", "multipleOf" => 0.1, "maximum" => 1 } => [[0.3, 1], [0.35, 1.1]],
      { "type" => "array", "items" => { "const" => nil }, "maxItems" => 1 } => [[[nil], []], [[nil, nil], [1]]],
      { "type" => "array", "uniqueItems" => true } => [[[1, 2]], [[1, 1]]],
      { "type" => "array", "prefixItems" => [{ "type" => "integer" }, true], "minItems" => 2, "items" => false } => [[[1, nil]], [[1], ["a", 1], [1, 2, 3]]],
      { "type" => "array", "prefixItems" => [{ "type" => "integer" }, { "type" => "string" }] } => [[[1, "a", 3], []], [["a"]]],
      { "type" => "object", "maxProperties" => 1, "propertyNames" => { "minLength" => 2 } } => [[{ "ab" => 1 }], [{ "a" => 1 }, { "aa" => 1, "bb" => 2 }]],
      { "type" => "object", "additionalProperties" => false } => [[{}], [{ "a" => 1 }]],
      { "allOf" => [{ "$ref" => "#/$defs/n" }, { "minimum" => 3 }], "$defs" => { "n" => { "type" => "integer", "maximum" => 5 } } } => [[3, 5], [2, 6]],
      { "type" => "string", "enum" => ["a", nil] } => [["a"], [nil]] }.each do |schema, (valid, invalid)|
      assert_empty valid.reject { |value| takes?(schema, value) }, schema
      assert_empty invalid.select { |value| takes?(schema, value) }, schema
    end
  end

  CIRCLE = { "type" => "object", "properties" => { "type" => { "const" => "circle" }, "r" => { "type" => "number" } }, "required" => %w[type r] }.freeze
  TEXT = { "type" => "object", "properties" => { "text" => { "type" => "string" } }, "required" => ["text"] }.freeze

  def test_alternatives_that_a_type_tells_apart
    tagged = { "oneOf" => [{ "$ref" => "#/$defs/Circle" }, { **TEXT, "properties" => { **TEXT["properties"], "type" => { "const" => "text" } }, "required" => %w[type text] }], "$defs" => { "Circle" => CIRCLE } }
    assert_equal 1.5, type(tagged).load(Manypack.pack({ "type" => "circle", "r" => 1.5 })).r
    refute takes?(tagged, { "type" => "square" })
    members = { "oneOf" => [TEXT, { "properties" => { "id" => true }, "required" => ["id"] }] }
    assert_equal 5, type(members).load(Manypack.pack({ "id" => 5 })).id
    assert takes?({ "oneOf" => [{ "const" => 1, "title" => "one" }, { "const" => "1" }] }, "1")
    [[{ "type" => "integer" }, { "type" => "number" }], [{ "type" => "string" }, { "const" => "a" }]].each do |both|
      assert_match(/\A#.oneOf: a value may be valid for two/, assert_raises(ArgumentError) { type({ "oneOf" => both }) }.message)
    end
  end

  def test_what_a_record_is_in_json_schema
    schema = { "properties" => { "id" => { "type" => "integer", "readOnly" => true }, "key" => { "type" => "string", "writeOnly" => true } }, "required" => ["key"], "additionalProperties" => { "type" => "integer" } }
    record = type(schema)
    assert_kind_of Manypack::Record, record
    assert_match "Manypack::Record Node", type(TREE).inspect
    object = record.load(Manypack.pack({ "key" => "k", "b" => 2 }))
    assert_equal [nil, "k", { "b" => 2 }], [object.id, object.key, object.additional_properties]
    assert_equal({ "b" => 2 }, Manypack.unpack(record.dump(object)))
    error = assert_raises(ArgumentError) { type({ "properties" => { "n" => { "type" => "integer", "default" => "x" } } }) }
    assert_match(/\A#: the default "x" is of another type/, error.message)
  end

  def mutual(count) = { "$ref" => "#/$defs/A0", "$defs" => (0...count).to_h { |i| ["A#{i}", { "properties" => (0...count).to_h { |j| ["p#{j}", { "$ref" => "#/$defs/A#{j}" }] } }] } }

  def test_hostile_schemas_are_refused_soon
    deep = 10_000.times.reduce({ "type" => "null" }) { |inner, _| { "type" => "array", "items" => inner } }
    looped = { "type" => "array" }.tap { |one| one["items"] = one }
    circle = { "$ref" => "#/$defs/A", "$defs" => { "A" => { "$ref" => "#/$defs/B" }, "B" => { "$ref" => "#/$defs/A" } } }
    members = { "properties" => (0..5000).to_h { |i| ["p#{i}", true] } }
    [deep, looped, circle, members, mutual(7), { "type" => "string", "pattern" => "^a{1,1000}$" }, { "type" => "string", "pattern" => "a" * 100_000 }].each do |schema|
      error = assert_raises(ArgumentError) { type(schema) }
      assert_match(/\A#/, error.message)
      assert_operator error.message.size, :<, 600
    end
  end

  KEYWORDS = %w[type enum const $ref anyOf oneOf allOf minimum exclusiveMinimum exclusiveMaximum multipleOf minLength pattern format items prefixItems minItems uniqueItems properties
                required additionalProperties propertyNames maxProperties default $defs contentEncoding readOnly].freeze
  WRONG = [nil, false, 5, -1, 1.5, Float::NAN, 2**70, "x", "\xFF", :x, [], [1], [nil], [{}], {}, { 1 => 2 }, { "a" => 1 }, Object.new].freeze

  def test_wrong_values_of_every_keyword_are_said_with_their_place
    [{}, { "type" => "string" }, { "type" => "number" }, { "type" => "array" }, { "type" => "object" }, { "type" => "object", "properties" => { "a" => true } }].product(KEYWORDS, WRONG) do |base, keyword, wrong|
      type({ **base, keyword => wrong })
    rescue ArgumentError => e
      assert_match(/\A#/, e.message.b)
    rescue TypeError => e
      assert_match(/\Aa JSON Schema is a Hash/, e.message)
    end
  end

  def schema_of(seed)
    Manypack::Type[Fuzz::Schemas.new(Random.new(seed)).pair(3)[0]].with(timestamp: true).json_schema
  rescue ArgumentError
    nil # the parts make no type together
  end

  def test_what_json_schema_writes_is_read_again
    read = 0
    (1..120).each do |seed|
      schema = schema_of(seed) or next
      next if schema.inspect.include?("deprecated") # another key of a member that may be missing is read as a member

      read += 1
      assert_equal schema, type(schema).json_schema, seed
    end
    assert_operator read, :>, 50
  end

  def test_what_json_schema_says_of_simple_types_is_read_again
    [Integer, 1..9, String, nil, [String], { String => [Integer] }, Manypack::Type[String, nil]].each do |one|
      assert_equal Manypack::Type[one], type(Manypack::Type[one].json_schema)
    end
  end
end
