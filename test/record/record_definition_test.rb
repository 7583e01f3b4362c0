# frozen_string_literal: true

# How Records are defined: of Structs, of Data, of classes with instance variables, by define; and what attach does.
require "test_helper"
require "json"
require "record/records"

class RecordDefinitionTest < Minitest::Test
  include Records

  class Unmakeable < Struct.new(:x)
    singleton_class.undef_method :new
  end

  def test_options_about_members_are_hashes
    record = Record.new(Struct.new(:id), id: Integer)
    [{ keys: [:camel, 1] }, { aliases: :id }, { defaults: :id }, { defaults: [:id] }].each do |options|
      assert_match(/\Aexpected a Hash of members, got (Symbol|Array|Integer)\z/, assert_raises(::TypeError) { record.with(**options) }.message)
    end
  end

  def test_a_class_without_new_or_without_objects_is_refused_when_its_record_is_made
    assert_match(/Unmakeable has no method new/, assert_raises(ArgumentError) { Record.new(Unmakeable, x: Integer) }.message)
    assert_equal 1, Record.ivars(Unmakeable, x: Integer).load(pack({ "x" => 1 })).instance_variable_get(:@x)
    [Math, Comparable, "Text", :Name, nil, 5].each do |object|
      assert_match(/\A#{Regexp.escape(object.inspect)} is no class/, assert_raises(ArgumentError) { Record.ivars(object, x: Integer) }.message)
      assert_raises(ArgumentError) { Record.new(object, x: Integer) }
    end
    [Integer, NilClass, Symbol, Proc, Method, Encoding, Struct, Object.new.singleton_class].each do |klass|
      assert_match(/\ARuby makes no empty object of /, assert_raises(ArgumentError) { Record.ivars(klass, x: Integer) }.message)
      assert_raises(ArgumentError) { Record.new(klass, x: Integer) }
    end
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

  Pair = Struct.new(:one)
  ONE = Type.via(Pair, Type[String, pattern: /\A\d\z/], load: ->(text) { Pair.new(text) }, dump: ->(pair) { Integer(pair.one) && pair.one })

  # At any depth, of any kind of type.
  WRONG_DEFAULTS = {
    [Type.text(Time)] => [[1], ["2030-01-01T00:00:00Z"], [Time.utc(10_000)]], { String => Type.text(Time) } => [{ "a" => 1 }], Type.set(Type.text(Time)) => [[Time.at(1)]],
    ONE => ["1", Pair.new("x"), Pair.new("12")], [ONE] => [["1"], [Pair.new("x")], [Pair.new("12")]], Type[nil, [ONE]] => [1, [nil]],
    Type.tuple(Integer, ONE) => [[1], [1, Pair.new("x")]], Type[[String], unique: true] => [%w[a a]], Type[[Integer], length: 2..] => [[1]],
    Type[Integer].check("must be even") { |number| number.even? } => [1, "a"], Type[[String]].check("fails") { |one| one.fetch(1) } => [["a"]],
    Type.recursive { |json| Type[nil, Integer, [json]] } => [["a"], [[1.5]]], Integer => [Object.new, "a"], [Integer] => [[Object.new]],
    Type[[Manypack::Record.new(Pair, one: String)], length: ..1] => [[{ "one" => "a" }], [Pair.new("a")] * 2]
  }.freeze

  def test_a_default_of_another_type_is_an_error_with_the_member
    WRONG_DEFAULTS.each do |type, values|
      values.each do |value|
        error = assert_raises(ArgumentError, value.inspect) { Record.define(id: Integer, list: type, with: { defaults: { list: value } }) }
        assert_match(/\Athe default of list is of another type: /, error.message)
      end
    end
    right = { ONE => Pair.new("1"), [ONE] => [Pair.new("1")], [Type.text(Time)] => [Time.at(1)], Type[[Manypack::Record.new(Pair, one: String)]] => [Pair.new("a")], Type[Float] => 1 }
    right.each { |type, value| assert_equal value, Record.define(list: type, with: { defaults: { list: value } }).from({}).list }
  end

  def test_the_block_of_define_has_checks
    span = Record.define(from: Integer, to: Integer) do
      check("from must be before to") { |one| one.from < one.to }
      check("must be short") { |one| one.to - one.from < 10 }
      def width = to - from
    end
    wider = Record.define(span, name: String) { check("must be named") { |one| one.name != "" } }
    assert_equal 1, span.from({ from: 1, to: 2 }).width
    { { from: 2, to: 1 } => "from must be before to", { from: 1, to: 20 } => "the value must be short" }.each do |hash, sentence|
      [span, wider].each { |klass| assert_equal sentence, assert_raises(RecordError) { klass.load_json(JSON.generate({ **hash, name: "" })) }.sentence }
    end
    assert_equal "the value must be named", assert_raises(RecordError) { wider.from({ from: 1, to: 2, name: "" }) }.sentence
    assert Ractor.shareable?(span.record)
    assert_match(/\.record\.check\z/, assert_raises(NoMethodError) { span.check("late") { true } }.message)
    assert_match(/\Acheck needs a block/, assert_raises(ArgumentError) { Record.define(id: Integer) { check("a") } }.message)
    assert_equal 2, Record.define(id: Integer) { def self.check = 2 }.check
  end

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
    assert_equal ["equal, at $, byte 0 (RecordDefinitionTest::Sorted)", ArgumentError], [error.message, error.cause.class]
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

  def test_a_class_without_a_name_is_called_by_its_members
    klass = Record.define(x: Integer, y: Float)
    named = "Manypack::Record.define(x, y)"
    assert_equal [named, named, "#<Manypack::Record #{named} x: Integer, y: Float>"], [klass.to_s, klass.inspect, klass.record.inspect]
    [-> { klass.record.dump(1) }, -> { Manypack::Type[[klass]].load("\x91\x01") }].each do |call|
      assert_match(/\Aexpected #{Regexp.escape(named)}, got /, assert_raises(TypeError, Manypack::RecordError, &call).message)
    end
    assert_equal "RecordDefinitionTest::Total", Total.to_s
  end

  def test_an_option_among_the_members_is_told_where_it_belongs
    pair = Struct.new(:x)
    { defaults: { x: 1 }, keys: { x: "X" }, unknown: :raise, max_depth: 5 }.each do |option, value|
      [-> { Record.new(pair, x: Integer, option => value) }, (-> { Record.define(x: Integer, option => value) } unless option == :max_depth)].compact.each do |call|
        assert_match(/options are arguments of with, as in with: {#{option}: \.\.\.} or record\.with\(#{option}: \.\.\.\)\z/, assert_raises(ArgumentError, &call).message)
      end
    end
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

  def test_options_are_not_taken_for_members
    { check: true, freeze: true, untrusted: false, codec: nil }.each do |name, value|
      [-> { Record.define(id: Integer, name => value) }, -> { Record.ivars(Class.new, id: Integer, name => value) }].each do |way|
        assert_match(/\A#{name}: #{value.inspect} would be a member .* arguments of with/, assert_raises(ArgumentError) { way.call }.message)
      end
      assert_equal [:id, name], Record.define(id: Integer, name => Manypack::Type[value]).record.members
    end
    assert_equal [:check], Record.define(check: Integer).record.members
    assert_equal [:ok], Record.define(ok: true).record.members
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

  def test_a_record_for_a_subclass_has_the_same_members_and_options
    record = Record.new(Struct.new(:x), x: Integer).with(defaults: { x: 3 }, unknown: :raise, check: true, max_depth: 9).lazy
    child = Class.new(record.klass)
    own = record.inherited_by(child)
    assert_same child, own.klass
    assert_equal [record.types, record.defaults, :raise, :lazy, true, record.codec], [own.types, own.defaults, own.unknown, own.form, own.check?, own.codec]
    assert_same child, own.load(pack({})).load.class
    assert_same record.klass, record.load(pack({})).load.class
  end

  def test_a_record_for_a_subclass_calls_its_initialize
    record = Record.new(Struct.new(:x), x: Integer)
    child = Class.new(record.klass) { def initialize(x) = super(x + 1) }
    assert_equal [:new, 6], record.inherited_by(child).then { |own| [own.build, own.load(pack({ "x" => 5 })).x] }
    assert_equal :ivars, Record.ivars(record.klass, x: Integer).inherited_by(child).build
    assert_raises(ArgumentError) { record.inherited_by(Class.new(record.klass) { def initialize = super(1) }) }
  end

  def test_a_record_is_for_no_class_but_a_subclass
    record = Record.new(Struct.new(:x), x: Integer)
    [record.klass, Struct.new(:x), Struct, Object, Comparable, nil, 1].each do |other|
      assert_match(/ is no subclass of /, assert_raises(ArgumentError) { record.inherited_by(other) }.message)
    end
  end

  def test_a_subclass_of_record_makes_its_own_objects
    special = Class.new(Record)
    record = special.new(Struct.new(:x), x: Integer)
    assert_equal [special] * 5, [record, record.array, record.lazy, record.with(unknown: :raise), record.inherited_by(Class.new(record.klass))].map(&:class)
    assert_equal record, special.new(record.klass, x: Integer)
    refute_equal record, Record.new(record.klass, x: Integer)
    assert_raises(NoMethodError) { Record.create(Struct.new(:x), {}, :struct) }
  end

  def test_a_class_with_a_record_stands_for_it
    binary = pack([{ "id" => 1 }])
    assert_equal Type[[Ticket.record]], Type[[Ticket]]
    assert_equal [Ticket.new(1)], Type[[Ticket]].load(binary)
    assert_equal [Ticket.new(1)], Type[[Ticket.record]].load(binary)
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
