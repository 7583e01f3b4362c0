# frozen_string_literal: true

# Constraints of types: what a value must be beyond its type, through the doors by which bytes become objects.
require "test_helper"
require "json"

class RecordRulesTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  User = Struct.new(:name, :zip, :tags)
  USER = Record.new(User, name: Type[String, length: 1..5], zip: Type[String, nil, pattern: /\A\d{4}\z/],
                          tags: Type[[String], length: ..2, unique: true])

  def refusal(type, object) = assert_raises(RecordError) { type.load(pack(object)) }.message

  def assert_takes(type, *objects)
    assert_equal objects, objects.map { |object| type.load(pack(object)) }
  end

  # --- each constraint ----------------------------------------------------------------------------------------

  def test_length_counts_characters_of_text
    type = Type[String, length: 2..4]
    assert_takes type, "ab", "abcd", "éééé", "日本語語"
    { "a" => "a", "abcde" => "abcde", "é" => "é", "日本語語語" => "日本語語語" }.each do |text, told|
      assert_equal "expected 2 to 4 characters, got str #{told.inspect}, at $, byte 0", refusal(type, text)
    end
  end

  def test_length_counts_bytes_of_a_bin
    assert_takes Type[String, length: 2..2], "é".b
    assert_equal "expected 1 character, got bin of 2 bytes, at $, byte 0", refusal(Type[String, length: 1..1], "é".b)
  end

  def test_length_counts_elements_and_pairs
    assert_takes Type[[Integer], length: 1..2], [1], [1, 2]
    assert_match(/\Aexpected 1 to 2 elements, got array of 3/, refusal(Type[[Integer], length: 1..2], [1, 2, 3]))
    assert_match(/\Aexpected at most 1 pair, got map of 2/, refusal(Type[{ String => Integer }, length: ..1], { "a" => 1, "b" => 2 }))
    assert_match(/\Aexpected at least 1 element, got array of 0/, refusal(Type[Array, length: 1..], []))
  end

  def test_a_pattern_is_one_of_text_in_utf_8
    assert_takes Type[String, pattern: /\A\p{L}+é?\z/], "abc", "é", "日本"
    assert_takes Type[String, pattern: /\A\d{4}\z/], "1234", "1234".b
    ["12345", "123", "１２３４", "1234\n", "\xFF1234".b, "\xFF"].each do |text|
      assert_match %r{\Aexpected a match of /\\A\\d\{4\}\\z/, got}, refusal(Type[String, pattern: /\A\d{4}\z/], text)
    end
  end

  def test_a_pattern_does_not_touch_the_last_match
    "abc" =~ /b/
    Type[String, pattern: /\A1/].load(pack("1"))
    assert_equal "b", $~[0]
  end

  def test_unique_elements_are_not_eql
    type = Type[Array, unique: true]
    assert_takes type, [], [1, 1.0, "1", nil], [*1..100], [[1], [2]]
    [[1, 1], ["a", "b", "a"], [*1..100, 50], [[1], [1]], [nil, nil]].each do |array|
      assert_match(/\Aexpected unique elements, got array/, refusal(type, array))
    end
  end

  def test_multiples_are_those_of_the_decimal_text
    assert_takes Type[Integer, multiple_of: 5], 0, -15, 2**64 - 1
    assert_takes Type[Float, multiple_of: 0.01], 0.07, 1.15, -3.0, 1e300
    assert_takes Type[Numeric, multiple_of: 0.5], 3, 1.5
    [[5, 7], [5, 2**63], [0.01, 0.075], [0.01, Float::NAN], [0.01, Float::INFINITY]].each do |of, number|
      assert_match(/\Aexpected a multiple of #{of}, got/, refusal(Type[Integer, Float, multiple_of: of].or(nil), number)) if number.is_a?(Float)
      assert_raises(RecordError) { Type[Numeric, multiple_of: of].load(pack(number)) }
    end
  end

  def test_a_range_bounds_numbers_of_every_class
    assert_takes Type[Numeric, range: 0..10], 0, 10, 5.5
    assert_takes Type[Integer, range: 0.5..2.5], 1, 2
    assert_takes Type[Integer, Float, range: 0..10], 10, 9.5
    assert_match(/\Aexpected a value from 0 to 10, got Integer 11/, refusal(Type[Numeric, range: 0..10], 11))
    assert_match(/\Aexpected Integer in 10\.\., got Integer 9/, refusal(Type[Integer, range: 10..], 9))
  end

  def test_a_range_of_times_is_a_type
    type = Type[Time.at(100)..Time.at(200)].with(timestamp: true)
    assert_equal Time.at(150), type.load(Manypack.pack(Time.at(150), timestamp: true))
    assert_raises(RecordError) { type.load(Manypack.pack(Time.at(201), timestamp: true)) }
    refute_operator type, :===, Time.at(99)
  end

  # --- in other types -----------------------------------------------------------------------------------------

  def test_a_constraint_is_for_the_types_that_can_have_it
    assert_takes Type[String, nil, [Integer], length: 2..2], nil, "ab", [1, 2]
    assert_match(/\Aexpected 2 characters, got str/, refusal(Type[String, nil, length: 2..2], "a"))
  end

  def test_a_value_that_breaks_a_rule_may_be_of_another_type
    type = Type[Type[String, length: 1..2], Type[String, pattern: /\A\d+\z/], %w[yes no]]
    assert_takes type, "ab", "12345", "yes"
    assert_match(/\Aexpected String or "yes" or "no", got str "abc"/, refusal(type, "abc"))
    several = Type[Type[1..2, nil].check("must not be 2") { |value| value != 2 }, Integer]
    [1, 2, 7].each { |value| assert_equal [value, value], [several.load(pack(value)), several.from(value)] }
  end

  def test_keys_have_rules
    type = Type[{ Type[String, length: 1..2] => Integer }]
    assert_takes type, { "a" => 1 }
    assert_match(/\Aexpected 1 to 2 characters, got str "abc", at \$, byte 1/, refusal(type, { "abc" => 1 }))
  end

  Open = Struct.new(:id, :rest)

  def test_unknown_pairs_keep_the_rules_of_their_member
    [Type[{ String => Integer }, length: ..1], Type[{ String => Integer }, nil, length: ..1]].each do |rest|
      type = Record.new(Open, id: Integer, rest: rest).with(unknown: { into: :rest })
      assert_equal Open.new(1, { "a" => 1 }), type.load(pack({ "id" => 1, "a" => 1 }))
      assert_match(/\Aexpected at most 1 pair, got map/, refusal(type, { "id" => 1, "a" => 1, "b" => 2 }))
      assert_match(/\Aexpected Integer, got str/, refusal(type, { "id" => 1, "a" => "1" }))
      assert_raises(RecordError) { type.from({ id: 1, a: 1, b: 2 }) }
    end
  end

  def test_errors_say_which_rule
    error = assert_raises(RecordError) { USER.load(pack({ "name" => "", "zip" => "x", "tags" => %w[a a] }), collect: true) }
    assert_equal [[:length, "1 to 5 characters", '""'], [:pattern, 'a match of /\A\d{4}\z/', '"x"'], [:unique, "unique elements", "an array"]],
                 error.errors.map { |one| [one.code, one.expected, one.got] }
    assert_equal [:check, "must be even"], assert_raises(RecordError) { EVEN.load("\x01") }.then { |one| [one.code, one.message[/[^,]*/]] }
  end

  def test_all_errors_are_collected
    error = assert_raises(RecordError) do
      USER.load(pack({ "name" => "abcdef", "zip" => "x", "tags" => %w[a a] }), collect: true)
    end
    assert_equal %w[$.name $.zip $.tags], error.errors.map(&:path)
  end

  def test_wrong_elements_are_no_reason_for_another_error
    error = assert_raises(RecordError) { Type[[String], unique: true].load(pack([1, 2, "a"]), collect: true) }
    assert_equal %w[$[0] $[1]], error.errors.map(&:path)
  end

  # --- doors --------------------------------------------------------------------------------------------------

  GOOD = { "name" => "Ada", "zip" => nil, "tags" => %w[a b] }.freeze
  BAD = GOOD.merge("name" => "")

  DOORS = {
    load: ->(object) { USER.load(Manypack.pack(object)) },
    json: ->(object) { USER.load_json(Manypack.pack(object).then { |bytes| Manypack.to_json(bytes) }) },
    split: ->(object) { Manypack.split(Manypack.pack(object), as: USER).first },
    view: ->(object) { Manypack::View.new(Manypack.pack([object]))[0].as(USER) },
    lazy: ->(object) { USER.lazy.load(Manypack.pack(object)).tap(&:name).load },
    array: ->(object) { USER.array.load(Manypack.pack(object.values)) },
    union: ->(object) { Record.union("t", "u" => USER).load(Manypack.pack({ "t" => "u", **object })) },
    ractor: ->(object) { Manypack::Parallel.map(Manypack.pack(object), ractors: 1, as: USER, &:itself).first },
    dump: ->(object) { USER.load(USER.dump(User.new(*object.values), check: true)) },
    from: ->(object) { USER.from(object) }
  }.freeze

  DOORS.each do |name, door|
    define_method("test_rules_hold_at_the_door_#{name}") do
      assert_equal User.new("Ada", nil, %w[a b]), door.call(GOOD)
      assert_match(/expected 1 to 5 characters, got (str|string|String) ""/, assert_raises(Manypack::Error) { door.call(BAD) }.message)
    end
  end

  def test_dump_checks_no_rule_unless_asked
    assert_equal GOOD.merge("name" => "").to_a, Manypack.unpack(USER.dump(User.new("", nil, %w[a b]))).to_a
  end

  # --- from objects -------------------------------------------------------------------------------------------

  def test_from_keeps_the_rules_of_load
    [[Type[String, length: 1..2], "a", "abc"], [Type[[Integer], unique: true], [1, 2], [1, 1]], [Type[{ String => nil }, length: ..1], { "a" => nil }, { "a" => nil, "b" => nil }],
     [EVEN, 2, 3], [EVEN.or(nil), nil, 3], [Type.tuple(Integer, String), [1, "a"], [1]], [Type.text, "é", "é".b], [Type.bytes, "é".b, "é"], [Type.text, "a", "\xFF"],
     [Type[{ Type[String, length: ..1] => nil }], { "a" => nil }, { "ab" => nil }]].each do |type, good, bad|
      assert_equal [good], [type.from(good)]
      assert_raises(RecordError, type.inspect) { type.from(bad) }
    end
    assert_equal Span.new(1, 2), SPAN.from({ from: 1, to: 2 })
    assert_match(/\Afrom must be below to/, assert_raises(RecordError) { SPAN.from({ from: 2, to: 1 }) }.message)
    assert_raises(RecordError) { Type[Type[SPAN].check("starts at 5") { |span| span.from == 5 }, nil].from(Span.new(1, 2)) }
  end

  def test_lax_text_keeps_the_rules_of_what_it_becomes
    type = Type[Type[Integer, multiple_of: 5], nil]
    assert_equal [10, nil], ["10", ""].map { |text| type.from(text, lax: true) }
    assert_raises(RecordError) { type.from("11", lax: true) }
    assert_equal "10", Type[Type[Integer, multiple_of: 5], String].from("10", lax: true)
  end

  # --- checks -------------------------------------------------------------------------------------------------

  EVEN = Type[Integer].check("must be even") { |number| number.even? }
  Span = Struct.new(:from, :to)
  SPAN = Record.new(Span, from: Integer, to: Integer).check("from must be below to") { |span| span.from < span.to }

  def test_a_check_says_its_own_message
    assert_takes EVEN, 2
    assert_equal "must be even, at $[1], byte 2", refusal(Type[[EVEN]], [2, 3])
  end

  def test_a_check_of_a_record_compares_its_fields
    assert_equal Span.new(1, 2), SPAN.load(pack({ "from" => 1, "to" => 2 }))
    assert_match(/\Afrom must be below to, at \$, byte 0/, refusal(SPAN, { "from" => 2, "to" => 1 }))
    assert_match(/\Afrom must be below to/, refusal(SPAN.array, [2, 1]))
    assert_raises(RecordError) { SPAN.lazy.load(pack({ "from" => 2, "to" => 1 })).load }
    assert_raises(RecordError) { SPAN.dump(Span.new(2, 1), check: true) }
    assert_raises(RecordError) { SPAN.with(defaults: { to: 0 }).load(pack({ "from" => 2 })) }
  end

  def test_a_check_gets_no_wrong_values
    error = assert_raises(RecordError) { SPAN.load(pack({ "from" => "1", "to" => 2 }), collect: true) }
    assert_equal ["$.from"], error.errors.map(&:path)
  end

  def test_an_exception_in_a_check_is_the_cause
    type = Type[Integer].check("fails") { raise KeyError, "boom" }
    error = assert_raises(RecordError) { type.load("\x01") }
    assert_equal "boom, at $, byte 0", error.message
    assert_instance_of KeyError, error.cause
    refute type.valid?("\x01")
  end

  # Of an alternative, which no table of steps says, and of long text that is not ASCII. Ruby has it from 3.2 on.
  def test_regexp_timeout_is_the_cause
    return unless Regexp.respond_to?(:timeout=)

    Regexp.timeout = 1e-6
    text = "#{"é" * 200_000}yé"
    { Type[String, pattern: /\A(?:x|é)*y\z/] => :pattern, Type[String].check("fits") { |one| one.match?(/\A(x|é)*y\z/) } => :check }.each do |type, code|
      record = Record.new(Struct.new(:text), text: type)
      [-> { record.load(pack({ "text" => text })) }, -> { record.from({ text: text }) }, -> { record.load_json(JSON.generate({ text: text })) }].each do |door|
        error = assert_raises(RecordError) { door.call }
        assert_equal [code, "$.text", :text, Regexp::TimeoutError], [error.code, error.path, error.member, error.cause.class]
      end
    end
  ensure
    Regexp.timeout = nil if Regexp.respond_to?(:timeout=)
  end

  def test_a_check_may_leave_and_come_back
    deep = Type[Integer].check("throws") { throw :out, :thrown }
    assert_equal(:thrown, catch(:out) { Type[[deep]].load(pack([1])) })
    again = Type[Integer].check("loads") { |number| Type[[EVEN]].load(pack([number, 2])) }
    assert_equal [2, 4], Type[[again]].load(pack([2, 4]))
    switched = Type[String].check("waits") { Fiber.yield }
    fiber = Fiber.new { Type[[switched]].load(pack(%w[a b])) }
    fiber.resume
    GC.start
    fiber.resume(true)
    assert_equal %w[a b], fiber.resume(true)
  end

  # --- wrong definitions --------------------------------------------------------------------------------------

  WRONG = {
    "length: is for" => -> { Type[Integer, length: 1..2] }, "pattern: is for" => -> { Type[[String], pattern: /a/] },
    "unique: is for" => -> { Type[String, unique: true] }, "multiple_of: is for" => -> { Type[String, multiple_of: 2] },
    "range: is for" => -> { Type[String, range: 1..2] }, "length: 3..2" => -> { Type[String, length: 3..2] },
    "length: -5..-1" => -> { Type[String, length: -5..-1] }, "length must be" => -> { Type[String, length: "a".."b"] },
    "range: 2..1" => -> { Type[Numeric, range: 2..1] }, "range: 1...1" => -> { Type[Numeric, range: 1...1] },
    "range must be" => -> { Type[Integer, range: 5] }, "multiple_of must be" => -> { Type[Integer, multiple_of: 0] },
    "unique must be" => -> { Type[[Integer], unique: 1] }, "pattern must be" => -> { Type[String, pattern: "a"] },
    "quantifier|linear" => -> { Type[String, pattern: /\A(a|b+)*\1z/] }, "looks|linear" => -> { Type[String, pattern: /(a)\1/] },
    "counts up to" => -> { Type[String, pattern: /\A(?:[a-z]{1,30}){1,30}\z/] },
    "not UTF-8" => -> { Type[String, pattern: /\xFF/n] }, "check needs a block" => -> { Type[String].check("x") },
    "the constraints length, pattern" => -> { Type[String, size: 3] }
  }.freeze

  WRONG.each_with_index do |(told, make), i|
    define_method("test_a_wrong_definition_is_refused_#{i}") { assert_match(/#{told}/, assert_raises(ArgumentError, &make).message) }
  end

  def test_a_default_keeps_the_rules_of_its_member
    error = assert_raises(ArgumentError) { USER.with(defaults: { name: "abcdef" }) }
    assert_match(/\Athe default of name .*expected 1 to 5 characters/, error.message)
  end

  # A stranger's text is long, and made for the pattern.
  def test_patterns_take_linear_time
    [/\A-?\d+(\.\d+)?\z/, /\A[^@\s]+@[^@\s]+\z/, /[a-z]+\d/, /\Aa?a?a?a?a{4}\z/].each do |pattern|
      type = Type[String, pattern: pattern]
      ["a", "1", "@"].each { |text| refute_operator type, :valid?, pack("#{text * 50_000}!") }
    end
  end

  # --- as values ----------------------------------------------------------------------------------------------

  def test_types_with_equal_rules_are_equal
    types = -> { [Type[String, length: 1..2], Type[String, pattern: /a/], Type[[Integer], unique: true]] }
    assert_equal types.call, types.call
    assert_equal types.call.map(&:hash), types.call.map(&:hash)
    refute_equal Type[String, length: 1..2], Type[String, length: 1..3]
    assert_equal EVEN, EVEN.with
  end

  def test_types_with_rules_are_shareable
    assert Ractor.shareable?(USER)
    refute Ractor.shareable?(Type[Array.new(1) { Object }[0]].check("is any") { binding })
  end

  def test_inspect_tells_the_rules
    assert_equal "#<Manypack::Type String (1 to 2 characters) or nil>", Type[String, nil, length: 1..2].inspect
  end
end
