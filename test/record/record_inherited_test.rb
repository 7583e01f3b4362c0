# frozen_string_literal: true

# A type that is made of others has the options and ext types that these were told, however it is made.
require "test_helper"
require_relative "../contract/option_probes"

class RecordInheritedTest < Minitest::Test
  include CorePart
  include OptionProbes

  Record = Manypack::Record
  Type = Manypack::Type

  Box = Struct.new(:k)
  Other = Struct.new(:k)
  Wide = Struct.new(:one, :two)
  Money = Struct.new(:cents)

  PARTS = {
    "a Type" => ->(**options) { Type[{ String => Object }].with(**options) },
    "a Record" => ->(**options) { HELD.with(**options) },
    "a class that has a Record" => ->(**options) { Class.new(Struct.new(:k)).tap { |klass| Record.new(klass, k: Object).with(**options).attach } },
    "a type of types" => ->(**options) { Type[Type[HELD.with(**options), nil], String] }
  }.freeze

  WHOLES = {
    "Type[]" => ->(part) { Type[part] }, "Type[part, nil]" => ->(part) { Type[part, nil] }, "a list" => ->(part) { Type[[part]] },
    "a Hash" => ->(part) { Type[{ String => part }] }, "a Hash without braces" => ->(part) { Type[String => [part]] },
    "or" => ->(part) { Type[part].or(nil) }, "a member" => ->(part) { Record.new(Box, k: part) },
    "a member of Record.ivars" => ->(part) { Record.ivars(Class.new, k: [part]) }, "a member of Record.define" => ->(part) { Record.define(k: part).record },
    "another Record's array" => ->(part) { Type[[Record.new(Box, k: part).array]] }, "a lazy Record" => ->(part) { Type[Record.new(Box, k: part).lazy, nil] },
    "else" => ->(part) { Record.union("type", "a" => Record.new(Other, k: nil), else: [part]) }
  }.freeze

  # The options of packing, which have no probe.
  PACKING = { canonical: true, compatibility_mode: true, check: true }.freeze

  WHOLES.each do |name, whole|
    define_method("test_#{name}_has_the_options_of_its_parts") do
      PARTS.each do |kind, part|
        PROBES.transform_values(&:first).merge(PACKING).each do |option, value|
          type = whole.call(part.call(option => value))
          next assert_predicate(type, :check?, kind) if option == :check

          assert_equal({ option => value }, type.codec.options, kind)
        end
      end
    end
  end

  def test_the_options_of_a_part_hold_for_the_whole_message
    PROBES.each do |option, (value, bytes)|
      alone = outcome(->(b, **) { HELD.with(option => value).load(b) }, bytes)
      [HELD.with(option => value).or(nil), Type[HELD.with(option => value), nil]].each do |type|
        assert_equal alone, outcome(->(b, **) { type.load(b) }, bytes), option
        assert_equal alone, outcome(->(b, **) { Manypack.unpack(b, as: type) }, bytes), option
      end
    end
    bytes = "\x81\xA1k\xA1\xFF".b
    [Type[[HELD.with(untrusted: true)]], Type[[HELD.with(utf8: :strict)]]].each do |type|
      assert_raises(Manypack::MalformedFormatError) { type.load("\x91".b + bytes) }
      assert_raises(Manypack::MalformedFormatError) { Manypack.split("\x91".b + bytes, as: type).to_a }
    end
  end

  def test_a_union_by_tag_has_the_options_of_its_types
    union = Record.union("type", "a" => HELD.with(untrusted: true), "b" => Record.new(Other, k: Object).with(max_bytes: 50))
    assert_equal({ untrusted: true, max_bytes: 50 }, union.codec.options)
    bytes = "\x82\xA4type\xA1b\xA1k\xA1\xFF".b
    assert_raises(Manypack::MalformedFormatError) { union.load(bytes) }
    assert_raises(Manypack::MalformedFormatError) { Manypack.split(bytes, as: union).to_a }
    assert_equal Other.new("\xFF"), union.with(untrusted: false).load(bytes)
  end

  def test_parts_with_several_options_give_all_of_them_in_any_order
    parts = [HELD.with(untrusted: true), Type[Integer].with(max_bytes: 7), Type[[String]].with(max_array_size: 2, untrusted: true)]
    types = parts.permutation.map { |order| Type[*order] }
    types.each { |type| assert_equal Manypack::Codec.new(untrusted: true, max_bytes: 7, max_array_size: 2), type.codec }
  end

  def test_what_the_whole_is_told_wins
    type = Type[[HELD.with(untrusted: true, max_bytes: 5)]].with(untrusted: false, max_bytes: 50)
    assert_equal({ untrusted: false, max_bytes: 50 }, type.codec.options)
    assert_equal [Held.new("\xFF")], type.load("\x91\x81\xA1k\xA1\xFF".b)
    assert_equal({ untrusted: true }, Type[[type.with(codec: Manypack::Codec.new(untrusted: true))]].codec.options.slice(:untrusted))
  end

  def test_parts_that_contradict_each_other_are_refused_with_advice
    lax = HELD.with(untrusted: false)
    strict = Type[[HELD.with(untrusted: true)]]
    [-> { Type[lax, strict] }, -> { lax.or(strict) }, -> { Record.new(Wide, one: lax, two: strict) }, -> { Type[{ String => Type[lax, nil] }, strict] },
     -> { Record.union("type", "a" => lax, else: strict) }].each do |make|
      error = assert_raises(ArgumentError, &make)
      assert_match(/different options, untrusted: (false and true|true and false): give them to the whole type, by with\(untrusted: \.\.\.\)/, error.message)
      assert_includes error.backtrace.first, __FILE__
    end
    assert_equal({ untrusted: true }, Type[HELD, strict].codec.options)
  end

  def test_ext_types_come_with_a_part
    first = factory(1).codec
    record = Record.new(Box, k: Money).with(codec: first)
    assert_equal [Box.new(Money.new(5))], Type[[record]].load(pack([{ "k" => Money.new(5) }], codec: first))
    assert_equal [Box.new(Money.new(5))], Type[[record], Type[Integer].with(codec: first)].load(pack([{ "k" => Money.new(5) }], codec: first))
    assert_equal({ max_bytes: 99 }, Type[[record], Type[Integer].with(max_bytes: 99)].codec.options)
    assert_equal first.with(max_bytes: 99), Type[[record], Type[Integer].with(max_bytes: 99)].codec
    error = assert_raises(ArgumentError) { Type[[record], Type[Integer].with(codec: factory(2).codec)] }
    assert_includes error.message, "Codecs with different ext types: give the whole type the Codec, by with(codec: ...)"
  end

  def test_a_name_gives_no_options
    chain = Record.new(Wide, one: Object, two: [:self]).with(untrusted: true)
    assert_equal({ untrusted: true }, chain.codec.options)
    assert_empty Record.new(Wide, one: Object, two: [:Wide]).codec.options
  end

  private

  def factory(number)
    Manypack::Factory.new.tap do |factory|
      factory.register_type(number, Money, packer: ->(money) { money.cents.to_s }, unpacker: ->(text) { Money.new(text.to_i) })
    end
  end
end
