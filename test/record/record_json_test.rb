# frozen_string_literal: true

# The JSON form of an object with a Record: what a reader finds in its bytes.
require "test_helper"
require "json"

class RecordJsonTest < Minitest::Test
  Point = Struct.new(:x, :tags)
  Manypack::Record.new(Point, x: Integer, tags: Array).with(keys: { x: "X" }).attach
  Near = Class.new(Point)
  Plain = Class.new { attr_reader :id }
  Manypack::Record.ivars(Plain, id: Integer).attach
  User = Manypack::Record.define(id: Integer, at: Point)
  Own = Manypack::Record.define(id: Integer) { def to_json(*) = "1" }
  Parent = Struct.new(:id) { def as_json(*) = 2 }
  Child = Class.new(Parent)
  Manypack::Record.new(Child, id: Integer).attach

  def test_an_object_with_a_record_is_its_map_in_json
    point = '{"X":1,"tags":["a"]}'
    objects = { Point.new(1, ["a"]) => point, Near.new(1, ["a"]) => point, User.new(id: 2, at: Point.new(1, ["a"])) => "{\"id\":2,\"at\":#{point}}",
                Plain.load(Manypack.pack({ "id" => 3 })) => '{"id":3}' }
    objects.each do |object, json|
      assert_equal [json, "[#{json}]", "{\"a\":#{json}}"], [JSON.generate(object), JSON.generate([object]), JSON.generate({ a: object })]
    end
  end

  Photo = Manypack::Record.define(at: Time, raw: Manypack::Type.bytes, more: Manypack::Type[{ String => Manypack::Type.bytes }], with: { timestamp: true })

  # Bytes, times, and what JSON has not got.
  def test_json_of_an_object_is_what_dump_json_writes
    photo = Photo.new(at: Time.at(1, 5, :nsec), raw: "\xFF\xFE".b, more: { "é" => "\x80".b })
    text = '{"at":"1970-01-01T00:00:01.000000005Z","raw":"//4=","more":{"é":"gA=="}}'
    [photo, Photo.lazy.load(photo.dump)].each do |one|
      assert_equal [text, "[#{text}]", "{\"a\":[#{text}]}", text], [JSON.generate(one), JSON.generate([one]), JSON.generate({ a: [one] }), one.to_json]
      assert_equal JSON.pretty_generate([JSON.parse(text)]), JSON.pretty_generate([one])
      assert_equal JSON.generate([JSON.parse(text)], ascii_only: true), JSON.generate([one], ascii_only: true)
    end
    assert_equal text, photo.dump_json
    assert_equal JSON.parse(text), photo.as_json if {}.respond_to?(:as_json)
    error = assert_raises(Manypack::UnexpectedTypeError) { JSON.generate([User.new(id: "\xFF".b, at: Point.new(1, []))]) }
    assert_equal "$.id", error.path
    hex = Manypack::Record.define(raw: Manypack::Type.bytes, with: { codec: Manypack::Codec.new(bin: :hex) })
    assert_equal '[{"raw":"ff"}]', JSON.generate([hex.new(raw: "\xFF".b)])
  end

  def test_the_methods_of_the_class_stay
    assert_equal "[1]", JSON.generate([Own.new(id: 1)])
    assert_equal 2, Child.new(1).as_json
  end

  def test_a_timestamp_is_rfc_3339_in_json
    stamps = { [0, 0] => "1970-01-01T00:00:00Z", [1, 5] => "1970-01-01T00:00:01.000000005Z", [-1, 500_000_000] => "1969-12-31T23:59:59.500000000Z" }
    stamps.each do |parts, text|
      stamp = Manypack::Timestamp.new(*parts)
      assert_equal ["[\"#{text}\"]", text], [JSON.generate([stamp]), stamp.as_json]
    end
  end
end
