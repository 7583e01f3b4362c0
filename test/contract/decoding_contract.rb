# frozen_string_literal: true

# What any decoder makes of bytes that no Manypack wrote: every head byte, long encodings, keys, encodings of Strings.
module DecodingContract
  # A message that has an object of every kind in it; ext 5 wants allow_unknown_ext.
  EVERYTHING = [
    "de 00 13", # a map16 of 19 pairs
    "a1 61 c0", "a1 62 c2", "a1 63 c3",
    "a1 64 2a", "a1 65 cc ff", "a1 66 cd ff ff", "a1 67 ce ff ff ff ff", "a1 68 cf ff ff ff ff ff ff ff ff",
    "a1 69 d0 80", "a1 6a d1 80 00", "a1 6b d2 80 00 00 00", "a1 6c d3 80 00 00 00 00 00 00 00",
    "a1 6d ca 3f c0 00 00", "a1 6e cb 3f f8 00 00 00 00 00 00",
    "d9 01 6f d9 02 68 69", "da 00 01 70 c4 02 ff fe", "db 00 00 00 01 71 c5 00 01 00",
    "a1 72 dc 00 03 d4 05 61 c7 03 05 61 62 63 c8 00 01 05 61", "a1 73 dd 00 00 00 02 81 01 02 df 00 00 00 01 c6 00 00 00 01 62 90"
  ].join(" ").freeze

  def test_everything_decodes
    ext = ->(payload) { Manypack::ExtensionValue.new(5, payload) }
    expected = {
      "a" => nil, "b" => false, "c" => true, "d" => 42, "e" => 255, "f" => 65_535, "g" => (2**32) - 1,
      "h" => (2**64) - 1, "i" => -128, "j" => -32_768, "k" => -(2**31), "l" => -(2**63), "m" => 1.5, "n" => 1.5,
      "o" => "hi", "p" => "\xFF\xFE".b, "q" => "\0".b, "r" => [ext["a"], ext["abc"], ext["a"]],
      "s" => [{ 1 => 2 }, { "b" => [] }]
    }
    assert_unpacks expected, EVERYTHING, allow_unknown_ext: true
  end

  def test_every_truncation_point_is_a_truncated_error
    whole = bytes(EVERYTHING)
    (0...whole.bytesize).each do |size|
      error = assert_raises(Manypack::TruncatedError, "cut to #{size} bytes") do
        unpack(whole.byteslice(0, size), allow_unknown_ext: true)
      end
      assert_includes 0..size, error.offset
    end
  end

  def test_every_head_byte_but_0xc1_starts_an_object
    (0x00..0xff).each do |head|
      input = head.chr.b + ("\x00".b * 40) # lengths of zero, numbers of zero, elements that are zero
      error = assert_raises(Manypack::DecodeError) { unpack(input, allow_unknown_ext: true) }
      expected = head == 0xc1 ? /\A0xc1 is not a MessagePack head byte, at byte 0\z/ : /extra bytes/
      assert_match expected, error.message, "0x#{head.to_s(16)}"
    end
  end

  # How many bytes an object takes that has this head byte and nothing but zeros after it.
  OBJECT_SIZES = {
    0x00..0x7f => 1, 0xc0..0xc0 => 1, 0xc2..0xc3 => 1, 0xe0..0xff => 1,
    0xc4..0xc4 => 2, 0xc5..0xc5 => 3, 0xc6..0xc6 => 5, 0xc7..0xc7 => 3, 0xc8..0xc8 => 4, 0xc9..0xc9 => 6,
    0xca..0xca => 5, 0xcb..0xcb => 9, 0xcc..0xcc => 2, 0xcd..0xcd => 3, 0xce..0xce => 5, 0xcf..0xcf => 9,
    0xd0..0xd0 => 2, 0xd1..0xd1 => 3, 0xd2..0xd2 => 5, 0xd3..0xd3 => 9,
    0xd4..0xd4 => 3, 0xd5..0xd5 => 4, 0xd6..0xd6 => 6, 0xd7..0xd7 => 10, 0xd8..0xd8 => 18,
    0xd9..0xd9 => 2, 0xda..0xda => 3, 0xdb..0xdb => 5, 0xdc..0xdc => 3, 0xdd..0xdd => 5, 0xde..0xde => 3, 0xdf..0xdf => 5
  }.freeze

  def test_every_head_byte_takes_as_many_bytes_as_the_specification_says
    OBJECT_SIZES.each do |heads, size|
      heads.each { |head| assert_takes size, head }
    end
    (0x80..0x8f).each { |head| assert_takes 1 + (2 * (head - 0x80)), head }
    (0x90..0x9f).each { |head| assert_takes 1 + (head - 0x90), head }
    (0xa0..0xbf).each { |head| assert_takes 1 + (head - 0xa0), head }
  end

  def test_longer_encodings_than_needed_are_read
    assert_unpacks 1, "cc 01"
    assert_unpacks 1, "cd 00 01"
    assert_unpacks 1, "ce 00 00 00 01"
    assert_unpacks 1, "cf 00 00 00 00 00 00 00 01"
    assert_unpacks 1, "d0 01"
    assert_unpacks(-1, "d1 ff ff")
    assert_unpacks 1, "d2 00 00 00 01"
    assert_unpacks(-1, "d3 ff ff ff ff ff ff ff ff")
    assert_unpacks "a", "d9 01 61"
    assert_unpacks "a", "da 00 01 61"
    assert_unpacks "a", "db 00 00 00 01 61"
    assert_unpacks "", "db 00 00 00 00"
    assert_unpacks "a".b, "c5 00 01 61"
    assert_unpacks "a".b, "c6 00 00 00 01 61"
    assert_unpacks [1], "dc 00 01 01"
    assert_unpacks [], "dd 00 00 00 00"
    assert_unpacks({ 1 => 2 }, "de 00 01 01 02")
    assert_unpacks({}, "df 00 00 00 00")
    assert_unpacks Manypack::ExtensionValue.new(1, "a"), "c7 01 01 61", allow_unknown_ext: true
    assert_unpacks Manypack::ExtensionValue.new(1, "ab"), "c8 00 02 01 61 62", allow_unknown_ext: true
    assert_unpacks Manypack::ExtensionValue.new(1, "a"), "c9 00 00 00 01 01 61", allow_unknown_ext: true
  end

  def test_anything_may_be_a_key
    assert_unpacks({ nil => 1 }, "81 c0 01")
    assert_unpacks({ true => 1, false => 2 }, "82 c3 01 c2 02")
    assert_unpacks({ 1.5 => 1 }, "81 cb 3f f8 00 00 00 00 00 00 01")
    assert_unpacks({ 2**64 - 1 => 1 }, "81 cf ff ff ff ff ff ff ff ff 01")
    assert_unpacks({ [1, "a"] => 1 }, "81 92 01 a1 61 01")
    assert_unpacks({ { "k" => nil } => 1 }, "81 81 a1 6b c0 01")
    assert_unpacks({ { [] => {} } => [] }, "81 81 90 80 90")
    assert_unpacks({ "\xFF".b => 1 }, "81 c4 01 ff 01")
    assert_unpacks({ Manypack::ExtensionValue.new(1, "a") => 1 }, "81 d4 01 61 01", allow_unknown_ext: true)
  end

  def test_of_equal_keys_the_last_one_wins
    assert_unpacks({ "a" => 3, "b" => 2 }, "83 a1 61 01 a1 62 02 a1 61 03")
    assert_unpacks({ 1 => nil }, "82 01 02 cc 01 c0")
    assert_unpacks({ [1] => 2 }, "82 91 01 01 91 01 02")
  end

  def test_a_hash_that_was_decoded_finds_its_keys
    map = unpack(pack((0...100).to_h { |i| ["key #{i}", i] }))
    assert_equal 42, map["key 42"]
    assert_equal 1, unpack(bytes("81 91 01 01"))[[1]]
  end

  def test_string_keys_are_frozen_and_values_are_not
    map = exercise { unpack(bytes("82 a1 61 a1 62 c4 01 63 c4 01 64")) }
    assert_equal [true, true], map.keys.map(&:frozen?)
    assert_equal [false, false], map.values.map(&:frozen?)
    refute_predicate map, :frozen?
  end

  def test_keys_of_every_length_are_themselves
    keys = (0..80).map { |size| "k" * size } + [255, 256, 70_000].map { |size| "k" * size }
    packed = pack(keys.to_h { |key| [key, key.bytesize] })
    2.times { assert_equal(keys, unpack(packed).keys) }
    2.times { assert_equal(keys.map(&:to_sym), unpack(packed, symbolize_keys: true).keys) }
  end

  def test_keys_that_differ_in_one_byte_are_different
    (1..70).each do |size|
      keys = (0...size).map { |at| ("a" * size).tap { |key| key[at] = "b" } }
      assert_equal keys, unpack(pack(keys.to_h { |key| [key, nil] })).keys
    end
  end

  def test_a_key_may_have_nul_bytes
    assert_unpacks({ "\0" => 1, "\0\0" => 2, "" => 3 }, "83 a1 00 01 a2 00 00 02 a0 03")
  end

  def test_a_str_is_utf8_and_invalid_bytes_pass_as_they_are
    string = exercise { unpack(bytes("a4 61 ff fe 62")) }
    assert_equal Encoding::UTF_8, string.encoding
    assert_equal [0x61, 0xff, 0xfe, 0x62], string.bytes
    refute_predicate string, :valid_encoding?
    key = exercise { unpack(bytes("81 a2 ff fe c0")) }.keys.first
    assert_equal [0xff, 0xfe], key.bytes
    assert_equal Encoding::UTF_8, key.encoding
  end

  def test_a_str_knows_whether_it_is_ascii
    assert_predicate unpack(bytes("a1 61")), :ascii_only?
    refute_predicate unpack(bytes("a2 c3 a9")), :ascii_only?
    assert_equal 1, unpack(bytes("a2 c3 a9")).length
  end

  def test_the_input_stays_as_it_was
    [String.new(bytes(EVERYTHING)), bytes(EVERYTHING).freeze].each do |input|
      before = input.dup
      unpack(input, allow_unknown_ext: true)
      assert_equal before, input
      assert_equal Encoding::BINARY, input.encoding
    end
  end

  def test_the_encoding_of_the_input_does_not_matter
    [Encoding::UTF_8, Encoding::US_ASCII, Encoding::UTF_16LE, Encoding::EUC_JP].each do |encoding|
      assert_equal [1, "é"], unpack(bytes("92 01 a2 c3 a9").force_encoding(encoding))
    end
  end

  private

  def assert_takes(size, head)
    input = "#{head.chr.b}#{"\x00".b * 40}"
    unpack(input.byteslice(0, size), allow_unknown_ext: true)
    error = assert_raises(Manypack::MalformedFormatError) { unpack(input, allow_unknown_ext: true) }
    assert_equal size, error.offset, "head 0x#{head.to_s(16)}"
  end
end
