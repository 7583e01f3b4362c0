# frozen_string_literal: true

# A union that is attached: its objects carry their tag wherever they go.
require "test_helper"
require "record/records"
require "json"
require "stringio"

class RecordUnionAttachTest < Minitest::Test
  include Records

  Card = Record.define(number: Integer)
  Cash = Struct.new(:amount)
  class Voucher < Card; end
  CASH = Record.new(Cash, amount: Integer).with(unknown: :raise)
  PAYMENT = Record.union("type", "card" => Card, "cash" => CASH).attach

  OBJECTS = [Card.new(number: 1), Cash.new(5)].freeze
  MAPS = [{ "type" => "card", "number" => 1 }, { "type" => "cash", "amount" => 5 }].freeze

  def written(&block) = Manypack::Packer.new.tap(&block).to_s

  def test_the_tag_is_written_at_every_door
    factory = Manypack::Factory.new
    OBJECTS.zip(MAPS) do |object, map|
      io = StringIO.new("".b)
      Manypack::Packer.new(io).write(object).flush
      [PAYMENT.dump(object), object.dump, object.to_msgpack, pack(object), Manypack.dump(object), factory.dump(object), io.string,
       factory.codec.pack(object), written { |packer| packer.write(object) }, written { |packer| packer << object },
       written { |packer| object.to_msgpack(packer) }].each { |bytes| assert_equal PAYMENT.dump(object), bytes }
      assert_equal map, unpack(pack(object, canonical: true))
      assert_equal [{ "a" => [map] }, { map => 1 }], unpack(pack([{ "a" => [object] }, { object => 1 }]))
      assert_equal [map], JSON.parse(JSON.generate([object]))
      assert_equal map, object.as_json(nil) if {}.respond_to?(:as_json)
      assert_equal [object], Manypack::Parallel.map(pack(object), as: PAYMENT) { |payment| payment }
      assert_equal [object, object], Type[[PAYMENT]].load(pack([object, object]))
    end
  end

  def test_the_classes_read_objects_with_the_tag_and_without
    OBJECTS.each do |object|
      klass = object.class
      assert_equal object, klass.load(object.dump)
      assert_equal object, unpack(object.dump, as: klass)
      assert_equal [object], Type[[klass]].load(pack([object]))
      assert_equal object, klass.load(pack(MAPS.find { |map| map["type"] == klass.name.split("::").last.downcase }.except("type")))
    end
    assert_match(/unknown key "kind"/, assert_raises(RecordError) { Cash.load(pack({ "kind" => 1, "amount" => 5 })) }.message)
    assert_match(/unknown key "type"/, assert_raises(RecordError) { CASH.load(OBJECTS[1].dump) }.message)
    assert_equal %w[type amount], Cash.record.json_schema["$defs"].values[0]["properties"].keys
  end

  def test_subclasses_need_a_tag_of_their_own
    [-> { pack(Voucher.new(number: 1)) }, -> { Voucher.new(number: 1).dump }, -> { PAYMENT.dump(Voucher.new(number: 1)) }].each do |dump|
      assert_match(/Voucher is none of the classes of the union/, assert_raises(TypeError, &dump).message)
    end
    assert_equal Voucher.new(number: 1), Voucher.load(pack(MAPS[0]))
  end

  # Their Records are kept, and may be made before.
  def test_subclasses_that_had_a_record_before_read_the_tag_too
    base = Struct.new(:x)
    record = Record.new(base, x: Integer).with(unknown: :raise).attach
    child = Class.new(base)
    grandchild = Class.new(child)
    [child, grandchild].each { |klass| assert_equal klass.new(1), klass.load(klass.new(1).dump) }
    Record.union("type", "base" => record).attach
    [child, grandchild].each do |klass|
      assert_raises(TypeError) { klass.new(1).dump }
      assert_equal klass.new(1), klass.load(base.new(1).dump)
    end
  end

  def test_what_cannot_be_attached
    assert_match(/in an attached union already/, assert_raises(ArgumentError) { Record.union("kind", "a" => Card).attach }.message)
    assert_match(/Cash has a Record already/, assert_raises(ArgumentError) { CASH.attach }.message)
    [Type[Integer], Type[POINT, nil], Record.union("type", "a" => { String => Integer }), Record.union("type", "a" => :Point)].each do |type|
      assert_raises(ArgumentError) { type.attach }
    end
    packs = Class.new(Struct.new(:x)) { def to_msgpack(packer) = packer.write(x) }
    plain = Struct.new(:x)
    union = Record.union("type", "plain" => Record.new(plain, x: Integer), "packs" => Record.new(packs, x: Integer))
    assert_match(/has to_msgpack already/, assert_raises(ArgumentError) { union.attach }.message)
    frozen = Struct.new(:x).freeze
    union = Record.union("type", "plain" => Record.new(plain, x: Integer), "frozen" => Record.new(frozen, x: Integer))
    assert_same frozen, assert_raises(FrozenError) { union.attach }.receiver
    refute_respond_to plain, :record
  end
end
