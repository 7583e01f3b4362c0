# frozen_string_literal: true

# Looking into Views: what their methods find in maps and arrays, one by one and one after another, and how Views are made.
require "test_helper"
require "view/views"

class ViewTest < Minitest::Test
  include CorePart
  include Views

  # --- looking up ---------------------------------------------------------------------------------------

  def test_it_finds_keys_and_indices
    exercise do
      v = view(DOCUMENT)
      assert_equal 1, v["a"]["b"][0]
      assert_equal [2, 3], v["a"]["b"][1].value
      assert_equal 1.5, v["f"]
      assert_equal "text", v["s"]
      assert_instance_of View, v["e"]
      assert_nil v["missing"]
      assert_nil v["n"]
    end
  end

  def test_an_index_may_be_negative_and_outside
    v = view([1, 2, 3])
    assert_equal([1, 2, 3, nil, 3, 2, 1, nil], [0, 1, 2, 3, -1, -2, -3, -4].map { |i| v[i] })
    assert_equal([true, false, true, false], [2, 3, -3, -4].map { |i| v.key?(i) })
    assert_nil v[(1 << 62) - 1]
    assert_raises(RangeError) { v[1 << 64] }
    assert_raises(TypeError) { v["a"] }
    assert_raises(TypeError) { v[nil] }
  end

  def test_anything_but_a_container_cannot_be_looked_into
    ["c0", "07", "a1 61", "d4 05 00"].each do |hex|
      v = raw(hex, allow_unknown_ext: true)
      %i[keys size to_a to_h each_pair empty?].each { |name| assert_raises(TypeError, name.to_s) { v.public_send(name) { nil } } }
      error = assert_raises(TypeError) { v[0] }
      assert_equal "expected a map or an array, got #{v.type}, at $, byte 0", error.message
      assert_raises(TypeError) { v.key?(0) }
      assert_raises(TypeError) { v.each { nil } }
    end
  end

  def test_dig_goes_through_containers_and_objects
    v = view(DOCUMENT)
    assert_equal 3, v.dig("a", "b", 1, -1)
    assert_nil v.dig("a", "x", 1)
    assert_nil v.dig("n", "x")
    assert_instance_of View, v.dig("a", "b")
    assert_raises(TypeError) { v.dig("s", "x") }
    assert_raises(ArgumentError) { v.dig }
    assert_equal 3, Manypack.dig(pack(DOCUMENT), "a", "b", 1, -1)
    assert_equal 1, Manypack.dig(pack(DOCUMENT), "a")["b"][0]
    assert_raises(ArgumentError) { Manypack.dig(pack(DOCUMENT)) }
    assert_equal 0, assert_raises(Manypack::TruncatedError) { Manypack.dig("", 1) }.offset
    assert_equal 0, assert_raises(Manypack::TruncatedError) { View.new("") }.offset
    assert_raises(TypeError) { Manypack.dig(nil, 1) }
  end

  def test_dig_goes_into_what_an_ext_becomes
    factory = points
    v = view_by(factory, factory.dump([{ "p" => Point.new(3, 4) }]))
    assert_equal 4, v.dig(0, "p", :y)
    assert_equal Point.new(3, 4), v[0]["p"]
  end

  def test_fetch_has_a_default_a_block_or_an_error
    v = view(DOCUMENT)
    assert_equal "text", v.fetch("s")
    assert_nil v.fetch("n", 1)
    assert_equal 1, v.fetch("x", 1)
    assert_nil v.fetch("x", nil)
    assert_equal("X", v.fetch("x", &:upcase))
    error = assert_raises(KeyError) { v.fetch("x") }
    assert_equal ["x", v, 'key not found: "x"'], [error.key, error.receiver, first_line(error)]
    assert_raises(IndexError) { view([1]).fetch(-2) }
    assert_raises(ArgumentError) { v.fetch("x", 1, 2) }
  end

  def test_a_key_is_there_even_with_nil
    v = view(DOCUMENT)
    assert v.key?("n")
    refute v.key?("x")
  end

  def test_include_asks_for_a_key_of_a_map_and_an_element_of_an_array
    v = view({ "a" => [1, 2] })
    assert_equal [true, false, true, false], [v.include?("a"), v.include?([["a", v["a"]]]), v["a"].member?(2), v["a"].include?(3)]
  end

  # --- iteration ----------------------------------------------------------------------------------------

  def test_each_yields_elements_or_pairs
    exercise do
      assert_equal [1, "a", [2]], view([1, "a", [2]]).map { |x| x.is_a?(View) ? x.value : x }
      assert_equal [["a", 1], ["b", nil]], view({ "a" => 1, "b" => nil }).to_a
    end
    v = view({ "a" => 1 })
    assert_same v, v.each { |key, value| assert_equal ["a", 1], [key, value] }
    assert_same v, v.each_pair { |key, value| assert_equal ["a", 1], [key, value] }
    assert_equal [1, ["a", 1]], [v.each.size, v.each.next]
    assert_equal [["a", 1]], v.each_pair.to_a
    assert_raises(TypeError) { view([1]).each_pair { nil } }
  end

  def test_to_h_makes_a_hash_of_a_map
    h = view({ "a" => [{}], "b" => 2 }).to_h
    assert_equal [{ "a" => [{}], "b" => 2 }, Hash, Array, Hash], [h, h.class, h["a"].class, h["a"][0].class]
    assert_equal({ "c" => 1, "a" => [{}], "b" => 2 }, { "c" => 1 }.merge(view(h)))
    assert_equal({ a: 1 }, { **view({ "a" => 1 }, symbolize_keys: true) })
    assert_nil view([]).to_hash
    assert_equal({ 2 => "b" }, view({ "b" => 2 }).to_h { |key, value| [value, key] })
    assert_equal({ 1 => 1 }, view([1]).to_h { |x| [x, x] })
    assert_raises(TypeError) { view([[1, 2]]).to_h }
  end

  def test_values_and_values_at
    exercise { assert_equal [1, [2], nil], view({ "a" => 1, "b" => [2], "c" => nil }).values.map { |x| x.is_a?(View) ? x.value : x } }
    assert_equal [1, 2, 3], raw(TWICE).values
    assert_equal [2, nil, 1], view({ "a" => 1, "b" => 2 }).values_at("b", "x", "a")
    assert_equal [3, 1, nil], view([1, 2, 3]).values_at(-1, 0, 3)
    assert_raises(TypeError) { view([1]).values }
    assert_raises(TypeError) { raw("c0").values_at(0) }
    assert_raises(Manypack::TruncatedError) { raw("82 01 02").values }
  end

  def test_a_view_of_an_array_is_taken_apart_like_an_array
    a, (b, c), *rest = view([1, [2, 3], 4, 5])
    assert_equal [1, 2, 3, [4, 5]], [a, b, c, rest]
    assert_equal [3, 7], view([[1, 2], [3, 4]]).map { |x, y| x + y }
    assert_equal [[1, 2], 3], [view([1, 2]), 3].then { |(x, y), z| [[x, y], z] }
    assert_equal [1, 2, 3], [0].flat_map { view([1, 2, 3]) }
  end

  def test_a_range_finds_elements_as_in_an_array
    numbers = [0, [1], 2, 3]
    [{}, { freeze: true }].each do |options|
      v = view(numbers, **options)
      bounds = [nil, *-6..6]
      bounds.product(bounds, [true, false]) do |from, to, open|
        assert_equal numbers[Range.new(from, to, open)].inspect, plain(v[Range.new(from, to, open)]).inspect, [from, to, open]
      end
    end
    assert_equal [[3], [2, 3], numbers, [], 3], [1, 2, 9, 0].map { |n| plain(view(numbers).last(n)) } + [view(numbers).last]
    assert_nil view([]).last
    assert_raises(ArgumentError) { view([1]).last(-1) }
    assert_raises(ArgumentError) { view([1]).last(1, 2) }
    ["x", nil, {}].each { |count| assert_match(/into Integer|to integer/, assert_raises(TypeError) { view([1]).last(count) }.message) }
    assert_raises(TypeError) { view([1])["a".."b"] }
    assert_raises(TypeError) { view({ 1 => 2 }).last }
    assert_nil view({ 1 => 2 })[0..1]
  end

  def plain(elements) = elements&.map { |x| x.is_a?(View) ? x.value : x }

  def test_a_range_takes_no_more_memory_than_there_are_elements
    assert_raises(Manypack::TruncatedError) { raw("dd ff ff ff ff 01 02")[0..] }
    assert_equal [1, 2], raw("dd ff ff ff ff 01 02")[0..1]
  end

  def test_a_path_finds_its_value
    v = view({ "a" => [{ "b" => 1 }, { "b" => 2 }] })
    assert_equal [2, nil, [1, 2], []], ["$.a[1].b", "$.x", "$..b", "$..x"].map { |path| v[Path.new(path)] }
  end

  def test_a_guess_at_removed_names_it
    %i[DELETE DELETED REMOVE].each { |name| assert_match(/REMOVED/, assert_raises(NameError) { View.const_get(name) }.message) }
    assert_equal :REMOVES, assert_raises(NameError) { View::REMOVES }.name
  end

  def test_other_views_are_not_taken_apart
    ["81 01 02", "c0", "a1 61"].each do |hex|
      v = raw(hex)
      first, second = v
      assert_same v, first
      assert_nil second
      assert_equal [v], [v].flatten
      assert_equal [v], [[v]].to_h { |one,| [one, one] }.keys
      assert_raises(TypeError) { [] + v }
      assert_nil v.to_ary
    end
  end

  def test_its_codec_has_its_options_and_ext_types
    factory = Manypack::Factory.new.tap { |made| made.register_type(1, Range, packer: :to_s, unpacker: nil) }
    codec = factory.codec(symbolize_keys: true)
    v = codec.view(codec.pack([{ a: 1 }]))
    [v, v[0], v.dup, v[0].detach, v.splice("[0].a" => 2), v.each.first].each { |one| assert_same codec, one.codec }
    assert_equal Manypack::Codec.new(max_depth: 9), View.new("\x90", max_depth: 9).codec
    assert_same Manypack::DefaultFactory.codec, View.new("\x90").codec
  end

  def test_copies_are_views_of_the_same_part
    [DOCUMENT, LARGE].each do |obj|
      v = view([obj])[0]
      copies = [v.dup, v.clone, v.clone(freeze: true), v.freeze.dup, v.clone, v.clone(freeze: false)]
      assert_equal [false, false, true, false, true, false], copies.map(&:frozen?)
      copies.each { |copy| assert_equal [v, v.offset, obj, 1], [copy, copy.offset, copy.value, [copy].uniq.size] }
    end
    root = view(LARGE)
    assert_equal [LARGE, LARGE], [root.dup.value, root.freeze.dup[7].dup.freeze && root.dup.value]
  end

  def test_checking_makes_no_codec
    binary = pack(DOCUMENT)
    View.new(binary, check: true)
    GC.disable
    before = ObjectSpace.count_objects[:T_DATA]
    100.times { View.new(binary, check: true) }
    assert_operator ObjectSpace.count_objects[:T_DATA] - before, :<=, 200, "a View and an Index each"
  ensure
    GC.enable
  end

  def test_size_and_keys
    assert_equal [0, 3, 2], [view([]).size, view([1, 2, 3]).length, view({ 1 => 2, 3 => 4 }).size]
    assert_equal [true, false, true], [view([]).empty?, view([1]).empty?, view({}).empty?]
    assert_raises(TypeError) { view([1]).keys }
  end

  # --- patterns -----------------------------------------------------------------------------------------

  def test_patterns_match
    view(DOCUMENT) => { a: { b: [first, [_, third], { c: nil }] }, s: String => text }
    assert_equal [1, 3, "text"], [first, third, text]
    refute((view(DOCUMENT) in { missing: _ }))
    refute((view(DOCUMENT) in [_]))
    refute((view([1]) in { a: _ }))
    refute((view(1) in [1]))
    assert((view(DOCUMENT) in { n: nil }))
    view({ "a" => 1, "b" => 2 }) => { a:, **rest }
    assert_equal [1, { b: 2 }], [a, rest]
    view({ "a" => 1 }, symbolize_keys: true) => { a: }
    assert_equal 1, a
    assert((view([1, 2, 3]) in [*, 3]))
  end

  # A Symbol that an ext type makes is a key of its own beside the str.
  def test_a_pattern_finds_symbols_that_an_ext_type_makes
    codec = Manypack::Factory.new.tap { |factory| factory.register_type(0, Symbol) }.codec
    v = codec.view(codec.pack({ type: "order", "id" => 1 }))
    assert((v in { type: "order", id: 1 }))
  end

  # --- making -------------------------------------------------------------------------------------------

  def test_new_refuses_what_it_cannot_have
    assert_raises(TypeError) { View.new(nil) }
    assert_raises(ArgumentError) { View.new("\x90", nonsense: true) }
    assert_raises(TypeError) { View.new("\x90", max_depth: "1") }
    assert_raises(Manypack::TruncatedError) { View.new("") }
    assert_raises(Manypack::LimitError) { View.new("\x92\x01\x02", max_bytes: 2) }
    assert_raises(Manypack::LimitError) { View.new("\x92\x01\x02", max_array_size: 1) }
    assert_raises(Manypack::MalformedFormatError) { View.new("\x90\x90", check: true) }
    assert_raises(Manypack::MalformedFormatError) { View.new("\x90\x90").value }
    assert_equal [0, nil], View.new("\x90\x90").then { |view| [view.size, view[0]] }
  end

  def test_the_depth_that_unpack_accepts_is_accepted
    [1, 2, 128].each do |depth|
      binary = "\x91".b * (depth - 1) + "\x90".b
      v = View.new(binary, max_depth: depth)
      assert_equal [depth, unpack(binary, max_depth: depth)], [v.bytesize, v.value]
      v = View.new(binary, max_depth: depth).freeze
      assert_equal depth, v.bytesize
    end
  end

  def test_options_are_those_of_unpack
    ext = bytes("82 d4 05 61 d6 ff 00 00 00 01 a1 61 d6 ff 00 00 00 01")
    assert_equal Time.at(1), View.new(ext, timestamp: true)["a"]
    assert_raises(Manypack::UnknownExtTypeError) { View.new(ext, timestamp: true).keys }
    assert_equal Manypack.unpack(ext, allow_unknown_ext: true).keys, View.new(ext, allow_unknown_ext: true).keys
    assert_predicate view(["a" * 40], freeze: true)[0], :frozen?
  end

  # Whether an array has an element is decided without building most of them: the answer is that of the built Array.
  ELEMENTS = [nil, true, false, 0, 1, -1, 7, 2**40, 2**63, -(2**63), 1.0, 0.5, Float::NAN, "", "a", "é", "a\0", "\xFF".b, "a".b, [], [1], ["a"], {}, { "a" => 1 }, { "a" => [1] }, :a, 1r, Object.new].freeze

  def test_include_says_what_the_array_would_say
    [ELEMENTS.grep_v(Symbol).grep_v(Rational).reject { |element| element.instance_of?(Object) }, [], ["a"] * 40, (0..99).to_a].each do |array|
      shown = view(array)
      built = shown.value
      ELEMENTS.each do |object|
        assert_equal built.include?(object), shown.include?(object), "#{object.inspect} in #{array.inspect}"
        assert_equal built.include?(object), shown.member?(object)
      end
      built.grep(Enumerable).each { |part| assert_includes shown, view(part) }
    end
    anything = Object.new
    def anything.==(_other) = true
    def anything.to_str = "b"
    [[1], ["a"], [nil], [[1]], [{}], [1.5]].each do |array|
      assert_equal view(array).value.include?(anything), view(array).include?(anything), array.inspect
    end
  end

  def test_include_of_an_array_with_exts
    array = [1, Manypack::ExtensionValue.new(5, "a".b), "a"]
    shown = View.new(pack(array), allow_unknown_ext: true)
    [*array, 5, "b", nil, Manypack::ExtensionValue.new(5, "b".b), [1]].each do |object|
      assert_equal array.include?(object), shown.include?(object), object.inspect
    end
  end

  def test_to_a_is_a_new_array_of_the_elements
    [[], [1, 2], (0..99).to_a, Array.new(50) { |i| "s#{i}" }, [nil, 1.5, "x".b, true] * 10, [[1], 2] * 10].each do |array|
      elements = view(array).to_a
      assert_equal array, elements
      refute_predicate elements, :frozen?
      assert_equal array, view(array, freeze: true).to_a
      refute_predicate view(array, freeze: true).to_a, :frozen?
      assert(view(array, freeze: true).to_a.all?(&:frozen?))
    end
    assert_equal [[1, 2]], view({ 1 => 2 }).to_a
  end

  def test_patterns_find_either_spelling_and_nothing_else
    v = view({ "a" => nil, :b => 1, 3 => 4, "c" => [1] }, symbolize_keys: false)
    assert_equal({ a: nil, b: 1 }, v.deconstruct_keys(%i[a zz b]))
    assert_equal({ 3 => 4, "a" => nil }, v.deconstruct_keys([3, "a"]))
    assert_equal({}, v.deconstruct_keys([]))
    assert_equal %w[a b c], v.deconstruct_keys(nil).keys.grep(Symbol).map(&:name)
    assert_raises(TypeError) { v.deconstruct_keys(:a) }
    assert_raises(TypeError) { view([1]).deconstruct_keys(%i[a]) }
    [:respond_to?, "respond_to?"].each { |name| assert_respond_to v, name }
    refute_respond_to v, "no method of this name"
    assert_raises(TypeError) { v.respond_to?(1) }
    refute v.respond_to?(:elements)
    assert v.respond_to?(:elements, true)
  end
end
