# frozen_string_literal: true

# Manypack::View: what each method promises.
require "test_helper"
require "json"
require "objspace"

class ViewTest < Minitest::Test
  include CorePart

  View = Manypack::View
  Path = Manypack::Path
  REMOVED = View::REMOVED
  Point = Struct.new(:x, :y)

  DOCUMENT = { "a" => { "b" => [1, [2, 3], { "c" => nil }] }, "n" => nil, "s" => "text", "e" => {}, "f" => 1.5 }.freeze

  def view(obj, **options) = View.new(pack(obj), **options)

  def raw(hex, **options) = View.new(bytes(hex), **options)

  # A View with ext types of its own.
  def view_by(factory, binary, **options)
    View.__send__(:over, binary, factory.codec(options), false)
  end

  def points
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Point, packer: ->(point) { point.to_a.pack("CC") },
                                      unpacker: ->(body) { Point.new(*body.unpack("CC")) })
    end
  end

  # --- looking up -----------------------------------------------------------------------------------------

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
      assert_equal "expected a map or an array, got #{v.type}", error.message
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

  # --- keys of every kind ---------------------------------------------------------------------------------

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
          assert_equal [hash[other], hash.key?(other)].inspect, [v[other], v.key?(other)].inspect, "#{other.inspect} in #{key}"
        end
      end
    end
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
      assert_equal 1, view_by(factory, bytes(hex))["a"]
      assert_equal 2, view_by(factory, bytes(hex), duplicate_keys: :last)["a"]
      assert_equal 2, factory.codec.unpack(bytes(hex))["a"]
    end
  end

  def test_symbols_are_keys_with_symbolize_keys
    v = view({ "a" => { "b" => 1 } }, symbolize_keys: true)
    assert_equal 1, v[:a][:b]
    assert_nil v["a"]
    assert_equal [:a], v.keys
    assert_equal({ a: { b: 1 } }, v.value)
  end

  # --- equal keys -----------------------------------------------------------------------------------------

  TWICE = "83 a1 61 01 a1 62 02 c4 01 61 03"

  def test_the_first_of_equal_keys_counts
    v = raw(TWICE)
    assert_equal [1, { "a" => 1, "b" => 2 }, 3], [v["a"], v.to_h, v.size]
    assert_equal [1], Path.new("$.a").to_a(v)
    assert_equal({ a: 1 }, v.deconstruct_keys([:a]))
  end

  def test_the_last_of_equal_keys_counts_where_that_was_said
    v = raw(TWICE, duplicate_keys: :last)
    assert_equal [3, { "a" => 3, "b" => 2 }], [v["a"], v.to_h]
    assert_equal [3], Path.new("$.a").to_a(v)
    assert_equal unpack(bytes(TWICE)), v.value
  end

  def test_paths_find_the_last_of_equal_keys_in_each_element
    binary = bytes("93 82 a1 61 01 a1 61 02 82 a1 62 01 a1 61 91 05 81 a1 63 01")
    found = Path.new("$[*].a").to_a(binary, duplicate_keys: :last)
    assert_equal [2, [5]], [found[0], found[1].value]
    assert_equal [5], Path.new("$[*].a[*]").to_a(binary, duplicate_keys: :last)
  end

  def test_equal_keys_are_refused_when_asked_for_or_checked
    [{ duplicate_keys: :error }, { check: true }, { untrusted: true }].each do |options|
      assert_raises(Manypack::MalformedFormatError, options.inspect) { raw(TWICE, **options) }
    end
    assert_equal 3, raw(TWICE, check: true, duplicate_keys: :last)["a"]
  end

  # --- iteration ------------------------------------------------------------------------------------------

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
    h = view({ "a" => [1], "b" => 2 }).to_h
    assert_equal ["a", "b", [1], 2], [*h.keys, h["a"].value, h["b"]]
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

  def test_other_views_are_not_taken_apart
    ["81 01 02", "c0", "a1 61"].each do |hex|
      v = raw(hex)
      first, second = v
      assert_same v, first
      assert_nil second
      assert_equal [v], [v].flatten
      refute_respond_to v, :to_ary
      assert_raises(TypeError) { v.to_ary }
    end
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

  # --- the whole ------------------------------------------------------------------------------------------

  def test_type_has_the_words_of_the_specification
    types = { "80" => :map, "90" => :array, "a0" => :str, "c4 00" => :bin, "01" => :integer, "ff" => :integer,
              "cc 80" => :integer, "d0 80" => :integer, "ca 00 00 00 00" => :float, "c2" => :boolean, "c0" => :nil,
              "d4 05 00" => :ext }
    types.each { |hex, type| assert_equal type, raw(hex).type }
    assert_raises(Manypack::MalformedFormatError) { raw("c1").type }
  end

  def test_bytes_offset_and_value_of_a_part
    v = view(DOCUMENT)
    part = v["a"]["b"]
    assert_equal pack(DOCUMENT["a"]["b"]), part.bytes
    assert_equal part.bytes, pack(DOCUMENT).byteslice(part.offset, part.bytesize)
    assert_equal Encoding::BINARY, part.bytes.encoding
    assert_equal DOCUMENT["a"]["b"], part.value
    assert_equal [0, pack(DOCUMENT)], [v.offset, v.bytes]
    assert_raises(Manypack::TruncatedError) { raw("92 01").bytes }
    assert_equal "unexpected end of input, at byte 2", assert_raises(Manypack::TruncatedError) { raw("92 01").bytesize }.message
  end

  def test_views_of_the_same_bytes_are_equal
    a = view([[1, 2], [1, 2], [1, 3]])
    assert_equal a[0], a[1]
    assert a[0].eql?(a[1])
    assert_equal a[0].hash, a[1].hash
    assert_equal 2, [a[0], a[1], a[2]].uniq.size
    refute_equal a[0], a[2]
    refute_equal a[0], [1, 2]
    assert_equal a, view([[1, 2], [1, 2], [1, 3]])
  end

  def test_inspect_never_raises
    assert_equal "#<Manypack::View map of 5 at byte 0>", view(DOCUMENT).inspect
    assert_equal "#<Manypack::View nil at byte 0>", raw("c0").inspect
    ["c1", "dc", "d9"].each { |hex| assert_match(/\A#<Manypack::View .* byte 0>\z/, raw(hex).inspect) }
  end

  def test_a_view_packs_as_its_bytes
    part = raw("92 cc 01 02")
    assert_equal bytes("81 a1 62 92 cc 01 02"), Manypack.pack({ "b" => part })
    assert_raises(Manypack::TruncatedError) { Manypack.pack(raw("92 01")) }
  end

  def test_views_pack_wherever_objects_do
    row = pack({ "id" => 1, "text" => "x" * 20_000 })
    views = [View.new(row), View.new(row, check: true), View.new(row).freeze, View.new(pack([row, { "a" => 1 }]))[1]]
    expected = pack(views.map(&:value))
    assert_equal expected, pack(views)
    packer = Manypack::Packer.new
    assert_equal pack("before") + expected, packer.write("before").write(views).to_s
    assert_equal pack({ [1] => 2 }), pack({ view([1]) => 2 })
    assert_equal pack(1), pack(raw("01"))
  end

  def test_packing_views_makes_no_object_for_each
    views = view(Array.new(100) { |i| { "id" => i } }).to_a
    made = Array.new(3) do
      before = GC.stat(:total_allocated_objects)
      Manypack.pack(views)
      GC.stat(:total_allocated_objects) - before
    end
    assert_operator made.min, :<, 10
  end

  def test_views_are_json_wherever_their_values_are
    document = { "a" => [1, { "b" => nil }], "c" => "é" }
    root = view(document)

    assert_equal JSON.generate([document, document["a"]]), JSON.generate([root, root["a"]])
    assert_equal JSON.pretty_generate(document), JSON.pretty_generate(root)
    assert_raises(Manypack::TruncatedError) { JSON.generate(Manypack::View.new("\x92\x01")) }
  end

  def test_a_view_that_is_not_whole_packs_as_nothing
    broken = View.new(bytes("92 91 01 92 01"))[1]
    assert_equal 5, assert_raises(Manypack::TruncatedError) { pack({ "a" => broken }) }.offset
    packer = Manypack::Packer.new.write(1)
    assert_raises(Manypack::TruncatedError) { packer.write([2, broken]) }
    assert_equal "\x01".b, packer.to_s
  end

  def test_an_ext_type_of_views_packs_them
    factory = Manypack::Factory.new
    factory.register_type(1, View, packer: :bytes, unpacker: ->(body) { View.new(body) })
    assert_equal bytes("91 d5 01 91 02"), factory.codec.pack([raw("91 02")])
    factory = Manypack::Factory.new
    factory.register_type(2, Enumerable, packer: ->(found) { found.first.to_s }, unpacker: ->(body) { body })
    assert_equal bytes("d4 02 37"), factory.codec.pack(raw("91 07"))
  end

  def test_a_view_takes_one_level_of_depth_in_what_is_packed
    factory = Manypack::Factory.new
    assert_equal bytes("91 91 01"), factory.codec(max_depth: 2).pack([raw("91 01")])
    assert_raises(Manypack::NestingError) { factory.codec(max_depth: 1).pack([raw("91 01")]) }
  end

  def test_the_canonical_form_of_what_has_views_is_canonical
    assert_equal bytes("91 82 a1 61 01 a1 62 02"), Manypack.pack([raw("82 a1 62 cc 02 a1 61 01")], canonical: true)
  end

  # --- making ---------------------------------------------------------------------------------------------

  def test_new_refuses_what_it_cannot_have
    assert_raises(TypeError) { View.new(nil) }
    assert_raises(ArgumentError) { View.new("\x90", nonsense: true) }
    assert_raises(TypeError) { View.new("\x90", max_depth: "1") }
    assert_raises(Manypack::TruncatedError) { View.new("") }
    assert_raises(Manypack::LimitError) { View.new("\x92\x01\x02", max_bytes: 2) }
    assert_raises(Manypack::LimitError) { View.new("\x92\x01\x02", max_array_size: 1) }
    assert_raises(Manypack::MalformedFormatError) { View.new("\x90\x90", check: true) }
    assert_equal [], View.new("\x90\x90").value
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

  # --- frozen and shareable -------------------------------------------------------------------------------

  LARGE = Array.new(40) { |i| { "id" => i, "tags" => ["a" * i] } }.freeze

  def test_a_frozen_view_is_shareable
    [DOCUMENT, LARGE].each do |obj|
      v = view(obj)
      part = v[obj.is_a?(Hash) ? "a" : 1]
      refute Ractor.shareable?(v)
      part.freeze
      assert Ractor.shareable?(v)
      assert Ractor.shareable?(part)
      assert_equal obj, v.value
      assert Ractor.shareable?(view(obj, shareable: true))
      assert_predicate view(obj, freeze: true), :frozen?
      assert_predicate view(obj, freeze: true).first, :frozen? if obj.is_a?(Array)
    end
    assert_raises(Manypack::TruncatedError) { raw("92 01").freeze }
  end

  def test_ractors_share_a_view
    v = View.new(pack(LARGE), shareable: true)
    ractors = Array.new(2) { Ractor.new(v) { |mine| [mine.sum { |row| row["id"] }, mine[-1].dig("tags", 0), mine[3].value] } }
    ractors.each do |ractor|
      assert_equal [LARGE.sum { |row| row["id"] }, "a" * 39, LARGE[3]], ractor.respond_to?(:value) ? ractor.value : ractor.take
    end
    assert_equal 7, in_ractor(pack(LARGE)) { |binary| Manypack::View.new(binary)[7]["id"] }
  end

  def test_a_path_is_shared_by_ractors
    path = Path.new("$[*].id")
    assert Ractor.shareable?(path)
    assert_equal [1, 2], in_ractor(path, pack([{ "id" => 1 }, { "id" => 2 }])) { |mine, binary| mine.to_a(binary) }
  end

  def test_a_view_is_frozen_in_the_middle_of_each
    v = view(LARGE)
    ids = v.map { |row| v.freeze && row["id"] }
    assert_equal LARGE.map { |row| row["id"] }, ids
  end

  # --- detach ---------------------------------------------------------------------------------------------

  # Sizes of all Strings that it keeps alive, apart from those of its Codec.
  def strings_of(view)
    todo = ObjectSpace.reachable_objects_from(view).grep(String)
    todo.each { |string| todo.concat(ObjectSpace.reachable_objects_from(string).grep(String) - todo) }
    todo.map(&:bytesize)
  end

  def test_detach_lets_the_message_go
    [{ "log" => "x" * 100_000, "user" => ["y" * 1000] }, { "user" => ["y" * 1000], "log" => "x" * 100_000 }].each do |obj|
      user = view(obj)["user"].detach
      assert_operator strings_of(user).max, :<, 2000
      assert_equal [obj["user"], 0], [user.value, user.offset]
    end
  end

  def test_detach_keeps_the_options
    assert_equal [:b], view({ "a" => { "b" => 1 } }, symbolize_keys: true)[:a].detach.keys
  end

  # --- patterns -------------------------------------------------------------------------------------------

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

  # --- paths ----------------------------------------------------------------------------------------------

  def test_query_and_dig_many
    v = view({ "a" => [{ "b" => 1 }, {}, { "b" => 2 }], 1 => "one" })
    assert_equal [1, 2], v.query("$.a[*].b")
    found = []
    assert_same v, v.query("$.a[*].b") { |x| found << x }
    assert_equal [1, 2], found
    assert_equal [1, 2, nil, "one"], v.dig_many("$.a[*].b", ["a", -1, "b"], Path.new("$.x"), "$[1]")
    assert_raises(ArgumentError) { v.query("a..b") }
    assert_equal [1, 2], Path.new("$.a[*].b").to_a(view({ "a" => [{ "b" => 1 }, { "b" => 2 }] }, symbolize_keys: true))
    assert_equal 1, Path.new("$.a[*].b").first(v)
    assert_equal [1, 2], Path.new("$.a[*].b").each(v).to_a
    assert_raises(ArgumentError) { Path.new("$.a").first(v, freeze: true) }
  end

  def test_canonical
    v = View.new("\x82\xA1a\x92\x01\x02\xA1b\x91\xCC\x05".b)
    assert_equal [false, true, false], [v.canonical?, v["a"].canonical?, v["b"].canonical?]
    assert_predicate View.new(Manypack.pack(v.value, canonical: true)), :canonical?
    assert_raises(Manypack::TruncatedError) { View.new("\x92\x01".b).canonical? }
  end

  def test_include_asks_for_a_key_of_a_map_and_an_element_of_an_array
    v = view({ "a" => [1, 2] })
    assert_equal [true, false, true, false], [v.include?("a"), v.include?([["a", v["a"]]]), v["a"].member?(2), v["a"].include?(3)]
  end

  # A Symbol that an ext type makes is a key of its own beside the str.
  def test_a_pattern_finds_symbols_that_an_ext_type_makes
    codec = Manypack::Factory.new.tap { |factory| factory.register_type(0, Symbol) }.codec
    v = codec.view(codec.pack({ type: "order", "id" => 1 }))
    assert((v in { type: "order", id: 1 }))
  end

  def test_what_is_no_path_is_a_type_error_that_says_so
    [-> { Path.new(1) }, -> { Path.of(Object) }, -> { view({}).query(1.5) }, -> { view({}).query(["a", Object]) }].each do |call|
      assert_match(/a (?:step of a )?path is a String/, assert_raises(TypeError, &call).message)
    end
  end

  def test_all_kinds_of_paths
    v = view({ "a" => [{ "b" => 1 }] })
    [Path.new("$.a[0].b"), "$.a[0].b", "a[0].b", ["a", 0, "b"]].each do |path|
      assert_equal [[1], [1], 2], [v.query(path), v.dig_many(path), v.splice(path => 2)["a"][0]["b"]]
    end
    assert_equal [[1], [v["a"]], { "a" => nil }], [v.query([:a, 0, :b]), v.query(:a), v.splice(a: nil).value]
    assert_equal [1], v["a"].query("[*].b")
  end

  def test_a_string_with_variables_is_copied
    bytes = +"\x91\x01".b
    bytes.instance_variable_set(:@x, [+"mutable"])
    assert Ractor.shareable?(View.new(bytes.freeze, shareable: true))
    GC.start
    assert_equal 1, View.new(bytes, shareable: true)[0]
  end

  def test_a_view_packs_by_itself
    assert_equal "\x92\x01\x02".b, View.new("\x92\x01\x02".b).to_msgpack
  end

  # --- splice ---------------------------------------------------------------------------------------------

  SPLICES = [
    [{ "a" => { "b" => 1 } }, { "a.b" => 2 }, { "a" => { "b" => 2 } }],
    [{ "a" => { "b" => 1 } }, { "a.c" => [2] }, { "a" => { "b" => 1, "c" => [2] } }],
    [{ "a" => 1, "b" => 2 }, { "a" => REMOVED, "x" => REMOVED }, { "b" => 2 }],
    [[1, 2, 3], { "[0]" => REMOVED, "[-1]" => 9 }, [2, 9]],
    [[1, 2, 3], { "[0]" => REMOVED, "[3]" => 4, "[4]" => 5 }, [2, 3, 4, 5]],
    [[[1], [2]], { "[0][1]" => 8, "[1][1]" => 9 }, [[1, 8], [2, 9]]],
    [[[1], [2]], { "[1][1]" => 9, "[0][1]" => 8, "[2]" => 7 }, [[1, 8], [2, 9], 7]],
    [[[[]]], { "[0][0][0]" => 1, "[0][1]" => 2, "[1]" => 3 }, [[[1], 2], 3]],
    [[[], []], { "[0][0]" => 1, "[1]" => REMOVED }, [[1]]],
    [{ "a b" => 1 }, { '$["a b"]' => 2 }, { "a b" => 2 }],
    [{ 1 => 1 }, { "[1]" => 2, "[5]" => 3 }, { 1 => 2, 5 => 3 }],
    [{ "a" => [{ "b" => 1 }] }, { Path.new("$.a[0].b") => View.new("\x91\x05") }, { "a" => [{ "b" => [5] }] }],
    [[1], {}, [1]]
  ].freeze

  SPLICES.each_with_index do |(before, changes, after), i|
    define_method("test_splice_#{i}_changes_these_and_nothing_else") do
      exercise { assert_equal after, view(before).splice(changes).value }
      assert_equal after, view([0, before, 0])[1].splice(changes).value
    end
  end

  [15, 16, 65_535, 65_536].each do |size|
    define_method("test_splice_grows_and_shrinks_heads_of_#{size}") do
      array = [0] * size
      assert_equal pack(array + [1]), view(array).splice("[#{size}]" => 1).bytes
      assert_equal pack(array.drop(1)), view(array).splice("[0]" => REMOVED).bytes
      map = Array.new(size) { |n| [n, nil] }.to_h
      assert_equal pack(map.merge("a" => 1)), view(map).splice("a" => 1).bytes
      assert_equal pack(map.except(0)), view(map).splice("[0]" => REMOVED).bytes
    end
  end

  def test_splice_removes_nothing_below_what_is_not_there
    object = { "nil" => nil, "n" => 5, "s" => "x", "list" => [nil, [1], 2], "map" => {} }
    bytes = pack(object)
    ["nil.a", "nil.a[0].b", "no", "no.a", "no[3].a.b", "list[0].a", "list[7]", "list[7].a", "list[-9][0]", "list.a", "list.a.b", "map.a", "map.a.b",
     "map[0][1]"].each { |path| assert_equal bytes, view(object).splice(path => REMOVED).bytes, path }
    ["n.a", "n.a.b", "s[0]", "list[2].a"].each { |path| assert_raises(KeyError, path) { view(object).splice(path => REMOVED) } }
    ["nil.a", "no.a", "list[0].a", "list[7].a"].each { |path| assert_raises(KeyError, path) { view(object).splice(path => 1) } }
    assert_equal object.merge("n" => 6).except("s"), view(object).splice("nil.a" => REMOVED, "s" => REMOVED, "n" => 6).value
    assert_equal bytes("c0"), view(nil).splice("a.b" => REMOVED).bytes
    assert_raises(KeyError) { view(5).splice("a" => REMOVED) }
  end

  def test_splice_finds_str_keys_with_symbolize_keys
    v = view({ "a" => { "b" => 1 } }, symbolize_keys: true).splice("a.b" => 2, "a.c" => 3)
    assert_equal({ a: { b: 2, c: 3 } }, v.value)
  end

  def test_splice_refuses_changes_that_replace_one_another
    v = view({ "a" => { "b" => {} } })
    [{ "a" => 1, "a.b" => 2 }, { "a" => 1, "a.c" => 2 }, { "a.b.c" => 1, "a" => REMOVED }, { "a" => 1, "$.a" => 2 },
     { "c" => 1, "$.c" => 2 }].each do |changes|
      error = assert_raises(ArgumentError, changes.inspect) { v.splice(changes) }
      assert_match(/\A\$\./, error.message)
    end
  end

  # The change of one of them would bring the other one to light.
  def test_splice_refuses_a_key_that_its_map_has_twice
    twice = "\x82\xA1a\x81\xA1b\x01\xA1a\x81\xA1b\x02".b
    ["a", "a.b", "a.c"].each do |path|
      [{}, { duplicate_keys: :last }].each do |options|
        [REMOVED, 1].each { |value| assert_raises(Manypack::MalformedFormatError) { View.new(twice, **options).splice(path => value) } }
      end
    end
    codec = Manypack::Factory.new.tap { |f| f.register_type(7, Range, packer: :to_s, unpacker: ->(_) { "a" }) }.codec
    ["\x82\xD4\x07x\x01\xD4\x07x\x02", "\x82\xD4\x07x\x01\xA1a\x02", "\x82\xA1a\x01\xD4\x07x\x02"].each do |bytes|
      assert_raises(Manypack::MalformedFormatError) { codec.view(bytes.b).splice("a" => REMOVED) }
    end
    assert_equal({ "a" => { "b" => 2 }, "c" => 1 }, View.new(twice).splice("c" => 1).value)
  end

  def test_splice_refuses_places_that_are_not_there
    v = view({ "a" => [1], "s" => "x" })
    assert_raises(KeyError) { v.splice("x.y" => 1) }
    assert_raises(KeyError) { v.splice("s.y" => 1) }
    assert_raises(KeyError) { v.splice("a.b.c" => 1) }
    assert_raises(IndexError) { v.splice("a[2]" => 1) }
    assert_raises(IndexError) { v.splice("a[-2]" => 1) }
    assert_raises(IndexError) { v.splice("a.b" => 1) }
    assert_raises(IndexError) { v.splice("a[99999999999999999999]" => 1) }
    assert_raises(ArgumentError) { v.splice("$" => 1) }
    assert_raises(ArgumentError) { v.splice("a[*]" => 1) }
    assert_raises(TypeError) { v.splice(1 => 1) }
    assert_raises(KeyError) { view(1).splice("a" => 1) }
    assert_raises(NoMethodError) { v.splice("a" => Object.new) }
  end
end
