# frozen_string_literal: true

# Since Ruby 4.1, only the Ractor that made a class can change it. Records of other classes are made once all the same,
# and an error says what cannot work.
require "test_helper"
require "support/program"

class RecordForeignClassTest < Minitest::Test
  include ProgramHelper

  # A class that refuses what Ruby 4.1 refuses in a Ractor that did not make it.
  FOREIGN = <<~'RUBY'
    require "manypack/record"
    MAIN = Ractor.current
    module Foreign
      %i[const_set define_method remove_method include extend class_eval].each do |name|
        module_eval <<~METHOD
          def #{name}(...)
            raise Ractor::IsolationError, "can not modify a class of another Ractor" if Ractor.current != MAIN

            super
          end
        METHOD
      end
    end
    Point = Struct.new(:x, :y)
    Bare = Struct.new(:x)
    Manypack::Record.new(Point, x: Integer, y: Integer).attach
    class Place < Point; end
    [Place, Bare].each { |klass| klass.singleton_class.prepend(Foreign) }
  RUBY

  def test_a_subclass_that_cannot_keep_its_record_has_one_in_each_ractor
    assert_program(FOREIGN + <<~RUBY, "[true, true, 3, true]")
      there = value(Ractor.new do
        place = Place.load(Place.new(1, 2).dump)
        [Place.record.equal?(Place.record), Place.record.klass == Place, place.x + place.y]
      end)
      p(there << (Place.record.equal?(Place.record) && Place.const_defined?(:MANYPACK_INHERITED, false)))
    RUBY
  end

  def test_a_frozen_subclass_has_one_record
    frozen = Class.new(Attached).tap(&:members).freeze # Ruby 3.1 keeps them in the class
    assert_same frozen.record, frozen.record
    assert_same frozen, frozen.record.klass
  end

  def test_a_ractor_keeps_a_limited_number_of_them
    attached = Manypack::Record.const_get(:Attached)
    1_100.times { Class.new(Attached).tap(&:members).freeze.record }
    assert_operator attached.kept.size, :<=, 1_000
  end

  def test_attaching_to_a_class_of_another_ractor_says_what_to_do
    assert_program(FOREIGN + <<~RUBY, <<~SAID.chomp)
      puts(value(Ractor.new do
        Manypack::Record.new(Bare, x: Integer).attach
      rescue Ractor::IsolationError => e
        e.message
      end))
    RUBY
      Bare belongs to another Ractor, and only that one can attach a Record to it: attach it there, or call load and dump of the Record itself
    SAID
  end

  def test_a_ractor_attaches_to_its_own_classes
    assert_program(<<~RUBY, "[1, 2, true]")
      require "manypack/record"
      p(value(Ractor.new do
        point = Manypack::Record.define(x: Integer)
        place = Class.new(point)
        [point.load(point.new(x: 1).dump).x, place.load(place.new(x: 2).dump).x, place.record.equal?(place.record)]
      end))
    RUBY
  end

  Attached = Struct.new(:x)
  Manypack::Record.new(Attached, x: Integer).attach
end
