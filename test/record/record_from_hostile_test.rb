# frozen_string_literal: true

# Type#from calls no method of the object that it is given, whatever that object has: only what makes objects runs.
require "test_helper"
require "record/records"

class RecordFromHostileTest < Minitest::Test
  include Records

  CALLS = [] # rubocop:disable Style/MutableConstant

  # Methods that notice that they are called.
  module Noticing
    %i[[] fetch key? each each_pair to_h to_hash to_a to_ary to_s to_str to_i to_int to_f to_sym inspect is_a? kind_of? instance_of? respond_to? class
       == eql? === hash size length keys values default encoding bytes dup clone freeze method_missing respond_to_missing? <=> coerce to_proc to_msgpack].each do |name|
      define_method(name) { |*| CALLS << name && super() }
    end
  end

  class MyHash < Hash; include Noticing; end
  class MyArray < Array; include Noticing; end
  class MyString < String; include Noticing; end

  class Mine
    include Noticing

    def self.===(*) = raise
    def self.name = raise
    def self.to_s = raise
    def self.inspect = raise
  end

  def noticing(hash_or_array)
    case hash_or_array
    when Hash then MyHash.allocate.replace(hash_or_array)
    when Array then MyArray.allocate.replace(hash_or_array)
    when String then MyString.allocate.replace(hash_or_array)
    end
  end

  def assert_no_calls
    CALLS.clear
    result = yield
    assert_equal [], CALLS.uniq
    result
  end

  # --- what is called ---

  def test_subclasses_of_hash_array_and_string_are_walked_as_what_they_are
    text = noticing("Ada")
    user = noticing({ "id" => 1, "name" => text, "tags" => noticing([text]), "home" => nil, "raw" => 1 })
    made = assert_no_calls { Type[[USER]].from(noticing([user]))[0] }
    assert_equal ["Ada", String, ["Ada"]], [made.name, made.name.class, made.tags]
    assert_equal Circle.new(1.0), assert_no_calls { SHAPE.from(noticing({ noticing("type") => noticing("circle"), "radius" => 1 })) }
    assert_equal({ a: 12 }, assert_no_calls { Type[{ Symbol => Integer }].from(noticing({ noticing("a") => noticing("12") }), lax: true) })
    assert_equal "b", assert_no_calls { Type[%w[a b]].from(noticing("b")) }
  end

  def test_no_default_proc_runs_and_no_singleton_method
    hash = Hash.new { raise }
    def hash.[](*) = raise
    def hash.each(*) = raise
    hash.store("x", 1)
    hash.store("y", 2)
    assert_equal Point.new(1.0, 2.0), POINT.from(hash)
    assert_raises(RecordError) { POINT.from(Hash.new { 1 }) }
  end

  def test_keys_are_found_by_their_text_in_any_hash
    identical = { "x".dup => 1, "y".dup => 2 }.compare_by_identity
    assert_equal Point.new(1.0, 2.0), POINT.from(identical)
    assert_equal Point.new(3.0, 2.0), POINT.from({ "x".dup => 1, "x".dup => 3, "y" => 2 }.compare_by_identity)
    assert_equal Point.new(1.0, 2.0), POINT.from({ "x".encode("UTF-16LE") => 1, "y".b => 2, Mine.allocate => 3 }.compare_by_identity)
  end

  def test_wrong_objects_are_named_without_asking_them
    [Mine.allocate, BasicObject.new, noticing({}), noticing([]), noticing("a"), Class.new.allocate, :a, 1.5, 2**80, Struct.new(:x).new(1)].each do |object|
      [Integer, [Integer], { Integer => Integer }, true, 1..2, [1, 2], POINT, Type[Symbol, nil], SHAPE].each do |type|
        next if type == Type[Symbol, nil] && (Symbol === object || String === object)
        next if Array === object && type == [Integer]
        next if Hash === object && type == { Integer => Integer }

        error = assert_no_calls { assert_raises(RecordError) { Type[type].from(object, lax: true, collect: true) } }
        assert_match(/at \$/, error.message)
      end
    end
  end

  def test_unknown_keys_may_be_anything
    hash = {}.compare_by_identity
    [Mine.allocate, BasicObject.new, nil, 1.5, [1], 2**70, "\xFF", "x".encode("UTF-16LE").force_encoding("UTF-16BE")].each { |key| hash[key] = 1 }
    assert_raises(RecordError) { assert_no_calls { POINT.with(unknown: :raise).from(hash) } }
    hash["x"] = hash["y"] = 1
    assert_equal Point.new(1.0, 1.0), assert_no_calls { POINT.from(hash) }
    assert_equal({ nil => 1, 2 => 3 }, REST.from({ x: 1, nil => 1, 2 => 3 }).rest)
  end

  # --- size and depth ---

  def test_a_cycle_is_too_deep
    list = []
    list << { value: 1, children: list }
    map = {}
    map["a"] = map
    tree = Type[{ String => Type[Integer, { String => Object }] }]
    assert_match(/nested too deeply: max_depth is 128/, assert_raises(RecordError) { NODE.from(list[0], collect: true) }.message)
    assert_match(/nested too deeply/, assert_raises(RecordError) { NODE.with(max_depth: 100_000).from(list[0]) }.message)
    assert_same map, tree.from({ "a" => map })["a"]["a"]
    assert_raises(Manypack::NestingError) { tree.from({ "a" => map }, freeze: true) }
    refute_predicate map, :frozen?
  end

  def test_a_million_keys_take_linear_time
    many = Array.new(1_000_000) { |i| [i, nil] }.to_h
    assert_raises(RecordError) { POINT.from(many) }
    assert_equal 1000, assert_raises(RecordError) { POINT.with(unknown: :raise).from(many, collect: true) }.errors.size
    assert_equal 1_000_000, Type[{ Integer => nil }].from(many).size
    assert_equal 100_000, REST.from(many.first(100_000).to_h.merge(x: 1)).rest.size
  end

  # --- code that runs meanwhile ---

  # A class whose objects do something while they are made.
  Doing = Struct.new(:id) do
    def initialize(id)
      super
      Thread.current[:doing]&.call
    end
  end
  DOING = Record.new(Doing, id: Integer)

  def doing(action)
    Thread.current[:doing] = action
    yield
  ensure
    Thread.current[:doing] = nil
  end

  def test_code_that_changes_the_hash_or_the_array_is_noticed
    changes = { add: ->(h) { h["z#{h.size}"] = 1 }, delete: ->(h) { h.delete("b") }, clear: :clear.to_proc, replace: ->(h) { h.replace({ "a" => { id: 1 } }) },
                rehash: :rehash.to_proc, identity: :compare_by_identity.to_proc }
    changes.each do |name, change|
      [Type[{ String => DOING }], REST.with(defaults: { x: 1 }), Record.new(Struct.new(:a, :b), a: DOING, b: Object)].each do |type|
        hash = { "a" => { id: 1 }, "b" => { id: 2 } }
        next if type.is_a?(Record) && type.unknown.is_a?(Hash)

        doing(-> { change.call(hash) }) { assert_raises(RuntimeError, RecordError, [name, type].inspect) { type.from(hash) } }
      end
    end
    [:clear.to_proc, ->(a) { a << { id: 1 } }, :pop.to_proc, :shift.to_proc].each do |change|
      array = [{ id: 1 }, { id: 2 }, { id: 3 }]
      doing(-> { change.call(array) }) { assert_match(/Array was modified.*at \$/, assert_raises(RuntimeError) { Type[[DOING]].from(array) }.message) }
    end
  end

  def test_code_that_raises_throws_or_switches_leaves_the_hash_usable
    hash = { "a" => { id: 1 }, "b" => { id: 2 } }
    type = Type[{ String => DOING }]
    error = doing(-> { raise IOError, "no" }) { assert_raises(RecordError) { type.from(hash) } }
    assert_equal ["$.a", IOError], [error.path, error.cause.class]
    assert_equal 5, doing(-> { throw :out, 5 }) { catch(:out) { type.from(hash) } }
    assert_equal({ "a" => Doing.new(1), "b" => Doing.new(2) }, switching { type.from(hash) })
    hash["c"] = { id: 3 }
    assert_equal 3, type.from(hash).size
    assert_equal 3, doing(-> { GC.start && GC.compact }) { type.from(hash) }.size if GC.respond_to?(:compact)
    inner = doing(-> { Thread.current[:doing] = nil and type.from(hash) }) { type.from(hash) }
    assert_equal 3, inner.size
  end

  def switching(&block)
    fiber = Fiber.new do
      Thread.current[:doing] = -> { Fiber.yield :switched }
      block.call
    end
    result = fiber.resume
    result = fiber.resume while result == :switched
    result
  end
end
