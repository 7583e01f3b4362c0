# frozen_string_literal: true

# What each option does, whoever takes it.
module OptionsContract
  TREE = {
    "str" => "text", "long" => "l" * 100, "bin" => "\xFF\x00".b, "big" => 2**64 - 1, "small" => -(2**63), "float" => 1e-300,
    "list" => [[], {}, ["inner"], [nil, true, 1]], "map" => { "k" => { 1 => "v" } }, 1.5 => "float key",
    ["array", "key"] => "array key", "bin key".b => 0
  }.freeze

  def test_symbolize_keys_makes_symbols_of_str_and_bin_keys
    assert_unpacks({ a: { b: 1 } }, "81 a1 61 81 a1 62 01", symbolize_keys: true)
    assert_unpacks({ a: 1 }, "81 c4 01 61 01", symbolize_keys: true)
    assert_unpacks({ 1 => "a", nil => "b", ["c"] => "d" }, "83 01 a1 61 c0 a1 62 91 a1 63 a1 64", symbolize_keys: true)
    assert_unpacks({ é: 1, "": 2 }, "82 a2 c3 a9 01 a0 02", symbolize_keys: true)
    assert_unpacks({ "a" => 1 }, "81 a1 61 01", symbolize_keys: false)
  end

  def test_freeze_freezes_the_whole_tree
    packed = pack(TREE)
    tree = exercise { unpack(packed, freeze: true) }
    assert_equal TREE, tree
    each_object(tree) { |obj| assert_predicate obj, :frozen? }
    assert_predicate unpack(bytes("d4 05 61"), allow_unknown_ext: true, freeze: true), :frozen?
  end

  def test_freeze_interns_strings
    first, second = exercise { unpack(bytes("92 a3 61 62 63 a3 61 62 63"), freeze: true) }
    assert_same first, second
    first, second = exercise { unpack(bytes("92 c4 01 ff c4 01 ff"), freeze: true) }
    assert_same first, second
    assert_equal Encoding::BINARY, first.encoding
  end

  def test_a_shareable_tree_is_born_shareable_to_its_last_object
    packed = pack(TREE)
    tree = exercise { unpack(packed, shareable: true) }
    assert_equal TREE, tree
    each_object(tree) do |obj|
      assert_predicate obj, :frozen?
      assert Ractor.shareable?(obj), "#{obj.inspect} is not shareable"
    end
  end

  def test_every_kind_of_object_can_be_born_shareable
    [0, -1, 2**63, 1.5, 1e300, "s", "b".b, "s" * 100, nil, true, [], {}, [1] * 20, (0..20).to_h { |i| [i, i] }].each do |obj|
      packed = pack(obj)
      unpacked = exercise { unpack(packed, shareable: true) }
      obj.nil? ? assert_nil(unpacked) : assert_equal(obj, unpacked)
      assert Ractor.shareable?(unpacked), obj.inspect
    end
  end

  def test_a_shareable_tree_can_have_symbols_exts_and_times
    packed = pack({ "never seen #{object_id}" => [Manypack::ExtensionValue.new(1, "a"), Time.at(1, 2, :nsec)] }, timestamp: true)
    tree = exercise { unpack(packed, shareable: true, symbolize_keys: true, allow_unknown_ext: true, timestamp: true) }
    each_object(tree) { |obj| assert Ractor.shareable?(obj), "#{obj.inspect} is not shareable" }
    ext, time = tree.values.first
    assert_predicate ext.payload, :frozen?
    assert_equal Time.at(1, 2, :nsec), time
    assert_predicate time, :frozen?
  end

  def test_shareable_and_freeze_together_are_shareable
    packed = pack(TREE)
    tree = exercise { unpack(packed, shareable: true, freeze: true) }
    assert_equal TREE, tree
    each_object(tree) { |obj| assert Ractor.shareable?(obj), obj.inspect }
  end

  def test_allow_unknown_ext_keeps_type_and_payload
    assert_unpacks [Manypack::ExtensionValue.new(-7, "ab")], "91 d5 f9 61 62", allow_unknown_ext: true
    assert_unpacks Manypack::ExtensionValue.new(-1, "\0\0\0\0"), "d6 ff 00 00 00 00", allow_unknown_ext: true
    refute_predicate unpack(bytes("d4 05 61"), allow_unknown_ext: true).payload, :frozen?
  end

  def test_max_depth_of_unpacking_counts_containers
    assert_equal 128, depth_of(unpack(bytes("#{"91" * 128}c0")))
    assert_equal 3, depth_of(unpack(bytes("91 81 01 91 c0"), max_depth: 3))
    assert_equal 1_000, depth_of(unpack(bytes("#{"91" * 1_000}c0"), max_depth: 1_000))
    assert_raises(Manypack::StackError) { unpack(bytes("#{"91" * 1_001}c0"), max_depth: 1_000) }
  end

  def test_max_depth_of_unpacking_goes_to_a_hundred_thousand
    deep = unpack(bytes("#{"91" * 100_000}c0"), max_depth: 100_000)
    assert_equal 100_000, depth_of(deep)
    deep = unpack(bytes("#{"81c0" * 100_000}c0"), max_depth: 100_000)
    assert_equal 100_000, depth_of(deep)
    assert_raises(Manypack::StackError) { unpack(bytes("#{"91" * 100_001}c0"), max_depth: 100_000) }
  end

  def test_max_depth_counts_maps_as_keys
    assert_equal({ { { nil => 1 } => 2 } => 3 }, unpack(bytes("81 81 81 c0 01 02 03"), max_depth: 3))
    assert_raises(Manypack::StackError) { unpack(bytes("81 81 81 c0 01 02 03"), max_depth: 2) }
  end

  def test_an_empty_container_needs_no_depth
    assert_equal [[]], unpack(bytes("91 90"), max_depth: 1)
    assert_equal 128, depth_of(unpack(bytes("#{"91" * 128}90"))) - 1
  end

  def test_max_depth_of_packing_counts_levels
    assert_equal bytes("91 91 c0"), pack([[nil]], max_depth: 2)
    assert_raises(Manypack::NestingError) { pack([[nil]], max_depth: 1) }
    assert_equal bytes("81 a1 61 80"), pack({ "a" => {} }, max_depth: 1)
    nested = 128.times.inject(nil) { |inner, _| [inner] }
    assert_equal "#{"91" * 128}c0", pack(nested).unpack1("H*")
    assert_raises(Manypack::NestingError) { pack([nested]) }
    assert_equal nested, unpack(pack(nested))
    assert_raises(Manypack::StackError) { unpack(pack([nested], max_depth: 129)) }
    assert_equal "#{"91" * 129}c0", pack([nested], max_depth: 129).unpack1("H*")
  end

  def test_max_depth_outside_its_range_is_a_range_error
    [0, -1, 100_001].each do |depth|
      error = assert_raises(RangeError) { unpack(bytes("01"), max_depth: depth) }
      assert_equal "max_depth must be in 1..100000, got #{depth}", error.message
      assert_raises(RangeError) { pack(1, max_depth: depth) }
    end
    assert_raises(TypeError) { unpack(bytes("01"), max_depth: "many") }
    assert_equal 1, unpack(bytes("01"), max_depth: nil)
  end

  def test_max_bytes_lets_as_many_bytes_pass
    assert_equal [1, 2], unpack(bytes("92 01 02"), max_bytes: 3)
    assert_equal [1, 2], unpack(bytes("92 01 02"), max_bytes: 2**40)
    assert_equal [1, 2], unpack(bytes("92 01 02"), max_bytes: nil)
    assert_raises(Manypack::LimitError) { unpack(bytes("92 01 02"), max_bytes: 2) }
    assert_raises(Manypack::LimitError) { unpack(bytes("c0"), max_bytes: 0) }
    assert_raises(RangeError) { unpack(bytes("c0"), max_bytes: -1) }
    assert_raises(RangeError) { unpack(bytes("c0"), max_bytes: -(2**70)) }
  end

  def test_timestamp_takes_the_shortest_of_its_layouts
    { [0, 0] => "d6 ff 00 00 00 00", [2**32 - 1, 0] => "d6 ff ff ff ff ff",
      [1, 1] => "d7 ff 00 00 00 04 00 00 00 01", [2**32, 0] => "d7 ff 00 00 00 01 00 00 00 00",
      [2**34 - 1, 999_999_999] => "d7 ff ee 6b 27 ff ff ff ff ff",
      [2**34, 0] => "c7 0c ff 00 00 00 00 00 00 00 04 00 00 00 00",
      [-1, 5] => "c7 0c ff 00 00 00 05 ff ff ff ff ff ff ff ff" }.each do |(sec, nsec), expected|
      time = Time.at(sec, nsec, :nsec)
      assert_packs expected, time, timestamp: true
      assert_packs expected, Manypack::Timestamp.new(sec, nsec), timestamp: true
      assert_unpacks time, expected, timestamp: true
    end
  end

  def test_timestamp_is_an_option_and_off
    assert_raises(NoMethodError) { pack(Time.at(0)) }
    assert_raises(Manypack::UnknownExtTypeError) { unpack(bytes("d6 ff 00 00 00 00")) }
  end

  def test_other_exts_are_no_timestamps
    assert_raises(Manypack::UnknownExtTypeError) { unpack(bytes("d6 01 00 00 00 00"), timestamp: true) }
    assert_unpacks Manypack::ExtensionValue.new(1, "\0"), "d4 01 00", timestamp: true, allow_unknown_ext: true
  end

  def test_compatibility_mode_writes_no_str8_and_no_bin
    assert_equal bytes("da 00 20") + ("a" * 32), pack("a" * 32, compatibility_mode: true)
    assert_equal bytes("bf") + ("a" * 31), pack("a" * 31, compatibility_mode: true)
    assert_packs "a1 ff", "\xFF".b, compatibility_mode: true
    assert_packs "a1 e9", "\xE9".dup.force_encoding("ISO-8859-1"), compatibility_mode: true
    assert_equal bytes("db 00 01 00 00") + ("\xFF".b * 65_536), pack("\xFF".b * 65_536, compatibility_mode: true)
  end

  def test_unknown_options_are_refused
    [[:pack, 1], [:unpack, "\x01"]].each do |method, argument|
      error = assert_raises(ArgumentError) { exercise { public_send(method, argument, max_byte: 3) } }
      assert_equal "unknown option max_byte, did you mean max_bytes?", error.message
      assert_raises(ArgumentError) { public_send(method, argument, key_cache: nil) }
    end
  end

  private

  def each_object(tree, &block)
    yield tree
    case tree
    when Array then tree.each { |obj| each_object(obj, &block) }
    when Hash then tree.each { |pair| pair.each { |obj| each_object(obj, &block) } }
    when Struct then tree.to_a.each { |obj| each_object(obj, &block) }
    end
  end

  def depth_of(container)
    depth = 0
    while container
      depth += 1
      container = container.is_a?(Hash) ? container.values.first : container.first
    end
    depth
  end
end
