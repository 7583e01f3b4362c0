# frozen_string_literal: true

# A part of a message is loaded as a message of its own would be, whatever comes after it and whoever found it.
require "test_helper"

class RecordPartTest < Minitest::Test
  Record = Manypack::Record
  Type = Manypack::Type

  Box = Struct.new(:content, :rest)
  Named = Struct.new(:name, :inner)
  At = Struct.new(:at)
  Circle = Struct.new(:radius)
  Square = Struct.new(:side)

  BOX = Record.new(Box, content: Object, rest: Hash).with(unknown: { into: :rest })
  NAMED = Record.new(Named, name: String, inner: Type[:Named, nil]).with(defaults: { inner: nil })
  CIRCLE = Record.new(Circle, radius: Float).with(unknown: :raise)
  SQUARE = Record.new(Square, side: Float)

  CONTENTS = [nil, 1, "text", "x" * 500, [1, [2]], { "a" => 1 }, { "a" => { "b" => [{ 1 => nil }] } }, { 1.5 => "a", "1.5" => "b" },
              (1..40).to_h { |i| ["key #{i}", i] }].freeze

  # What stands after a part may be nothing, or as long as the part, or longer.
  def parts(document)
    [[document], [document, 1], [document, document], [document, "x" * 2_000]].map { |whole| Manypack::View.new(pack(whole))[0] }
  end

  def test_a_view_loads_as_its_part_alone
    CONTENTS.each do |content|
      document = { "content" => content, "other" => { "b" => content } }
      { BOX => document, Type[Hash] => document, Type[{ String => Object }] => document, Type[[Object]] => [content, document] }.each do |type, part|
        alone = type.load(pack(part))
        parts(part).each { |view| assert_equal alone, view.as(type) }
        assert_equal alone, parts(part)[1].as(type.with(max_bytes: 10_000, max_objects: 1_000))
      end
    end
  end

  def test_a_lazy_record_loads_what_its_part_alone_would
    record = Record.new(Box, content: Object, rest: Object)
    CONTENTS.each do |content|
      document = { "content" => content, "rest" => { "x" => content } }
      [[document], [document, document], [document, { "content" => 1, "rest" => {} }]].each do |whole|
        lazy = Type[[record.lazy]].load(pack(whole))[0]
        assert_equal record.load(pack(document)), lazy.load
        assert_equal lazy.to_h, lazy.load.to_h
      end
    end
  end

  # Not only its Record: the Type around it has options, ext types, names and tags.
  def test_a_lazy_record_loads_as_the_type_that_found_it
    time = Type[[Record.new(At, at: Object).lazy]].with(timestamp: true)
    assert_equal Time.at(1), time.load(pack([{ "at" => Time.at(1) }], timestamp: true))[0].load.at
    frozen = Type[[SQUARE.lazy]].with(freeze: true).load(pack([{ "side" => 1.0 }]))[0].load
    assert_predicate frozen, :frozen?
    shape = Record.union("type", "circle" => CIRCLE.lazy, "square" => SQUARE.lazy)
    assert_equal Circle.new(1.5), shape.load(pack({ "type" => "circle", "radius" => 1.5 })).load
    assert_raises(Manypack::RecordError) { shape.load(pack({ "type" => "circle", "radius" => 1.5, "x" => 1 })) }
    named = NAMED.lazy.load(pack({ "name" => "a", "inner" => { "name" => "b" } })).load
    assert_equal ["a", "b", nil], [named.name, named.inner.name, named.inner.inner]
  end

  def test_what_is_wrong_with_a_field_is_wrong_with_all_of_a_lazy_record
    lazy = Type[[SQUARE.lazy]].load(pack([{ "side" => "2" }, { "side" => 1.0 }]))[0]
    errors = [-> { lazy.side }, -> { lazy.load }].map { |work| assert_raises(Manypack::RecordError, &work) }
    assert_equal [errors[0].message] * 2, errors.map(&:message)
    assert_equal [errors[0].offset] * 2, errors.map(&:offset)
    refusing = Class.new(Struct.new(:side)) { def initialize(*) = raise(ArgumentError, "never") }
    error = assert_raises(Manypack::RecordError) { Record.new(refusing, side: Float).lazy.load(pack({ "side" => 1.0 })).load }
    assert_includes error.message, "never"
  end
end
