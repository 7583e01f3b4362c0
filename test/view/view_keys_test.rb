# frozen_string_literal: true

# Keys of a map in a View: each kind of them is found as a Hash finds it, and one of equal keys counts.
require "test_helper"
require "view/views"

class ViewKeysTest < Minitest::Test
  include CorePart
  include Views

  # --- keys of every kind -------------------------------------------------------------------------------

  KEYS = [
    *%w[0 00 7f cc00 cd0000 ce00000000 cf0000000000000000 d000 d10000 d200000000 d30000000000000000 ccff cdffff ceffffffff],
    *%w[cfffffffffffffffff d37fffffffffffffff d38000000000000000 cf7fffffffffffffff cf8000000000000000 cf4000000000000000],
    *%w[cf3fffffffffffffff d3c000000000000000 d3bfffffffffffffff e0 ff d0ff d1ffff d2ffffffff d3ffffffffffffffff d080],
    *%w[ca00000000 ca80000000 cb0000000000000000 cb8000000000000000 ca3fc00000 cb3ff8000000000000 ca7fc00000],
    *%w[cb7ff8000000000000 cb7ff0000000000000 c0 c2 c3 a0 a161 d90161 da000161 db0000000161 c400 c40161 c50001ff a2c3a9 c402c3a9],
    *%w[a1ff 90 80 9101 91cc01 810102 81a16101 d40561 c7010561 9190 d6ff00000001]
  ].drop(1).freeze

  # What to look for beside each key itself.
  OTHERS = [0, 1, -1, 1.0, (1 << 64) - 1, 1 << 64, -(1 << 63), -(1 << 63) - 1, 1 << 62, -(1 << 62) - 1, 0.0, -0.0, 1.5,
            Float::NAN, nil, true, false, "", "a", "a".b, :a, "é", "é".b, "é".encode("ISO-8859-1"), "a".encode("UTF-16LE"),
            "a".encode("US-ASCII"), "\xFF".b, "\xFF", :é, [], {}, [1], { 1 => 2 }, { "a" => 1 }, Object.new].freeze

  [{}, { symbolize_keys: true }, { timestamp: true }, { freeze: true }].each do |options|
    define_method("test_each_kind_of_key_is_found_as_a_hash_finds_it_with_#{options}") do
      (KEYS - (options[:symbolize_keys] ? ["a1ff"] : [])).each do |key|
        binary = bytes("82#{key}01a17a02")
        options = { allow_unknown_ext: true, **options }
        hash = unpack(binary, **options)
        v = View.new(binary, **options)
        assert_equal hash.keys.inspect, v.keys.inspect
        (OTHERS + hash.keys.reject { |found| found.is_a?(Float) && found.nan? }).each do |other|
          assert_equal expected(hash, other).inspect, [v[other], v.key?(other)].inspect, "#{other.inspect} in #{key}"
        end
      end
    end
  end

  # A Symbol stands for the String of the same text, and a String for the Symbol.
  def expected(hash, key)
    other = { Symbol => :name, String => :to_sym }[key.class]
    key = key.public_send(other) if other && !hash.key?(key) && (key.is_a?(Symbol) || key.valid_encoding?)
    [hash[key], hash.key?(key)]
  end

  def test_a_registered_ext_is_a_key
    factory = points
    exercise do
      v = view_by(factory, factory.dump({ Point.new(1, 2) => "p", "a" => 1, Point.new(3, 4) => "q" }))
      assert_equal ["p", "q", nil, 1], [v[Point.new(1, 2)], v[Point.new(3, 4)], v[Point.new(5, 6)], v["a"]]
      assert_equal [Point.new(1, 2), "a", Point.new(3, 4)], v.keys
    end
  end

  def test_an_ext_that_becomes_a_str_is_the_same_key
    factory = Manypack::Factory.new
    factory.register_type(1, Point, unpacker: ->(body) { body.encode("UTF-8") })
    ["82 d4 01 61 01 a1 61 02", "82 a1 61 01 d4 01 61 02"].each do |hex|
      assert_equal 2, view_by(factory, bytes(hex))["a"]
      assert_equal 2, factory.codec.unpack(bytes(hex))["a"]
    end
  end

  def test_symbols_are_keys_with_symbolize_keys
    v = view({ "a" => { "b" => 1 } }, symbolize_keys: true)
    assert_equal 1, v[:a][:b]
    assert_equal [:a], v.keys
    assert_equal({ a: { b: 1 } }, v.value)
  end

  def test_a_symbol_and_a_string_find_the_same_key
    [{}, { symbolize_keys: true }, { shareable: true }, { duplicate_keys: :error }].each do |options|
      v = view({ "a" => { "b" => 1 }, "n" => nil }, **options)
      [:a, "a"].product([:b, "b"]) do |outer, inner|
        assert_equal [1, 1, true, 1], [v[outer][inner], v.dig(outer, inner), v[outer].key?(inner), v.fetch(outer).fetch(inner)]
        assert_equal [nil, nil], v.values_at(inner, outer.to_s.succ)
        assert_equal 1, Manypack.dig(v.bytes, outer, inner, **options)
        assert_equal [true, false], [v.include?(outer), v.member?(:"new to this process #{outer}")]
      end
      assert_nil v.fetch(:n)
      assert_raises(KeyError) { v.fetch(:x) }
    end
  end

  def test_an_ext_that_is_the_very_key_goes_before_the_text_that_it_stands_for
    factory = Manypack::Factory.new.tap { |made| made.register_type(0, Symbol) }
    both = [{ "a" => 1, a: 2 }, { a: 2, "a" => 1 }]
    exercise do
      both.each do |map|
        v = view_by(factory, factory.dump(map))
        2.times { assert_equal [1, 2, 2], [v["a"], v[:a], v.dig(:a)] }
        assert_equal({ a: 2 }, v.deconstruct_keys([:a]))
      end
      assert_equal [1, 2], [view_by(factory, factory.dump({ "a" => 1 }))[:a], view_by(factory, factory.dump({ a: 2 }))[:a]]
    end
  end

  def test_values_at_finds_many_container_keys_as_looks_do
    object = { [1] => 1, { 2 => [3] } => 2, "a" => { "b" => 3 }, [1.0] => 4, 5 => 5 }
    keys = [[1], "a", { 2 => [3] }, [1.0], [9], :a, 5, Float::NAN, [1]]
    [{}, { freeze: true }].each do |options|
      v = view(object, **options)
      assert_equal [1, { "b" => 3 }, 2, 4, nil, { "b" => 3 }, 5, nil, 1], v.values_at(*keys).map { |found| found.is_a?(View) ? found.value : found }
      assert_equal keys.map { |key| v[key].inspect }, v.values_at(*keys).map(&:inspect)
    end
    twice = raw("83 91 01 01 91 01 02 91 02 03")
    assert_equal [2, 3], twice.values_at([1], [2])
    assert_equal [1, 3], View.new(twice.bytes, duplicate_keys: :first).values_at([1], [2])
    ext = raw("82 d4 07 61 01 d4 07 62 02", allow_unknown_ext: true)
    assert_equal [1, 2], ext.values_at(*ext.keys)
    assert_raises(Manypack::DecodeError) { raw("82 91 01 01 91 c1 02").values_at([1], [2]) }
  end

  # --- equal keys ---------------------------------------------------------------------------------------

  # Otherwise a gateway that looks and a service that unpacks would see two messages.
  def test_the_last_of_equal_keys_counts_for_every_reader
    binary = bytes(TWICE)
    [{}, { duplicate_keys: :last }].each do |options|
      v = raw(TWICE, **options)
      assert_equal unpack(binary), v.value
      assert_equal [3, { "a" => 3, "b" => 2 }, 3], [v["a"], v.to_h, v.size]
      assert_equal [3, 3, [3]], [v.dig("a"), v.fetch("a"), v.values_at("a")]
      assert_equal({ a: 3 }, v.deconstruct_keys([:a]))
      assert_equal({ a: 3, b: 2 }, v.deconstruct_keys(nil))
      assert_equal [[3], [3]], [Path.new("$.a").to_a(v), Path.new("$.a").to_a(binary, **options)]
      assert_equal 3, Manypack.dig(binary, "a", **options)
      assert_equal 3, Manypack::Record.new(Struct.new(:a), a: Integer).load(binary).a
    end
  end

  def test_paths_find_the_last_of_equal_keys_in_each_element
    binary = bytes("93 82 a1 61 01 a1 61 02 82 a1 62 01 a1 61 91 05 81 a1 63 01")
    found = Path.new("$[*].a").to_a(binary)
    assert_equal [2, [5]], [found[0], found[1].value]
    assert_equal [5], Path.new("$[*].a[*]").to_a(binary, duplicate_keys: :last)
  end

  def test_duplicate_keys_first_stops_every_look_at_the_first
    broken = bytes("82 a1 61 81 a1 62 01 a1 c1") # a look for the last key would come to the fault
    looks = { duplicate_keys: :first }
    codec = Manypack::Codec.new(**looks)
    [View.new(broken, **looks), View.new(broken, codec: codec), codec.view(broken)].each do |v|
      assert_equal [1, 1, [1]], [v["a"]["b"], v.dig("a", "b"), v.query("$.a.b")]
      assert_equal [[1], 1], [Path.new("$.a.b").to_a(v), v.fetch("a")["b"]]
    end
    [looks, { codec: codec }].each do |options|
      assert_equal 1, Manypack.dig(broken, "a", "b", **options)
      assert_equal 1, Path.new("$.a.b").first(broken, **options)
    end
    v = raw(TWICE, freeze: true, **looks)
    assert_equal [1, [1], { a: 1 }, [1]], [v["a"], v.values_at("a"), v.deconstruct_keys([:a]), Path.new("$.a").to_a(v)]
    large = Array.new(200) { |i| [i.to_s, i] }.flatten
    doubled = bytes("de 01 90") + (large + large.map { |obj| obj.is_a?(Integer) ? -obj : obj }).map { |obj| pack(obj) }.join
    [{}, { freeze: true }, { check: true }].each do |options|
      v = View.new(doubled, **looks, **options)
      assert_equal [7, 199, nil] * 3, Array.new(3) { [v["7"], v["199"], v["200"]] }.flatten, options
    end
  end

  # A walk that goes on in each of equal keys as it comes to them must forget what the first ones led to.
  def test_dig_and_query_follow_only_the_last_of_equal_keys
    [["82 a1 61 81 a1 62 01 a1 61 81 a1 62 02", 2], ["82 a1 61 07 a1 61 81 a1 62 02", 2], ["82 a1 61 81 a1 62 01 a1 61 80", nil],
     ["82 a1 61 82 a1 62 05 a1 62 06 a1 63 01", 6], ["83 a1 61 81 a1 62 01 a1 61 81 a1 63 04 a1 64 90", nil],
     ["81 a1 61 83 a1 62 01 a1 62 c0 a1 62 a1 78", "x"], ["82 a1 61 81 a1 62 01 a1 61 c0", nil]].each do |hex, value|
      binary = bytes(hex)
      found = [Manypack.dig(binary, "a", "b"), View.new(binary).dig("a", "b"), View.new(binary, freeze: true).dig("a", "b")]
      assert_equal [value, value, value], found, hex
      assert_equal [value].compact, Path.new("$.a.b").to_a(binary), hex
      assert_equal value ? 1 : 0, Path.new("$.a.b").count(binary), hex
    end
    [->(b) { Manypack.dig(b, "a", "b") }, ->(b) { View.new(b).dig("a", "b") }].each do |dig|
      assert_raises(TypeError) { dig.(bytes("82 a1 61 81 a1 62 01 a1 61 07")) }
      assert_raises(Manypack::MalformedFormatError) { dig.(bytes("82 a1 61 81 a1 62 01 a1 63 c1")) }
    end
  end

  def test_a_path_with_a_function_calls_it_only_for_the_last_of_equal_keys
    seen = []
    function = Path::Function.new(:value, returns: :logical) { |value| seen << value }
    path = Path.new("$.a[?keep(@)]", functions: { keep: function })
    assert_equal [3], path.to_a(bytes("82 a1 61 92 01 02 a1 61 91 03"))
    assert_equal [3], seen
  end

  def test_equal_keys_are_refused_when_asked_for_or_checked
    [{ duplicate_keys: :error }, { check: true }, { untrusted: true }].each do |options|
      assert_raises(Manypack::MalformedFormatError, options.inspect) { raw(TWICE, **options) }
    end
    assert_equal 3, raw(TWICE, check: true, duplicate_keys: :last)["a"]
  end
end
