# frozen_string_literal: true

# Objects of attached Records are packed without a call of to_msgpack, but only while that method is the Record's.
require "test_helper"

class AttachedOwnMethodTest < Minitest::Test
  include CorePart

  Record = Manypack::Record
  OWN = ->(packer) { packer.write("own") }

  def attached(superclass = nil)
    klass = superclass ? Class.new(superclass) : Struct.new(:at)
    Record.new(klass, at: Object).attach unless superclass
    klass
  end

  # Ways to give an object a to_msgpack of its own after its class has a Record.
  WAYS = {
    "in the class" => ->(object) { object.class.define_method(:to_msgpack, &OWN) },
    "in a module that is included" => ->(object) { object.class.include(Module.new { define_method(:to_msgpack, &OWN) }) },
    "in a module that is prepended" => ->(object) { object.class.prepend(Module.new { define_method(:to_msgpack, &OWN) }) },
    "of the object" => ->(object) { object.define_singleton_method(:to_msgpack, &OWN) },
    "in a module that extends it" => ->(object) { object.extend(Module.new { define_method(:to_msgpack, &OWN) }) },
    "by an alias" => ->(object) { object.class.class_exec { define_method(:other, &OWN) && alias_method(:to_msgpack, :other) } },
    "that is private" => ->(object) { object.class.class_exec { define_method(:to_msgpack, &OWN) && private(:to_msgpack) } }
  }.freeze

  def forms(object)
    [[object], { "a" => object }, [[object, 1], object]].flat_map do |form|
      [pack(form), Manypack::Packer.new.write(form).to_s, Manypack::Factory.new.dump(form)]
    end
  end

  def test_a_to_msgpack_of_its_own_packs_an_object
    WAYS.each do |name, way|
      [attached, attached(attached)].each do |klass|
        object = klass.new(1)
        assert_equal forms({ "at" => 1 }), forms(object), name
        way.call(object)
        assert_equal forms("own"), forms(object), name
      end
    end
  end

  def test_a_to_msgpack_that_the_superclass_gets_packs_an_object
    parent = attached
    object = attached(parent).new(1)
    assert_equal forms({ "at" => 1 }), forms(object)
    parent.prepend(Module.new { define_method(:to_msgpack, &OWN) })
    assert_equal forms("own"), forms(object)
  end

  def test_an_object_without_to_msgpack_is_refused
    klass = attached
    klass.undef_method(:to_msgpack)
    assert_match(/undefined method 'to_msgpack'/, assert_raises(NoMethodError) { pack([klass.new(1)]) }.message)
  end

  def test_objects_of_several_classes_in_turn
    one, other = attached, attached
    other.define_method(:to_msgpack, &OWN)
    objects = Array.new(6) { |i| [one, other, attached(one)][i % 3].new(i) }
    assert_equal pack([{ "at" => 0 }, "own", { "at" => 2 }, { "at" => 3 }, "own", { "at" => 5 }]), pack(objects)
  end

  # Writes an Array with its object to the Packer.
  Around = Struct.new(:inner) do
    def to_msgpack(packer) = packer.write([inner])
  end

  def test_user_code_and_records_inside_of_each_other
    klass = attached
    object = klass.new(Around.new(klass.new([Around.new(klass.new(1))])))
    expected = { "at" => [{ "at" => [[{ "at" => 1 }]] }] }
    assert_equal forms(expected), forms(object)
    assert_equal forms([expected]), forms(Around.new(object))
    (1..10).each { |limit| assert_equal too_deep(expected, limit), too_deep(object, limit) }
  end

  def too_deep(object, limit)
    pack([object], max_depth: limit)
  rescue Manypack::NestingError => error
    error.message
  end

  def test_errors_have_the_path_of_the_whole_object
    klass = attached
    [[Object.new, NoMethodError], [2**64, RangeError]].each do |bad, error|
      hashes, objects = [{ "at" => [1, { "at" => bad }] }, klass.new([1, klass.new(bad)])].map do |object|
        [pack([object, 1]), nil] && flunk
      rescue error => raised
        [raised.path, raised.message.gsub(/0x\h+/, "")]
      end
      assert_equal ["$[0].at[1].at", hashes[1]], objects
    end
  end

  def test_a_packer_goes_on_after_an_object_that_cannot_be_packed
    klass = attached
    packer = Manypack::Packer.new.write(1)
    assert_raises(NoMethodError) { packer.write([2, klass.new(Object.new)]) }
    assert_raises(RangeError) { packer.write([klass.new(1), klass.new(2**64)]) }
    assert_equal pack(1) + pack([{ "at" => 3 }]), packer.write([klass.new(3)]).to_s
  end

  def test_an_object_may_not_write_to_the_packer_around_it
    klass = attached
    packer = Manypack::Packer.new
    meddler = Object.new
    meddler.define_singleton_method(:to_msgpack) { |inner| packer.write(0) && inner.write(1) }
    assert_raises(RuntimeError, ArgumentError) { packer.write([klass.new(meddler)]) }
    assert_equal pack([{ "at" => 1 }]), packer.write([klass.new(1)]).to_s
  end
end
