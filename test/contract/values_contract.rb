# frozen_string_literal: true

# Every kind of value in every size class, both ways. A front includes it and has pack(obj, **opts), unpack(bytes, **opts).
module ValuesContract
  # The shortest encoding on each side of every border between two of them.
  INTEGERS = {
    0 => "00", 1 => "01", 127 => "7f",
    128 => "cc 80", 255 => "cc ff",
    256 => "cd 01 00", 65_535 => "cd ff ff",
    65_536 => "ce 00 01 00 00", (2**32) - 1 => "ce ff ff ff ff",
    2**32 => "cf 00 00 00 01 00 00 00 00",
    (2**62) - 1 => "cf 3f ff ff ff ff ff ff ff",
    2**62 => "cf 40 00 00 00 00 00 00 00",
    (2**63) - 1 => "cf 7f ff ff ff ff ff ff ff",
    2**63 => "cf 80 00 00 00 00 00 00 00",
    (2**64) - 1 => "cf ff ff ff ff ff ff ff ff",
    -1 => "ff", -32 => "e0",
    -33 => "d0 df", -128 => "d0 80",
    -129 => "d1 ff 7f", -32_768 => "d1 80 00",
    -32_769 => "d2 ff ff 7f ff", -(2**31) => "d2 80 00 00 00",
    -(2**31) - 1 => "d3 ff ff ff ff 7f ff ff ff",
    -(2**62) => "d3 c0 00 00 00 00 00 00 00",
    -(2**62) - 1 => "d3 bf ff ff ff ff ff ff ff",
    -(2**63) => "d3 80 00 00 00 00 00 00 00"
  }.freeze

  FLOATS = {
    0.0 => "cb 00 00 00 00 00 00 00 00",
    1.5 => "cb 3f f8 00 00 00 00 00 00",
    -2.25 => "cb c0 02 00 00 00 00 00 00",
    Float::INFINITY => "cb 7f f0 00 00 00 00 00 00",
    -Float::INFINITY => "cb ff f0 00 00 00 00 00 00",
    Float::MAX => "cb 7f ef ff ff ff ff ff ff",
    Float::MIN => "cb 00 10 00 00 00 00 00 00",
    5e-324 => "cb 00 00 00 00 00 00 00 01",
    1e-200 => "cb 16 68 7e 92 15 4e f7 ac",
    0.1 => "cb 3f b9 99 99 99 99 99 9a"
  }.freeze

  STR_HEADS = {
    0 => "a0", 1 => "a1", 31 => "bf", 32 => "d9 20", 255 => "d9 ff",
    256 => "da 01 00", 65_535 => "da ff ff", 65_536 => "db 00 01 00 00"
  }.freeze

  BIN_HEADS = {
    0 => "c4 00", 1 => "c4 01", 31 => "c4 1f", 32 => "c4 20", 255 => "c4 ff",
    256 => "c5 01 00", 65_535 => "c5 ff ff", 65_536 => "c6 00 01 00 00"
  }.freeze

  ARRAY_HEADS = {
    0 => "90", 1 => "91", 15 => "9f", 16 => "dc 00 10", 65_535 => "dc ff ff", 65_536 => "dd 00 01 00 00"
  }.freeze

  MAP_HEADS = {
    0 => "80", 1 => "81", 15 => "8f", 16 => "de 00 10", 65_535 => "de ff ff", 65_536 => "df 00 01 00 00"
  }.freeze

  EXT_HEADS = {
    0 => "c7 00", 1 => "d4", 2 => "d5", 3 => "c7 03", 4 => "d6", 5 => "c7 05", 7 => "c7 07", 8 => "d7", 9 => "c7 09",
    15 => "c7 0f", 16 => "d8", 17 => "c7 11", 255 => "c7 ff", 256 => "c8 01 00", 65_535 => "c8 ff ff",
    65_536 => "c9 00 01 00 00"
  }.freeze

  def test_nil_true_and_false_take_one_byte
    assert_round_trips "c0", nil
    assert_round_trips "c2", false
    assert_round_trips "c3", true
  end

  INTEGERS.each do |integer, expected|
    define_method("test_integer_#{integer}_takes_its_shortest_form") { assert_round_trips expected, integer }
  end

  def test_floats_go_out_as_float64
    FLOATS.each { |float, expected| assert_round_trips expected, float }
  end

  def test_negative_zero_keeps_its_sign
    assert_packs "cb 80 00 00 00 00 00 00 00", -0.0
    assert_equal(-Float::INFINITY, 1 / unpack(bytes("cb 80 00 00 00 00 00 00 00")))
  end

  def test_nan_stays_nan
    assert_predicate unpack(pack(Float::NAN)), :nan?
    assert_predicate unpack(bytes("ca 7f c0 00 00")), :nan?
  end

  def test_float32_is_widened_without_loss
    assert_unpacks 1.5, "ca 3f c0 00 00"
    assert_unpacks 0.10000000149011612, "ca 3d cc cc cd"
    assert_unpacks 1.401298464324817e-45, "ca 00 00 00 01"
    assert_unpacks(-Float::INFINITY, "ca ff 80 00 00")
  end

  STR_HEADS.each do |size, head|
    define_method("test_str_of_#{size}_bytes") do
      string = "s" * size
      packed = exercise { pack(string) }
      assert_equal bytes(head) + string, packed
      unpacked = exercise { unpack(packed) }
      assert_equal string, unpacked
      assert_equal Encoding::UTF_8, unpacked.encoding
    end
  end

  BIN_HEADS.each do |size, head|
    define_method("test_bin_of_#{size}_bytes") do
      string = "\xFF".b * size
      packed = exercise { pack(string) }
      assert_equal bytes(head) + string, packed
      unpacked = exercise { unpack(packed) }
      assert_equal string, unpacked
      assert_equal Encoding::BINARY, unpacked.encoding
    end
  end

  ARRAY_HEADS.each do |size, head|
    define_method("test_array_of_#{size}_elements") do
      array = Array.new(size) { |i| i % 100 }
      packed = exercise { pack(array) }
      assert_equal bytes(head) + array.pack("C*"), packed
      assert_equal array, exercise { unpack(packed) }
    end
  end

  MAP_HEADS.each do |size, head|
    define_method("test_map_of_#{size}_pairs") do
      keys = (0...size).map { |i| 65_536 + i }
      map = keys.to_h { |key| [key, nil] }
      packed = exercise { pack(map) }
      assert_equal bytes(head) + keys.flat_map { |key| [0xce, key, 0xc0] }.pack("CNC" * size), packed
      unpacked = exercise { unpack(packed) }
      assert_equal keys, unpacked.keys
      assert_equal [nil], unpacked.values.uniq unless size.zero?
    end
  end

  EXT_HEADS.each do |size, head|
    define_method("test_ext_of_#{size}_bytes") do
      ext = Manypack::ExtensionValue.new(5, "\xEE".b * size)
      packed = exercise { pack(ext) }
      assert_equal bytes("#{head} 05") + ext.payload, packed
      unpacked = exercise { unpack(packed, allow_unknown_ext: true) }
      assert_equal ext, unpacked
      assert_equal Encoding::BINARY, unpacked.payload.encoding
    end
  end

  def test_ext_types_are_signed_bytes
    { -128 => "80", -2 => "fe", 0 => "00", 127 => "7f" }.each do |type, byte|
      ext = Manypack::ExtensionValue.new(type, "a")
      assert_packs "d4 #{byte} 61", ext
      assert_equal type, unpack(bytes("d4 #{byte} 61"), allow_unknown_ext: true).type
    end
  end

  def test_a_symbol_goes_out_as_its_name
    assert_packs "a2 6f 6b", :ok
    assert_packs "a0", :""
    assert_packs "a2 c3 a9", :é
    assert_packs "a7 64 79 6e 61 6d 69 63", "dynamic".to_sym
  end

  def test_containers_nest
    value = { "a" => [1, { "b" => [nil, [[]], {}] }], "c" => { "d" => { "e" => -1.5 } } }
    packed = exercise { pack(value) }
    assert_equal value, exercise { unpack(packed) }
  end

  def test_a_map_keeps_its_order
    packed = exercise { pack({ "b" => 1, "a" => 2, "c" => 3 }) }
    assert_equal "83 a1 62 01 a1 61 02 a1 63 03", hex(packed)
    assert_equal %w[b a c], exercise { unpack(packed) }.keys
  end

  def test_more_values_than_the_value_stack_has_room_for_at_first
    value = [Array.new(2_000) { |i| "v#{i}" }, *Array.new(1_500) { |i| [i.to_f] }]
    assert_equal value, unpack(pack(value))
  end

  def test_more_bytes_than_the_first_windows_have_room_for
    [4_095, 4_096, 4_097, 16_383, 16_384, 16_385, 70_000, 300_000].each do |size|
      value = ["x" * size, 1, "y" * size]
      assert_equal value, unpack(pack(value))
    end
  end

  class SubString < String; end
  class SubArray < Array; end
  class SubHash < Hash; end

  def test_subclasses_of_core_types_go_out_as_what_they_are
    assert_packs "a1 61", SubString.new("a")
    assert_packs "91 01", SubArray[1]
    assert_packs "81 01 02", SubHash[1, 2]
  end
end
