# frozen_string_literal: true

# Unions of Records: where their tags are read and written, and what they let through.
require "test_helper"

class RecordUnionTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  CIRCLE = Record.new(Circle, radius: Integer)
  SQUARE = Record.new(Square, side: Integer)
  STRICT = CIRCLE.with(unknown: :raise)

  # --- LazyRecords ------------------------------------------------------------------------------------------

  # What LazyRecords were loaded from, and what the union writes of them.
  LAZY = {
    { "radius" => 1 } => { "type" => "circle", "radius" => 1 },
    { "type" => "circle", "radius" => 1 } => { "type" => "circle", "radius" => 1 },
    { "radius" => 1, "type" => "ring", "x" => [{ "type" => 1 }] } => { "radius" => 1, "type" => "ring", "x" => [{ "type" => 1 }] },
    { "type" => "square", "radius" => 1, "x" => [2] } => { "type" => "circle", "radius" => 1, "x" => [2] },
    { "radius" => 1, "type" => { "a" => [] } } => { "type" => "circle", "radius" => 1 },
    { "radius" => 1, **(1..15).to_h { |i| [i, i] } } => { "type" => "circle", "radius" => 1, **(1..15).to_h { |i| [i, i] } }
  }.freeze

  def union(record = CIRCLE, tag = "type")
    Record.union(tag, "circle" => record.lazy, "square" => SQUARE, "ring" => record.lazy)
  end

  def test_a_union_writes_the_tag_of_a_lazy_record_wherever_it_was_loaded
    LAZY.each do |from, written|
      lazy = CIRCLE.lazy.load(pack(from))
      assert_equal pack(written), union.dump(lazy, check: true)
      assert_equal [pack([written]), 1], [Type[[union]].dump([lazy]), union.load(union.dump(lazy)).radius]
      assert_equal pack(written), Type[union, nil].dump(lazy)
    end
    twice = CIRCLE.lazy.load("\x84\xA4type\x05\xC4\x04type\xA4ring\xA6radius\x01\xD9\x04type\x01".b)
    assert_equal({ "type" => "circle", "radius" => 1 }, unpack(union.with(duplicate_keys: :error).dump(twice, check: true)))
  end

  def test_a_lazy_record_goes_from_union_to_union
    lazy = union.load(pack({ "radius" => 1, "type" => "ring" }))
    assert_equal({ "radius" => 1, "type" => "ring" }, unpack(union.dump(lazy)))
    assert_equal({ "kind" => "circle", "radius" => 1, "type" => "ring" }, unpack(union(CIRCLE, "kind").dump(lazy)))
    numbers = Record.union(7, 300 => CIRCLE.lazy, -1 => SQUARE)
    [{ 7 => 300, "radius" => 1 }, { "radius" => 1 }].each do |from|
      assert_equal pack({ 7 => 300, "radius" => 1 }), numbers.dump(CIRCLE.lazy.load(pack(from)), check: true)
    end
    assert_equal 300, unpack(numbers.dump(CIRCLE.lazy.load("\x82\x07\xCE\x00\x00\x01\x2C\xA6radius\x01".b)))[7]
  end

  def test_a_long_and_deep_lazy_record_gets_its_tag
    deep = 120.times.inject([]) { |inner,| [inner] }
    from = { "radius" => 1, "x" => "y" * 100_000, "deep" => deep, "type" => "square" }
    assert_equal({ "type" => "circle", **from.except("type") }, unpack(union.dump(CIRCLE.lazy.load(pack(from)))))
  end
end
