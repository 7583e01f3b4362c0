# frozen_string_literal: true

# Records told apart by their members, by nothing but the lack of a tag, or by a first element, and types that contain
# themselves.
require "test_helper"
require "json"
require "record/records"
require "support/costs"

class RecordChoicesTest < Minitest::Test
  include Records
  include Costs

  Ring = Struct.new(:radius, :inner)
  RING = Record.new(Ring, radius: Float, inner: Float)
  ANY = Type[CIRCLE, SQUARE, RING]
  LISTS = Type.recursive { |list| Type[nil, Integer, [list]] }
  JSONS = Type.recursive { |json| Type[nil, true, false, Integer, Float, String, [json], { String => json }] }
  Lit = Struct.new(:value)
  Sum = Struct.new(:left, :right)
  TERM = Type.recursive { |term| Record.union("op", "lit" => Record.new(Lit, value: Integer), "sum" => Record.new(Sum, left: term, right: term)) }
  ONE = Sum.new(Lit.new(1), Sum.new(Lit.new(2), Lit.new(3)))
  FIRST = Record.union(0, "circle" => CIRCLE.array, 7 => RING.array)

  # What every door says of a message: the object or the error.
  def doors(type, message)
    bytes = pack(message)
    [-> { type.load(bytes) }, -> { type.load_json(JSON.generate(message)) }, -> { View.new(pack({ "at" => [message] })).dig("at").as(Type[[type]])[0] },
     -> { Manypack.split(bytes, as: type).first }, -> { type.load(bytes, collect: true) }, -> { Type[[type]].load(pack([message]))[0] }].map do |door|
      door.call
    rescue RecordError => error
      [type.valid?(bytes), error.class]
    end.uniq
  end

  # --- by their members -----------------------------------------------------------------------------------------

  def test_a_map_is_of_the_record_that_requires_most_of_what_it_has
    { { "radius" => 1.5 } => Circle.new(1.5), { "side" => 2.5 } => Square.new(2.5), { "inner" => 1.5, "radius" => 2.5 } => Ring.new(2.5, 1.5),
      { "side" => 1.5, "inner" => 2.5, "zork" => [], "radius" => 3.5 } => Ring.new(3.5, 2.5), { "side" => 1.5, "radius" => 2.5 } => Circle.new(2.5) }.each do |message, object|
      assert_equal [object], doors(ANY, message)
      assert_equal [object], doors(ANY.or(nil), message)
      assert_equal object, ANY.load(ANY.dump(object))
      assert_equal object, ANY.load_json(ANY.dump_json(object, check: true))
    end
    [{}, { "inner" => 1.5 }, { "Radius" => 1.5 }, { "radius" => "1" }].each { |message| assert_equal [[false, RecordError]], doors(ANY, message) }
    assert_equal "expected Records::Circle or Records::Square or RecordChoicesTest::Ring, got map of 1, at $, byte 0", error_of(ANY, { "inner" => 1.5 }).message
    assert_equal [Circle.new(1.5), nil, 5], Type[[Type[ANY, nil, Integer]]].load(pack([{ "radius" => 1.5 }, nil, 5]))
  end

  def test_an_error_says_by_which_members_records_are_told_apart
    error = assert_raises(RecordError) { Type[[ANY.or(nil)]].load_json('[{"inner": 1}]') }
    assert_equal [:type, "/0", 'an object with "radius", or with "side", or with "radius" and "inner" or null'], [error.code, error.pointer, error.expected]
    error = assert_raises(RecordError) { FIRST.load_json('["x", 1]') }
    assert_equal [:tag, "/0", '"circle" or 7', '"x"'], [error.code, error.pointer, error.expected, error.got]
  end

  def test_equal_keys_and_aliases_count_once
    pair = Record.new(Struct.new(:a, :b), a: Integer, b: Integer, with: { aliases: { a: %w[x y] } })
    one = Record.new(Struct.new(:c), c: Integer)
    type = Type[pair, one]
    assert_equal [1, 2], type.load(pack({ "y" => 1, "b" => 2 })).to_a
    assert_equal [3], type.load("\x84\xA1a\x01\xA1x\x02\xA1y\x02\xA1c\x03".b).to_a
    refute type.valid?("\x83\xA1a\x01\xA1x\x02\xA1a\x02".b)
    assert_raises(Manypack::MalformedFormatError) { type.with(untrusted: true).load("\x82\xA1c\x01\xA1c\x02".b) }
    assert_equal [2], type.load("\x82\xC4\x01c\x01\xA1c\x02".b).to_a
  end

  def test_optional_members_and_the_one_for_unknown_pairs_do_not_count
    with_default = Record.new(Struct.new(:a, :b), a: Integer, b: Integer, with: { defaults: { b: 5 } })
    collecting = Record.new(Struct.new(:a, :c, :rest), a: Integer, c: Integer, rest: Object, with: { unknown: { into: :rest } })
    own = Record.new(Struct.new(:d, :e) { def initialize(d, e = 6) = super }, d: Integer, e: Integer)
    type = Type[with_default, collecting, own]
    assert_equal [[1, 5], [1, 2, { "z" => 3 }], [4, 6]], [{ "a" => 1 }, { "a" => 1, "c" => 2, "z" => 3 }, { "d" => 4 }].map { |message| type.load(pack(message)).to_a }
  end

  def test_lazy_records_and_names_are_told_apart
    type = Type[[Type[CIRCLE.lazy, RING.lazy]]]
    lazy = type.load(pack([{ "radius" => 1, "inner" => 2 }, { "radius" => 1 }]))
    assert_equal [Ring.new(1.0, 2.0), Circle.new(1.0)], lazy.map(&:load)
    assert_equal pack([{ "radius" => 1, "inner" => 2 }, { "radius" => 1 }]), type.dump(lazy)
    node = Record.define(value: Integer, children: [Type[:self, CIRCLE, String]])
    loaded = node.load(pack({ "value" => 1, "children" => [{ "value" => 2, "children" => [] }, { "radius" => 3 }, "x"] }))
    assert_equal [node, Circle, String], loaded.children.map(&:class)
  end

  def test_records_that_cannot_be_told_apart_are_refused
    other = Record.new(Struct.new(:radius, :x), radius: Integer, x: Integer, with: { defaults: { x: 1 } })
    assert_match(/Circle and .* have the same required members \("radius"\): Record.union tells/, assert_raises(ArgumentError) { Type[CIRCLE, other] }.message)
    [{ String => Integer }, Hash, SHAPE].each { |map| assert_raises(ArgumentError, map.inspect) { Type[CIRCLE, RING, map] } }
    assert_raises(ArgumentError) { Type[CIRCLE.array, RING.array] }
    assert_match(/is a union/, assert_raises(ArgumentError) { Record.union("t", "a" => Type[CIRCLE, RING]) }.message)
  end

  def test_an_object_that_would_be_read_as_another_class_is_not_dumped
    klass = Struct.new(:radius, :inner)
    old = Record.new(klass, radius: Float, inner: Float, with: { defaults: { inner: 0.0 } })
    type = Type[old, RING]
    assert_equal [klass.new(1.0, 0.0), Ring.new(1.0, 2.0)], [{ "radius" => 1 }, { "radius" => 1, "inner" => 2 }].map { |message| type.load(pack(message)) }
    assert_match(/has all required members of RecordChoicesTest::Ring/, assert_raises(ArgumentError) { type.dump(klass.new(1.0, 2.0)) }.message)
    versions = Type[Record.new(Ring, radius: Float, inner: Float, with: { defaults: { inner: 0.0 } }), RING]
    assert_equal Ring.new(1.0, 0.0), versions.load(versions.dump(versions.load(pack({ "radius" => 1 }))))
  end

  def test_many_members_and_many_records
    records = Array.new(40) { |i| Record.new(Struct.new(*Array.new(i + 1) { |j| :"m#{j}" }), **Array.new(i + 1) { |j| [:"m#{j}", Integer] }.to_h) }
    type = Type[*records]
    [0, 1, 20, 39].each { |i| assert_equal [*0..i], type.load(pack([*0..i].to_h { |j| ["m#{j}", j] })).to_a }
    wide = Record.new(Struct.new(*Array.new(5000) { |j| :"m#{j}" }), **Array.new(5000) { |j| [:"m#{j}", Integer] }.to_h)
    type = Type[wide, CIRCLE]
    message = pack(Array.new(5000) { |j| ["m#{j}", j] }.reverse.to_h)
    assert_equal [*0...5000], type.load(message).to_a
    refute type.valid?(pack(Array.new(4999) { |j| ["m#{j}", j] }.to_h))
  end

  def test_members_are_looked_for_in_linear_time
    type = Type[Record.define(a: Type[:self, RING, nil]), CIRCLE].with(max_depth: 100_000)
    assert_linear(200) do |n|
      bytes = "#{"\x82\xA1z\x90\xA1a" * n}\xC0".b
      -> { raise "not loaded" unless type.valid?(bytes) }
    end
    assert_linear(2_000) do |n|
      bytes = "\xDF".b + [n].pack("N") + (0...n).map { |i| pack(i) + "\x01".b }.join
      -> { raise "loaded" if ANY.valid?(bytes) }
    end
  end

  # --- unions ---------------------------------------------------------------------------------------------------

  def test_untagged_is_for_maps_without_the_tag_alone
    both = Record.union("type", "circle" => CIRCLE, untagged: Type[SQUARE, RING], else: View)
    assert_equal [Circle.new(1.0), Square.new(1.0), Ring.new(1.0, 2.0), View],
                 [{ "type" => "circle", "radius" => 1 }, { "side" => 1 }, { "radius" => 1, "inner" => 2 }].map { |message| both.load(pack(message)) } + [both.load(pack({ "type" => "x" })).class]
    alone = Record.union("type", "circle" => CIRCLE, untagged: SQUARE)
    assert_equal [[false, RecordError]], doors(alone, { "type" => "x", "side" => 1.5 })
    assert_equal [Square.new(1.5)], doors(alone, { "side" => 1.5 })
    [both, alone, both.or(nil)].each { |type| assert_equal pack({ "side" => 1.0 }), type.dump(Square.new(1.0)) }
    assert_equal pack({ "type" => "x" }), both.dump(both.load(pack({ "type" => "x" })))
    maps = Record.union("type", "circle" => CIRCLE, untagged: { String => Object })
    assert_equal({ "a" => 1 }, maps.load(maps.dump({ "a" => 1 })))
    assert_match(/has the tag "x"/, assert_raises(ArgumentError) { maps.dump({ "type" => "x" }) }.message)
    assert_raises(TypeError) { alone.dump(Ring.new(1.0, 2.0)) }
    assert_raises(ArgumentError) { Record.union("type", "circle" => CIRCLE, untagged: CIRCLE) }
    assert_equal Circle.new(1.0), Record.union("t", { untagged: CIRCLE }).load(pack({ "t" => "untagged", "radius" => 1 }))
  end

  def test_records_as_arrays_have_the_tag_first
    { ["circle", 1.5] => Circle.new(1.5), [7, 1.5, 2.5] => Ring.new(1.5, 2.5), ["circle", 1.5, "later"] => Circle.new(1.5) }.each do |message, object|
      assert_equal [object], doors(FIRST, message)
      assert_equal message.take(object.size + 1), unpack(FIRST.dump(object))
      assert_equal object, FIRST.load_json(FIRST.dump_json(object))
    end
    [[], ["x", 1.5], [7, 1.5], ["circle", "1"], [nil, 1.5], { "circle" => 1 }].each { |message| assert_equal [[false, RecordError]], doors(FIRST, message) }
    assert_equal ["$[2]", "$[2]", "$[0]"], [[7, 1.5, "x"], [7, 1.5], ["x"]].map { |message| error_of(FIRST, message).path.to_s }
    strict = Record.union(0, "circle" => CIRCLE.with(unknown: :raise).array, else: [Object])
    assert_equal "expected 2 elements, got more, at $[2], byte 11 (Records::Circle)", error_of(strict, ["circle", 1, 2]).message.sub(/byte \d+/, "byte 11")
    assert_equal [["x", 1], []], [strict.load(pack(["x", 1])), strict.load(pack([]))]
    assert_equal pack(["x", 1]), strict.dump(["x", 1])
    assert_raises(ArgumentError) { strict.dump(["circle", 1]) }
    positional = Record.union(0, "circle" => CIRCLE.array, else: SQUARE.array)
    assert_equal [Square.new(2.0), Circle.new(2.0)], [[2.0], ["circle", 2.0]].map { |message| positional.load(pack(message)) }
    assert_equal [2.0], unpack(positional.dump(Square.new(2.0)))
  end

  def test_maps_may_have_the_number_0_as_their_tag_key_and_arrays_no_other
    maps = Record.union(0, "circle" => CIRCLE)
    assert_equal Circle.new(1.0), maps.load(maps.dump(Circle.new(1.0)))
    [-> { Record.union(0, "circle" => CIRCLE.array, "ring" => RING) }, -> { Record.union(1, "circle" => CIRCLE.array) }, -> { Record.union("t", "circle" => CIRCLE.array) },
     -> { Record.union(0, "circle" => CIRCLE.array, "x" => [Object]) }].each { |call| assert_raises(ArgumentError, &call) }
    assert_match(/by the union/, assert_raises(ArgumentError) { FIRST.attach }.message)
  end

  # --- types that contain themselves ----------------------------------------------------------------------------

  def test_a_type_may_contain_itself
    [nil, 1.5, "a", [], [[[]]], { "a" => [{ "b" => [nil, true] }] }].each { |value| assert_equal [value], doors(JSONS, value) }
    [[:a, 1], { "a" => { 1 => 2 } }].each { |value| refute JSONS.valid?(pack([value, { 1 => 2 }])) }
    assert_equal [1, [nil]], LISTS.load(LISTS.dump([1, [nil]]))
    assert_equal "$[1][0][0]", error_of(LISTS, [1, [["x"]]]).path.to_s
    assert_raises(RecordError) { LISTS.dump([[["x"]]], check: true) }
    assert_equal [LISTS, 1], [Type.recursive { |list| Type[nil, Integer, [list]] }, Type[LISTS, String].load("\x01")]
    assert_equal [[1], "x"], [[1], "x"].map { |value| Type[LISTS, String].load(pack(value)) }
    refute_equal LISTS, JSONS
  end

  def test_a_union_may_contain_itself
    message = { "op" => "sum", "left" => { "op" => "lit", "value" => 1 }, "right" => { "op" => "sum", "left" => { "op" => "lit", "value" => 2 }, "right" => { "op" => "lit", "value" => 3 } } }
    assert_equal [message, [ONE]], [unpack(TERM.dump(ONE)), doors(TERM, message)]
    assert_equal ["$.right.left.value"], [error_of(TERM, { **message, "right" => { "op" => "sum", "left" => { "op" => "lit", "value" => "2" } } }).path.to_s]
    assert_equal [nil, ONE], [TERM.or(nil).load("\xC0".b), TERM.or(nil).load(TERM.dump(ONE))]
    tree = Type.recursive { |type| Type[Record.new(Struct.new(:leaf), leaf: Integer), Record.new(Struct.new(:one, :two), one: type, two: type)] }
    loaded = tree.load(pack({ "one" => { "leaf" => 1 }, "two" => { "one" => { "leaf" => 2 }, "two" => { "leaf" => 3 } } }))
    assert_equal [1, 2, 3], [loaded.one.leaf, loaded.two.one.leaf, loaded.two.two.leaf]
    assert_equal loaded, tree.load(tree.dump(loaded))
  end

  def test_the_classes_of_a_union_that_contains_itself_can_be_attached
    lit, sum = Struct.new(:value), Struct.new(:left, :right)
    term = Type.recursive { |type| Record.union("op", "lit" => Record.new(lit, value: Integer), "sum" => Record.new(sum, left: type, right: type)) }.attach
    one = sum.new(lit.new(1), lit.new(2))
    assert_equal [term.dump(one), one, one], [pack(one), sum.load(one.dump), term.load(pack(one))]
  end

  def test_recursive_types_may_be_nested
    pairs = Type.recursive { |outer| Type[nil, Type.recursive { |inner| Type[Integer, [inner], { String => outer }] }] }
    assert_equal [[1, [{ "a" => nil, "b" => [2] }]]], doors(pairs, [1, [{ "a" => nil, "b" => [2] }]])
    refute pairs.valid?(pack([nil]))
    assert_equal 0, Thread.current[:__manypack_levels__].to_i
    assert_raises(RuntimeError) { Type.recursive { raise "no" } }
    assert_equal LISTS, Type.recursive { |list| Type[nil, Integer, [list]] }
  end

  def test_a_recursive_type_may_stand_beside_others_and_have_rules_inside_of_itself
    numbers = [1, [2, [nil]], nil]
    assert_equal [numbers], doors(Type.recursive { |list| Type[Integer, [Type[list, nil]]] }, numbers)
    assert_equal [{ "a" => [nil] }], doors(Type.recursive { |type| Type[[type], { String => Type[type, nil] }, nil] }, { "a" => [nil] })
    assert_equal [[5, [1, 7]]], doors(Type.recursive { |type| Type[1..2, [Type[type, 5..7]]] }, [5, [1, 7]])
    checked = Type.recursive { |list| Type[Integer, [list.check("must not be 3") { |value| value != 3 }]] }
    assert_equal [[1, [2]]], doors(checked, [1, [2]])
    assert_equal ["$[1][0]", :check], error_of(checked, [1, [3]]).then { |error| [error.path.to_s, error.code] }
    leaf, two = Struct.new(:leaf), Struct.new(:one, :two)
    tree = Type.recursive { |type| Type[Record.new(leaf, leaf: Integer), Record.new(two, one: type.or(nil), two: [type])] }
    assert_equal [two.new(leaf.new(1), [two.new(nil, [])])], doors(tree, { "one" => { "leaf" => 1 }, "two" => [{ "one" => nil, "two" => [] }] })
  end

  def test_a_type_that_is_only_itself_is_refused
    [->(type) { type }, ->(type) { Type[type, nil] }, ->(type) { Record.union("t", "a" => type) }, ->(type) { Record.union("t", "a" => CIRCLE, else: type) },
     ->(type) { Record.union("t", "a" => CIRCLE, untagged: type) }, ->(type) { Type.recursive { Type[type, nil] } }].each do |block|
      assert_match(/a type cannot be itself/, assert_raises(ArgumentError) { Type.recursive(&block) }.message)
    end
    kept = nil
    Type.recursive { |type| [kept = type] }
    assert_match(/only inside of it/, assert_raises(ArgumentError) { kept.load("\x01") }.message)
    assert_raises(ArgumentError) { Type.recursive }
  end

  def test_deep_messages_and_objects_are_bounded
    deep = "#{"\x91" * 100_000}\xC0".b
    [LISTS, JSONS].each { |type| assert_raises(Manypack::StackError) { type.load(deep) } }
    assert_raises(Manypack::StackError) { JSONS.with(max_depth: 100_000).load(deep) }
    object = 100_000.times.inject(nil) { |inner,| [inner] }
    assert_raises(Manypack::NestingError) { LISTS.dump(object) }
    assert_raises(Manypack::NestingError) { TERM.dump(200.times.inject(Lit.new(1)) { |inner,| Sum.new(Lit.new(1), inner) }) }
    cycle = []
    cycle << cycle
    assert_raises(Manypack::NestingError) { LISTS.dump(cycle) }
  end

  def test_they_are_described_and_shared
    [ANY, FIRST, LISTS, JSONS, TERM].each do |type|
      assert Ractor.shareable?(type), type.inspect
      assert_kind_of String, JSON.generate(type.json_schema)
      assert_kind_of String, type.to_rbs
    end
    schema = TERM.json_schema
    assert_equal({ "$ref" => "#/$defs/Recursive" }, schema["$defs"]["Recursive"]["oneOf"][1]["properties"]["left"])
    assert_equal [{ "anyOf" => [{ "required" => %w[radius inner] }] }], ANY.json_schema["anyOf"].filter_map { |one| one["not"] }.uniq { |one| one["anyOf"].take(1) }
    assert_equal [{ "const" => "circle" }, { "type" => "number" }], FIRST.json_schema["oneOf"][0]["prefixItems"]
    assert_equal "(Integer | Array[untyped])?", LISTS.to_rbs
    assert_equal "#<Manypack::Type recursive nil or Integer or [itself]>", LISTS.inspect
  end

  def test_a_type_says_in_a_case_what_is_of_it
    said = [Circle.new(1.0), [1, [nil]], 5, "x"].map do |object|
      case object
      when ANY then :shape
      when 1..9 then :number
      when LISTS then :list
      else :other
      end
    end
    assert_equal %i[shape list number other], said
    assert_equal [[1, 5], ["a"], [true, false, false]], [[1, "x", 5].grep(Type[Integer]), [1, "a"].grep_v(Type[1..9]), [1.5, "x", nil].map { |one| Type[0.0..2.0] === one }]
    assert_equal [true, false, true, false], [TERM === ONE, TERM === Lit.new("x"), FIRST === Ring.new(1.0, 2.0), JSONS === { a: 1 }]
  end
end
