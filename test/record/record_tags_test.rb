# frozen_string_literal: true

# Unions of Records: which tag stands for which Record.
require "test_helper"
require "record/records"

class RecordTagsTest < Minitest::Test
  include Records

  Tagged = Struct.new(:type, :side)

  def test_a_union_by_the_value_of_a_key
    [{ "type" => "circle", "radius" => 1.5 }, { "radius" => 1.5, "type" => "circle" }].each do |message|
      assert_equal Circle.new(1.5), SHAPE.load(pack(message))
    end
    assert_equal Square.new(2.0), SHAPE.load(pack({ "type" => "square", "side" => 2 }))
    assert_equal({ "type" => "square", "side" => 2.0 }, unpack(SHAPE.dump(Square.new(2.0))))
    assert_equal [Circle.new(1.0), Square.new(2.0)], Type[[SHAPE]].load(Type[[SHAPE]].dump([Circle.new(1.0), Square.new(2.0)]))
  end

  def test_a_union_refuses_or_falls_back
    error = error_of(SHAPE, { "type" => "star", "points" => 5 })
    assert_equal "$.type", error.path.to_s
    assert_match(/"star"/, error.message)
    assert_raises(RecordError) { SHAPE.load(pack({ "radius" => 1.5 })) }
    assert_raises(RecordError) { SHAPE.load(pack([1])) }
    fallback = Record.union("type", "circle" => CIRCLE, else: View)
    assert_equal 5, fallback.load(pack({ "type" => "star", "points" => 5 }))["points"]
    assert_equal Circle.new(1.0), fallback.load(pack({ "type" => "circle", "radius" => 1 }))
  end

  def test_a_union_is_of_maps
    [POINT.array, [POINT], String, 1.., %w[a b], nil].each do |type|
      assert_match(/ is no map/, assert_raises(ArgumentError) { Record.union("type", "a" => type) }.message)
    end
    [POINT.lazy, { String => Object }, Hash, View, Object, :self].each do |type|
      assert_kind_of Type, Record.union("type", "a" => type)
    end
  end

  def test_a_union_reads_and_writes_tags_that_are_members_too
    record = Record.union("type", "square" => Record.new(Tagged, type: String, side: Float).with(unknown: :raise), "circle" => CIRCLE.with(unknown: :raise))
    square = record.load(pack({ "type" => "square", "side" => 1 }))
    assert_equal Tagged.new("square", 1.0), square
    assert_equal pack({ "type" => "square", "side" => 1.0 }), record.dump(square)
    assert_equal Circle.new(1.0), record.load(pack({ "type" => "circle", "radius" => 1 }))
    assert_raises(RecordError) { record.load(pack({ "type" => "circle", "radius" => 1, "x" => 1 })) }
  end

  def test_the_errors_of_all_objects_of_a_union_are_collected
    objects = [{ "type" => "star" }, { "type" => "square", "side" => 2 }, { "side" => 2 }, 5, { "type" => "circle", "radius" => "x" }]
    error = assert_raises(RecordError) { Type[[SHAPE]].load(pack(objects), collect: true) }
    assert_equal ["$[0].type", "$[2].type", "$[3]", "$[4].radius"], error.errors.map { |each| each.path.to_s }
  end

  def test_a_tag_that_is_a_container_is_compared_like_a_key_of_a_hash
    lists = Record.union("type", [1] => CIRCLE, [2] => SQUARE)
    assert_equal Square.new(1.0), lists.load(pack({ "type" => [2], "side" => 1 }))
    assert_equal Square.new(1.0), lists.load(lists.dump(Square.new(1.0)))
    [[3], [1.0], [[1]], { 1 => 2 }, 1].each { |tag| assert_equal "$.type", error_of(lists, { "type" => tag, "side" => 1 }).path.to_s }
    assert_equal "$.type", error_of(SHAPE, { "type" => ["circle"], "radius" => 1 }).path.to_s
  end

  def test_unions_of_other_tags
    symbols = Record.union(:type, circle: CIRCLE, square: SQUARE)
    assert_equal SHAPE, symbols
    assert_equal Square.new(1.0), symbols.load(symbols.dump(Square.new(1.0)))
    integers = Record.union(0, 1 => CIRCLE, 2 => SQUARE)
    assert_equal Square.new(1.0), integers.load(pack({ 0 => 2, "side" => 1 }))
    assert_equal({ 0 => 2, "side" => 1.0 }, unpack(integers.dump(Square.new(1.0))))
  end

  def test_symbols_of_a_union_are_strings_and_other_tags_are_refused
    named = Record.union(:type, circle: CIRCLE, square: SQUARE)
    assert_equal Square.new(1.0), named.load(pack({ "type" => "square", "side" => 1 }))
    assert_equal({ "type" => "square", "side" => 1.0 }, unpack(named.dump(Square.new(1.0))))
    [nil, 1.5, 2**63, "t".b].each { |tag| assert_raises(ArgumentError) { Record.union(tag, 1 => CIRCLE) } }
  end

  def test_a_value_of_no_class_of_the_union_is_not_dumped
    [Point.new(1, 2), 5, nil].each { |object| assert_raises(TypeError) { SHAPE.dump(object) } }
  end
end
