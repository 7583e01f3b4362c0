# frozen_string_literal: true

# Keys of Records: members that are missing or have defaults, names of keys, unknown and equal ones, and two versions of a
# class.
require "test_helper"
require "record/records"
require "support/writing"

class RecordKeysTest < Minitest::Test
  include Records

  # --- defaults, keys, unknown ---------------------------------------------------------------------------------

  def test_a_member_with_a_default_may_be_missing
    first, second = Array.new(2) { USER.load(pack(ADA.except("tags"))) }
    assert_equal [], first.tags
    first.tags << "new"
    assert_equal [[], [], ["new"]], [second.tags, USER.defaults[:tags], first.tags]
    assert_nil box(Integer).with(defaults: { value: nil }).load(pack({})).value
  end

  def test_a_default_that_was_frozen_is_shared
    value = [+"a"].freeze
    record = box(Object).with(defaults: { value: value })
    first, second = Array.new(2) { record.load(pack({})).value }
    assert_same first, second
    assert_equal [true, false], [Ractor.shareable?(first), record.copies?(:value)]
  end

  def test_each_object_has_its_own_copy_of_a_default_that_was_not_frozen
    nested = { "a" => [+"b", { 1 => [] }], "c" => 1.5 }
    [nested, [nested], +"text"].each do |value|
      record = box(Object).with(defaults: { value: value })
      [record, record.lazy, record.array, record.with(unknown: :raise), Type[[record]]].each do |type|
        bytes = pack(type == record.array ? [] : {})
        first, second = Array.new(2) { [type.load(type.is_a?(Record) ? bytes : "\x91".b + bytes)].flatten(1)[0].value }
        assert_equal [value, value], [first, second]
        refute_same first, second
        [first, *(first["a"] if first.is_a?(Hash)), *(first["a"][1][1] if first.is_a?(Hash))].each { |part| refute part.frozen? && part.is_a?(Array) }
      end
      assert_equal [true, true, value], [Ractor.shareable?(record), record.copies?(:value), record.defaults[:value]]
      assert record.with(freeze: true).load(pack({})).value.frozen?
      assert Ractor.shareable?(record.with(shareable: true).load(pack({})))
      refute_equal record, record.with(defaults: { value: Ractor.make_shareable(value, copy: true) })
    end
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
      assert_refused_while_packed(/Hash was modified during packing/) { record.dump(Point.new(value, rest)) }
    end
  end

  def test_a_map_that_changes_while_it_is_dumped_is_refused
    changes = [->(map) { map.delete("b") }, ->(map) { map.clear }]
    changes.product([{ String => Object }, { String => Type[Integer, Object] }]).each do |change, type|
      map = { "a" => nil, "b" => 2, "c" => 3 }
      map["a"] = Writing.new { |packer| change.call(map) && packer.write(1) }
      assert_refused_while_packed(/Hash was modified during packing/) { Type[type].dump(map) }
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

  # --- evolution -----------------------------------------------------------------------------------------------

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
end
