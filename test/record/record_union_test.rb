# frozen_string_literal: true

# Unions of Records: where their tags are read and written, and what they let through.
require "test_helper"
require "support/costs"

class RecordUnionTest < Minitest::Test
  include Costs

  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  CIRCLE = Record.new(Circle, radius: Integer)
  SQUARE = Record.new(Square, side: Integer)
  STRICT = CIRCLE.with(unknown: :raise)
  Ring = Class.new(Circle)
  RING = Record.new(Ring, radius: Integer).with(unknown: :raise)

  # --- LazyRecords ------------------------------------------------------------------------------------------

  def union(record = CIRCLE, tag = "type")
    Record.union(tag, "circle" => record.lazy, "square" => SQUARE)
  end

  def test_a_lazy_record_of_the_union_is_written_as_its_bytes
    deep = 120.times.inject([]) { |inner,| [inner] }
    [{ "type" => "circle", "radius" => 1 }, { "radius" => 1, "x" => [{ "type" => 1 }], "type" => "circle" },
     { "radius" => 1, "x" => "y" * 100_000, "deep" => deep, "type" => "circle" }].map { |from| pack(from) }.each do |bytes|
      [union.load(bytes), CIRCLE.lazy.load(bytes)].each do |lazy|
        assert_equal [bytes, bytes], [union.dump(lazy, check: true), Type[union, nil].dump(lazy)]
        assert_equal bytes, union.or(nil).dump(lazy)
      end
    end
    numbers = Record.union(7, 300 => CIRCLE.lazy, -1 => SQUARE)
    [pack({ 7 => 300, "radius" => 1 }), "\x82\x07\xCE\x00\x00\x01\x2C\xA6radius\x01".b].each { |bytes| assert_equal bytes, numbers.dump(CIRCLE.lazy.load(bytes)) }
  end

  def test_a_lazy_record_without_the_tag_is_dumped_as_the_object_that_it_loads
    [{ "radius" => 1 }, { "type" => "square", "radius" => 1 }, { "radius" => 1, "type" => { "a" => [] } }, { "kind" => "circle", "radius" => 1 }].each do |from|
      lazy = CIRCLE.lazy.load(pack(from))
      error = assert_raises(ArgumentError) { union.dump(lazy) }
      assert_match(/the LazyRecord of RecordUnionTest::Circle was not loaded by the union: it has no tag "circle" under "type", so dump what its load returns/, error.message)
      assert_equal({ "type" => "circle", "radius" => 1 }, unpack(union.dump(lazy.load)))
    end
  end

  # --- what the tag lets through ----------------------------------------------------------------------------

  def loads?(type, value)
    type.valid?(pack(value))
  end

  # A Record that refuses unknown keys knows the tag by which it was chosen, and no other key.
  def test_the_tag_is_known_to_the_record_that_it_chose_and_to_no_other
    tagged = { "type" => "a", "radius" => 1 }
    [STRICT, STRICT.or(nil), STRICT.lazy, Type[[STRICT], STRICT]].each do |part|
      [Record.union("type", "a" => part), Record.union("type", "b" => SQUARE, else: part)].each do |type|
        assert loads?(type, tagged), type.inspect
        refute loads?(type, { **tagged, "kind" => 1 }), type.inspect
      end
    end
    [STRICT, Type[STRICT, String], [STRICT], { String => STRICT }].each do |inner|
      nested = case inner
               when Array then [tagged]
               when Hash then { "x" => tagged }
               else tagged
               end
      [{ String => Type[inner, String] }, Record.new(Struct.new(:x), x: inner)].each do |part|
        refute loads?(Record.union("type", "a" => part), { "type" => "a", "x" => nested }), part.inspect
        refute loads?(Record.union("type", "b" => SQUARE, else: part), { "type" => "a", "x" => nested }), part.inspect
      end
    end
  end

  def test_a_record_after_a_union_does_not_know_its_tag
    both = Type[[Type[Record.union("type", "a" => STRICT), String]]]
    pair = Record.new(Struct.new(:one, :two), one: Record.union("type", "a" => { String => Object }), two: STRICT)
    assert loads?(both, [{ "type" => "a", "radius" => 1 }])
    refute loads?(pair, { "one" => { "type" => "a" }, "two" => { "type" => "a", "radius" => 1 } })
  end

  def test_a_union_may_fall_back_to_another_whose_records_know_both_tags
    type = Record.union("type", "square" => SQUARE, else: Record.union("kind", "circle" => STRICT, else: Record.union(1, 2 => RING)))
    [{ "type" => "x", "kind" => "circle", "radius" => 1 }, { "kind" => "circle", "type" => 1, "radius" => 1 },
     { "kind" => "circle", "radius" => 1 }, { "kind" => 1, "type" => 1, 1 => 2, "radius" => 1 }].each do |value|
      assert_equal (value[1] ? Ring : Circle).new(1), type.load(pack(value))
      refute loads?(type, { **value, "other" => 1 })
    end
    assert_equal Circle.new(1), type.load(type.dump(Circle.new(1)))
    assert_equal Square.new(1), type.load(type.dump(Square.new(1)))
  end

  def test_a_union_is_no_part_of_a_union
    inner = Record.union("kind", "circle" => CIRCLE)
    [inner, inner.or(nil), Type[String, inner]].each do |type|
      assert_match(/ is a union/, assert_raises(ArgumentError) { Record.union("type", "a" => type) }.message)
    end
    assert_kind_of Type, Record.union("type", "a" => { String => inner }, "b" => Record.new(Struct.new(:x), x: inner))
  end

  def test_the_tag_is_the_key_that_it_would_be_in_a_hash
    { "v" => ["\xA1v", "\xC4\x01v", "\xD9\x01v", "\xDB\x00\x00\x00\x01v", "\xC6\x00\x00\x00\x01v"],
      1 => ["\x01", "\xCC\x01", "\xD3\x00\x00\x00\x00\x00\x00\x00\x01"], -1 => ["\xFF", "\xD0\xFF", "\xD2\xFF\xFF\xFF\xFF"],
      "é" => ["\xA2é", "\xD9\x02é"] }.each do |tag, keys|
      type = Record.union(tag, "a" => STRICT)
      keys.each { |key| assert_equal Circle.new(1), type.load("\x82#{key}\xA1a\xA6radius\x01".b), key.inspect }
      ["\xA1w", "\xC4\x02\xC3\xA9", "\x02", "\xC0", "\xCA\x3F\x80\x00\x00", "\x91\x01"].each do |key|
        refute type.valid?("\x82#{key}\xA1a\xA6radius\x01".b), key.inspect
      end
    end
  end

  # --- What is dumped ---------------------------------------------------------------------------------------

  Chain = Struct.new(:link)

  def test_what_else_takes_is_dumped_wherever_the_union_is
    others = { Record.union("kind", "circle" => CIRCLE) => Circle.new(1), CIRCLE => Circle.new(1), Type[CIRCLE, nil] => Circle.new(1),
               Type[{ String => CIRCLE }] => { "a" => Circle.new(1) } }
    others.each do |other, object|
      type = Record.union("type", "square" => SQUARE, else: other)
      [type, type.or(nil), Record.union("z", "a" => RING, else: type).or(nil)].each do |union|
        assert_equal type.dump(object), union.dump(object)
        assert_equal object, union.load(union.dump(object))
      end
      assert_equal [object], Type[[type.or(nil)]].load(Type[[type.or(nil)]].dump([object]))
    end
  end

  def test_the_tag_replaces_a_member_whatever_key_it_is_read_by
    klass = Struct.new(:kind, :id)
    record = Record.new(klass, kind: String, id: Integer).with(keys: { kind: %w[kind type] })
    { "type" => record, "kind" => record, 1 => Record.new(klass, kind: String, id: Integer).with(keys: { kind: ["k", 1] }) }.each do |tag, part|
      type = Record.union(tag, "a" => part).with(untrusted: true)
      assert_equal klass.new("a", 1), type.load(type.dump(klass.new("b", 1)))
    end
  end

  def test_a_positional_record_has_no_key_for_the_tag_by_its_name_either
    union = Record.union("type", "chain" => :Chain, "square" => SQUARE)
    error = assert_raises(ArgumentError) { Record.new(Chain, link: Type[union, nil]).array }
    assert_equal "RecordUnionTest::Chain is no map, and has no key for the tag", error.message
    record = Record.new(Chain, link: Type[union, nil])
    assert_equal Chain.new(Chain.new(nil)), record.load(record.dump(Chain.new(Chain.new(nil))))
  end

  def test_a_union_has_one_tag
    assert_raises(ArgumentError) { Record.union(%w[type kind], "circle" => CIRCLE) }
  end

  # --- which tag an object has ------------------------------------------------------------------------------

  Event = Struct.new(:type, :id)
  EVENT = Record.new(Event, type: Type[String, Symbol, nil], id: Integer)
  Plain = Struct.new(:id)
  PLAIN = Record.new(Plain, id: Integer)
  Sub = Class.new(Plain)
  SUB = Record.new(Sub, id: Integer)
  Leaf = Class.new(Sub)

  # Loading and dumping gives back every message as it was.
  def assert_rewrites_nothing(union, *messages)
    messages.each do |message|
      object = union.load(pack(message))
      [union, union.or(nil)].each { |type| assert_equal message, unpack(type.dump(object)) }
      assert_equal object, union.load(union.dump(object, check: true))
    end
  end

  def test_a_union_that_would_not_know_a_tag_is_refused_when_it_is_made
    inner = Record.union("kind", "x" => PLAIN)
    [{ "a" => PLAIN, "b" => PLAIN }, { "a" => PLAIN, "b" => PLAIN.with(unknown: :raise) }, { "a" => PLAIN.or(nil), "b" => PLAIN },
     { "a" => PLAIN, "b" => PLAIN.lazy }, { "a" => PLAIN.lazy, "b" => PLAIN.lazy }, { "a" => PLAIN, else: PLAIN }, { "a" => PLAIN, else: PLAIN.or(nil) },
     { "a" => PLAIN, else: inner }, { "a" => PLAIN, else: Record.union("z", "c" => SUB, else: inner) }].each do |types|
      error = assert_raises(ArgumentError) { Record.union("type", **types) }
      assert_match(/\ARecordUnionTest::Plain is in the union as "a" and as .*, so dump could not tell which tag to write: give each tag a class of its own/, error.message)
    end
    assert_raises(ArgumentError) { Record.union("type", "created" => EVENT, "deleted" => EVENT) }
    [{ "a" => PLAIN, "b" => SUB }, { "a" => PLAIN, else: SUB }, { "a" => PLAIN, "b" => { String => PLAIN } }, { "a" => PLAIN, else: Manypack::View },
     { "a" => PLAIN, "b" => Record.new(Struct.new(:x), x: PLAIN) }].each { |types| assert_kind_of Type, Record.union("type", **types) }
  end

  def test_tags_that_are_the_same_in_a_message
    error = assert_raises(ArgumentError) { Record.union("type", "a" => CIRCLE, :a => SQUARE) }
    assert_match(/two of the tags \["a", :a\] are the same/, error.message)
    assert_raises(ArgumentError) { Record.union("type", { "é" => CIRCLE, "é".encode("UTF-16LE") => SQUARE }) }
    assert_kind_of Type, Record.union("type", { "é" => CIRCLE, "é".b => SQUARE, 1 => Record.new(Plain, id: Integer), 1.0 => RING })
  end

  def test_the_class_of_the_object_decides
    [{ "base" => PLAIN, "sub" => SUB }, { "sub" => SUB, "base" => PLAIN }, { "sub" => SUB.or(nil), "base" => PLAIN.or(nil) }].each do |types|
      union = Record.union("type", **types)
      assert_rewrites_nothing(union, { "type" => "base", "id" => 1 }, { "type" => "sub", "id" => 1 })
      error = assert_raises(TypeError) { union.dump(Leaf.new(1)) }
      assert_match(/RecordUnionTest::Leaf is none of the classes of the union: each class needs a tag of its own/, error.message)
    end
    assert_rewrites_nothing(Record.union("type", "base" => PLAIN, else: SUB), { "type" => "base", "id" => 1 }, { "id" => 1 })
    assert_rewrites_nothing(Record.union("type", "sub" => SUB, else: PLAIN), { "type" => "sub", "id" => 1 }, { "id" => 1 })
    assert_rewrites_nothing(Record.union("type", "base" => PLAIN, else: Record.union("kind", "sub" => SUB)), { "kind" => "sub", "id" => 1 })
  end

  def test_what_else_writes_is_not_read_as_another_type
    union = Record.union("type", "a" => PLAIN, else: { String => Object })
    [{ "type" => "a" }, { type: "a" }, { "type" => :a }].each { |hash| assert_raises(ArgumentError) { union.dump(hash) } }
    assert_rewrites_nothing(union, { "type" => "b" }, {})
    other = Record.union("type", "a" => PLAIN, else: EVENT)
    assert_raises(ArgumentError) { other.dump(Event.new("a", 1)) }
    view = Record.union("type", "a" => PLAIN, else: Manypack::View)
    assert_raises(RecordError) { view.dump(Manypack::View.new(pack({ "type" => "a" }))) }
    assert_equal({ "type" => "b" }, unpack(view.dump(Manypack::View.new(pack({ "type" => "b" })))))
  end

  def test_of_a_record_and_its_other_form_an_object_has_its_own
    type = Type[PLAIN.lazy, PLAIN.array]
    assert_instance_of Plain, type.load(type.dump(Plain.new(1)))
    assert_kind_of Manypack::LazyRecord, type.load(type.dump(PLAIN.lazy.load(pack({ "id" => 1 }))))
  end

  # Each of them takes C stack, and none is a level of depth.
  def test_many_unions_in_else_are_as_deep_as_the_stack_allows
    link = (0...40).inject(Type[:Chain, nil]) { |other, i| Record.union("t#{i}", "square" => Record.new(Struct.new(:side), side: Integer), else: other) }
    record = Record.new(Chain, link: link).with(max_depth: 100_000)
    bytes = pack((1..3_000).inject(nil) { |inner, _| { "link" => inner } }, max_depth: 100_000)
    assert_raises(Manypack::StackError) { Fiber.new { record.load(bytes) }.resume }
  end

  # --- many tags ----------------------------------------------------------------------------------------------

  def test_a_union_of_many_tags_and_as_many_objects_takes_linear_time
    assert_linear(60) do |n|
      classes = Array.new(n) { Struct.new(:id) }
      tags = classes.to_h { |klass| [klass.object_id, Record.new(klass, id: Integer)] }
      type = Type[[Record.union("type", tags)]]
      objects = Array.new(n * 100) { |i| classes[i % n].new(i) }
      -> { assert_equal objects.size, type.load(type.dump(objects)).size }
    end
  end
end
