# frozen_string_literal: true

# The classes of Records: their subclasses, their own constructors, and what is missing or refused.
require "test_helper"

class RecordClassesTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  # --- subclasses -------------------------------------------------------------------------------------------

  class Point < Record.define(x: Integer)
    def twice = x * 2
  end

  class Corner < Point
  end

  Pair = Struct.new(:one, :two)
  Record.new(Pair, one: Integer, two: Type[:Pair, nil]).with(defaults: { two: nil }, keys: { one: %w[one first] }).attach

  # By position, and with a constructor of its own.
  class Sorted < Pair
    def initialize(one, two)
      raise ArgumentError, "negative" if one.negative?

      super
    end
  end

  class Base
    attr_reader :id
  end
  Record.ivars(Base, id: Integer).attach
  class Derived < Base
    attr_accessor :other
  end

  SUBCLASSES = { Point => { "x" => 1 }, Corner => { "x" => 1 }, Class.new(Point) => { "x" => 1 }, Sorted => { "first" => 1, "two" => nil },
                 Class.new(Pair) => { "one" => 1 }, Derived => { "id" => 1 } }.freeze

  def test_a_subclass_loads_itself_by_every_way
    SUBCLASSES.each do |klass, message|
      bytes = pack(message)
      list = pack([message])
      unpacker = Manypack::Unpacker.new(as: klass).feed(bytes)
      objects = [klass.load(bytes), unpacker.read, klass.record.lazy.load(bytes).load, Type[[klass.record]].load(list)[0],
                 Record.new(Struct.new(:at), at: klass.record).load(pack({ "at" => message })).at, Manypack::View.new(bytes).as(klass.record),
                 klass.load(klass.load(bytes).dump), klass.load(pack(klass.load(bytes)))]
      objects.each { |object| assert_instance_of klass, object }
      assert_equal klass, klass.record.klass
      assert_same klass.record, klass.record
    end
    assert_equal [Pair, Base], [Pair.load(pack({ "one" => 1 })).class, Base.load(pack({ "id" => 1 })).class]
  end

  def test_a_subclass_is_an_ext_type_of_its_own
    factory = Manypack::Factory.new
    factory.register_type(1, Sorted, record: Sorted.record)
    assert_instance_of Sorted, factory.load(factory.dump(Sorted.new(1, nil)))
  end

  def test_a_name_in_an_inherited_record_means_the_subclass
    inner = Sorted.load(pack({ "one" => 1, "two" => { "one" => 2 } })).two
    assert_instance_of Sorted, inner
  end

  def test_the_constructor_of_a_subclass_is_honoured
    assert_raises(RecordError) { Sorted.load(pack({ "one" => -1 })) }
    assert_raises(RecordError) { Sorted.allocate.tap { |object| object.one = -1 }.dump(check: true) }
    assert_equal(-1, Pair.load(pack({ "one" => -1 })).one)
  end

  def test_a_subclass_that_cannot_be_loaded_says_so
    klass = Class.new(Pair) { def initialize(one) = super(one, 2) }
    [-> { klass.record }, -> { klass.load(pack({ "one" => 1 })) }, -> { klass.new(1).dump }].each do |call|
      assert_match(/#initialize does not take 2 positional arguments/, assert_raises(ArgumentError, &call).message)
    end
  end

  def test_another_ractor_loads_a_subclass
    assert_equal 2, in_ractor(pack({ "x" => 1 })) { |bytes| Class.new(Corner).load(bytes).twice }
  end

  def test_a_subclass_may_get_another_record
    klass = Class.new(Pair)
    assert_equal({ one: ["one", "first"], two: ["two"] }, klass.record.keys)
    Record.new(klass, one: Object, two: Object).with(keys: { one: "o" }).attach
    assert_equal [klass, "1"], klass.load(pack({ "o" => "1", "two" => 1 })).then { |object| [object.class, object.one] }
    assert_equal({ "o" => 1, "two" => nil }, unpack(klass.new(1).dump))
  end

  # --- own constructors -------------------------------------------------------------------------------------

  class Span < Struct.new(:from, :to)
    def initialize(from, to)
      raise ArgumentError, "from #{from} to #{to}" if from > to

      super
    end
  end

  class Named < Struct.new(:from, :to, keyword_init: true)
    def initialize(from:, to:) = from > to ? raise(ArgumentError) : super
  end

  class Keywords < Struct.new(:from, :to)
    def initialize(from:, to: from + 1) = super(from, to)
  end

  class Passing < Struct.new(:from, :to)
    def initialize(*) = super
  end

  class Optional < Struct.new(:from, :to, :by)
    def initialize(from, to = 5, by = 6) = super
  end

  class Made < Struct.new(:from, :to)
    def self.new(from, to = 9) = super
  end

  def integers(klass, **options) = Record.new(klass, **klass.members.to_h { |name| [name, Integer] }).with(**options)

  # Asks about a message in all ways, which have to agree, and returns the outcome.
  def error_of(record, message)
    bytes = pack(message)
    refute record.valid?(bytes)
    refute record.or(nil).valid?(bytes)
    errors = [record.or(nil), record].map { |type| assert_raises(RecordError) { type.load(bytes) } }
    errors << assert_raises(RecordError) { record.load(bytes, collect: true) }
    errors.map! { |error| error.errors.first }
    assert_equal [1, 1], [errors.map(&:message), errors.map { |error| error.cause.class }].map { |all| all.uniq.size }
    errors.last
  end

  def test_a_missing_member_is_reported_before_user_code_runs
    [Span, Named, Keywords, Passing, Optional, Made].each do |klass|
      record = integers(klass)
      [{ "to" => 1 }, {}].each do |message|
        error = error_of(record, message)
        assert_match(/\A"from" is missing, at \$, byte 0 \(.*#from\)\z/, error.message)
        assert_equal [:from, nil], [error.member, error.cause]
        assert_raises(RecordError) { record.lazy.load(pack(message)) }
      end
    end
    [Span, Named, Passing].each { |klass| assert_equal :to, error_of(integers(klass), { "from" => 1 }).member }
  end

  def test_defaults_of_a_constructor_count
    { [Keywords, { "from" => 1 }] => [1, 2], [Made, { "from" => 1 }] => [1, 9], [Optional, { "from" => 1 }] => [1, 5, 6],
      [Optional, { "from" => 1, "to" => 2 }] => [1, 2, 6] }.each do |(klass, message), values|
      lazy = integers(klass).lazy.load(pack(message))
      assert_equal [values] * 3, [integers(klass).load(pack(message)).to_a, lazy.load.to_a, lazy.to_h.values]
      assert_equal ["from"], integers(klass).json_schema["$defs"].values[0]["required"]
    end
    assert_equal :to, error_of(integers(Optional), { "from" => 1, "by" => 3 }).member
    assert_equal [1, 7, 3], integers(Optional, defaults: { to: 7 }).load(pack({ "from" => 1, "by" => 3 })).to_a
    assert_equal [1, 8], integers(Keywords, defaults: { to: 8 }).load(pack({ "from" => 1 })).to_a
  end

  def test_a_default_of_a_constructor_that_returns_something_else_cannot_be_read
    klass = Class.new(Optional) { define_singleton_method(:new) { |_from, _to = 5, _by = 6| Object.new } }
    lazy = integers(klass).lazy.load(pack({ "from" => 1 }))
    assert_equal 1, lazy.from
    assert_match(/\.new returned an instance of Object\z/, assert_raises(::TypeError) { lazy.to }.message)
  end

  def test_a_constructor_that_cannot_take_the_members_is_refused
    [->(from) {}, ->(from, to, by) {}, ->(from:) {}, ->(from:, to:, by:) {}, ->(from, to, by:) {}].each do |body|
      klass = Class.new(Struct.new(:from, :to)) { define_method(:initialize, &body) }
      assert_match(/initialize (takes|needs|does not take)/, assert_raises(ArgumentError) { integers(klass) }.message)
    end
    [->(*) {}, ->(**) {}, ->(from, *to) {}, ->(from, to, by: 1) {}, ->(from:, **) {}].each do |body|
      assert_kind_of Record, integers(Class.new(Struct.new(:from, :to)) { define_method(:initialize, &body) })
    end
  end

  ERRORS = [ArgumentError, ::TypeError, RangeError, KeyError, IndexError, NoMethodError, FrozenError, ZeroDivisionError, RuntimeError, StopIteration,
            Manypack::MalformedFormatError, Class.new(StandardError)].freeze

  def test_every_standard_error_of_a_constructor_is_a_record_error_with_its_cause
    ERRORS.each do |error|
      [Class.new(Pair) { define_method(:initialize) { |_one, _two| raise error, "no" } },
       Class.new(Pair) { define_singleton_method(:new) { |*| raise error, "no" } }].each do |klass|
        raised = error_of(klass.record, { "one" => 1, "two" => nil })
        assert_equal "no, at $, byte 0", raised.message
      end
      raised = assert_raises(RecordError) { integers(Span, defaults: { to: -> { raise error, "no" } }).load(pack({ "from" => 1 })) }
      assert_equal [error, "no, at $, byte 0 (RecordClassesTest::Span)"], [raised.cause.class, raised.message]
    end
    [NotImplementedError, SystemExit, Interrupt, Class.new(Exception)].each do |error| # rubocop:disable Lint/InheritException
      klass = Class.new(Pair) { define_method(:initialize) { |*| raise error, "no" } }
      assert_raises(error) { klass.load(pack({ "one" => 1 })) }
    end
  end

  # --- defaults that are called -----------------------------------------------------------------------------

  List = Struct.new(:id, :items)
  LIST = Record.new(List, id: Integer, items: [Integer])
  CALLED = LIST.with(defaults: { items: -> { [] } })

  def test_a_default_is_called_for_each_object
    calls = 0
    record = LIST.with(defaults: { items: -> { [calls += 1] } })
    bytes = pack({ "id" => 1 })
    assert_equal [[1], [2]], Array.new(2) { record.load(bytes).items }
    lazy = record.lazy.load(bytes)
    assert_equal [[3], [4], { id: 1, items: [5] }, [6]], [lazy.items, lazy[:items], lazy.to_h, lazy.load.items]
    assert_equal [7], record.array.load(pack([1])).items
    assert_equal [9], record.load(pack({ "id" => 1, "items" => [9] })).items
    assert_raises(RecordError) { record.load(pack({})) }
    refute record.valid?(pack({ "id" => "x" }))
    assert_equal 7, calls
  end

  def test_what_a_called_default_makes_is_new_and_follows_the_options
    first, second = Array.new(2) { CALLED.load(pack({ "id" => 1 })) }
    first.items << 1
    assert_empty second.items
    [[{}, false], [{ freeze: true }, true], [{ shareable: true }, true]].each do |options, frozen|
      assert_equal frozen, CALLED.with(**options).load(pack({ "id" => 1 })).items.frozen?
    end
    refute_includes CALLED.json_schema["$defs"].values[0]["properties"]["items"], "default"
    assert_equal [6], LIST.with(defaults: { items: 6.method(:digits) }).load(pack({ "id" => 1 })).items
  end

  module Defaults
    EMPTY = -> { [] }
  end

  def test_a_record_is_as_shareable_as_what_it_calls
    assert Ractor.shareable?(LIST.with(defaults: { items: Defaults::EMPTY }))
    here = self
    record = LIST.with(defaults: { items: -> { [here.object_id] } })
    refute Ractor.shareable?(record)
    assert_equal [object_id], record.load(pack({ "id" => 1 })).items
  end

  def test_an_error_of_a_called_default_is_one_of_the_record
    record = LIST.with(defaults: { items: -> { {}.fetch(:a) } })
    assert_instance_of KeyError, error_of(record, { "id" => 1 }).cause
    error = assert_raises(RecordError) { record.lazy.load(pack({ "id" => 1 })).items }
    assert_instance_of KeyError, error.cause
  end

  # --- checks -----------------------------------------------------------------------------------------------

  Checked = Struct.new(:id)
  Record.new(Checked, id: 1..9).with(check: true).attach
  Trusted = Struct.new(:id)
  Record.new(Trusted, id: 1..9).attach

  def test_a_record_checks_what_its_objects_pack
    [-> { pack(Checked.new(10)) }, -> { pack([Checked.new("x")]) }, -> { Manypack::Packer.new.write(Checked.new(0)) }, -> { Checked.new(0).dump },
     -> { Checked.record.dump(Checked.new(0)) }, -> { Trusted.new(0).dump(check: true) }].each { |call| assert_raises(RecordError, &call) }
    assert_equal pack({ "id" => 5 }), pack(Checked.new(5))
    assert_equal pack({ "id" => 0 }), pack(Trusted.new(0))
    assert_equal pack({ "id" => 0 }), Checked.new(0).dump(check: false)
    factory = Manypack::Factory.new
    factory.register_type(1, Checked, record: Checked.record)
    assert_raises(RecordError) { factory.dump(Checked.new(0)) }
    assert_raises(RecordError) { Type[[Integer]].with(check: true).dump(["1"]) }
    refute_equal Checked.record, Checked.record.with(check: false)
    refute_equal Type[Integer], Type[Integer].with(check: true)
    assert_raises(RecordError) { Type[[1..3]].with(check: true).with(freeze: true).dump([4]) }
  end

  def test_a_type_with_a_record_that_checks_checks_too
    inner = Record.new(Trusted, id: Integer).with(check: true)
    holder = Record.new(Struct.new(:held), held: Object)
    [Type[[inner]], Type[{ String => inner }], Type[inner, nil], inner.array, inner.with(freeze: true)].zip(
      [[Trusted.new("x")], { "a" => Trusted.new("x") }, Trusted.new("x"), Trusted.new("x"), Trusted.new("x")]
    ) do |type, object|
      assert_raises(RecordError) { type.dump(object) }
      assert_kind_of String, type.dump(object, check: false)
      outer = Record.new(holder.klass, held: type)
      assert_raises(RecordError) { outer.dump(holder.klass.new(object)) }
      assert_raises(RecordError) { Record.union("type", "outer" => outer).dump(holder.klass.new(object)) }
    end
    assert_kind_of String, Record.new(Trusted, id: Integer).dump(Trusted.new("x"))
  end

  # --- what a Record writes it reads ------------------------------------------------------------------------

  def test_nil_needs_a_type_that_has_it
    record = LIST.with(defaults: { items: [] })
    [record, record.lazy, record.array, record.or(nil)].each do |type|
      error = assert_raises(RecordError) { type.dump(List.new(1, nil)) }
      assert_match(/\Aexpected Array, got nil, at \$(\.items|\[1\])/, error.message)
    end
    assert_raises(RecordError) { pack(Trusted.new(nil)) }
    nullable = Record.new(List, id: Integer, items: Type[[Integer], nil]).with(defaults: { items: [] })
    assert_nil nullable.load(nullable.dump(List.new(1, nil))).items
  end

  def test_unknown_pairs_are_in_a_hash
    record = Record.new(List, id: Integer, items: Hash).with(unknown: { into: :items })
    assert_match(/expected a Hash of unknown keys, got Array/, assert_raises(::TypeError) { record.dump(List.new(1, [2])) }.message)
  end

  Key = Struct.new(:packed) do
    def to_msgpack(packer) = packer.buffer.write(packed.b).then { packer }
  end

  # Keys that only packing tells, by their bytes: with those of a member or of the tag readers would take two for one.
  def test_a_key_that_is_packed_as_that_of_a_member
    record = Record.new(List, id: Integer, items: Hash).with(keys: { id: ["id", 7, "é"] }, unknown: { into: :items })
    ["\xA2id", "\xD9\x02id", "\xC4\x02id", "\x07", "\xCD\0\x07", "\xA2é"].each do |packed|
      [Key.new(packed), Manypack::View.new(packed.b)].each do |key|
        error = assert_raises(ArgumentError) { record.dump(List.new(1, { key => 2 })) }
        assert_match(/ in the Hash of unknown keys is the key of a member, at \$\[/, error.message)
      end
    end
    [["\xC4\x02é", "é".b], ["\xA1x", "x"], ["\x91\x07", [7]], ["\xCB\x40\x1C\0\0\0\0\0\0", 7.0], ["\xC0", nil]].each do |packed, key|
      assert_equal({ key => 2 }, record.load(record.dump(List.new(1, { Key.new(packed) => 2 }))).items)
    end
    union = Record.union("type", "list" => record)
    assert_raises(ArgumentError) { union.dump(List.new(1, { Key.new("\xA4type") => 2 })) }
    error = assert_raises(RangeError) { record.dump(List.new(1, { Struct.new(:n) { def to_msgpack(packer) = packer.write(n) }.new(2**64) => 2 })) }
    assert_match(/, at \$\[#<Class/, error.message)
  end

  def test_keys_in_compatibility_mode_are_their_bytes
    record = Record.new(List, id: Integer, items: Hash).with(keys: { id: "é" }, unknown: { into: :items }, compatibility_mode: true)
    ["é", "é".b, :é].each { |key| assert_raises(ArgumentError) { record.dump(List.new(1, { key => 2 })) } }
    assert_equal({ "\xE9\0" => 2 }, record.load(record.dump(List.new(1, { "é".encode("UTF-16LE") => 2 }))).items)
  end

  def test_options_keep_the_lazy_objects_of_a_record
    lazy = Record.new(List, id: Integer, items: Hash).lazy
    bytes = pack({ "items" => { "b" => 1, "a" => 2 }, "id" => 3 })
    { untrusted: true, canonical: true, max_depth: 9, timestamp: true, symbolize_keys: true, check: true, compatibility_mode: true }.each do |option, value|
      changed = lazy.with(option => value)
      expected = option == :canonical ? Manypack.canonicalize(bytes) : bytes
      [[changed, lazy], [lazy, changed]].each do |type, other|
        dumped = type.dump(other.load(bytes))
        assert_equal type == changed ? expected : bytes, dumped, option
      end
    end
    assert_raises(Manypack::EncodeError) { lazy.with(keys: { id: "key" }).dump(lazy.load(bytes)) }
  end

  def test_a_class_that_has_a_record_dumps_by_it
    assert_equal Type[[Trusted.record]].dump([Trusted.new(1)]), Type[[Trusted]].dump([Trusted.new(1)])
  end
end
