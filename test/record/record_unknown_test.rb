# frozen_string_literal: true

# unknown: {into: member} keeps the type of the member; a key that comes twice; defaults that cannot be shared.
require "test_helper"

class RecordUnknownTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  Holder = Struct.new(:id, :extra)
  Point = Struct.new(:x)
  POINT = Record.new(Point, x: Integer)

  def into(type) = Record.new(Holder, id: Integer, extra: type).with(unknown: { into: :extra })

  # What a type takes of unknown pairs, and what it refuses, with the path.
  TYPES = {
    { String => Integer } => [{ "a" => 1 }, { "a" => "x" } => "$.a", { 5 => 1 } => "$", { "a" => nil } => "$.a"],
    { Symbol => 1..5 } => [{ a: 5 }, { "a" => 6 } => "$.a", { 5 => 1 } => "$"],
    { Integer => String } => [{ 5 => "a" }, { "a" => "a" } => "$", { 5 => 6 } => "$[5]"],
    { %w[a b] => [Integer] } => [{ "b" => [1] }, { "c" => [1] } => "$", { "a" => ["x"] } => "$.a[0]"],
    Type[{ String => Integer }, nil] => [{ "a" => 1 }, { "a" => "x" } => "$.a"],
    { String => POINT } => [{ "a" => Point.new(1) }, { "a" => { "x" => "y" } } => "$.a.x"],
    { String => Type[POINT, nil] } => [{ "a" => nil, "b" => Point.new(1) }, { "a" => 1 } => "$.a"]
  }.freeze

  def test_unknown_pairs_are_of_the_type_of_the_member
    TYPES.each do |type, (good, bad)|
      record = into(type)
      object = Holder.new(1, good)
      [record, record.or(nil), Type[[record]], Record.union("type", "a" => record)].each do |whole|
        given = whole.inspect.include?("Type [") && !whole.inspect.include?(" or ") ? [object] : object
        assert_equal given, whole.load(whole.dump(given, check: true)), whole.inspect
      end
      assert_equal Holder.new(1, {}), record.load(pack({ "id" => 1 }))
      bad.each do |pairs, path|
        bytes = pack({ "id" => 1, **pairs })
        error = assert_raises(RecordError, type.inspect) { record.load(bytes) }
        assert_equal [path, error.message], [error.path.to_s, record_error(record, bytes)], type.inspect
        refute record.valid?(bytes)
      end
    end
  end

  def record_error(record, bytes) = assert_raises(RecordError) { record.load(bytes, collect: true) }.errors.first.message

  def test_dump_refuses_unknown_pairs_that_load_would_refuse
    record = into({ String => [Integer] })
    [{ "a" => nil }, { nil => [1] }, { "a" => [nil] }].each { |pairs| assert_raises(RecordError, pairs.inspect) { record.dump(Holder.new(1, pairs)) } }
    assert_raises(RecordError) { record.dump(Holder.new(1, { "a" => ["x"] }), check: true) }
  end

  def test_a_member_that_can_be_no_hash_takes_no_unknown_pairs
    [[Integer], String, Integer, POINT, Manypack::View, Type[String, nil], :Holder].each do |type|
      assert_match(/\Aextra takes unknown keys as a Hash: /, assert_raises(ArgumentError, type.inspect) { into(type) }.message)
    end
    [Hash, Object, { String => Object }, Type[Hash, nil], Type[nil, { String => Integer }]].each { |type| assert_kind_of Record, into(type) }
  end

  def test_the_schema_promises_what_load_keeps
    [{ String => Integer }, Type[{ String => Integer }, nil]].each do |type|
      assert_equal({ "type" => "integer" }, into(type).json_schema["$defs"].values[0]["additionalProperties"])
    end
    positional = POINT.array
    assert_equal [false, nil], [positional.with(unknown: :raise), positional].map { |record| record.json_schema["$defs"].values[0]["items"] }
  end

  # --- keys that come twice ---------------------------------------------------------------------------------

  def test_a_value_that_another_replaces_is_checked_at_once_and_lazily
    record = Record.new(Holder, id: Integer, extra: Type[[POINT], nil]).with(keys: { id: %w[id nr] }, defaults: { extra: nil })
    wrong = ["\x82\xA2id\xA1a\xA2id\x01", "\x82\xA2nr\xC0\xA2id\x01", "\x83\xA2id\x01\xA5extra\x91\x81\xA1x\xC0\xA5extra\xC0"].map(&:b)
    right = ["\x82\xA2id\x02\xA2id\x01", "\x82\xA2nr\x02\xA2id\x01", "\x83\xA5extra\x91\x81\xA1x\x05\xA5extra\xC0\xA2id\x01"].map(&:b)
    wrong.each do |bytes|
      messages = [record, record.lazy].flat_map do |type|
        refute type.valid?(bytes)
        [false, true].map { |collect| assert_raises(RecordError) { type.load(bytes, collect: collect) }.message }
      end
      assert_equal 1, messages.uniq.size
    end
    right.each { |bytes| assert_equal [Holder.new(1, nil)] * 2, [record.load(bytes), record.lazy.load(bytes).load] }
  end

  # --- defaults ---------------------------------------------------------------------------------------------

  def test_a_default_that_cannot_be_shared_names_its_member
    record = Record.new(Holder, id: Object, extra: Hash)
    hash = Hash.new { |all, key| all[key] = [] }
    { extra: hash, id: [hash] }.each do |member, value|
      error = assert_raises(ArgumentError) { record.with(defaults: { member => value }) }
      assert_match(/\Athe default of #{member} cannot be shared by all objects .*: give a Proc/, error.message)
    end
    made = record.with(defaults: { extra: -> { Hash.new { |hash, key| hash[key] = [] } } }).load(pack({ "id" => 1 })).extra
    assert_equal [], made[:any]
  end
end
