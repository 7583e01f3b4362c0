# frozen_string_literal: true

# Type#from makes objects of Hashes, as Type#load makes them of bytes; Type#to_h is the way back.
require "test_helper"
require "record/records"

class RecordFromTest < Minitest::Test
  include Records

  Part = Struct.new(:a, :b)

  EVENT = Record.union("type", "circle" => CIRCLE, "square" => SQUARE, else: { String => Integer })
  PART = Record.new(Part, a: Integer, b: Type[String, nil]).with(defaults: { b: nil })

  # A Hash, or a part of one, and the type that makes an object of it.
  PAIRS = [
    [USER, ADA], [USER, ADA.transform_keys(&:to_sym)], [USER, ADA.except("tags", "name").merge(full_name: "A")], [Type[[USER]], [ADA, ADA]],
    [NODE, { value: 1, children: [{ "value" => 2, children: [] }] }], [POINT.array, [1, 2.5]], [SHAPE, { type: "circle", radius: 1 }],
    [SHAPE, { radius: 1, "type" => :circle }], [EVENT, { a: 1 }], [EVENT, { type: "square", side: 2.0 }], [REST, { x: 1, y: 2, "z" => [3] }],
    [Type[{ Symbol => 1..9 }], { "a" => 1, b: 9 }], [Type[%w[a b], nil], :a], [Type[%i[a b]], "b"], [Type[Integer, Float], 1], [Type[Float], 2**53],
    [Type[[1, 2.0, "x"]], 2], [Type[Numeric], 1.5], [Type[String], "\xFF".b], [Type[String], "é".encode("UTF-16LE")], [Type[Symbol], "é"],
    [Type[0..], 2**64 - 1], [Type[Array, nil], [[1]]], [Type[Time], Time.at(5)],
    [Type[PART.with(keys: { a: 2**62 }), POINT], { 2**62 => 1 }]
  ].freeze

  PAIRS.each_with_index do |(type, given), index|
    define_method("test_#{index}_from_makes_what_load_makes_of_the_packed_object") do
      type = type.with(timestamp: true)
      loaded = type.load(Manypack.pack(given, timestamp: true))
      before = Marshal.dump(given)
      [{}, { lax: true }, { collect: true }, { freeze: true }, { shareable: true }].each do |options|
        made = type.from(given, **options)
        next assert_equal(loaded.to_h.except(:raw), made.to_h.except(:raw)) if made.is_a?(User)

        assert_equal loaded, made, options.inspect
        assert Ractor.shareable?(made) if options[:shareable]
      end
      assert_equal before, Marshal.dump(given), "the given object is as it was"
    end
  end

  # A wrong object, and the paths of all errors in it.
  WRONG = [
    [USER, { id: "1", name: 5, tags: [1, "a", nil], home: { x: "" }, raw: 1 }, %w[$.id $.name $.tags[0] $.tags[2] $.home.x $.home.y]],
    [USER, { id: 1, name: "", raw: 1, home: nil, nmae: 1, 5 => 6 }, ["$.nmae", "$[5]"]], [Type[[Integer]], { "a" => 1 }, ["$"]], [POINT, [1, 2], ["$"]],
    [SHAPE, { type: "star" }, ["$.type"]], [SHAPE, { a: 1 }, ["$.type"]], [SHAPE, { type: "circle", radius: nil }, ["$.radius"]], [Type[Integer], 2**64, ["$"]],
    [Type[0.5..2], 3, ["$"]], [Type[Float], 2**53 + 1, ["$"]], [Type[{ String => Integer }], { 1 => 2, a: "3" }, ["$", "$.a"]], [Type[String], nil, ["$"]],
    [Type[Symbol], "\xFF", ["$"]], [Type[true, nil], "true", ["$"]], [POINT.array, [1], ["$[1]"]], [POINT.array.with(unknown: :raise), [1, 2, 3], ["$[2]"]],
    [Type[String], Object.new, ["$"]], [NODE, BasicObject.new, ["$"]], [REST, { y: 1 }, ["$.x"]], [Type[%w[a b]], "c", ["$"]]
  ].freeze

  WRONG.each_with_index do |(type, given, paths), index|
    define_method("test_#{index}_from_refuses_what_load_refuses_with_the_same_paths") do
      error = assert_raises(RecordError) { type.from(given, collect: true) }
      assert_equal paths, error.errors.map(&:path)
      error.errors.each { |one| refute_match(/byte \d|\bstr\b|\bmap of\b/, one.message) }
      assert_equal paths.first, assert_raises(RecordError) { type.from(given) }.path
    end
  end

  def test_errors_say_what_is_wrong_in_the_words_of_load
    given = { "id" => nil, "name" => 5, "tags" => {}, "home" => { "x" => [], "y" => true }, "nmae" => 1 }
    from, load = [-> { USER.from(given, collect: true) }, -> { USER.load(Manypack.pack(given), collect: true) }].map { |call| assert_raises(RecordError, &call).details }
    assert_equal load.map { |one| one.except(:message) }, from.map { |one| one.except(:message) }
    assert_equal "count must be from 1 to 9, is 12", assert_raises(RecordError) { Record.define(count: 1..9).from({ count: 12 }, lax: true) }.sentence
  end

  def test_codes_of_what_only_from_refuses
    { duplicate: [POINT, { "x" => 1, x: 2, y: 3 }, { untrusted: true }], limit: [POINT.array, [1, 2], { max_array_size: 1 }] }.each do |code, (type, given, options)|
      assert_equal code, assert_raises(RecordError) { type.from(given, **options) }.code
    end
  end

  def test_an_integer_is_the_float_of_an_enum_that_it_equals
    [1.0, 2.0**1016, 1e308, Float::MAX].each do |float|
      type = Type[[float, 2]]
      assert_equal [float, Float], [type.from(float.to_i), type.from(float.to_i).class]
      assert_raises(Manypack::RecordError) { type.from(float.to_i + 5) }
    end
  end

  def test_a_string_and_an_object_of_the_class_are_taken_as_they_are
    name = +"Ada"
    point = Point.new("never", "checked")
    made = USER.from({ id: 1, name: name, home: point, raw: nil })
    assert_same name, made.name
    assert_same point, made.home
    assert_equal [point, Circle.new(1)], [POINT.from(point), SHAPE.from(Circle.new(1))]
    refute_same name, USER.from({ id: 1, name: name, home: nil, raw: nil }, freeze: true).name
    refute_predicate name, :frozen?
    assert Ractor.shareable?(Type[POINT, nil].from(point, shareable: true))
    refute_predicate point, :frozen?
  end

  def test_a_view_and_a_lazy_record
    made = USER.from({ id: 1, name: "", home: nil, raw: { a: 1 } })
    assert_equal [View, { "a" => 1 }], [made.raw.class, made.raw.value]
    assert_equal Point.new(1.0, 2.0), POINT.lazy.from({ x: 1, y: 2 })
  end

  def test_keys_that_are_equal_as_text
    given = { "x" => 1, x: 2, y: 3 }
    assert_equal Point.new(2.0, 3.0), POINT.from(given)
    assert_equal Point.new(1.0, 3.0), POINT.from(given, duplicate_keys: :first)
    [[POINT, given], [Type[{ String => Integer }], { "a" => 1, a: 2 }]].each do |type, hash|
      assert_match(/equal as text/, assert_raises(RecordError) { type.from(hash, untrusted: true) }.message)
    end
  end

  def test_limits_hold
    deep = 40.times.reduce([]) { |inner, _| { value: 1, children: [inner].flatten(1) } }
    [[NODE, deep, { max_depth: 10 }], [Type[[Integer]], [1] * 11, { max_array_size: 10 }], [Type[String], "é" * 6, { max_string_bytes: 11 }],
     [Type[{ String => Integer }], { a: 1, b: 2 }, { max_map_size: 1 }], [Type[[[Integer]]], [[1, 2], [3]], { max_objects: 5 }],
     [Type[Symbol], "\xFF", { utf8: :strict }]].each do |type, given, options|
      assert_raises(RecordError, options.inspect) { type.from(given, **options, collect: true) }
    end
  end

  # For each option a value, and a type and an object to which it makes a difference.
  OPTIONS = {
    symbolize_keys: [true, REST, { x: 1, "y" => 2 }], freeze: [true, Type[Object], ["a"]], shareable: [true, Type[[String]], ["a"]], timestamp: [true, Type[Time], Time.at(1)],
    untrusted: [true, POINT, { "x" => 1, x: 2, y: 3 }], max_depth: [1, Type[[[Integer]]], [[1]]], max_objects: [2, Type[[Integer]], [1, 2]],
    max_map_size: [1, POINT, { x: 1, y: 2 }], max_array_size: [1, POINT.array, [1, 2]], max_string_bytes: [1, Type[String], "é"], utf8: [:strict, Type[String], "\xFF"],
    duplicate_keys: [:first, POINT, { "x" => 1, x: 2, y: 3 }]
  }.freeze

  def outcome(type, given, options)
    made = type.from(given, **options)
    [made, made.frozen?]
  rescue RecordError, ArgumentError => error
    [error.class, error.message]
  end

  def test_each_option_has_its_effect_or_is_refused
    arguments = Manypack.module_eval("Arguments")
    OPTIONS.each { |name, (value, type, given)| refute_equal outcome(type, given, {}), outcome(type, given, { name => value }), name }
    (arguments::CODEC_OPTIONS - OPTIONS.keys).each do |name|
      assert_match(/\A#{name} has no effect on from: /, assert_raises(ArgumentError, name.to_s) { POINT.from({ x: 1, y: 2 }, name => true) }.message)
    end
    assert_raises(ArgumentError) { POINT.from({ x: 1, y: 2 }, laxx: true) }
  end

  # --- text ---

  LAX = {
    Integer => [{ "12" => 12, "-3" => -3, "0" => 0, "18446744073709551615" => 2**64 - 1 }, ["", "1.0", "1e3", "0x1", "1_000", " 1", "1\n", "+1", "01", "one", "9" * 30]],
    Float => [{ "1.5" => 1.5, "2" => 2.0, "-1e3" => -1000.0 }, ["", "NaN", "Infinity", ".5", "1.", "1e999", "1,5", "9007199254740993"]],
    Type[true, false] => [{ "true" => true, "1" => true, "on" => true, "false" => false, "0" => false, "off" => false }, ["", "TRUE", "yes", "2", "t"]],
    Type[Integer, nil] => [{ "" => nil, "7" => 7 }, %w[nil null]], Type[String, nil] => [{ "" => nil, "7" => "7" }, []], Type[String, Integer] => [{ "7" => "7" }, []],
    String => [{ "" => "" }, []], (1..9) => [{ "5" => 5 }, %w[0 10]], [1, 2.5, nil, "x", :y] => [{ "1" => 1, "2.5" => 2.5, "" => nil, "x" => "x", "y" => :y }, %w[2 z]],
    Type[Integer, Float] => [{ "1" => 1, "1.5" => 1.5 }, ["x"]], Object => [{ "1" => "1", "" => "" }, []], Numeric => [{}, ["1"]], [Integer] => [{}, ["1", ""]],
    Symbol => [{ "1" => :"1" }, []], %w[1 2] => [{ "1" => "1" }, ["3"]]
  }.freeze

  LAX.each do |type, (taken, refused)|
    define_method("test_lax_text_for_#{type.inspect}_becomes_what_the_table_says") do
      type = Type[type]
      taken.each do |text, object|
        made = type.from(text, lax: true)
        assert_equal [object.class, object], [made.class, made], text
        assert_equal [made], [type.from(text.b, lax: true)] unless made.is_a?(String)
      end
      refused.each { |text| assert_equal "$", assert_raises(RecordError, text) { type.from(text, lax: true) }.path }
      next if type == Type[Symbol]

      taken.each_key { |text| assert_raises(RecordError, text) { type.from(text) } unless taken[text] == text || type.valid?(Manypack.pack(text)) }
    end
  end

  def test_from_takes_the_environment
    ENV["MANYPACK_COUNT"] = "3"
    record = Record.define(manypack_count: 1..9, with: { keys: :screaming })
    assert_equal 3, record.from(ENV, lax: true).manypack_count
    assert_match(/got Integer/, assert_raises(RecordError) { record.from(1) }.message)
  ensure
    ENV.delete("MANYPACK_COUNT")
  end

  def test_an_error_has_the_name_that_the_class_got_after_its_record
    named = self.class.const_set(:Later, Record.define(id: Integer))
    assert_match(/\Aexpected RecordFromTest::Later, got nil/, assert_raises(RecordError) { named.from(nil) }.message)
    assert_match(/\Aexpected RecordFromTest::Later, got array/, assert_raises(RecordError) { named.load("\x90") }.message)
  end

  def test_lax_works_at_every_depth_and_in_keys_and_tags
    assert_equal [Part.new(1, nil)], Type[[PART]].from([{ "a" => "1", "b" => "" }], lax: true)
    assert_equal({ 1 => true }, Type[{ Integer => Type[true, false] }].from({ "1" => "on" }, lax: true))
    numbered = Record.union("kind", 1 => CIRCLE, 2 => SQUARE)
    assert_equal Square.new(2.0), numbered.from({ "kind" => "2", "side" => "2" }, lax: true)
    assert_raises(RecordError) { numbered.from({ "kind" => "2", "side" => 2 }) }
  end

  # --- to_h ---

  def test_to_h_is_what_a_reader_finds_with_symbols_as_keys
    [[USER, USER.load(pack(ADA))], [SHAPE, Circle.new(1.5)], [Type[{ String => POINT }], { "a" => Point.new(1.0, 2.0) }], [REST, REST.from({ x: 1, y: { "z" => 2 } })],
     [NODE, Node.new(1, [Node.new(2, [])])]].each do |type, object|
      assert_equal Manypack.unpack(type.dump(object), symbolize_keys: true), type.to_h(object)
    end
    assert_equal Time.at(5), Type[{ String => Time }].with(timestamp: true).to_h({ "at" => Time.at(5) })[:at]
    [[POINT.array, Point.new(1, 2)], [Type[Integer], 1]].each { |type, object| assert_raises(TypeError) { type.to_h(object) } }
  end

  def test_a_class_with_a_record_has_from
    klass = Record.define(id: Integer)
    assert_equal klass.new(id: 1), klass.from({ "id" => "1" }, lax: true)
    assert_raises(RecordError) { klass.from({ id: nil }, collect: true) }
    assert_raises(ArgumentError) { klass.from({ id: 1 }, canonical: true) }
  end
end
