# frozen_string_literal: true

# Records as their users see them: types, defaults, keys, evolution, classes, forms, unions, errors.
require "test_helper"
require "json"
require "stringio"
require "timeout"

class RecordTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type
  View = Manypack::View

  Point = Struct.new(:x, :y)
  User = Struct.new(:id, :name, :tags, :home, :raw)
  Box = Struct.new(:value)
  Node = Struct.new(:value, :children)
  Ticket = Struct.new(:id)
  Person = Struct.new(:name, :pets)
  Pet = Struct.new(:name, :owner)

  POINT = Record.new(Point, x: Float, y: Float)
  USER = Record.new(User, id: Integer, name: String, tags: [String], home: POINT.or(nil), raw: View)
               .with(defaults: { tags: [] }, keys: { name: %w[name full_name] }, unknown: :raise)
  Record.new(Ticket, id: Integer).attach
  HANDLERS = { a: ->(_) { "a" }, b: ->(_) { "b" }, unpacker: ->(_) { Pet.new } }.freeze
  NODE = Record.new(Node, value: Integer, children: [:Node])
  ADA = { "id" => 1, "name" => "Ada", "tags" => ["a"], "home" => { "x" => 1.5, "y" => 2.5 }, "raw" => [1] }.freeze

  def box(type) = Record.new(Box, value: type)

  # What comes of a value where a Record has this type.
  def taken(type, value, **options)
    box(type).with(**options).load(pack({ "value" => value }, timestamp: true)).value
  end

  def refused(type, value, **options)
    assert_raises(RecordError, "#{type.inspect} of #{value.inspect}") { taken(type, value, **options) }
  end

  def text(value) = value.is_a?(View) ? value.value : value

  # --- the guide's example ----------------------------------------------------------------------------------

  def test_a_message_becomes_objects
    user = USER.load(pack(ADA))
    assert_instance_of User, user
    assert_equal [1, "Ada", ["a"], Point.new(1.5, 2.5)], user.to_a.first(4)
    assert_instance_of View, user.raw
    assert_equal [1], user.raw.value
    assert_equal ADA, unpack(USER.dump(user))
    assert_equal Encoding::BINARY, USER.dump(user).encoding
  end

  def test_a_record_tells_what_it_is
    assert_equal [User, %i[id name tags home raw]], [USER.klass, USER.members]
    assert_equal USER.members, USER.types.keys
    assert_equal({ id: ["id"], name: %w[name full_name], tags: ["tags"], home: ["home"], raw: ["raw"] }, USER.keys)
    assert_equal({ tags: [] }, USER.defaults)
    assert_equal %i[raise skip], [USER.unknown, POINT.unknown]
    assert_includes USER.inspect, "User"
    assert_kind_of Type, USER
  end

  # The hash of a Proc changes on Ruby 3.1 when a compaction moves it.
  def test_records_with_a_default_that_is_called_stay_equal_when_it_moves
    records = Array.new(1_000) { |i| POINT.with(defaults: { x: eval("-> { #{i} }", binding, __FILE__, __LINE__) }) }
    GC.start
    GC.compact if GC.respond_to?(:compact)
    records.each do |record|
      same = record.with(unknown: :raise).with(unknown: :skip)
      assert_equal [record, record.hash], [same, same.hash]
    end
  end

  def test_types_and_records_are_frozen_shareable_and_equal_by_what_they_are
    [POINT, USER, NODE, Type[Integer], USER.array, USER.lazy, Record.union("t", "a" => POINT)].each do |type|
      assert_predicate type, :frozen?
      assert Ractor.shareable?(type), type.inspect
    end
    assert_equal POINT, Record.new(Point, x: Float, y: Float)
    refute_equal POINT, Record.new(Point, x: Float, y: Integer)
    refute_equal POINT, POINT.with(unknown: :raise)
    refute_equal POINT, POINT.array
    assert_equal Type[Integer, nil], Type[Integer].or(nil)
    assert_equal POINT.hash, Record.new(Point, x: Float, y: Float).hash
  end

  def test_types_with_other_handlers_or_options_are_others
    first, same, second = [:a, :a, :b].map do |name|
      factory = Manypack::Factory.new
      factory.register_type(1, Pet, packer: HANDLERS[name], unpacker: HANDLERS[:unpacker])
      factory.codec
    end
    unpacker, method = [[HANDLERS[:a], HANDLERS[:b]], [HANDLERS[:a], :to_s.to_proc.method(:call)]].map do |packer, unpacker|
      Manypack::Factory.new.tap { |factory| factory.register_type(1, Pet, packer: packer, unpacker: unpacker) }.codec
    end
    [Type[Object], Type[[Pet]], box(Object)].each do |type|
      one = type.with(codec: first)
      assert_equal [one, one.hash], [type.with(codec: same), type.with(codec: same).hash]
      [second, unpacker, method, first.with(freeze: true), Manypack::Codec.new].each do |codec|
        refute_equal one, type.with(codec: codec)
      end
      assert_equal 2, { one => 1, type.with(codec: second) => 2 }.size
    end
  end

  def test_a_record_that_many_others_share_is_not_made_for_each_way_to_it
    Timeout.timeout(20) do
      record = box(Integer)
      30.times { |i| record = Record.new(Struct.new(:a, :b, :c), a: record, b: [record], c: i.even? ? record.or(nil) : record.lazy) }
      assert_equal [true, 1], [Ractor.shareable?(record), { record => 1 }[record]]
      refute_equal record, record.with(unknown: :raise)
      assert_includes Type[record, nil].inspect, "nil"
    end
  end

  def test_another_ractor_loads_and_dumps
    user = in_ractor(USER, pack(ADA)) { |record, bytes| record.dump(record.load(bytes)) }
    assert_equal ADA, unpack(user)
  end

  # --- types accepted and refused -----------------------------------------------------------------------------

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
    assert_match(/\AType\[\] takes types and no options, got max:; a Range bounds numbers, and with\(max_string_bytes:/, error.message)
    assert_raises(ArgumentError) { Type[String, min: 1, max: 5] }
    assert_match(/:max is no type of keys; String, /, assert_raises(ArgumentError) { box({ max: 5 }) }.message)
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
    [5, "text", [], {}, [Integer, String], { Float => Integer }, { String => Integer, Symbol => String }, Object.new, Enumerable].each do |type|
      assert_raises(ArgumentError, TypeError, type.inspect) { Type[type] }
      assert_raises(ArgumentError, TypeError, type.inspect) { box(type) }
    end
    assert_raises(ArgumentError) { Type[] }
  end

  def test_members_and_types_must_be_those_of_the_class
    error = assert_raises(ArgumentError) { Record.new(Point, x: Float) }
    assert_match(/\by\b/, error.message)
    error = assert_raises(ArgumentError) { Record.new(Point, x: Float, y: Float, z: Float) }
    assert_match(/\bz\b/, error.message)
    [Object, String, 5, Module.new].each { |klass| assert_raises(ArgumentError, TypeError) { Record.new(klass, x: Float) } }
  end

  # Options are those of with alone, so that members may have these names.
  def test_members_may_have_the_names_of_options
    klass = Struct.new(:keys, :defaults, :unknown, :codec, :freeze, :untrusted)
    record = Record.new(klass, keys: Integer, defaults: Integer, unknown: Integer, codec: Integer, freeze: Integer, untrusted: Integer)
    assert_equal [1, 2, 3, 4, 5, 6], record.load(pack(klass.members.zip(1..6).to_h)).to_a
    assert_equal 1, Record.ivars(Class.new, keys: Integer).load(pack({ "keys" => 1 })).instance_variable_get(:@keys)
  end

  # --- errors -------------------------------------------------------------------------------------------------

  def error_of(type, value, **options)
    assert_raises(RecordError) { type.with(**options).load(pack(value)) }
  end

  NAME = "RecordTest::User"

  def test_an_error_names_value_path_offset_and_field
    rows = box([USER])
    good = pack(ADA)
    binary = "\x81\xA5value\x92".b + good + pack({ **ADA, "id" => "12" })
    error = assert_raises(RecordError) { rows.load(binary) }
    offset = 8 + good.bytesize + 1 + 3
    assert_equal %[expected Integer, got str "12", at $.value[1].id, byte #{offset} (#{NAME}#id)], error.message
    assert_equal ["$.value[1].id", offset, USER, :id], [error.path.to_s, error.offset, error.record, error.field]
    assert_equal [error], error.errors
  end

  def test_a_missing_member_is_named
    error = error_of(USER, ADA.except("name"))
    assert_equal %["name" is missing, at $, byte 0 (#{NAME}#name)], error.message
    assert_equal [:name, 0, USER], [error.field, error.offset, error.record]
    error = error_of(USER, { **ADA, "home" => { "x" => 1.5 } })
    assert_match(/\A"y" is missing, at \$\.home, byte \d+ \(RecordTest::Point#y\)\z/, error.message)
  end

  def test_an_unknown_key_is_named_where_it_is_refused
    error = error_of(USER, { "id" => 1, "nmae" => 2 })
    assert_equal %[unknown key "nmae", at $.nmae, byte 5 (#{NAME})], error.message
    assert_nil error.field
  end

  def test_values_of_every_kind_are_told
    { 12 => "Integer 12", 1.5 => "Float 1.5", nil => "nil", true => "true", false => "false", [1] => "array of 1", { 1 => 2 } => "map of 1" }.each do |value, told|
      assert_match(/\Aexpected String, got #{Regexp.escape(told)}\b.*, at \$\.value, byte 7 \(RecordTest::Box#value\)\z/, error_of(box(String), { "value" => value }).message)
    end
    assert_operator error_of(box(Integer), { "value" => "x" * 10_000 }).message.size, :<, 300
    assert_predicate error_of(box(Integer), { "value" => "\xFF\n" }).message, :valid_encoding?
  end

  def test_a_type_without_a_record_has_errors_too
    error = error_of(Type[[Integer]], [1, nil])
    assert_equal ["expected Integer, got nil, at $[1], byte 2", "$[1]", 2, nil, nil],
                 [error.message, error.path.to_s, error.offset, error.record, error.field]
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

  def test_keys_of_a_type_are_what_the_type_says
    keys = taken({ String => Integer }, { "é".b => 1, "b" => 2 }, symbolize_keys: true).keys
    assert_equal ["é".b, "b"], keys
    assert(keys.all?(&:frozen?))
  end

  def test_what_is_no_message_is_another_decode_error
    assert_raises(Manypack::TruncatedError) { USER.load(pack(ADA).chop) }
    assert_raises(Manypack::MalformedFormatError) { POINT.load("\xC1".b) }
    assert_raises(Manypack::MalformedFormatError) { POINT.load("#{pack({ "x" => 1.0, "y" => 2.0 })}\x00".b) }
    assert_raises(Manypack::TruncatedError) { POINT.load("") }
    assert_raises(TypeError) { POINT.load(nil) }
    assert_raises(TypeError) { POINT.load(5) }
  end

  def test_skipped_parts_are_checked_like_any_other
    assert_raises(Manypack::DecodeError) { POINT.load("\x83\xA1z\xC1\xA1x\x01\xA1y\x02".b) }
    assert_raises(Manypack::TruncatedError) { POINT.load("\x83\xA1x\x01\xA1y\x02\xA1z\xDD\xFF\xFF\xFF\xFF".b) }
  end

  def test_all_errors_at_once
    binary = pack({ "id" => "1", "nmae" => 2, "tags" => [1, "a", nil], "home" => { "x" => "?" }, "raw" => 1 })
    error = assert_raises(RecordError) { USER.load(binary, collect: true) }
    assert_equal ["$.id", "$.nmae", "$.tags[0]", "$.tags[2]", "$.home.x"].sort,
                 error.errors.map { |one| one.path.to_s }.grep_v(/\A\$(\.home)?\z/).sort
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
    [[{ "name" => 1, "at" => { "x" => 1, "y" => 2 } }, "$.name"], [{ "name" => "a", "at" => { "y" => 2 } }, "$.at"]]
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

  # --- defaults, keys, unknown -----------------------------------------------------------------------------------

  def test_a_member_with_a_default_may_be_missing
    first, second = Array.new(2) { USER.load(pack(ADA.except("tags"))) }
    assert_equal [], first.tags
    assert_predicate first.tags, :frozen?
    assert_same first.tags, second.tags
    assert_nil box(Integer).with(defaults: { value: nil }).load(pack({})).value
  end

  def test_options_freeze_nothing_of_their_caller
    key = +"nm"
    given = { keys: { x: key, y: [+"yy", key.dup] }, defaults: { x: [+"a"] }, unknown: { into: :y } }
    record = Record.new(Point, x: Object, y: Object).with(**given)
    [key, *given.values, given[:keys][:y], given[:keys][:y][0], given[:defaults][:x], given[:defaults][:x][0]].each do |object|
      refute_predicate object, :frozen?
    end
    union = { +"t" => POINT }
    type = Record.union(key, union)
    enum = [+"a", +"b"]
    literals = Type[enum]
    [key, union, enum, *enum].each { |object| refute_predicate object, :frozen? }
    key << "!"
    given[:unknown][:into] = :x
    assert_equal [["nm"], { into: :y }, "a"], [record.keys[:x], record.unknown, literals.load("\xA1a")]
    assert_equal Point.new(1.0, 2.0), type.load(pack({ "nm" => "t", "x" => 1, "y" => 2 }))
  end

  def test_defaults_are_of_members_and_can_be_shared
    assert_raises(ArgumentError) { POINT.with(defaults: { z: 1 }) }
    assert Ractor.shareable?(USER.with(defaults: { tags: [+"a"] }).defaults)
  end

  def test_a_nil_is_not_a_missing_value
    assert_raises(RecordError) { USER.load(pack({ **ADA, "tags" => nil })) }
  end

  def test_keys_of_which_the_first_is_written
    assert_equal "Ada", USER.load(pack(ADA.except("name").merge("full_name" => "Ada"))).name
    assert_includes unpack(USER.dump(USER.load(pack(ADA)))), "name"
    record = POINT.with(keys: { x: 1, y: ["why", 2] })
    assert_equal Point.new(1.0, 2.0), record.load(pack({ 1 => 1.0, 2 => 2.0 }))
    assert_equal({ 1 => 1.0, "why" => 2.0 }, unpack(record.dump(Point.new(1.0, 2.0))))
    assert_equal({ x: [1], y: ["why", 2] }, record.keys)
  end

  def test_keys_that_clash_or_are_of_no_member_are_refused
    assert_raises(ArgumentError) { POINT.with(keys: { x: "y" }) }
    assert_raises(ArgumentError) { POINT.with(keys: { x: %w[a a] }) }
    assert_raises(ArgumentError) { POINT.with(keys: { z: "a" }) }
    [2**63, -2**63 - 1].each { |key| assert_raises(ArgumentError) { POINT.with(keys: { x: key }) } }
    [2**63 - 1, -2**63].each { |key| assert_equal [key], POINT.with(keys: { x: key }).keys[:x] }
    assert_raises(ArgumentError, TypeError) { POINT.with(keys: { x: 1.5 }) }
    assert_equal Point.new(1.0, 2.0), POINT.with(keys: { x: "y", y: "x" }).load(pack({ "y" => 1.0, "x" => 2.0 }))
  end

  def test_keys_in_any_order_form_and_length
    names = Array.new(40) { |i| :"m#{"x" * i}#{i}" }
    klass = Struct.new(*names)
    record = Record.new(klass, **names.to_h { |name| [name, Integer] })
    [names, names.reverse, names.shuffle(random: Random.new(1))].each do |order|
      assert_equal (0...40).to_a, record.load(pack(order.to_h { |name| [name, names.index(name)] })).to_a
    end
    assert_equal Point.new(1.0, 2.0), POINT.load(bytes("82 d9 01 78 01 c4 01 79 02"))
    assert_equal Point.new(1.0, 2.0), POINT.load(bytes("de 00 02 da 00 01 79 02 db 00 00 00 01 78 01"))
  end

  def test_long_keys_that_differ_at_the_end
    names = [:"#{"k" * 60}a", :"#{"k" * 60}b"]
    record = Record.new(Struct.new(*names), **names.to_h { |name| [name, Integer] })
    assert_equal [1, 2], record.load(pack({ names[1] => 2, names[0] => 1, "k" * 60 => 3, "#{"k" * 60}c" => 4 })).to_a
  end

  # An ext is another key than the text of a member.
  def test_unknown_keys_that_are_packed_as_an_ext_are_no_keys_of_members
    named = Class.new(String)
    factory = Manypack::Factory.new
    factory.register_type(1, Symbol)
    factory.register_type(2, named, packer: :to_s, unpacker: named.method(:new))
    record = Record.new(Struct.new(:x, :rest), x: Float, rest: Object).with(unknown: { into: :rest }, codec: factory.codec)
    [:x, named.new("x")].each do |key|
      bytes = record.dump(record.klass.new(1.0, { key => 2 }))
      assert_equal [1.0, { key => 2 }], record.load(bytes).to_a
    end
    assert_raises(ArgumentError) { record.dump(record.klass.new(1.0, { "x" => 2 })) }
    assert_raises(ArgumentError) { record.with(codec: Manypack::Codec.new).dump(record.klass.new(1.0, { x: 2 })) }
  end

  def test_unknown_keys_are_skipped_refused_or_collected
    extra = { "x" => 1.0, "z" => [1, { "a" => 2 }], "y" => 2.0, 5 => nil }
    assert_equal Point.new(1.0, 2.0), POINT.load(pack(extra))
    assert_raises(RecordError) { POINT.with(unknown: :raise).load(pack(extra)) }
    record = Record.new(Struct.new(:x, :rest), x: Float, rest: Object).with(unknown: { into: :rest })
    loaded = record.load(pack(extra))
    assert_equal({ "z" => [1, { "a" => 2 }], "y" => 2.0, 5 => nil }, loaded.rest)
    assert_equal extra, unpack(record.dump(loaded))
    assert_equal({}, record.load(pack({ "x" => 1.0 })).rest)
    [:collect, { into: :z }, { to: :x }].each { |unknown| assert_raises(ArgumentError, unknown.inspect) { POINT.with(unknown: unknown) } }
  end

  # The Hash of unknown keys is what unpacking would make of them.

  REST = Record.new(Struct.new(:x, :rest), x: Integer, rest: Object).with(unknown: { into: :rest })

  def test_a_collected_pair_does_not_stand_for_a_member
    record = Record.new(Struct.new(:a, :b, :rest), a: Integer, b: Integer, rest: Object).with(unknown: { into: :rest }, keys: { a: %w[a x], b: [5] })
    { "a" => "a", a: :a, "x" => "x", 5 => 5, "a".b => "a" }.each_key do |key|
      error = assert_raises(ArgumentError) { record.dump(record.klass.new(1, 2, { "c" => 3, key => 6 })) }
      assert_match(/ is the key of a member, at \$/, error.message)
    end
    rest = { "rest" => 1, "b" => 2, 5.0 => 3, "a\0" => 4, nil => 5, 2**64 - 1 => 6, [1] => 7 }
    assert_equal({ "a" => 1, 5 => 2, **rest }, unpack(record.dump(record.klass.new(1, 2, rest))))
    assert_equal rest, record.load(record.dump(record.klass.new(1, 2, rest))).rest
    tagged = Record.union("type", "t" => record)
    assert_raises(ArgumentError) { tagged.dump(record.klass.new(1, 2, { "type" => "u" })) }
  end

  def test_collected_keys_follow_the_options
    [{ "x" => 1 }, { "x" => 1, "y" => [2], "b".b => 3, 5 => "six" }].each do |message|
      [{ freeze: true }, { shareable: true }, { symbolize_keys: true }].each do |options|
        rest = REST.with(**options).load(pack(message)).rest
        expected = unpack(pack(message.except("x")), **options)
        assert_equal [expected, expected.frozen?], [rest, rest.frozen?]
        assert_equal Ractor.shareable?(expected), Ractor.shareable?(rest)
      end
    end
    array = Record.new(Struct.new(:x, :rest), x: Integer, rest: Object).with(unknown: { into: :rest }, freeze: true)
    assert_predicate array.array.load(pack([1])).rest, :frozen?
  end

  def test_collected_keys_have_the_limits_of_keys
    x = bytes("a1 78 01")
    not_numbers = bytes("de 00 21").b + x + bytes("cb 7f f8 00 00 00 00 00 01 00") * 32
    assert_raises(Manypack::LimitError) { REST.load(not_numbers) }
    deep = bytes("82").b + x + bytes("91") * 100 + bytes("01 01")
    assert_raises(Manypack::StackError) { REST.load(deep) }
    nested = bytes("82").b + x + bytes("81") * 6 + bytes("01") * 7
    assert_raises(Manypack::StackError) { REST.load(nested) }
    assert_equal({ [[1]] => 1 }, REST.load(bytes("82").b + x + bytes("91 91 01 01")).rest)
  end

  def test_collected_pairs_that_change_while_they_are_dumped_are_refused
    { { "a" => 1 } => ->(rest) { rest["b"] = 2 }, {} => ->(rest) { rest["b"] = 2 },
      { "a" => 1, "b" => 2 } => ->(rest) { rest.clear } }.each do |rest, change|
      value = Object.new
      value.define_singleton_method(:to_msgpack) { |packer| change.call(rest) && packer.write(1) }
      record = Record.new(Point, x: Object, y: Object).with(unknown: { into: :y })
      assert_refused(/Hash was modified during packing/) { record.dump(Point.new(value, rest)) }
    end
  end

  def test_keys_of_any_class_are_compared_with_objects_only
    key = Class.new do
      def eql?(other) = other.is_a?(Object)
      def hash = 1
    end
    factory = Manypack::Factory.new
    factory.register_type(1, key, packer: ->(_) { "" }, unpacker: ->(_) { key.new })
    loaded = REST.with(codec: factory.codec).load(bytes("82 a1 78 01 d4 01 00 02"))
    assert_equal [2], loaded.rest.values
    refusing = Record.new(Point, x: Integer, y: Object).with(codec: factory.codec, unknown: :raise)
    assert_raises(RecordError) { refusing.load(bytes("82 a1 78 01 d4 01 00 02")) }
  end

  def test_the_positional_form_has_no_keys_to_collect
    record = Record.new(Struct.new(:x, :rest), x: Integer, rest: Object).with(unknown: { into: :rest }).array
    assert_equal pack([1, { "a" => 2 }]), record.dump(record.load(pack([1, { "a" => 2 }])))
  end

  def test_a_bin_is_a_key_as_it_is_in_a_hash
    assert_equal Point.new(1.0, 2.0), POINT.load(bytes("82 c4 01 78 01 a1 79 02"))
    record = Record.new(Box, value: Integer).with(keys: { value: "é" })
    assert_equal 1, record.load(bytes("81 a2 c3 a9 01")).value
    assert_raises(RecordError) { record.load(bytes("81 c4 02 c3 a9 01")) }
  end

  def test_equal_keys_are_as_in_unpacking
    twice = bytes("83 a1 78 01 a1 79 02 a1 78 03")
    assert_equal Point.new(3.0, 2.0), POINT.load(twice)
    assert_equal Point.new(3.0, 2.0), POINT.with(duplicate_keys: :last).load(twice)
    assert_raises(Manypack::MalformedFormatError) { POINT.with(duplicate_keys: :error).load(twice) }
    assert_raises(Manypack::MalformedFormatError) { POINT.with(untrusted: true).load(twice) }
    unknown_twice = bytes("84 a1 78 01 a1 79 02 a1 7a 03 a1 7a 04")
    assert_raises(Manypack::MalformedFormatError) { POINT.with(duplicate_keys: :error).load(unknown_twice) }
  end

  def test_of_a_key_and_its_alias_the_last_counts
    assert_equal "Grace", USER.load(pack({ **ADA, "full_name" => "Grace" })).name
    assert_equal "Ada", USER.load(pack({ "full_name" => "Grace", **ADA })).name
    assert_raises(Manypack::MalformedFormatError) { USER.with(duplicate_keys: :error).load(pack({ **ADA, "full_name" => "Grace" })) }
  end

  # --- evolution ----------------------------------------------------------------------------------------------

  Account1 = Struct.new(:id, :name)
  Account2 = Struct.new(:id, :name, :email)
  ACCOUNT1 = Record.new(Account1, id: Integer, name: String)
  ACCOUNT2 = Record.new(Account2, id: Integer, name: String, email: Type[String, nil]).with(defaults: { email: nil })
  STORED1 = ["82a2696407a46e616d65a3416461"].pack("H*").freeze
  STORED2 = ["83a2696407a46e616d65a3416461a5656d61696ca3614062"].pack("H*").freeze

  def test_two_versions_of_a_class_read_each_other
    assert_equal [STORED1, STORED2], [ACCOUNT1.dump(Account1.new(7, "Ada")), ACCOUNT2.dump(Account2.new(7, "Ada", "a@b"))]
    assert_equal Account2.new(7, "Ada", nil), ACCOUNT2.load(STORED1)
    assert_equal Account1.new(7, "Ada"), ACCOUNT1.load(STORED2)
  end

  def test_two_versions_of_a_positional_record_read_each_other
    one, two = bytes("92 07 a3 41 64 61"), bytes("93 07 a3 41 64 61 a3 61 40 62")
    assert_equal [one, two], [ACCOUNT1.array.dump(Account1.new(7, "Ada")), ACCOUNT2.array.dump(Account2.new(7, "Ada", "a@b"))]
    assert_equal Account2.new(7, "Ada", nil), ACCOUNT2.array.load(one)
    assert_equal Account1.new(7, "Ada"), ACCOUNT1.array.load(two)
  end

  # --- classes --------------------------------------------------------------------------------------------------

  Named = Struct.new(:x, :y, keyword_init: true)

  # A constructor that changes and checks what it gets.
  class Sorted < Struct.new(:low, :high)
    def initialize(one, two)
      raise ArgumentError, "equal" if one == two

      super(*[one, two].sort)
    end
  end

  # A constructor with a default of its own.
  class Titled < Struct.new(:name, :title, keyword_init: true)
    def initialize(name:, title: "no title") = super(name: name, title: title)
  end

  # Variables without accessors.
  class Plain
    attr_reader :id

    def initialize = raise("is not called")
  end

  def test_a_struct_with_keywords
    record = Record.new(Named, x: Integer, y: Integer)
    assert_equal Named.new(x: 1, y: 2), record.load(pack({ "y" => 2, "x" => 1 }))
    assert_equal({ "x" => 1, "y" => 2 }, unpack(record.dump(Named.new(x: 1, y: 2))))
  end

  def test_a_struct_whose_single_member_is_a_hash
    [Struct.new(:value), Struct.new(:value, keyword_init: true)].each do |klass|
      assert_equal({ "a" => 1 }, Record.new(klass, value: { String => Integer }).load(pack({ "value" => { "a" => 1 } })).value)
    end
  end

  def test_an_overridden_initialize_is_called
    record = Record.new(Sorted, low: Integer, high: Integer)
    assert_equal [1, 2], record.load(pack({ "low" => 2, "high" => 1 })).to_a
    error = assert_raises(RecordError) { record.load(pack({ "low" => 1, "high" => 1 })) }
    assert_equal ["equal, at $, byte 0 (RecordTest::Sorted)", ArgumentError], [error.message, error.cause.class]
    titled = Record.new(Titled, name: String, title: String)
    assert_equal %w[Ada no\ title], titled.load(pack({ "name" => "Ada" })).to_a
  end

  def test_an_overridden_new_is_called
    klass = Class.new(Struct.new(:value)) { def self.new(value) = super(value * 2) }
    assert_equal 4, Record.new(klass, value: Integer).load(pack({ "value" => 2 })).value
  end

  def test_instance_variables_of_any_class
    record = Record.ivars(Plain, id: Integer)
    object = record.load(pack({ "id" => 5 }))
    assert_instance_of Plain, object
    assert_equal 5, object.id
    assert_equal({ "id" => 5 }, unpack(record.dump(object)))
    assert_raises(RecordError) { record.load(pack({})) }
  end

  def test_instances_of_a_subclass_of_a_struct
    klass = Class.new(Point) { def sum = x + y }
    assert_equal 3.0, Record.new(klass, x: Float, y: Float).load(pack({ "x" => 1, "y" => 2 })).sum
  end

  def test_a_struct_of_many_members
    names = Array.new(300) { |i| :"m#{i}" }
    klass = Struct.new(*names)
    record = Record.new(klass, **names.to_h { |name| [name, Integer] })
    object = klass.new(*0...300)
    assert_equal object, record.load(record.dump(object))
    assert_equal object, record.array.load(record.array.dump(object))
  end

  Total = Record.define(x: Integer, y: Float) { def sum = x + y }

  def test_define_makes_a_class_with_its_record
    total = Total.load(pack({ "x" => 1, "y" => 2.5 }))
    assert_equal [Total, 3.5, Total.new(x: 1, y: 2.5)], [total.class, total.sum, total]
    assert_equal({ "x" => 1, "y" => 2.5 }, unpack(total.dump))
    assert_equal [{ "x" => 1, "y" => 2.5 }], unpack(pack([total]))
    assert_equal Total, Total.record.klass
    assert_operator Total, :<, defined?(Data.define) ? Data : Struct
    assert_raises(RecordError) { Total.load(pack({ "x" => 1.5, "y" => 1 })) }
  end

  def test_define_honours_an_initialize_in_its_block
    doubled = Record.define(x: Integer) do
      def initialize(x:) = super(x: x * 2)
      def dump = "#{super}!"
    end
    assert_equal 4, doubled.load(pack({ "x" => 2 })).x
    assert_equal "#{pack({ "x" => 4 })}!", doubled.new(x: 2).dump
  end

  def test_define_takes_members_of_any_name_and_packs_them
    %i[dump class record load itself members to_h hash freeze packer buffer].each do |name|
      klass = Record.define(name => String)
      object = klass.new(name => "boo")
      packed = pack({ name.name => "boo" })
      assert_equal [packed, bytes("91") + packed], [pack(object), pack([object])], name
      assert_equal packed, object.to_msgpack, name
      assert_equal packed, object.dump, name unless name == :dump
      assert_equal "boo", klass.load(packed).public_send(name)
    end
    assert_match(/to_msgpack/, assert_raises(ArgumentError) { Record.define(to_msgpack: String) }.message)
  end

  module Packs
    def to_msgpack(*) = raise(NotImplementedError)
  end

  def test_attach_replaces_no_private_method
    error = assert_raises(ArgumentError) { Record.new(Struct.new(:x) { private def dump = 1 }, x: Integer).attach }
    assert_match(/ has dump already/, error.message)
  end

  def test_a_member_that_is_no_instance_variable_is_refused
    [:a?, :a!, :"a b", :"1a", :""].each { |name| assert_raises(ArgumentError, name.inspect) { Record.ivars(Class.new, name => Integer) } }
  end

  def test_attach_replaces_no_method_wherever_the_class_has_it_from
    parent = Class.new(Struct.new(:x)) { def self.load(*) = raise(NotImplementedError) }
    { dump: Struct.new(:dump), to_msgpack: Class.new(Struct.new(:x)) { include Packs }, load: parent }.each do |name, klass|
      [klass, Class.new(klass)].each do |one|
        error = assert_raises(ArgumentError) { Record.new(one, **one.members.to_h { |member| [member, Object] }).attach }
        assert_match(/ has #{name} already/, error.message)
      end
    end
  end

  def test_a_class_has_one_record_and_its_subclass_another
    record = Record.new(Struct.new(:x), x: Integer).attach
    assert_raises(ArgumentError) { record.attach }
    child = Class.new(record.klass)
    assert_same child, child.record.klass
    assert_same child, Record.new(child, x: Object).attach.klass.load(pack({ "x" => nil })).class
    assert_same record, record.klass.record
  end

  # --- recursion ---------------------------------------------------------------------------------------------------

  def test_a_class_with_a_record_is_no_type_but_tells_which_is
    binary = pack([{ "id" => 1 }])
    error = assert_raises(ArgumentError) { Type[[Ticket]].load(binary) }
    assert_match(/use RecordTest::Ticket\.record\z/, error.message)
    assert_equal [Ticket.new(1)], Type[[Ticket.record]].load(binary)
  end

  def test_records_inside_of_themselves
    tree = Node.new(1, [Node.new(2, []), Node.new(3, [Node.new(4, [])])])
    assert_equal tree, NODE.load(NODE.dump(tree))
    error = error_of(NODE, { "value" => 1, "children" => [{ "value" => 2, "children" => [{ "value" => "x", "children" => [] }] }] })
    assert_equal "$.children[0].children[0].value", error.path.to_s
    same = Record.new(Node, value: Integer, children: [:self])
    assert_equal tree, same.load(NODE.dump(tree))
  end

  def test_records_in_each_other_by_name
    pet = Record.new(Pet, name: String, owner: Type[:Person, nil])
    person = Record.new(Person, name: String, pets: [pet])
    message = { "name" => "Ada", "pets" => [{ "name" => "Cat", "owner" => { "name" => "Bob", "pets" => [] } }, { "name" => "Dog", "owner" => nil }] }
    loaded = person.load(pack(message))
    assert_equal Person.new("Ada", [Pet.new("Cat", Person.new("Bob", [])), Pet.new("Dog", nil)]), loaded
    assert_equal message, unpack(person.dump(loaded))
    assert_raises(ArgumentError) { pet.load(pack({ "name" => "Cat", "owner" => nil })) }
  end

  def test_recursion_ends_at_the_limit_of_depth
    deep = ->(levels) { levels.times.inject({ "value" => 0, "children" => [] }) { |inner, _| { "value" => 0, "children" => [inner] } } }
    assert_instance_of Node, NODE.load(pack(deep.(50)))
    assert_raises(Manypack::StackError) { NODE.load(pack(deep.(100))) }
    assert_raises(Manypack::StackError) { NODE.with(max_depth: 4).load(pack(deep.(5))) }
    assert_raises(Manypack::StackError) { NODE.with(untrusted: true).load(pack(deep.(30))) }
    bottom = NODE.with(max_depth: 100_000).load(nested(20_000))
    20_000.times { bottom = bottom.children.first }
    assert_equal [], bottom.children
  rescue Manypack::StackError, SystemStackError => e
    assert_kind_of Manypack::StackError, e # where the C stack was nearly used up
  end

  def nested(levels)
    "\x82\xA5value\x00\xA8children\x91".b * levels + "\x82\xA5value\x00\xA8children\x90".b
  end

  def test_a_cycle_is_not_dumped
    node = Node.new(1, [])
    node.children << node
    assert_raises(Manypack::NestingError) { NODE.dump(node) }
  end

  module Town
    Person = Struct.new(:pets)
  end

  module Village
    Person = Struct.new(:pets)
  end

  def test_a_name_means_the_record_around_it_in_each_place
    pet = Record.new(Pet, name: String, owner: Type[:Person, nil])
    types = [Town::Person, Village::Person].map { |klass| Record.new(klass, pets: [pet]) }
    both = Record.new(Struct.new(:one, :two), one: types[0], two: types[1])
    person = { "pets" => [{ "name" => "Cat", "owner" => { "pets" => [] } }] }
    loaded = both.load(pack({ "one" => person, "two" => person }))
    assert_equal [Town::Person, Village::Person], [loaded.one, loaded.two].map { |one| one.pets[0].owner.class }
  end

  # --- forms -------------------------------------------------------------------------------------------------------

  def test_the_positional_form
    positional = USER.with(defaults: { raw: nil, home: nil, tags: [] }).array
    user = USER.load(pack(ADA))
    assert_equal ADA.values, unpack(USER.array.dump(user))
    assert_equal ["Ada", nil], positional.load(pack([1, "Ada"])).to_a.values_at(1, 4)
    assert_equal [1.0, 2.0], POINT.array.load(pack([1, 2, "later", [5]])).to_a
    error = error_of(POINT.array, [1])
    assert_match(/\A"y" is missing, at \$, byte 0/, error.message)
    assert_equal "$[1]", error_of(POINT.array, [1, "x"]).path.to_s
    assert_raises(RecordError) { POINT.array.load(pack({ "x" => 1, "y" => 2 })) }
    assert_raises(RecordError) { POINT.load(pack([1, 2])) }
    assert_equal :array, POINT.array.form
    assert_equal "a lazy Record is a map", assert_raises(ArgumentError) { POINT.array.lazy }.message
    assert_equal "a lazy Record is a map", assert_raises(ArgumentError) { POINT.lazy.array }.message
  end

  def test_the_positional_form_inside_of_others
    record = Record.new(Struct.new(:points), points: [POINT.array])
    binary = pack({ "points" => [[1, 2], [3, 4]] })
    assert_equal [Point.new(1.0, 2.0), Point.new(3.0, 4.0)], record.load(binary).points
    assert_equal({ "points" => [[1.0, 2.0], [3.0, 4.0]] }, unpack(record.dump(record.load(binary))))
  end

  def lazy = USER.lazy.load(pack(ADA))

  def test_a_lazy_record_decodes_what_is_read
    user = lazy
    assert_kind_of Manypack::LazyRecord, user
    assert_equal [1, "Ada", ["a"], Point.new(1.5, 2.5)], [user.id, user.name, user.tags, user.home]
    assert_equal [1, "Ada"], [user[:id], user[:name]]
    assert_equal [1], user.raw.value
    assert_equal User, user.load.class
    assert_equal 1, user.load.id
    assert_equal %i[id name tags home raw], user.to_h.keys
    assert_equal "Ada", user.to_h[:name]
    assert_includes user.inspect, "User"
    assert_respond_to user, :id
    refute_respond_to user, :nmae
    assert_raises(NoMethodError) { user.nmae }
  end

  def test_lazy_records_are_dumped_wherever_they_are_loaded
    point = pack({ "x" => 1.5, "y" => 2.5 })
    circle = pack({ "type" => "circle", "radius" => 1.5 })
    { POINT.lazy => point, Type[POINT.lazy, nil] => point, Type[[POINT.lazy]] => bytes("91") + point,
      Record.union("type", "circle" => CIRCLE.lazy, "square" => SQUARE) => circle }.each do |type, binary|
      assert_equal binary, type.dump(type.load(binary), check: true)
    end
    assert_equal point, POINT.lazy.dump(POINT.lazy.load(point))
    assert_equal point, POINT.lazy.dump(Point.new(1.5, 2.5))
    [POINT, CIRCLE.lazy, POINT.lazy.with(keys: { x: "z" })].each do |other|
      assert_raises(TypeError) { other.dump(POINT.lazy.load(point)) }
    end
  end

  def test_a_lazy_record_is_json_of_its_fields
    lazy = Record.new(Struct.new(:id, :to_h), id: Integer, to_h: [String]).lazy
    objects = Type[[lazy]].load(pack([{ "id" => 1, "to_h" => ["a"] }]))

    assert_equal %([{"id":1,"to_h":["a"]}]), JSON.generate(objects)
  end

  def test_members_of_a_lazy_record_may_have_the_names_of_its_methods
    names = %i[record bytes field load class hash]
    klass = Struct.new(*names)
    record = Record.new(klass, **names.to_h { |name| [name, Integer] })
    first, second = Array.new(2) { record.lazy.load(record.dump(klass.new(*1..6))) }
    assert_equal [1, 2, 3, 4, 5, 6], names.map { |name| first.public_send(name) }
    assert_equal [1, 6], [first[:record], first["hash"]]
    assert_equal names.zip(1..6).to_h, first.to_h
    assert_operator first, :==, second
    assert_includes Manypack::LazyRecord.instance_method(:inspect).bind_call(first), "bytes=2"
  end

  # Its own methods, and those of Object that they might call.
  def methods_of_lazy_records
    Manypack::LazyRecord.instance_methods(false) + Manypack::LazyRecord.private_instance_methods(false) + %i[class is_a? hash inspect]
  end

  def test_no_member_changes_what_the_methods_of_a_lazy_record_do
    methods = Manypack::LazyRecord.instance_methods(false).to_h { |name| [name, Manypack::LazyRecord.instance_method(name)] }
    methods_of_lazy_records.grep(/\A\w+\??\z/).uniq.each do |name|
      record = Record.new(Struct.new(name), name => String)
      binary = pack({ name.name => "xyz" })
      lazy = record.lazy.load(binary)
      call = ->(method, *arguments) { methods[method].bind_call(lazy, *arguments) }
      assert_equal [bytes("91") + binary, binary, binary, binary], [pack([lazy]), pack(lazy), lazy.to_msgpack, record.lazy.dump(lazy)], name
      assert_equal [{ name => "xyz" }] * 3, [call[:to_h], call[:deconstruct_keys, nil], call[:deconstruct_keys, [name]]], name
      assert_equal ["xyz", "xyz", true], [call[:[], name], call[:load].to_a[0], call[:==, record.lazy.load(binary)]], name
      assert_includes call[:inspect], 'xyz'
    end
  end

  def test_a_shareable_lazy_record_refers_to_nothing_that_is_not
    shared = POINT.lazy.with(shareable: true).load(pack({ "x" => 1.0, "y" => 2.0 }))
    assert Ractor.shareable?(shared)
    factory = Manypack::Factory.new
    state = +""
    factory.register_type(1, Pet, packer: ->(_) { state }, unpacker: ->(_) { state })
    record = POINT.lazy.with(codec: factory.codec, shareable: true)
    assert_raises(Ractor::Error) { record.load(pack({ "x" => 1.0, "y" => 2.0 })) }
  end

  def test_a_lazy_record_does_not_collect_keys
    assert_raises(ArgumentError) { REST.lazy }
    assert_raises(ArgumentError) { POINT.lazy.with(unknown: { into: :x }) }
  end

  def test_a_lazy_record_refuses_a_key_beside_its_alias_if_it_is_asked_to
    twice = pack({ "id" => 1, "name" => "a", "full_name" => "b", "home" => nil, "raw" => 1 })
    [USER, USER.lazy].each do |record|
      assert_equal "b", record.load(twice).name
      assert_raises(Manypack::DecodeError) { record.with(duplicate_keys: :error).load(twice) }
    end
  end

  def test_lazy_records_are_equal_by_what_they_have
    assert_equal lazy, lazy
    refute_equal lazy, USER.lazy.load(pack({ **ADA, "id" => 2 }))
    refute_equal lazy, 5
  end

  def test_a_lazy_record_has_defaults_and_finds_errors_when_it_reads
    assert_equal [], USER.lazy.load(pack(ADA.except("tags"))).tags
    wrong = USER.lazy.load(pack({ **ADA, "id" => "12" }))
    assert_equal "Ada", wrong.name
    error = assert_raises(RecordError) { wrong.id }
    assert_equal ["$.id", :id, 4], [error.path.to_s, error.field, error.offset]
    assert_raises(RecordError) { USER.lazy.load(pack(ADA.except("name"))).name }
  end

  def test_a_lazy_record_does_not_see_what_becomes_of_its_source
    [ADA, { **ADA, "name" => "x" * 1000 }].each do |hash|
      source = pack(hash)
      user = USER.lazy.load(source)
      source.replace("\xC1" * 5)
      assert_equal hash["name"], user.name
    end
  end

  def test_lazy_records_in_a_list
    rows = Type[[POINT.lazy]].load(pack([{ "x" => 1, "y" => 2 }, { "y" => 4, "x" => 3 }]))
    assert_equal [[1.0, 2.0], [3.0, 4.0]], rows.map { |row| [row.x, row.y] }
    assert_equal pack([{ "x" => 1.0, "y" => 2.0 }]), Type[[POINT]].dump(rows.first(1).map(&:load))
  end

  # --- unions ------------------------------------------------------------------------------------------------------

  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  Tagged = Struct.new(:type, :side)
  CIRCLE = Record.new(Circle, radius: Float)
  SQUARE = Record.new(Square, side: Float)
  SHAPE = Record.union("type", "circle" => CIRCLE, "square" => SQUARE)

  def test_a_union_by_the_value_of_a_key
    [{ "type" => "circle", "radius" => 1.5 }, { "radius" => 1.5, "type" => "circle" }].each do |message|
      assert_equal Circle.new(1.5), SHAPE.load(pack(message))
    end
    assert_equal Square.new(2.0), SHAPE.load(pack({ "type" => "square", "side" => 2 }))
    assert_equal({ "type" => "square", "side" => 2.0 }, unpack(SHAPE.dump(Square.new(2.0))))
    assert_equal [Circle.new(1.0), Square.new(2.0)], Type[[SHAPE]].load(Type[[SHAPE]].dump([Circle.new(1.0), Square.new(2.0)]))
  end

  def test_a_union_refuses_or_falls_back
    error = error_of(SHAPE, { "type" => "star", "points" => 5 })
    assert_equal "$.type", error.path.to_s
    assert_match(/"star"/, error.message)
    assert_raises(RecordError) { SHAPE.load(pack({ "radius" => 1.5 })) }
    assert_raises(RecordError) { SHAPE.load(pack([1])) }
    fallback = Record.union("type", "circle" => CIRCLE, else: View)
    assert_equal 5, fallback.load(pack({ "type" => "star", "points" => 5 }))["points"]
    assert_equal Circle.new(1.0), fallback.load(pack({ "type" => "circle", "radius" => 1 }))
  end

  def test_a_union_is_of_maps
    [POINT.array, [POINT], String, 1.., %w[a b], nil].each do |type|
      assert_match(/ is no map/, assert_raises(ArgumentError) { Record.union("type", "a" => type) }.message)
    end
    [POINT.lazy, { String => Object }, Hash, View, Object, :self].each do |type|
      assert_kind_of Type, Record.union("type", "a" => type)
    end
  end

  def test_a_union_reads_and_writes_tags_that_are_members_too
    record = Record.union("type", "square" => Record.new(Tagged, type: String, side: Float).with(unknown: :raise), "circle" => CIRCLE.with(unknown: :raise))
    square = record.load(pack({ "type" => "square", "side" => 1 }))
    assert_equal Tagged.new("square", 1.0), square
    assert_equal pack({ "type" => "square", "side" => 1.0 }), record.dump(square)
    assert_equal Circle.new(1.0), record.load(pack({ "type" => "circle", "radius" => 1 }))
    assert_raises(RecordError) { record.load(pack({ "type" => "circle", "radius" => 1, "x" => 1 })) }
  end

  def test_unions_of_other_tags
    symbols = Record.union(:type, circle: CIRCLE, square: SQUARE)
    assert_equal SHAPE, symbols
    assert_equal Square.new(1.0), symbols.load(symbols.dump(Square.new(1.0)))
    integers = Record.union(0, 1 => CIRCLE, 2 => SQUARE)
    assert_equal Square.new(1.0), integers.load(pack({ 0 => 2, "side" => 1 }))
    assert_equal({ 0 => 2, "side" => 1.0 }, unpack(integers.dump(Square.new(1.0))))
  end

  def test_symbols_of_a_union_are_strings_and_other_tags_are_refused
    named = Record.union(:type, circle: CIRCLE, square: SQUARE)
    assert_equal Square.new(1.0), named.load(pack({ "type" => "square", "side" => 1 }))
    assert_equal({ "type" => "square", "side" => 1.0 }, unpack(named.dump(Square.new(1.0))))
    [nil, 1.5, 2**63, "t".b].each { |tag| assert_raises(ArgumentError) { Record.union(tag, 1 => CIRCLE) } }
  end

  def test_a_value_of_no_class_of_the_union_is_not_dumped
    [Point.new(1, 2), 5, nil].each { |object| assert_raises(TypeError) { SHAPE.dump(object) } }
  end

  # --- dump --------------------------------------------------------------------------------------------------------

  def test_dump_checks_when_it_is_asked
    wrong = User.new("12", "Ada", [], nil, nil)
    error = assert_raises(RecordError) { USER.dump(wrong, check: true) }
    assert_equal ["$.id", :id, USER], [error.path.to_s, error.field, error.record]
    assert_match(/\Aexpected Integer, got .*"12".*, at \$\.id.*\(#{NAME}#id\)\z/, error.message)
    right = User.new(1, "Ada", ["a"], Point.new(1.0, 2.0), nil)
    assert_equal USER.dump(right), USER.dump(right, check: true)
    error = assert_raises(RecordError) { Type[[1..5]].dump([1, 9], check: true) }
    assert_equal "$[1]", error.path.to_s
  end

  def test_dump_packs_the_parts_of_each_type
    assert_equal pack([1, "a", nil]), Type[[Object]].dump([1, "a", nil])
    assert_equal pack({ "a" => [1.5] }), Type[{ String => [Float] }].dump({ "a" => [1.5] })
    assert_equal pack("a"), Type[%i[a b]].dump(:a)
    user = USER.load(pack({ **ADA, "raw" => { "deep" => [1, 2] } }))
    assert_equal({ "deep" => [1, 2] }, unpack(USER.dump(user))["raw"])
  end

  def test_dump_of_what_the_record_is_not_for
    [nil, 5, Box.new(1), { "x" => 1 }].each { |object| assert_raises(TypeError, ArgumentError, RecordError, object.inspect) { POINT.dump(object) } }
  end

  # --- options -----------------------------------------------------------------------------------------------------

  def test_options_of_unpacking
    assert_predicate POINT.with(freeze: true).load(pack({ "x" => 1, "y" => 2 })), :frozen?
    assert Ractor.shareable?(USER.with(shareable: true).load(pack(ADA)))
    assert_equal({ a: 1 }, taken(Object, { "a" => 1 }, symbolize_keys: true))
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_array_size: 2).load(pack({ "value" => [1, 2, 3] })) }
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_bytes: 4).load(pack({ "value" => [] })) }
    assert_raises(Manypack::LimitError) { POINT.with(max_map_size: 2).load(pack({ "x" => 1, "y" => 2, "z" => 3 })) }
    assert_raises(Manypack::LimitError) { POINT.with(max_array_size: 2).load(pack({ "x" => 1, "y" => 2, "z" => [1, 2, 3] })) }
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_objects: 5).load(pack({ "value" => [1, 2, 3, 4, 5] })) }
    assert_raises(Manypack::LimitError) { box(String).with(max_string_bytes: 2).load(pack({ "value" => "abc" })) }
    assert_raises(Manypack::MalformedFormatError) { box(String).with(utf8: :strict).load(bytes("81 a5 76 61 6c 75 65 a1 ff")) }
  end

  def test_with_keeps_what_it_does_not_change
    record = USER.with(max_bytes: 1_000).with(unknown: :skip)
    assert_equal [{ tags: [] }, :skip], [record.defaults, record.unknown]
    assert_raises(Manypack::LimitError) { record.load(pack({ **ADA, "raw" => "x" * 1_000 })) }
    assert_raises(ArgumentError) { USER.with(unknwon: :skip) }
    assert_raises(ArgumentError) { Type[Integer].with(defaults: {}) }
    assert_raises(ArgumentError) { Type[Integer].with(untrustd: true) }
  end

  # --- with everything else ------------------------------------------------------------------------------------------

  def test_ext_types_of_a_record
    factory = Manypack::Factory.new
    factory.register_type(1, Point, record: POINT)
    assert_equal [Point.new(1.5, 2.5)], factory.load(factory.dump([Point.new(1.5, 2.5)]))
    assert_raises(Manypack::DecodeError) { factory.load(bytes("d4 01 c0")) }
  end

  def test_views_become_objects
    view = View.new(pack({ "users" => [ADA] }))
    assert_equal "Ada", view["users"][0].as(USER).name
    assert_equal [1], view["users"].as(Type[[USER]]).map(&:id)
    error = assert_raises(RecordError) { view["users"].as(USER) }
    assert_equal 7, error.offset
    [User, Integer, [USER], nil].each { |type| assert_raises(TypeError) { view.as(type) } }
  end

  def test_streams_of_records
    io = StringIO.new(pack(ADA) * 3)
    unpacker = Manypack::Unpacker.new(io, as: USER)
    assert_equal %w[Ada Ada Ada], unpacker.each.map(&:name)
    unpacker = Manypack::Unpacker.new(as: POINT)
    fed = pack({ "x" => 1, "y" => 2 }).each_char.flat_map { |byte| unpacker.feed_each(byte).to_a }
    assert_equal [Point.new(1.0, 2.0)], fed
  end

  def test_a_stream_goes_on_after_what_is_not_of_the_type
    unpacker = Manypack::Unpacker.new(as: POINT).feed(pack({ "x" => 1 }) + pack({ "x" => 1, "y" => 2 }))
    assert_raises(RecordError) { unpacker.read }
    assert_equal Point.new(1.0, 2.0), unpacker.read
  end

  def test_parallel_work_on_records
    source = pack({ "x" => 1, "y" => 2 }) * 5
    [0, 2].each { |ractors| assert_equal [3.0] * 5, Manypack::Parallel.map(source, ractors: ractors, as: POINT) { |point| point.x + point.y } }
  end
end

if defined?(Data.define)
  # Where Ruby has Data.
  class RecordOfDataTest < Minitest::Test
    Record = Manypack::Record
    Point = Data.define(:x, :y)
    Checked = Data.define(:x) do
      def initialize(x:) = super(x: Integer(x) * 2)
    end
    POINT = Record.new(Point, x: Float, y: Float)

    def test_a_data
      point = POINT.load(pack({ "y" => 2, "x" => 1 }))
      assert_equal Point.new(1.0, 2.0), point
      assert_predicate point, :frozen?
      assert_equal({ "x" => 1.0, "y" => 2.0 }, unpack(POINT.dump(point)))
      assert_equal point, POINT.array.load(POINT.array.dump(point))
      assert_equal [1.0, 2.0], POINT.lazy.load(pack({ "y" => 2, "x" => 1 })).then { |lazy| [lazy.x, lazy.y] }
    end

    def test_a_missing_member
      error = assert_raises(Manypack::RecordError) { POINT.load(pack({ "x" => 1 })) }
      assert_equal '"y" is missing, at $, byte 0 (RecordOfDataTest::Point#y)', error.message
    end

    def test_an_overridden_initialize_is_called
      assert_equal 10, Record.new(Checked, x: Integer).load(pack({ "x" => 5 })).x
    end

    def test_instance_methods_hash_and_equality_are_those_of_the_class
      points = Array.new(2) { POINT.load(pack({ "x" => 1, "y" => 2 })) }
      assert_equal 1, points.uniq.size
      assert_equal 3.0, points.first.with(x: 2.0).then { |point| point.x + 1 }
    end

    def test_one_member_that_is_a_hash
      klass = Data.define(:value)
      assert_equal({ "a" => 1 }, Record.new(klass, value: { String => Integer }).load(pack({ "value" => { "a" => 1 } })).value)
    end

    def test_no_members
      klass = Data.define
      assert_equal klass.new, Record.new(klass).load(pack({ "a" => 1 }))
    end
  end
end
