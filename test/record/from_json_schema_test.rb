# frozen_string_literal: true

# Type.from_json_schema: what types can say of JSON Schema, and the pointer of what they cannot.
require "test_helper"

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
    error = assert_raises(ArgumentError) { type({ "type" => "array", "items" => { "$ref" => "#" } }) }
    assert_match "#/items/$ref: contains itself", error.message
  end

  def test_what_no_type_says_is_refused_with_its_pointer
    { { "not" => {} } => "#/not: ", { "properties" => { "a/b~" => { "oneOf" => [] } } } => "#/properties/a~1b~0/oneOf: ",
      { "anyOf" => [true, { "type" => "array", "contains" => {} }] } => "#/anyOf/1/contains: ", { "type" => "strng" } => "#/type: ",
      { "type" => "integer", "minimum" => 0.2, "maximum" => 0.5 } => "#: no Integer", { "$ref" => "#/$defs/No" } => "#/$ref: ",
      { "enum" => [[1]] } => "#/enum: ", { "type" => "object", "required" => ["a"] } => "#/required: ", { "minimum" => 1 } => "#/minimum: ",
      { "properties" => { "a" => true }, "required" => ["b"] } => "#/required: ", { "type" => "number", "minimum" => "1" } => "#/minimum: ",
      { "$ref" => "https://example.com/schema" } => "#/$ref: ", { "$ref" => 5 } => "#/$ref: ", { "enum" => "a" } => "#/enum: ", { "anyOf" => {} } => "#/anyOf: ",
      { "properties" => { "a" => true }, "required" => "a" } => "#/required: ", { "properties" => { 1 => true } } => "#/properties: ",
      { "type" => "number", "minimum" => 5, "maximum" => 1 } => "#: no number" }.each do |schema, start|
      error = assert_raises(ArgumentError, schema.inspect) { type(schema) }
      assert error.message.start_with?(start), error.message
    end
    assert_raises(TypeError) { type(nil) }
  end

  def test_what_json_schema_says_of_simple_types_is_read_again
    [Integer, 1..9, String, nil, [String], { String => [Integer] }, Manypack::Type[String, nil]].each do |one|
      assert_equal Manypack::Type[one], type(Manypack::Type[one].json_schema)
    end
  end
end
