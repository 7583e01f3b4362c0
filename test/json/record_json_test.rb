# frozen_string_literal: true

# A Record reads and writes JSON as it does bytes: the same objects, the same checks, errors with places in the text.
require "test_helper"
require "json"
require "stringio"
require "tempfile"

class JsonOfRecordsTest < Minitest::Test
  User = Manypack::Record.define(id: Integer, name: Manypack::Type[String, nil], level: 1..9)
  USER = User.record.with(defaults: { level: 1 })
  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  SHAPE = Manypack::Record.union("type", "circle" => Manypack::Record.new(Circle, radius: Float), "square" => Manypack::Record.new(Square, side: Float)).attach
  Picky = Struct.new(:id) { def initialize(id) = id.even? ? super : raise(ArgumentError, "an odd id") }
  PICKY = Manypack::Record.new(Picky, id: Integer)
  Event = Struct.new(:at)
  EVENT = Manypack::Record.new(Event, at: Time).with(timestamp: true).attach
  ADA = User.new(id: 1, name: "Ada", level: 1)

  # Types, and a text of each.
  TEXTS = [
    [USER, '{"id": 1, "name": "Ada"}'], [USER, '{"extra": [1, {"a": null}], "name": null, "level": 9, "id": -5}'], [USER.array, '[1, "\u00e9", 2]'],
    [USER.with(keys: { name: %w[full_name name] }), '{"id":1,"full_name":"A"}'], [Manypack::Type[[USER]], '[{"id":1,"name":"a"},{"id":2,"name":"b"}]'],
    [SHAPE, '{"side": 2, "type": "square"}'], [Manypack::Type[{ String => [Float] }], '{"a":[1,2.5],"b":[]}'],
    [Manypack::Type[%w[ja en]], '"ja"'], [Manypack::Type[1..3], "3"], [PICKY, '{"id": 2}'], [USER.lazy, '{"id": 1, "name": "Ada"}']
  ].freeze

  def test_a_text_becomes_what_its_bytes_become_and_the_object_becomes_its_json
    TEXTS.each do |type, text|
      bytes = Manypack.from_json(text)
      object = type.load_json(text)
      assert_equal type.load(bytes), object
      assert_equal Manypack.to_json(type.dump(object)), type.dump_json(object)
      assert_equal object, type.load_json(type.dump_json(object))
      assert_equal [object, object], type.foreach_json(StringIO.new("#{text}\n#{text}\n")).to_a
    end
  end

  # Types, texts, and what is wrong with them.
  WRONG = [
    [USER, %({"é": [1, 2.5, {"x": "]\\"}"}],\n "name": "é", "id": "1"}), 'expected Integer, got string "1", at $.id, line 2, column 21'],
    [USER, ' {"name": null}', '"id" is missing, at $, line 1, column 2'], [USER.with(unknown: :raise), '{"id":1,"x":1}', 'unknown key "x", at $.x, line 1, column 9'],
    [USER, '{"id":1,"name":"","level":10}', "expected Integer in 1..9, got Integer 10, at $.level, line 1, column 27"],
    [Manypack::Type[[USER]], "[\n {\"id\": null}\n]", "expected Integer, got null, at $[0].id, line 2, column 9"],
    [USER.array, '[true, ""]', "expected Integer, got true, at $[0], line 1, column 2"], [PICKY, '{"id":3}', "an odd id, at $, line 1, column 1"],
    [SHAPE, '{"type":"round"}', 'expected a map whose "type" is "circle" or "square", got string "round", at $.type, line 1, column 9'],
    [SHAPE, '{"type":"circle","radius":{}}', "expected Float, got object of 0, at $.radius, line 1, column 27"],
    [USER.with(canonical: true), '{"z":1,"name":2,"id":1}', "expected String or nil, got Integer 2, at $.name, line 1, column 15"]
  ].freeze

  def test_an_error_says_line_column_and_path_in_the_text
    WRONG.each do |type, text, message|
      error = assert_raises(Manypack::RecordError) { type.load_json(text) }
      assert_equal message, error.message
      place = message.match(/at (\S+), line (\d+), column (\d+)\z/)
      path = error.code == :missing ? "$.id" : place[1]
      assert_equal [path, place[2].to_i, place[3].to_i], [error.path, error.line, error.column]
      assert_equal text.lines.first(error.line - 1).join.bytesize + text.lines[error.line - 1][0, error.column - 1].bytesize, error.offset
      utf16 = assert_raises(Manypack::RecordError) { type.load_json(text.encode("UTF-16LE")) }
      assert_equal message, utf16.message
    end
  end

  def test_every_scalar_of_a_text_is_found_where_it_stands
    text = JSON.pretty_generate([1, -2.5e3, "a\"]\\", true, [[2], "]"], { "k\n" => [nil, {}, []] }, "é", 2**40, {}, "b"]).gsub("\n", "\r\n")
    lines = text.lines.each_index.select { |line| text.lines[line].match?(/\A  [^ \]}]/) }.map { |line| line + 1 }
    error = assert_raises(Manypack::RecordError) { Manypack::Type[[1000..1001]].load_json(text, collect: true) }
    assert_equal lines.map { |line| [line, 3] }, error.errors.map { |one| [one.line, one.column] }
    assert_equal 10, lines.size
  end

  def test_collect_reports_each_error_with_its_place
    error = assert_raises(Manypack::RecordError) { Manypack::Type[[Integer]].load_json(%(["a",\n1,"b"]), collect: true) }
    assert_equal [["$[0]", 1, 2], ["$[2]", 2, 3]], error.errors.map { |one| [one.path, one.line, one.column] }
    assert_equal [1, 2], [error.line, error.column]
  end

  def test_a_stream_counts_lines_and_bytes_from_its_start
    io = StringIO.new(%({"id":1,"name":"é"}\n\n {"id":2,"name":"b"} {"id":"3"}))
    loaded = []
    error = assert_raises(Manypack::RecordError) { User.foreach_json(io, collect: true) { |user| loaded << user } }
    assert_match(/line 1, column 1, after 0 whole texts\z/, error.message)
    io.rewind
    error = assert_raises(Manypack::RecordError) { USER.foreach_json(io) { |user| loaded << user.id } }
    assert_match(/line 3, column 28, after 2 whole texts\z/, error.message)
    assert_equal [[1, 2], 3, 28, 49], [loaded, error.line, error.column, error.offset]
  end

  def test_a_file_is_read_as_an_io
    Tempfile.create("users") do |file|
      file.write('{"id":1,"name":"Ada"}')
      file.close
      assert_equal [ADA], USER.foreach_json(file.path).to_a
    end
  end

  def test_what_is_no_json_is_a_json_error_at_each_door
    doors = [-> { USER.load_json("[1,]") }, -> { User.load_json("[1,]") }, -> { USER.foreach_json(StringIO.new("[1,]")).to_a }, -> { USER.lazy.load_json("[1,]") }]
    doors.each { |door| assert_equal 4, assert_raises(Manypack::JSONError, &door).column }
    assert_raises(TypeError) { USER.load_json(nil) }
  end

  def test_options_are_those_of_both_steps
    assert_equal [Float::INFINITY], Manypack::Type[[Float]].load_json("[Infinity]", allow_nan: true)
    assert_raises(Manypack::LimitError) { USER.load_json('{"id":1,"name":"Ada"}', max_bytes: 20) }
    assert_equal [0.5] * 3, Manypack::Type[[Float]].load_json("[0.5,0.5,0.5]", max_bytes: 13) # of the text: it has 28 bytes packed
    assert_equal JSON.pretty_generate({ id: 1, name: "Ada", level: 1 }), ADA.dump_json(pretty: true)
    assert_equal "{\n  \"radius\": 1.0\n}", SHAPE.with(pretty: true).dump_json(Circle.new(1.0)).sub("\n  \"type\": \"circle\",", "")
    assert_raises(Manypack::RecordError) { User.new(id: "1", name: nil, level: 1).dump_json(check: true) }
    { load_json: %i[pretty canonical], dump_json: %i[allow_nan_ freeze] }.each do |door, names|
      names.each { |name| assert_raises(ArgumentError, "#{door} #{name}") { USER.public_send(door, door == :load_json ? "{}" : ADA, { name => true }) } }
    end
  end

  def test_of_a_key_that_comes_twice_the_last_value_counts_and_an_error_has_the_path_alone
    assert_equal 2, USER.load_json('{"id":1,"id":2,"name":""}', allow_duplicate_key: true).id
    error = assert_raises(Manypack::RecordError) { USER.load_json('{"id":1,"id":"2","name":""}', allow_duplicate_key: true) }
    assert_equal ['expected Integer, got string "2", at $.id', nil, nil], [error.message, error.line, error.column]
  end

  def test_json_generate_and_dump_json_write_the_same
    at = Time.at(0, 5, :nsec)
    lazy = USER.with(keys: { name: "n" }).lazy
    { ADA => USER, Circle.new(1.5) => SHAPE, Event.new(at) => EVENT, lazy.load_json('{"id":1,"n":"é"}') => lazy }.each do |object, type|
      text = type.dump_json(object)
      assert_equal [text, "{\"a\":[#{text}]}"], [JSON.generate(object), JSON.generate({ a: [object] })]
    end
    assert_equal '{"at":"1970-01-01T00:00:00.000000005Z"}', Event.new(at).dump_json
  end
end
