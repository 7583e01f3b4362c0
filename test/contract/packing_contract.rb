# frozen_string_literal: true

# What any encoder does with Strings of every encoding, foreign objects, and what cannot be packed.
module PackingContract
  BIGINT = "register_common(:bigint) on a Factory or on DefaultFactory packs it as an ext type"

  class Point
    def initialize(x, y)
      @x = x
      @y = y
    end

    def to_msgpack(packer)
      packer.write_array_header(2).write(@x).write(@y)
    end
  end

  class Chain
    def initialize(length)
      @length = length
    end

    def to_msgpack(packer)
      packer.write_array_header(1)
      packer.write(@length.zero? ? nil : Chain.new(@length - 1))
    end
  end

  class Failing
    def to_msgpack(packer)
      packer.write("half")
      raise IOError, "no more"
    end
  end

  Opaque = Class.new
  Later = Class.new(Time)

  # Ruby 3.1 may deadlock when it loads an encoding or a converter while there is a second Ractor.
  Encoding.find("UTF-7").inspect
  %w[ISO-8859-1 EUC-JP Shift_JIS UTF-16LE UTF-16 UTF-32BE ISO-2022-JP Windows-1253].each do |name|
    "a".encode(name).encode("UTF-8")
  end

  def test_utf8_and_ascii_go_out_as_str_and_binary_as_bin
    assert_packs "a2 c3 a9", "é"
    assert_packs "a1 61", "a".encode("US-ASCII")
    assert_packs "c4 01 61", "a".b
  end

  def test_other_encodings_become_utf8
    assert_packs "a2 c3 a9", "é".encode("ISO-8859-1")
    assert_packs "a3 e6 97 a5", "日".encode("EUC-JP")
    assert_packs "a3 e6 97 a5", "日".encode("Shift_JIS")
    assert_packs "a3 61 c3 a9", "aé".encode("UTF-16LE")
    assert_packs "a3 61 c3 a9", "aé".encode("UTF-16")
    assert_packs "a1 61", "a".encode("UTF-32BE")
    assert_packs "a3 e6 97 a5", "日".encode("ISO-2022-JP")
  end

  def test_symbols_are_packed_as_strings_of_their_encoding_are
    assert_packs "a2 c3 a9", :é
    assert_packs "c4 01 e9", "\xE9".b.to_sym
    assert_packs "92 a2 c3 a9 a2 c3 a9", ["é".encode("ISO-8859-1").to_sym] * 2
    assert_packs "81 a3 e6 97 a5 a3 e6 97 a5", { "日".encode("EUC-JP").to_sym => "日".encode("UTF-16LE").to_sym }
    assert_raises(Encoding::UndefinedConversionError) { pack("\xFF".dup.force_encoding("Windows-1253").to_sym) }
  end

  def test_ascii_in_an_encoding_that_contains_it_goes_out_as_it_is
    assert_packs "a1 61", "a".encode("EUC-JP")
    assert_packs "a1 61", "a".encode("Shift_JIS")
    assert_packs "a0", "".encode("EUC-JP")
  end

  def test_a_string_that_cannot_become_utf8_is_an_encoding_error
    assert_raises(Encoding::ConverterNotFoundError) { pack("a".dup.force_encoding("UTF-7")) }
    assert_raises(Encoding::InvalidByteSequenceError) { pack("\x81".dup.force_encoding("Shift_JIS")) }
    assert_raises(Encoding::InvalidByteSequenceError) { pack("a".dup.force_encoding("UTF-16LE")) }
    assert_raises(Encoding::UndefinedConversionError) { pack("\xFF".dup.force_encoding("Windows-1253")) }
  end

  def test_invalid_utf8_passes_as_it_is
    assert_packs "a2 ff fe", "\xFF\xFE"
    assert_packs "a3 ed a0 80", "\xED\xA0\x80"
    assert_packs "a1 ff", "\xFF".dup.force_encoding("US-ASCII")
  end

  def test_a_string_is_not_changed_by_being_packed
    string = "é".encode("ISO-8859-1")
    pack([string])
    assert_equal Encoding::ISO_8859_1, string.encoding
    assert_equal 1, string.bytesize
  end

  def test_any_object_may_be_a_key
    assert_packs "83 c0 01 91 01 02 cb 3f f8 00 00 00 00 00 00 03", { nil => 1, [1] => 2, 1.5 => 3 }
    assert_packs "81 92 01 02 03", { Point.new(1, 2) => 3 }
  end

  def test_a_foreign_object_writes_itself
    assert_packs "92 01 02", Point.new(1, 2)
    assert_packs "82 a1 61 92 92 01 02 03 a1 62 92 c0 04", { "a" => [Point.new(1, 2), 3], "b" => Point.new(nil, 4) }
    assert_packs "92 92 01 02 92 92 03 04 05", [Point.new(1, 2), Point.new(Point.new(3, 4), 5)]
  end

  def test_foreign_objects_may_write_more_than_the_first_window_holds
    long = "l" * 10_000
    assert_equal [[[long, long], 1], [long, [2, long]]],
                 unpack(exercise { pack([Point.new([long, long], 1), Point.new(long, Point.new(2, long))]) })
  end

  def test_options_hold_inside_to_msgpack
    assert_packs "92 d6 ff 00 00 00 00 c0", Point.new(Time.at(0), nil), timestamp: true
    assert_packs "92 a1 ff c0", Point.new("\xFF".b, nil), compatibility_mode: true
    assert_raises(Manypack::NestingError) { pack(Point.new([1], nil), max_depth: 1) }
  end

  def test_what_to_msgpack_raises_comes_out_and_leaves_nothing_behind
    error = assert_raises(IOError) { exercise { pack([1, Failing.new]) } }
    assert_equal "no more", error.message
    assert_packs "91 01", [1]
  end

  def test_an_object_without_to_msgpack_is_named_with_its_path
    error = assert_raises(NoMethodError) do
      exercise { pack({ "users" => [0, 1, 2, { avatar: Opaque.new }] }) }
    end
    assert_equal unpackable(Opaque, "$.users[3].avatar"), first_line(error)
    assert_equal :to_msgpack, error.name
    assert_instance_of Opaque, error.receiver
  end

  # But for the address by which a class without a name is called.
  def assert_line(expected, error)
    assert_equal expected.sub(/0x\h+/, ""), first_line(error).sub(/0x\h+/, "")
  end

  def test_a_moment_that_cannot_be_packed_is_told_of_the_timestamp
    [Time.at(0), Later.at(0), Class.new(Time).at(0), Manypack::Timestamp.new(0, 0)].each do |moment|
      next unless takes?(moment)

      error = assert_raises(NoMethodError) { exercise { pack({ at: moment }) } }
      way = moment.is_a?(Time) ? "register_common(:time)" : "register_type(-1, #{moment.class})"
      assert_line "undefined method 'to_msgpack' for an instance of #{moment.class}, at $.at; " \
                  "pack with timestamp: true, or #{way} on a Factory", error
      assert_equal 10, pack({ at: moment }, timestamp: true).bytesize unless moment.class.name.nil?
    end
  end

  # What newcomers meet first, as they do Date and others of the standard library.
  def test_what_else_cannot_be_packed_is_told_of_ext_types
    [1..2, 1r, 1i, BasicObject, Comparable, Object.new].each do |obj|
      error = assert_raises(NoMethodError) { exercise { pack([obj]) } }
      common = { 1..2 => :range, 1r => :rational, 1i => :complex }[obj]
      way = common ? "register_common(#{common.inspect}) on a Factory or on DefaultFactory packs it as an ext type" : "register an ext type"
      assert_operator first_line(error), :start_with?, "undefined method 'to_msgpack' for an instance of #{obj.class}, at $[0]; #{way}"
    end
  end

  # The class may have a Record that is not attached, and then it does not know it.
  def test_a_struct_or_data_that_cannot_be_packed_is_told_of_records
    [Struct.new(:a), *(Data.define(:a) if defined?(Data.define))].each do |klass|
      error = assert_raises(NoMethodError) { exercise { pack([klass.new(1)]) } }
      assert_line "undefined method 'to_msgpack' for an instance of #{klass}, at $[0]; attach a Manypack::Record of its class, dump it by " \
                  "that Record, or register an ext type for it by Factory#register_type with record:", error
    end
  end

  Élan = Class.new

  def test_a_class_is_named_in_its_own_letters
    error = assert_raises(NoMethodError) { exercise { pack({ "é" => Élan.new }) } }
    assert_equal unpackable(Élan, "$.é"), first_line(error)
    assert_equal Encoding::UTF_8, error.message.encoding
  end

  def test_a_path_shows_every_kind_of_key
    { { "a b" => Opaque.new } => '$["a b"]', { 7 => Opaque.new } => "$[7]", { nil => Opaque.new } => "$[nil]", { 1.5 => Opaque.new } => "$[1.5]",
      { "é" => Opaque.new } => "$.é", { [1] => Opaque.new } => "$[Array]", { "" => Opaque.new } => '$[""]',
      { Opaque.new => 1 } => "$[PackingContract::Opaque]", { _a1: Opaque.new } => "$._a1", { "1a" => Opaque.new } => '$["1a"]',
      Opaque.new => "$", [[Opaque.new]] => "$[0][0]" }.each do |obj, path|
      error = assert_raises(NoMethodError) { exercise { pack(obj) } }
      assert_equal unpackable(Opaque, path), first_line(error)
    end
  end

  def test_a_long_path_shows_both_ends
    deep = 30.times.inject(Opaque.new) { |inner, i| i.even? ? [inner] : { "k" => inner } }
    error = assert_raises(NoMethodError) { pack(deep) }
    assert_equal "$#{".k[0]" * 4}...#{".k[0]" * 4}", first_line(error)[/at (.*);/, 1]
  end

  def test_an_integer_above_64_bits_is_a_range_error_with_its_path
    error = assert_raises(RangeError) { exercise { pack([1, { "n" => 2**64 }]) } }
    assert_equal "bignum too big to convert into 64 bits: Integer of 65 bits, at $[1].n; #{BIGINT}", error.message
    error = assert_raises(RangeError) { pack(-(2**63) - 1) }
    assert_equal "bignum too big to convert into 64 bits: Integer of 65 bits, at $; #{BIGINT}", error.message
    assert_raises(RangeError) { pack(2**1000) }
    assert_raises(RangeError) { pack(-(2**1000)) }
  end

  def test_an_extension_value_that_is_none_is_refused
    assert_raises(RangeError) { pack(Manypack::ExtensionValue.new(128, "")) }
    assert_raises(RangeError) { pack(Manypack::ExtensionValue.new(-129, "")) }
    assert_raises(TypeError) { pack(Manypack::ExtensionValue.new("1", "")) }
    assert_raises(TypeError) { pack(Manypack::ExtensionValue.new(1, nil)) }
  end

  def test_a_timestamp_outside_the_format_is_a_range_error
    [[1, -1], [1, 1_000_000_000], [2**63, 0], [-(2**63) - 1, 0]].each do |sec, nsec|
      assert_raises(RangeError) { pack(Manypack::Timestamp.new(sec, nsec), timestamp: true) }
    end
    assert_packs "c7 0c ff 3b 9a c9 ff 80 00 00 00 00 00 00 00", Manypack::Timestamp.new(-(2**63), 999_999_999), timestamp: true
  end

  def test_data_that_contains_itself_is_a_nesting_error
    array = []
    array << [array]
    error = assert_raises(Manypack::NestingError) { exercise { pack(array) } }
    assert_equal "nested more than 128 containers deep (max_depth: allows more), at $#{"[0]" * 8}...#{"[0]" * 8}", error.message
    hash = {}
    hash["self"] = hash
    assert_raises(Manypack::NestingError) { pack(hash) }
  end

  def test_levels_are_counted_through_to_msgpack
    assert_equal bytes("91 91 91 c0"), pack(Chain.new(2), max_depth: 6)
    assert_raises(Manypack::NestingError) { pack(Chain.new(2), max_depth: 2) }
    assert_raises(Manypack::NestingError) { pack(Chain.new(1_000_000)) }
    assert_packs "91 c0", Chain.new(0)
  end

  private

  # Whether an object gets as far as the encoder.
  def takes?(_object)
    true
  end

  def unpackable(klass, path)
    "undefined method 'to_msgpack' for an instance of #{klass}, at #{path}; register an ext type for it by Factory#register_type"
  end
end
