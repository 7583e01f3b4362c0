# frozen_string_literal: true

# A class or a module as a type takes the objects that the codec unpacks, if they are of it: from every place of a type,
# by every way to load and dump.
require "test_helper"
require "record/records"
require "bigdecimal"

class RecordClassTypesTest < Minitest::Test
  include Records

  class Table < Hash; end
  class Name < String; end
  class Tuple < Array; end

  module Solid; end

  Body = Struct.new(:size)

  class Cube < Body
    include Solid
  end

  FACTORY = Manypack::Factory.new
  FACTORY.register_common(:rational, :complex, :bigdecimal, :time, :bigint)
  FACTORY.register_type(50, Table, packer: ->(table) { Manypack.pack(table.to_a) }, unpacker: ->(body) { Table[Manypack.unpack(body)] })
  FACTORY.register_type(51, Name, packer: ->(name) { +"#{name}" }, unpacker: ->(body) { Name.new(body.force_encoding("UTF-8")) })
  FACTORY.register_type(52, Tuple, packer: ->(tuple) { Manypack.pack(tuple.to_a) }, unpacker: ->(body) { Tuple.new(Manypack.unpack(body)) })
  FACTORY.register_type(53, Body, packer: ->(body) { Manypack.pack([body.class.name, body.size]) },
                                  unpacker: ->(body) { Manypack.unpack(body).then { |name, size| Object.const_get(name).new(size) } })
  CODEC = FACTORY.codec

  VALUES = [1r / 3, Complex(1, 2), BigDecimal("1.5"), Time.at(1), 2**70, Table[{ "a" => 1 }], Name.new("hi"), Tuple[1], Body.new(1), Cube.new(2),
            1, 1.5, "s", [1], { "a" => 1 }, nil, true].freeze
  CLASSES = [Numeric, Integer, Float, String, Symbol, Hash, Array, Object, Comparable, Enumerable, Kernel, Solid, Body, Cube, Name, Table, Rational, Time,
             NilClass, TrueClass, Struct].freeze

  # Besides its objects, Float takes integers, and Symbol a str.
  def taken_by?(klass, value)
    klass === value || (klass == Float && value == 1) || (klass == Symbol && value.instance_of?(String))
  end

  def forms(klass)
    same = ->(value) { value }
    record = Record.new(Box, value: klass)
    { Type[klass] => same, Type[[klass]] => ->(value) { [value] }, Type[{ String => klass }] => ->(value) { { "k" => value } },
      Type[klass].or([1000, 2000]) => same, record => ->(value) { { "value" => value } }, record.lazy => ->(value) { { "value" => value } } }
  end

  def passes?
    yield
    true
  rescue RecordError
    false
  end

  def read(object) = object.is_a?(Manypack::LazyRecord) ? object.value : object

  CLASSES.each do |klass|
    define_method("test_#{klass}_takes_what_is_unpacked_and_is_one") do
      forms(klass).each do |form, place|
        type = form.with(codec: CODEC)
        VALUES.each do |value|
          bytes = CODEC.pack(place[value])
          wanted = taken_by?(klass, value)
          lazy = type.is_a?(Record) && type.form == :lazy
          assert_equal wanted, passes? { read(type.load(bytes)) }, "#{type.inspect}.load of #{value.inspect}"
          assert_equal wanted, passes? { Manypack.split(bytes, as: type).each { |object| read(object) } }, "#{type.inspect}: split, #{value.inspect}"
          assert_equal wanted, type.valid?(bytes), "#{type.inspect}.valid? of #{value.inspect}" unless lazy
          object = type.is_a?(Record) ? Box.new(value) : place[value]
          assert_equal wanted, passes? { type.dump(object, check: true) }, "#{type.inspect}.dump of #{value.inspect}"
          assert_equal wanted, passes? { read(type.load(type.dump(object))) }, "#{type.inspect}: dumped #{value.inspect}"
        end
      end
    end
  end

  def test_the_object_is_the_one_that_is_unpacked
    VALUES.grep(Hash).each { |hash| assert_instance_of hash.class, Type[Hash].with(codec: CODEC).load(CODEC.pack(hash)) }
    keys = Type[{ String => Integer }].with(codec: CODEC).load(CODEC.pack({ Name.new("a") => 1 })).keys
    assert_equal [[Name, "a"]], keys.map { |key| [key.class, key] }
    assert_equal [1, 1.5, 1r / 2], Type[[Type[Float, Numeric]]].with(codec: CODEC).load(CODEC.pack([1, 1.5, 1r / 2]))
  end

  def test_of_several_types_any_takes_an_ext_and_its_handler_is_called_once
    calls = []
    factory = Manypack::Factory.new
    factory.register_type(1, Name, packer: ->(name) { +"#{name}" }, unpacker: ->(body) { calls << body && Name.new(body) })
    type = Type[Integer, [Integer], String, nil].with(codec: factory.codec)
    assert_instance_of Name, type.load(factory.dump(Name.new("a")))
    assert_equal ["a"], calls
    assert_raises(RecordError) { Type[Integer, nil].with(codec: factory.codec).load(factory.dump(Name.new("a"))) }
  end

  def test_what_an_unpacker_makes_counts_not_the_class_that_was_registered
    factory = Manypack::Factory.new
    factory.register_type(1, Body, packer: ->(_) { "" }, unpacker: ->(_) { 1r / 2 })
    [Rational, Numeric, Comparable].each { |klass| assert_equal 1r / 2, Type[klass].with(codec: factory.codec).load("\xD4\x01a".b) }
    [Integer, String, Hash, Body, [Rational], 1..9].each { |type| refute Type[type].with(codec: factory.codec).valid?("\xD4\x01a".b), type.inspect }
  end

  def test_a_class_with_a_record_takes_an_ext_of_its_own_too
    factory = Manypack::Factory.new
    factory.register_type(1, Point, record: POINT)
    [Type[POINT], Type[POINT, nil]].each do |type|
      assert_equal Point.new(1.0, 2.0), type.with(codec: factory.codec).load(factory.dump(Point.new(1.0, 2.0)))
    end
    refute CIRCLE.with(codec: factory.codec).valid?(factory.dump(Point.new(1.0, 2.0)))
  end

  def test_no_handler_runs_for_a_type_that_no_ext_can_be_of
    calls = 0
    factory = Manypack::Factory.new.tap { |made| made.register_type(9, Class.new, unpacker: ->(_) { calls += 1 }) }
    row = Manypack::Record.new(Struct.new(:a), a: Integer)
    never = [[Integer], { String => Integer }, 1..10, 0.0..1.0, [1, 2], %w[a b], row.lazy, Manypack::Record.union("t", "a" => row)]
    [*never, Type[[Integer], { String => 1..2 }]].each do |type|
      assert_match(/got ext of type 9/, assert_raises(RecordError, type.inspect) { Type[type].with(codec: factory.codec).load("\xD4\x09a".b) }.message)
    end
    assert_equal 0, calls
    assert_equal 1, Type[Integer].with(codec: factory.codec).load("\xD4\x09a".b)
    assert_equal 2, Type[[Integer], Integer].with(codec: factory.codec).load("\xD4\x09a".b)
  end

  def test_an_ext_that_unpacking_would_refuse_is_of_another_type
    [String, Integer, Hash, Numeric, Comparable, [String], POINT].each do |type|
      assert_match(/got ext of type 9/, assert_raises(RecordError, type.inspect) { Type[type].load("\xD4\x09a".b) }.message)
    end
    known = Type[Struct].with(allow_unknown_ext: true)
    assert_equal Manypack::ExtensionValue.new(9, "a"), known.load("\xD4\x09a".b)
    assert_equal Time.at(1), Type[Comparable].with(timestamp: true).load(pack(Time.at(1), timestamp: true))
  end

  def test_a_class_that_the_codec_does_not_make_is_a_mistake
    error = assert_raises(ArgumentError) { Type[BigDecimal].load(pack("1")) }
    assert_match(/BigDecimal is no type here: Type.text\(BigDecimal\) takes text, and register_common\(:bigdecimal\)/, error.message)
    assert_match(/Math is no type here: no object that the codec unpacks has this module/, assert_raises(ArgumentError) { Type[Math].load(pack(1)) }.message)
  end

  def test_what_is_dumped_for_a_class_is_loaded_again
    other = Class.new(Numeric) { def to_msgpack(packer) = packer.write("text") }.new
    assert_raises(RecordError) { Type[Numeric].dump(other) }
    assert_raises(RecordError) { Type[Comparable].dump([1]) }
  end

  def test_schemas_say_what_a_class_takes
    assert_equal({ "type" => "number" }, Type[Numeric].json_schema.reject { |key, _| key == "$schema" })
    assert_equal({ "title" => "Numeric" }, Type[Numeric].with(codec: CODEC).json_schema.reject { |key, _| key == "$schema" })
    assert_equal %w[Numeric Comparable Enumerable[untyped]], [Numeric, Comparable, Enumerable].map { |klass| Type[klass].to_rbs }
  end
end
