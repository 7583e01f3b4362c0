# frozen_string_literal: true

# Records inside of themselves and of each other.
require "test_helper"
require "objspace"
require "record/records"

class RecordRecursionTest < Minitest::Test
  include Records

  def test_records_inside_of_themselves
    tree = Node.new(1, [Node.new(2, []), Node.new(3, [Node.new(4, [])])])
    assert_equal tree, NODE.load(NODE.dump(tree))
    error = error_of(NODE, { "value" => 1, "children" => [{ "value" => 2, "children" => [{ "value" => "x", "children" => [] }] }] })
    assert_equal "$.children[0].children[0].value", error.path.to_s
    same = Record.new(Node, value: Integer, children: [:self])
    assert_equal tree, same.load(NODE.dump(tree))
  end

  def test_records_in_each_other_by_name
    pet = Record.new(Pet, name: String, owner: Type[:Person, nil])
    person = Record.new(Person, name: String, pets: [pet])
    message = { "name" => "Ada", "pets" => [{ "name" => "Cat", "owner" => { "name" => "Bob", "pets" => [] } }, { "name" => "Dog", "owner" => nil }] }
    loaded = person.load(pack(message))
    assert_equal Person.new("Ada", [Pet.new("Cat", Person.new("Bob", [])), Pet.new("Dog", nil)]), loaded
    assert_equal message, unpack(person.dump(loaded))
    assert_equal Pet.new("Cat", nil), pet.load(pack({ "name" => "Cat", "owner" => nil }))
    assert_raises(ArgumentError) { pet.load(pack({ "name" => "Cat", "owner" => { "name" => "Bob", "pets" => [] } })) }
  end

  def used(record)
    bytes = pack({ "name" => "Cat", "owner" => nil })
    pet = Pet.new("Cat", nil)
    [-> { record.load(bytes) }, -> { record.dump(pet) }, -> { record.valid?(bytes) }, -> { Type[[record]].load("\x90") }, -> { Type[record, nil].dump(nil) },
     -> { record.lazy.load(bytes) }, -> { unpack(bytes, as: record) }, -> { Manypack.split(bytes, as: record).to_a }, -> { View.new(bytes).as(record) },
     -> { record.with(untrusted: true).load(bytes) }, -> { Record.new(Person, name: String, pets: [record]).load(pack({ "name" => "", "pets" => [] })) }]
  end

  def test_a_name_that_no_class_has_is_an_error_at_the_first_use
    used(Record.new(Pet, name: String, owner: Type[:Persom, nil])).each do |use|
      message = assert_raises(ArgumentError, &use).message
      assert_match(/\A#{Pet.name}#owner has the type :Persom, which is the name of no class, did you mean :Person\? \(a Symbol/, message)
    end
    assert_match(/:Qwxyz, which is the name of no class \(/, assert_raises(ArgumentError) { Record.new(Pet, name: :Qwxyz, owner: nil).load("\x80") }.message)
    used(Record.new(Pet, name: String, owner: Type[:Person, nil])).each { |use| assert use.call }
  end

  def test_a_class_that_got_its_name_later_is_self
    klass = Record.define(name: String, friends: [:Friend])
    self.class.const_set(:Friend, klass)
    message = assert_raises(ArgumentError) { klass.load(pack({ "name" => "Ada", "friends" => [] })) }.message
    assert_match(/Friend#friends has the type :Friend, and its class got that name after the Record was made: write :self\z/, message)
  ensure
    self.class.send(:remove_const, :Friend)
  end

  def test_recursion_ends_at_the_limit_of_depth
    deep = ->(levels) { levels.times.inject({ "value" => 0, "children" => [] }) { |inner, _| { "value" => 0, "children" => [inner] } } }
    assert_instance_of Node, NODE.load(pack(deep.(50)))
    assert_raises(Manypack::StackError) { NODE.load(pack(deep.(100), max_depth: 500)) }
    assert_raises(Manypack::StackError) { NODE.with(max_depth: 4).load(pack(deep.(5))) }
    assert_raises(Manypack::StackError) { NODE.with(untrusted: true).load(pack(deep.(30))) }
    bottom = NODE.with(max_depth: 100_000).load(nested(20_000))
    20_000.times { bottom = bottom.children.first }
    assert_equal [], bottom.children
  rescue Manypack::StackError, SystemStackError => e
    assert_kind_of Manypack::StackError, e # where the C stack was nearly used up
  end

  def nested(levels)
    "\x82\xA5value\x00\xA8children\x91".b * levels + "\x82\xA5value\x00\xA8children\x90".b
  end

  def test_a_cycle_is_not_dumped
    node = Node.new(1, [])
    node.children << node
    assert_raises(Manypack::NestingError) { NODE.dump(node) }
  end

  module Town
    Person = Struct.new(:pets)
  end

  module Village
    Person = Struct.new(:pets)
  end

  def test_a_name_means_the_record_around_it_in_each_place
    pet = Record.new(Pet, name: String, owner: Type[:Person, nil])
    types = [Town::Person, Village::Person].map { |klass| Record.new(klass, pets: [pet]) }
    both = Record.new(Struct.new(:one, :two), one: types[0], two: types[1])
    person = { "pets" => [{ "name" => "Cat", "owner" => { "pets" => [] } }] }
    loaded = both.load(pack({ "one" => person, "two" => person }))
    assert_equal [Town::Person, Village::Person], [loaded.one, loaded.two].map { |one| one.pets[0].owner.class }
  end

  # A Record that is in another in two places is compiled once, and so not twice as often for each level.
  def test_a_record_that_names_another_is_compiled_once_where_the_name_means_the_same
    compiler = Type.const_get(:Compiler)
    nodes = [7, 14].map do |levels|
      record = Record.new(Pet, name: String, owner: Type[:Person, nil])
      levels.times { record = Record.new(Struct.new(:one, :two), one: record, two: record) }
      compiler.new(Manypack::DefaultFactory.codec).nodes(Record.new(Person, name: String, pets: [record]).spec).size
    end
    assert_equal 7, nodes[1] - nodes[0]
  end

  # Each Record of a chain refers to the shapes of the next, and does not have its own of all below.
  def test_a_chain_of_records_takes_linear_memory
    sizes = [20, 40].map do |levels|
      record = Record.new(Struct.new(:a, :b), a: Integer, b: Object)
      levels.times { record = Record.new(Struct.new(:a, :b), a: Integer, b: Type[record, nil]) }
      ObjectSpace.memsize_of(record)
    end
    assert_equal sizes[0], sizes[1]
  end

  def test_records_that_share_shapes_keep_them_alive
    link = Struct.new(:a, :b)
    chain = 30.times.inject(Record.new(link, a: Integer, b: Type[[1, "x"]])) { |inner, _| Record.new(link, a: Integer, b: inner) }
    GC.start
    garbage = Array.new(100) { Record.new(link, a: Integer, b: Type[[2, "y"]]) }
    assert_equal 100, garbage.size
    message = 30.times.inject({ "a" => 0, "b" => "x" }) { |inner, i| { "a" => i, "b" => inner } }
    loaded = chain.load(pack(message))
    assert_equal message, unpack(chain.dump(loaded))
    error = assert_raises(Manypack::RecordError) { chain.load(pack(30.times.inject({ "a" => 0, "b" => 3 }) { |inner, i| { "a" => i, "b" => inner } })) }
    assert_equal "$#{".b" * 8}...#{".b" * 8}", error.path
  end
end
