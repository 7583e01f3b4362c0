# frozen_string_literal: true

# A class that is reloaded under its name and registered again, as Rails does in development: the types keep only the
# last one. Each test counts classes in a process of its own.
require "test_helper"
require "support/program"

class ReloadTest < Minitest::Test
  include ProgramHelper

  # Loads a class fifty times, each time in a Thread whose stack then keeps nothing, and prints how many there are. The
  # stack of the main Thread may keep one more.
  PROGRAM = <<~'RUBY'
    def reload
      Object.send(:remove_const, :Outer) if defined?(Outer)
      Object.class_eval("module Outer; class Point; end; end")
    end

    def classes
      GC.start
      ObjectSpace.each_object(Class).count { |klass| klass.name == "Outer::Point" }
    end

    def types = 2.times.map { |i| { packer: ->(_) { i.to_s }, unpacker: ->(_) { i } } }
    def few(count) = count.between?(1, 2) ? "few" : count.to_s
    SUBJECT = %<subject>s
    50.times { Thread.new { reload; %<register>s }.join }
    print few(classes)
  RUBY

  # Without YJIT, whose compiled code keeps the first twenty or so classes that it met.
  INTERPRETED = { "RUBY_YJIT_ENABLE" => nil }.freeze

  { "a factory" => ["Manypack::Factory.new", "SUBJECT.register_type(1, Outer::Point, types[0])"],
    "both directions and a pack" => ["Manypack::Factory.new", "SUBJECT.register_type(1, Outer::Point, types[0]) || SUBJECT.load(SUBJECT.dump(Outer::Point.new))"],
    "two types" => ["Manypack::Factory.new", "[1, 2].each { |type| SUBJECT.register_type(type, Outer::Point, types[0]) }"],
    "the default factory" => ["Manypack::DefaultFactory", "SUBJECT.register_type(1, Outer::Point, types[0])"],
    "a packer" => ["Manypack::Packer.new", "SUBJECT.register_type(1, Outer::Point) { '' }"],
    "an unpacker" => ["Manypack::Unpacker.new", "SUBJECT.register_type(1, Outer::Point) { nil }"],
    "a pool" => ["Manypack::Factory.new", "SUBJECT.register_type(1, Outer::Point, types[0]) || SUBJECT.pool.packer { |packer| packer.write(Outer::Point.new) }"] }.each do |what, (subject, register)|
    define_method("test_a_class_that_is_loaded_anew_is_one_class_in_#{what}".tr(" ", "_")) do
      assert_program(format(PROGRAM, subject: subject, register: register), "few", INTERPRETED)
    end
  end

  def test_the_default_factory_keeps_no_former_codec_for_other_ractors
    assert_program <<~'RUBY', "few", INTERPRETED
      def reload
        Object.send(:remove_const, :Point) if defined?(Point)
        Object.class_eval("class Point; end")
        Manypack::DefaultFactory.register_type(1, Point, packer: ->(_) { "#{self}" })
      end

      ractor = Ractor.new { Ractor.receive }
      20.times { Thread.new { reload }.join }
      GC.start
      count = ObjectSpace.each_object(Class).count { |klass| klass.name == "Point" }
      print count.between?(1, 2) ? "few" : count
      ractor.send(nil)
      ractor.respond_to?(:value) ? ractor.value : ractor.take # on a branch of 4.1, ending beside a Ractor that ends can crash
    RUBY
  end

  def test_the_new_class_is_packed_and_the_old_one_is_not
    factory = Manypack::Factory.new
    old, new = Array.new(2) do
      self.class.send(:remove_const, :Reloaded) if self.class.const_defined?(:Reloaded)
      self.class.const_set(:Reloaded, Class.new)
    end
    [old, new].each { |klass| factory.register_type(1, klass, packer: ->(_) { "" }) }
    assert_equal([[1, new]], factory.registered_types.map { |entry| entry.values_at(:type, :class) })
    assert_equal "\xC7\x00\x01".b, factory.dump(new.new)
    assert_raises(NoMethodError) { factory.dump(old.new) }
  end

  # Nothing shows that one of these replaces the other.
  def test_classes_without_a_name_or_with_another_name_or_type_keep_theirs
    anonymous = Array.new(2) { Class.new }
    nested = Array.new(2) { Module.new { const_set(:Point, Class.new) }.const_get(:Point) }
    factory = Manypack::Factory.new
    [*anonymous, *nested, Struct, Range].each { |klass| factory.register_type(1, klass, packer: ->(_) { "" }) }
    assert_equal 6, factory.registered_types.size
    [*anonymous, *nested].each { |klass| assert_equal "\xC7\x00\x01".b, factory.dump(klass.new) }
  end
end
