# frozen_string_literal: true

# Types of Records: the values that each takes and refuses, and what is no type.
require "test_helper"
require "record/records"
require "support/costs"

class RecordTypesTest < Minitest::Test
  include Records
  include Costs

  def text(value) = value.is_a?(View) ? value.value : value

  EXT = [Rational(1, 2)].freeze
  NOT = { Integer => [1.5, "1", nil, true, []], Float => [1.5.to_s, nil, (2**53) + 1], String => [1, nil, ["a"]], Symbol => [1, nil],
          NilClass => [0, false, ""], TrueClass => [false, nil, 1], FalseClass => [true, nil, 0], nil => [0, false],
          true => [false, 1], false => [true, nil], [Integer] => [1, { "a" => 1 }, ["1"], [1, nil]], { String => Integer } => [[], 1, { "a" => "1" }, { 1 => 1 }],
          (1..100) => [0, 101, 1.5, "5"], (0.0..1.0) => [-0.1, 1.1, 2, "0"], (1..) => [0, -1], (1...5) => [5], %w[ja en] => ["de", 1, nil], %i[a b] => ["c"],
          [true, false] => [nil, 0], { Integer => String } => [{ "a" => "b" }], { %w[a b] => Integer } => [{ "c" => 1 }],
          Type[Integer, String] => [nil, 1.5], Time => [0, "2020"] }.freeze

  TAKEN = { Integer => [0, -1, 2**63, 2**64 - 1, -2**63], Float => [1.5, -0.0, Float::INFINITY], String => ["", "é", "\xFF".b, "x" * 300],
            NilClass => [nil], TrueClass => [true], FalseClass => [false], nil => [nil], true => [true], false => [false],
            Object => [nil, 1, "a", [1, { "a" => 2 }]], [Integer] => [[], [1, 2]], [[String]] => [[["a"], []]], { String => Integer } => [{}, { "a" => 1 }],
            { Integer => String } => [{ 1 => "a" }], (1..100) => [1, 100], (0.0..1.0) => [0.0, 0.5, 1.0], (1..) => [1, 2**64 - 1], (..-1) => [-1, -2**63],
            (1...5) => [1, 4], %w[ja en] => %w[ja en], [true, false] => [true, false], [1, "a", nil] => [1, "a", nil],
            Type[Integer, String] => [1, "a"], Type[[Integer], String, nil] => [[1], "a", nil], Time => [Time.at(1, 5, :nsec)] }.freeze

  TAKEN.each do |type, values|
    define_method("test_values_of_type_#{type.inspect}") do
      options = type == Time ? { timestamp: true } : {}
      values.each do |value|
        assert_equal [value].inspect, [taken(type, value, **options)].inspect
        assert_equal [value].inspect, [Type[type].with(**options).load(pack(value, timestamp: true))].inspect
      end
    end
  end

  NOT.each do |type, values|
    define_method("test_values_that_are_not_of_type_#{type.inspect}") do
      options = type == Time ? { timestamp: true } : {}
      values.each do |value|
        error = refused(type, value, **options)
        assert_kind_of Manypack::DecodeError, error
        assert_match(/\A\$\.value/, error.path.to_s)
        refute Type[type].with(**options).valid?(pack(value)), value.inspect
      end
    end
  end

  # Where enough bytes follow, a short value is looked at and loaded at once.
  def test_what_follows_a_value_does_not_change_whether_it_is_taken
    values = [*TAKEN.values, *NOT.values, [7, 50, -100, 300, "a" * 40]].flatten(1).uniq
    [*TAKEN.keys, *NOT.keys].uniq.each do |type|
      alone = Type[type].with(timestamp: true)
      followed = Record.new(Struct.new(:first, :rest), first: type, rest: String).array.with(timestamp: true)
      values.each do |value|
        expected = alone.load(pack(value, timestamp: true)).inspect rescue RecordError
        actual = followed.load(pack([value, "x" * 40], timestamp: true)).first.inspect rescue RecordError
        assert_equal expected, actual, "#{value.inspect} as #{type.inspect}"
      end
    end
  end

  def test_a_float_takes_an_integer_that_it_holds_exactly
    assert_equal 2.0**53, taken([2.0**53, 0.5], 2**53)
    refused([2.0**53, 0.5], 2**53 + 1)
    assert_equal 2.0**63, taken([2.0**63, 0.5], 2**63)
    [0, 1, -7, 2**53, -(2**53), 2**60].each { |n| assert_equal [n.to_f].inspect, [taken(Float, n)].inspect }
    [(2**53) + 1, -(2**53) - 1, 2**64 - 1].each { |n| refused(Float, n) }
  end

  def test_symbols_match_a_str
    assert_equal :a, taken(Symbol, "a")
    assert_equal :a, taken(%i[a b], "a")
    assert_equal({ a: 1 }, taken({ Symbol => Integer }, { "a" => 1 }))
    assert_equal({ b: 1 }, taken({ %i[a b] => Integer }, { "b" => 1 }))
    refused({ %i[a b] => Integer }, { "c" => 1 })
  end

  def test_the_order_of_alternatives_does_not_change_what_is_taken
    values = ["\xFF", "a", "é".b, 1, -1, 2**63, 1.5, 2**60 + 1, nil, true, [], {}].map { |value| pack(value) }
    parts = [Symbol, String, Integer, Float, 1..5, 0.0..1.0, nil, %w[a b], %i[a b], [1, "é"], Manypack::Timestamp]
    parts.combination(2).each do |one, other|
      values.each do |value|
        assert_equal Type[other, one].valid?(value), Type[one, other].valid?(value), [one, other, value].inspect
        assert Type[one, other].valid?(value), [one, other, value].inspect if Type[one].valid?(value) || Type[other].valid?(value)
      end
    end
  end

  # Time needs timestamp: true: without it, Time alone is refused when a message is loaded, whatever its place.
  def test_types_with_values_of_their_own_have_no_order
    values = ["a", 1, 5, 2**60 + 1, 1.5, 0.5, nil, true, [1], ["x"], { "x" => 1, "y" => 2 }, Time.at(0)].map { |value| pack(value, timestamp: true) }
    parts = [Time, String, Integer, Float, 1..5, nil, true, [1.5, 2.0], ["a", nil], [Integer], { String => Integer }, CIRCLE, Array, Hash, Type[Time, nil], :Circle]
    [false, true].product(parts.combination(3).to_a).each do |timestamp, types|
      results = types.permutation.map do |order|
        type = Type[*order].with(timestamp: timestamp)
        values.map { |value| type.load(value).inspect rescue $!.class }
      rescue ArgumentError
        :refused
      end
      assert_equal 1, results.uniq.size, [types, timestamp, results.uniq].inspect
    end
  end

  def test_a_view_keeps_an_integer_in_either_order
    [[Float, View], [View, Float], [1.0..2.0, View]].each { |types| assert_equal "1", text(Type[*types].load(pack(1))).inspect }
  end

  def test_strings_are_str_or_bin
    assert_equal [Encoding::UTF_8, Encoding::BINARY], ["a", "a".b].map { |value| taken(String, value).encoding }
  end

  # A bin counts as text if it is ASCII, because only then does a binary String equal text in Ruby.
  def test_one_rule_for_str_and_bin
    texts = { %w[a b] => "a", ["é", "a"] => "a", ["a".b] => "a", %i[a b] => :a, Symbol => :a, [1, "a"] => "a", Type[Symbol, nil] => :a }
    texts.each do |type, value|
      %w[c401 c5_0001 a1 d901].each { |head| assert_equal value, Type[type].load(bytes("#{head.delete("_")}61")) }
      ["é".b, "\xFF".b].each { |bin| refute Type[type].valid?(pack(bin)), type.inspect }
    end
    assert_equal "\xFF".b, Type[["\xFF".b]].load(pack("\xFF".b))
    refute Type[["\xFF".b]].valid?(bytes("a1 ff"))
    assert_equal({ a: 1 }, Type[{ Symbol => Integer }].load(bytes("81 c4 01 61 01")))
    assert_equal({ "a" => 1 }, Type[{ %w[a b] => Integer }].load(bytes("81 c4 01 61 01")))
    assert_equal Circle.new(1.0), SHAPE.load(bytes("82 a4 74797065 c4 06 636972636c65 a6 726164697573 01"))
  end

  def test_literals_are_compared_as_they_are_packed
    type = Type[["é".encode("UTF-16LE"), "ü".encode("ISO-8859-1")]]
    %w[é ü].each { |text| assert_equal text, type.load(pack(text)) }
    assert_equal Circle.new(1.0), Record.union("é".encode("ISO-8859-1"), "ü".encode("UTF-16BE") => CIRCLE).load(pack({ "é" => "ü", "radius" => 1 }))
    [[2**64, 1], [-2**63 - 1, 1], [Float::NAN, 1], ["\xFF".dup.force_encoding("UTF-16LE"), "a"], ["é".encode("ISO-8859-1").to_sym, :a]].each do |literals|
      assert_raises(ArgumentError, literals.inspect) { Type[literals] }
    end
    assert_equal 2**64 - 1, Type[[2**64 - 1, -2**63]].load(pack(2**64 - 1))
  end

  def test_an_integer_stays_one_where_a_type_keeps_it
    types = [Type[Float, Integer], Type[Integer, Float], Numeric, Type[Float, 1..5], Type[0.0..9.0, Integer], Type[Float, Object], [1.0, 1], [1, 1.0],
             Type[[1.0, 2.0], Integer], Type[[1.0, 2.0], [1, 2]], Type[Float, [1, nil]], Type[Type[Float, nil], Integer]]
    types.each { |type| [type, Type[type], Type[type, "x".to_sym.then { [_1] }]].each { |one| assert_equal "1", taken(one, 1).inspect, type.inspect } }
    types.each { |type| assert_equal "1.0", taken(type, 1.0).inspect, type.inspect unless type == [1, 2] }
    [Type[Float, nil], Type[Float, 2..5], Type[[1.0, 2.0], [2, 3]]].each { |type| assert_equal "1.0", taken(type, 1).inspect }
    assert_equal [2**60 + 1, 2**64 - 1], [2**60 + 1, 2**64 - 1].map { |n| taken(Type[Float, Integer], n) }
  end

  EDGES = [-2**63, -2**63 + 1, -1, 0, 1, 5, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1].freeze

  def test_all_bounds_of_64_bits_are_bounds
    bounds = [nil, *EDGES]
    bounds.product(bounds, [false, true]).each do |first, last, exclusive|
      next if first.nil? && last.nil?

      range = Range.new(first, last, exclusive)
      values = EDGES.select { |n| range.cover?(n) }
      if first && last && range.none?
        assert_raises(ArgumentError) { Type[range] }
      elsif values.any?
        [Type[range], Type[range, nil], Type[nil, range]].each { |type| assert_equal values, EDGES.select { |n| type.valid?(pack(n)) }, range.inspect }
      end
    end
    assert Type[0...2**64].valid?(pack(2**64 - 1))
  end

  def test_bounds_that_no_message_has_are_errors
    [2**64.., 0..2**64, 2**64..2**65, ..-2**63 - 1, -2**63 - 1..0, ...-2**63, 5..1, 1...1, 1.0..0.5, 1.0...1.0, 0.5..2**2000, -2**2000..0.5].each do |range|
      error = assert_raises(ArgumentError, range.inspect) { Type[range] }
      assert_match(/ is no type: no /, error.message)
      assert_raises(ArgumentError) { box([Type[range, nil]]) }
    end
    [0.0..Float::INFINITY, -Float::INFINITY.., 0.5..0.5, ..-2**63, 0.0..2**60].each { |range| assert_kind_of Type, Type[range] }
  end

  def test_a_bound_that_no_float_equals_is_between_two
    type = Type[0.0..2**53 + 3]
    assert_equal [true, false], [2.0**53 + 2, 2.0**53 + 4].map { |number| type.valid?(pack(number)) }
    type = Type[2**53 + 1..1e300]
    assert_equal [false, true], [2.0**53, 2.0**53 + 2].map { |number| type.valid?(pack(number)) }
    assert Type[0.0...2**53 + 3].valid?(pack(2.0**53 + 2))
  end

  def test_options_are_no_types
    error = assert_raises(ArgumentError) { Type[String, max: 5] }
    assert_match(/\AType\[\] takes types and the constraints length, pattern, unique, multiple_of, range, got max:; a Range such as 1..10 bounds numbers, length: 1..10/, error.message)
    assert_raises(ArgumentError) { Type[String, min: 1, max: 5] }
    assert_match(/:max is no type of keys; String, /, assert_raises(ArgumentError) { box({ max: 5 }) }.message)
    assert_match(/; a map with members of its own is another Record\z/, assert_raises(ArgumentError) { box({ id: Integer }) }.message)
    assert_equal Type[{ String => Integer }], Type[String => Integer]
    assert_equal Type[nil, { %w[a b] => Integer }], Type[nil, %w[a b] => Integer]
  end

  def test_a_string_of_one_is_an_enum_and_a_class_of_one_is_a_list
    assert_equal "x", taken(["x"], "x")
    refused(["x"], ["x"])
    assert_equal [1], taken([1..5], [1])
    assert_equal [Point.new(1.0, 2.0)], taken([POINT], [{ "x" => 1, "y" => 2 }])
  end

  def test_ext_types_by_their_class
    factory = Manypack::Factory.new
    factory.register_common(:rational)
    codec = factory.codec
    type = Type[Rational].with(codec: codec)
    assert_equal 1r / 2, type.load(codec.pack(1r / 2))
    record = box([Rational]).with(codec: codec)
    assert_equal [1r, 2r], record.load(codec.pack({ "value" => [1r, 2r] })).value
    assert_raises(RecordError) { type.load(pack(1)) }
    assert_equal Box.new([1r]), record.load(record.dump(Box.new([1r])))
  end

  def test_a_codec_that_is_not_for_sharing_is_one_for_records
    factory = Manypack::Factory.new
    seen = []
    factory.register_type(1, Rational, packer: ->(rational) { seen << rational && "r" }, unpacker: ->(_) { 1r })
    inner = Record.new(Box, value: Rational).with(codec: factory.codec)
    [Type[[inner]].with(codec: factory.codec), Type[{ String => [inner] }, [inner]].with(codec: factory.codec)].each do |type|
      refute Ractor.shareable?(type)
      assert_equal [Box.new(1r)], type.load(factory.dump([{ "value" => 2r }]))
    end
    refute Ractor.shareable?(Record.new(Box, value: inner))
    assert Ractor.shareable?(Type[[inner.with(codec: Manypack::Codec.new)]])
  end

  def test_parts_of_a_view_type_stay_packed
    view = taken(View, { "a" => [1] })
    assert_equal 1, view["a"][0]
    assert_equal 5, text(taken(View, 5))
  end

  def test_what_is_no_type_is_refused_when_it_is_made
    [5, "text", [], {}, [Integer, String], { Float => Integer }, { String => Integer, Symbol => String }, Object.new].each do |type|
      assert_raises(ArgumentError, TypeError, type.inspect) { Type[type] }
      assert_raises(ArgumentError, TypeError, type.inspect) { box(type) }
    end
    assert_raises(ArgumentError) { Type[] }
  end

  def test_keys_of_a_type_are_what_the_type_says
    keys = taken({ String => Integer }, { "é".b => 1, "b" => 2 }, symbolize_keys: true).keys
    assert_equal ["é".b, "b"], keys
    assert(keys.all?(&:frozen?))
  end

  # --- many literals ----------------------------------------------------------------------------------------

  # An enum of many has a table, and finds the same literals as an enum of few.
  def test_many_literals_are_those_of_an_enum_of_few
    literals = [:sym, "str", "\u00e9", "\xC3\xA9".b, "\xFF".b, nil, true, false, 0, 7, -7, 2**62, 2**64 - 1, -2**63, 1.5, -0.0, 1e300, 2.0**63]
    values = literals + ["sym".b, :"\u00e9", 0.0, 7.0, 2**63, 1, 1.25, Float::NAN, [], {}, "never".b, "other", 2**63 - 1]
    literals.each do |literal|
      few, many = [[], Array.new(500) { "other#{_1}" }].map { |others| Type[[literal, "never", *others]] }
      values.each do |value|
        results = [few, many].map { |type| type.load(pack(value)) rescue $!.class }
        assert_equal results[0].inspect, results[1].inspect, [literal, value].inspect
      end
    end
  end

  def test_an_enum_of_many_literals_and_as_many_objects_takes_linear_time
    assert_linear(1_000) do |n|
      type = Type[[Array.new(n) { "literal #{_1} of many" }]]
      message = pack(Array.new(n) { "literal #{_1} of many" })
      -> { type.load(message) }
    end
  end

  # --- the order of the types -------------------------------------------------------------------------------

  Pair = Struct.new(:a)
  # Time has no meaning before the codec gives it one, which happens after the type is made.
  ANY_OF = { nil: nil, true: true, integer: Integer, range: 5..9, float: Float, float_range: 0.5..2.0, string: String, symbol: Symbol,
             enum: ["a", 1], symbols: [:a, "b"], time: Time, ext: Manypack::ExtensionValue, list: [Integer], map: { String => Integer },
             record: Manypack::Record.new(Pair, a: Integer), array: Manypack::Record.new(Pair, a: Integer).array, numeric: Numeric,
             object: Object }.freeze
  ORDERED = Manypack::Codec.new(timestamp: true, allow_unknown_ext: true)
  MESSAGES = [nil, true, false, 1, 7, 1.5, 3.5, "a", "b", "\xFF".b, :a, [1], ["x"], { "a" => 1 }, { "b" => "x" }, Time.at(5), Manypack::ExtensionValue.new(5, "x")]
             .map { |object| ORDERED.pack(object) }.freeze

  def test_the_order_of_the_types_does_not_matter_to_what_is_read
    [2, 3].flat_map { |count| ANY_OF.keys.combination(count).to_a }.each do |names|
      orders = names.permutation.map { |order| taken_by(ANY_OF.values_at(*order)) }
      assert_equal 1, orders.uniq.size, names.inspect
    end
  end

  private

  # For each message whether the type takes it, or why there is no such type.
  def taken_by(types)
    type = Manypack::Type[*types].with(codec: ORDERED)
    MESSAGES.map { |bytes| type.valid?(bytes) }
  rescue ArgumentError => e
    e.message[/may be a map or an array/]
  end
end
