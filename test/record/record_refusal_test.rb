# frozen_string_literal: true

# A message that is not of a Record's type: the value, place and field that its error names, all errors of a message at
# once, and valid?.
require "test_helper"
require "record/records"

class RecordRefusalTest < Minitest::Test
  include Records

  def test_an_error_names_value_path_offset_and_field
    rows = box([USER])
    good = pack(ADA)
    binary = "\x81\xA5value\x92".b + good + pack({ **ADA, "id" => "12" })
    error = assert_raises(RecordError) { rows.load(binary) }
    offset = 8 + good.bytesize + 1 + 3
    assert_equal %[expected Integer, got str "12", at $.value[1].id, byte #{offset} (#{NAME}#id)], error.message
    assert_equal ["$.value[1].id", offset, USER, :id], [error.path.to_s, error.offset, error.record, error.member]
    assert_equal [error], error.errors
  end

  def test_a_missing_member_is_named
    error = error_of(USER, ADA.except("name"))
    assert_equal %["name" is missing, at $, byte 0 (#{NAME}#name)], error.message
    assert_equal [:name, 0, USER], [error.member, error.offset, error.record]
    error = error_of(USER, { **ADA, "home" => { "x" => 1.5 } })
    assert_match(/\A"y" is missing, at \$\.home, byte \d+ \(Records::Point#y\)\z/, error.message)
  end

  def test_an_unknown_key_is_named_where_it_is_refused
    error = error_of(USER, { "id" => 1, "nmae" => 2 })
    assert_equal %[unknown key "nmae", at $.nmae, byte 5 (#{NAME})], error.message
    assert_nil error.member
  end

  def test_an_unknown_element_is_refused_behind_the_members
    strict = POINT.array.with(unknown: :raise)
    assert_equal Point.new(1.0, 2.0), strict.load(pack([1.0, 2.0]))
    error = error_of(strict, [1.0, 2.0, 3.0, 4.0])
    assert_equal ["expected 2 elements, got more, at $[2], byte 19 (Records::Point)", nil], [error.message, error.member]
    assert_equal [false, Point.new(1.0, 2.0)], [strict.valid?(pack([1.0, 2.0, 3.0])), POINT.array.load(pack([1.0, 2.0, 3.0]))]
  end

  def test_values_of_every_kind_are_told
    { 12 => "Integer 12", 1.5 => "Float 1.5", nil => "nil", true => "true", false => "false", [1] => "array of 1", { 1 => 2 } => "map of 1" }.each do |value, told|
      assert_match(/\Aexpected String, got #{Regexp.escape(told)}\b.*, at \$\.value, byte 7 \(Records::Box#value\)\z/, error_of(box(String), { "value" => value }).message)
    end
    assert_operator error_of(box(Integer), { "value" => "x" * 10_000 }).message.size, :<, 300
    assert_predicate error_of(box(Integer), { "value" => "\xFF\n" }).message, :valid_encoding?
  end

  def test_a_type_without_a_record_has_errors_too
    error = error_of(Type[[Integer]], [1, nil])
    assert_equal ["expected Integer, got nil, at $[1], byte 2", "$[1]", 2, nil, nil],
                 [error.message, error.path.to_s, error.offset, error.record, error.member]
  end

  def test_paths_quote_what_is_no_name
    error = error_of(Type[{ String => Integer }], { "a b" => nil })
    assert_equal '$["a b"]', error.path.to_s
    assert_equal "$[5]", error_of(Type[{ Integer => Integer }], { 5 => "x" }).path.to_s
  end

  def test_bytes_that_end_have_a_path_before_in_and_after_parts_of_any_type
    record = Record.new(Point, x: Object, y: Object)
    { { "x" => 1, "y" => 100_000 } => "$.y", { "x" => [1], "y" => 100_000 } => "$.y",
      { "x" => [[1]], "y" => [1, { "a" => 100_000 }] } => "$.y[1].a" }.each do |value, path|
      error = assert_raises(Manypack::TruncatedError) { record.load(pack(value).chop) }
      assert_equal path, error.path
    end
    ext = assert_raises(Manypack::UnknownExtTypeError) { record.load(bytes("82 a1 78 91 01 a1 79 91 d4 05 00")) }
    assert_equal "$.y[0]", ext.path
  end

  def test_a_wrong_key_is_wrong_in_its_map
    [[{ "a" => 1 }, 8], [{ 1 => 2, "a" => 3 }, 10]].each do |value, offset|
      error = refused({ Integer => Integer }, value)
      assert_equal ["$.value", offset], [error.path, error.offset]
    end
  end

  def test_what_is_no_message_is_another_decode_error
    assert_raises(Manypack::TruncatedError) { USER.load(pack(ADA).chop) }
    assert_raises(Manypack::MalformedFormatError) { POINT.load("\xC1".b) }
    assert_raises(Manypack::MalformedFormatError) { POINT.load("#{pack({ "x" => 1.0, "y" => 2.0 })}\x00".b) }
    assert_raises(Manypack::TruncatedError) { POINT.load("") }
    assert_raises(TypeError) { POINT.load(5) }
    assert_raises(TypeError) { POINT.load(5) }
  end

  def test_skipped_parts_are_checked_like_any_other
    assert_raises(Manypack::DecodeError) { POINT.load("\x83\xA1z\xC1\xA1x\x01\xA1y\x02".b) }
    assert_raises(Manypack::TruncatedError) { POINT.load("\x83\xA1x\x01\xA1y\x02\xA1z\xDD\xFF\xFF\xFF\xFF".b) }
  end

  def test_all_errors_of_hostile_bytes_take_little_memory
    type = 10.times.reduce([Integer]) { |inner, _| { String => inner } }
    deep = 10.times.reduce([nil] * 900) { |inner, _| { ("\u0001" * 128) => inner } }
    errors = assert_raises(RecordError) { Type[type].load(pack(deep), collect: true) }.errors
    assert_operator errors.sum { |error| error.path.bytesize }, :<, 300_000
    assert_operator errors.size, :>, 10
  end

  def test_all_errors_at_once
    binary = pack({ "id" => "1", "nmae" => 2, "tags" => [1, "a", nil], "home" => { "x" => "?" }, "raw" => 1 })
    error = assert_raises(RecordError) { USER.load(binary, collect: true) }
    assert_equal ["$.home.x", "$.home.y", "$.id", "$.name", "$.nmae", "$.tags[0]", "$.tags[2]"], error.errors.map(&:path).sort
    missing = error.errors.select { |one| one.message.include?("is missing") }
    assert_equal %i[name y], missing.map(&:field).sort
    assert(error.errors.all?(RecordError))
    assert_equal 1, assert_raises(RecordError) { USER.load(binary) }.errors.size
  end

  def test_collect_gives_the_object_where_there_are_no_errors
    assert_equal User, USER.load(pack(ADA), collect: true).class
    error = assert_raises(RecordError) { USER.load(pack(ADA.except("raw")), collect: true) }
    assert_equal [:raw], error.errors.map(&:field)
  end

  def test_classes_do_not_get_the_wrong_values_of_collected_errors
    calls = 0
    strict = Struct.new(:name, :at, keyword_init: true) do
      define_method(:initialize) do |name:, at:|
        super(name: name.upcase, at: at.x)
        calls += 1
      end
    end
    record = Record.new(strict, name: String, at: POINT.lazy)
    [[{ "name" => 1, "at" => { "x" => 1, "y" => 2 } }, "$.name"], [{ "name" => "a", "at" => { "y" => 2 } }, "$.at.x"]]
      .each do |message, path|
        error = assert_raises(RecordError) { record.load(pack(message), collect: true) }
        assert_equal [path], error.errors.map(&:path)
      end
    assert_equal 0, calls
    assert_equal 1.0, record.load(pack({ "name" => "a", "at" => { "x" => 1, "y" => 2 } }), collect: true).at
  end

  def test_collect_stops_at_a_thousand_errors
    [[999, 999], [1000, 1000], [5000, 1000]].each do |wrong, kept|
      error = assert_raises(RecordError) { Type[[Integer]].load(pack([nil] * wrong), collect: true) }
      assert_equal [kept, "$[0]", "$[#{kept - 1}]"], [error.errors.size, error.path, error.errors.last.path]
    end
  end

  def test_collect_still_refuses_what_is_no_message
    assert_raises(Manypack::TruncatedError) { USER.load(pack({ **ADA, "id" => "x" }).chop, collect: true) }
  end

  def test_valid_tells_without_raising
    assert USER.valid?(pack(ADA))
    refute USER.valid?(pack({}))
    refute USER.valid?("\xC1".b)
    refute USER.valid?(pack(ADA).chop)
  end
end
