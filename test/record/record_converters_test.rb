# frozen_string_literal: true

# Types whose objects are made of others: text and bytes, tuples, and classes that travel as another type.
require "test_helper"
require "json"
require "bigdecimal"
require "date"
require "ipaddr"
require "set"
require "uri"

class RecordConvertersTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  Money = Struct.new(:cents)
  MONEY = Type.via(Money, String, load: ->(text) { Money.new(Integer(text)) }, dump: ->(money) { money.cents.to_s })
  Item = Struct.new(:price)
  ITEM = Record.new(Item, price: MONEY.or(nil))

  def refusal(type, object) = assert_raises(RecordError) { type.load(pack(object)) }.message

  # Through bytes, JSON, and as the nullable element of an Array.
  def assert_travels(type, object, as)
    assert_equal as, Manypack.unpack(type.dump(object))
    list = Type[[type.or(nil)]]
    assert_equal [object, nil], list.load(list.dump([object, nil], check: true))
    assert_equal object, type.load_json(type.dump_json(object))
    assert_equal [object, object], Type.tuple(type, type).from([as, object]) unless object.is_a?(Array)
    assert_operator type, :===, object
  end

  # --- text and bytes -------------------------------------------------------------------------------------------

  def test_text_is_a_str_of_valid_utf_8
    assert_travels Type.text, "é", "é"
    ["\xFF", "abc".b, 1, nil].each { |object| assert_match(/\Aexpected text of valid UTF-8, got/, refusal(Type.text, object)) }
  end

  def test_bytes_are_a_bin_and_base64_in_json
    assert_travels Type.bytes, "\xFFa".b, "\xFFa".b
    assert_equal "\xC4\x02\xC3\xA9".b, Type.bytes.dump("é")
    assert_equal '"/2E="', Type.bytes.dump_json("\xFFa".b)
    assert_match(/\Aexpected bytes, got str/, refusal(Type.bytes, "abc"))
    ["/2E", "_2E=", "/2F=", "é"].each { |text| assert_raises(RecordError) { Type.bytes.load_json(Manypack.to_json(pack(text))) } }
    assert_equal '{"price":"YQ=="}', Record.new(Item, price: Type.bytes).dump_json(Item.new("a"))
    assert_raises(Manypack::UnexpectedTypeError) { Type.tuple(%i[bytes text], String).dump_json([:bytes, "\xFF".b]) } # an enum
    assert_equal '"61"', Type.bytes.dump_json("a", bin: :hex)
  end

  def test_a_time_is_text_in_json
    type = Type[Time, nil].with(timestamp: true)
    assert_equal Time.at(1.5), type.load_json(type.dump_json(Time.at(1.5)))
    assert_raises(RecordError) { type.load_json('"yesterday"') }
    assert_raises(RecordError) { type.load(pack("2030-01-31T12:00:00Z")) }
    assert_raises(RecordError) { Type[Time.at(0)..Time.at(9)].with(timestamp: true).load_json('"1970-01-01T00:00:10Z"') }
  end

  # --- tuples ---------------------------------------------------------------------------------------------------

  def test_a_tuple_has_one_type_for_each_element
    type = Type.tuple(Float, [Type.text(Symbol)], Type[Integer, nil])
    assert_travels type, [1.5, [:a], nil], [1.5, ["a"], nil]
    assert_match(/\Aexpected Array of 3, got array of 2/, refusal(type, [1.5, ["a"]]))
    assert_match(/\Aexpected Integer or nil, got str "x", at \$\[2\]/, refusal(type, [1.5, ["a"], "x"]))
    assert_raises(RecordError) { type.dump([1.5, [:a]]) }
    assert_equal [], Type.tuple.load("\x90")
  end

  # --- ready-made -----------------------------------------------------------------------------------------------

  TEXTS = {
    "2030-01-31T12:00:00Z" => [Time, Time.utc(2030, 1, 31, 12)], "0001-02-03T04:05:06.000000007+09:30" => [Time, Time.new(1, 2, 3, 4, 5, 6 + 7r / 1_000_000_000, "+09:30")],
    "2030-02-28" => [Date, Date.new(2030, 2, 28)], "1500-02-28" => [Date, Date.new(1500, 2, 28, Date::GREGORIAN)],
    "-12.5" => [BigDecimal, BigDecimal("-12.50")], "0.0" => [BigDecimal, BigDecimal("0")], "https://a.example/b?c#d" => [URI, URI("https://a.example/b?c#d")],
    "é" => [Symbol, :é], "192.0.2.1" => [IPAddr, IPAddr.new("192.0.2.1")], "2001:db8::1" => [IPAddr, IPAddr.new("2001:db8::1")]
  }.freeze

  TEXTS.each do |text, (klass, object)|
    define_method("test_#{text}_is_a_#{klass}") { assert_travels Type.text(klass), object, text }
  end

  WRONG = {
    Time => ["2030-02-29T00:00:00Z", "2030-01-31", "2030-01-31T24:00:00Z", "2030-13-01T00:00:00Z", "2030-01-31T12:00:00", "2030-01-31T12:00:60Z", "\n2030-01-31T12:00:00Z", "2030-01-31T12:00:00+25:00"],
    Date => %w[2030-02-29 2030-1-1 2030-01-01T00:00:00Z], BigDecimal => %w[1e9 NaN Infinity 1_000 .5 1. 0x1],
    URI => ["/path", "a b", "http://[", "é://x", "http://#{"a" * 2_048}"], IPAddr => ["10.0.0.0/8", "1.2.3", "::1%eth0", "a"]
  }.freeze

  WRONG.each do |klass, texts|
    define_method("test_text_that_says_no_#{klass}_is_refused") do
      texts.each { |text| assert_match(/\Aexpected .*, got str/, refusal(Type.text(klass), text), text) }
      refute_operator Type.text(klass), :valid?, pack("1".b)
    end
  end

  def test_objects_that_text_cannot_say_are_not_dumped
    { Time => Time.utc(10_000), Date => Date.new(-1), BigDecimal => BigDecimal("NaN"), IPAddr => IPAddr.new("10.0.0.0/8") }.each do |klass, object|
      error = assert_raises(RecordError) { Type[[Type.text(klass)]].dump([object]) }
      assert_equal ["$[0]", :conversion, ArgumentError], [error.path, error.code, error.cause.class]
    end
  end

  def test_a_set_is_an_array_without_repetition
    assert_travels Type.set(Integer), Set[1, 2], [1, 2]
    assert_match(/\Aexpected unique elements, got array of 2/, refusal(Type.set(Integer), [1, 1]))
    assert_match(/\Aexpected at most 1 element, got/, refusal(Type[Type.set(Integer), length: ..1], [1, 2]))
  end

  def test_a_uuid_is_text
    assert_travels Type.uuid, "0f0e0d0c-0b0a-0908-0706-050403020100", "0f0e0d0c-0b0a-0908-0706-050403020100"
    assert_match(/\Aexpected a UUID, got str/, refusal(Type.uuid, "0f0e0d0c-0b0a-0908-0706-050403020100\n"))
  end

  def test_rules_are_of_the_converted_object
    assert_match(/\Aexpected a value from 0 to 1/, refusal(Type[Type.text(BigDecimal), range: 0..1], "1.01"))
    assert_equal Time.utc(2030), Type[Type.text(Time), range: Time.utc(2030)..].load(pack("2030-01-01T00:00:00Z"))
  end

  # --- converters of a program ----------------------------------------------------------------------------------

  def test_a_class_travels_as_another_type
    assert_travels MONEY, Money.new(5), "5"
    assert_equal Item.new(Money.new(5)), ITEM.load(ITEM.dump(Item.new(Money.new(5))))
    assert_equal Item.new(nil), ITEM.load(ITEM.dump(Item.new(nil)))
    assert_equal Money.new(5), ITEM.lazy.load(pack({ "price" => "5" })).price
    assert_equal [Money.new(5)], ITEM.array.load(pack(["5"])).to_a
    assert_travels Type.via(Integer, String, load: ->(text) { Integer(text) }, dump: ->(number) { number.to_s }), 5, "5"
  end

  def test_what_a_converter_raises_is_the_cause
    error = assert_raises(RecordError) { ITEM.load(pack({ "price" => "x" })) }
    assert_equal ["$.price", :price, ArgumentError], [error.path, error.member, error.cause.class]
    assert_match(/\Ainvalid value for Integer\(\): "x", at \$\.price/, error.message)
  end

  # Through every door that dumps.
  def test_what_a_converter_raises_when_it_dumps_is_the_cause_too
    failing = Type.via(Money, String, load: ->(text) { Money.new(text) }, dump: ->(money) { raise KeyError, "no #{money.cents}" })
    sale = Record.define(id: Integer, prices: Type.tuple(ITEM, [failing]))
    bad = sale.new(id: 1, prices: [Item.new(Money.new(5)), [Money.new(1)]])
    outer = "$.sales[0]"
    { "$" => [-> { bad.dump }, -> { bad.dump(check: true) }, -> { bad.dump_json }, -> { bad.to_msgpack }, -> { sale.record.to_h(bad) }, -> { sale.record.view(bad) },
              -> { JSON.generate([bad]) }, -> { JSON.pretty_generate([bad]) }],
      outer => [-> { Manypack.pack({ "sales" => [bad] }) }, -> { Manypack::Packer.new(StringIO.new).write({ "sales" => [bad] }) },
                -> { Manypack.pack({ "sales" => [bad] }, timestamp: true) }, -> { Type[{ String => [sale] }].dump({ "sales" => [bad] }) }] }.each do |at, doors|
      doors.each do |door|
        error = assert_raises(RecordError) { door.call }
        assert_equal ["#{at}.prices[1][0]", :prices, :conversion, KeyError, sale], [error.path, error.member, error.code, error.cause.class, error.record.klass]
        assert_equal "no 1, at #{at}.prices[1][0] (#prices)", error.message
        assert_kind_of Manypack::EncodeError, error
      end
    end
    refute_operator sale.record, :===, bad
  end

  def test_a_converter_that_returns_no_object_of_the_class_refuses
    type = Type.via(Money, String, load: ->(_) {})
    assert_equal 'expected RecordConvertersTest::Money, got str "x", at $, byte 0', refusal(type, "x")
    assert_equal "x", Type[type, String].load(pack("x"))
  end

  def test_only_objects_of_the_class_are_dumped
    assert_match(/expected .*Money, got String, at \$\[0\]/, assert_raises(Manypack::EncodeError::TypeError) { Type[[MONEY]].dump(["5"]) }.message)
    assert_raises(RecordError) { ITEM.dump(Item.new([])) }
  end

  def test_without_dump_a_type_only_loads
    type = Record.new(Item, price: Type.via(Money, Integer, load: ->(cents) { Money.new(cents) }))
    assert_equal Item.new(Money.new(5)), type.load(pack({ "price" => 5 }))
    assert_match(/only loads.*at \$\.price/, assert_raises(Manypack::EncodeError::TypeError) { type.dump(Item.new(Money.new(5))) }.message)
  end

  def test_wrong_converters_are_refused
    { "via needs load" => -> { Type.via(Money, String) }, "via needs dump" => -> { Type.via(Money, String, load: ->(_) {}, dump: 5) },
      "5 is no class" => -> { Type.via(5, String, load: ->(_) {}) }, "Type.text knows Time" => -> { Type.text(Money) },
      "is no type" => -> { Type.tuple(5) } }.each do |told, make|
      assert_match(/#{told}/, assert_raises(ArgumentError, &make).message)
    end
  end

  # The Procs of this file use no local variables, and a class is shareable.
  def test_types_with_converters_are_shareable
    [MONEY, ITEM, Type.text(Time), Type.text(URI), Type.set(Integer), Type.uuid].each { |type| assert Ractor.shareable?(type), type.inspect }
    assert_equal [Item.new(Money.new(5))], Manypack::Parallel.map(pack({ "price" => "5" }), ractors: 1, as: ITEM, &:itself)
  end

  def test_options_hold_for_converted_objects
    assert_predicate Type.text(URI).with(freeze: true).load(pack("a:b")), :frozen?
    assert Ractor.shareable?(Type[[MONEY]].with(shareable: true).load(pack(["5"])))
  end

  # --- as JSON Schema and RBS -----------------------------------------------------------------------------------

  SCHEMAS = {
    Type[String, length: 1..3] => { "type" => "string", "minLength" => 1, "maxLength" => 3 },
    Type[String, pattern: /\A\h+\.\z/] => { "type" => "string", "pattern" => "^[0-9a-fA-F]+\\.$" }, Type[String, pattern: /^a/] => { "type" => "string" },
    Type[[Integer], length: ..3, unique: true] => { "type" => "array", "items" => { "type" => "integer" }, "maxItems" => 3, "uniqueItems" => true },
    Type[{ String => nil }, length: 1..] => { "type" => "object", "additionalProperties" => { "type" => "null" }, "minProperties" => 1 },
    Type[Integer, range: 0..9, multiple_of: 3] => { "type" => "integer", "minimum" => 0, "maximum" => 9, "multipleOf" => 3 },
    Type.tuple(Integer, nil) => { "type" => "array", "prefixItems" => [{ "type" => "integer" }, { "type" => "null" }], "minItems" => 2, "items" => false },
    Type.bytes => { "type" => "string", "contentEncoding" => "base64" }, Type.text(Date) => { "type" => "string", "format" => "date" },
    Type.set(String) => { "type" => "array", "items" => { "type" => "string" }, "uniqueItems" => true }, Type.uuid => { "type" => "string", "format" => "uuid" },
    MONEY => { "type" => "string" }, Type[Integer].check("x") { true } => { "type" => "integer" }
  }.freeze

  def test_json_schema_says_what_json_may_have
    SCHEMAS.each { |type, schema| assert_equal schema, type.json_schema.except("$schema") }
  end

  def test_rbs_names_the_objects
    types = [Type.text, Type.bytes, Type.text(Time).or(nil), Type.tuple(Integer, String), Type.set(Symbol), MONEY, Type[String, length: 1..]]
    assert_equal ["String", "String", "Time?", "[Integer, String]", "Set[Symbol]", "RecordConvertersTest::Money", "String"], types.map(&:to_rbs)
  end
end
