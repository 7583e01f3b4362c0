# frozen_string_literal: true

# One value has one form, whoever packs it with canonical: true; Manypack.canonical? and .canonicalize know that form.
require "test_helper"
require "support/writing"
require "stringio"

class CanonicalTest < Minitest::Test
  include CorePart

  VALUE = { "b" => [1.5, 0.1, -0.0, Float::NAN], :a => { 2 => nil, -1 => "ü", "k".b => 2**64 - 1 }, [] => {}, 1.0 => true }.freeze
  FORM = "84 ca 3f 80 00 00 c3 a1 61 83 ff a2 c3 bc 02 c0 c4 01 6b cf ff ff ff ff ff ff ff ff " \
         "a1 62 94 ca 3f c0 00 00 cb 3f b9 99 99 99 99 99 9a ca 80 00 00 00 ca 7f c0 00 00 90 80"

  # Each packs an object that is no Proc.
  WAYS = {
    "Manypack.pack" => ->(obj) { Manypack.pack(obj, canonical: true) },
    "Manypack.dump, a Hash" => ->(obj) { Manypack.dump(obj, { canonical: true }) },
    "Manypack.pack, an io" => ->(obj) { written { |io| Manypack.pack(obj, io, canonical: true) } },
    "Codec#pack" => ->(obj) { Manypack::Codec.new(canonical: true).pack(obj) },
    "Codec#dump, an io" => ->(obj) { written { |io| Manypack::Codec.new(canonical: true).dump(obj, io) } },
    "Codec#with" => ->(obj) { Manypack::Codec.new.with(canonical: true).pack(obj) },
    "Factory#dump" => ->(obj) { Manypack::Factory.new.dump(obj, canonical: true) },
    "Factory#pack, an io" => ->(obj) { written { |io| Manypack::Factory.new.pack(obj, io, canonical: true) } },
    "Factory#codec" => ->(obj) { Manypack::Factory.new.codec(canonical: true).pack(obj) },
    "Pool#dump" => ->(obj) { Manypack::Factory.new.pool(1, canonical: true).dump(obj) },
    "Parallel.filter" => ->(obj) { written { |io| Manypack::Parallel.filter("\x01", io, ractors: 0, canonical: true) { obj } } },
  }.freeze

  def self.written
    io = StringIO.new("".b)
    yield io
    io.string
  end

  WAYS.each do |name, way|
    define_method("test_#{name.tr("^A-Za-z", "_")}_packs_in_any_order_the_same_bytes") do
      packed = way.call(VALUE)
      assert_equal FORM, hex(packed)
      assert_equal Encoding::BINARY, packed.encoding
      assert_equal FORM, hex(way.call(VALUE.to_a.reverse.to_h))
      assert_equal "01", hex(way.call(1))
    end

    define_method("test_#{name.tr("^A-Za-z", "_")}_refuses_a_key_twice") do
      assert_raises(ArgumentError) { way.call({ a: 1, "a" => 2 }) }
    end
  end

  def test_without_the_option_nothing_changes
    [{}, { canonical: false }, { canonical: nil }].each do |options|
      assert_equal "82 a1 62 cb 3f f8 00 00 00 00 00 00 a1 61 01", hex(Manypack.pack({ "b" => 1.5, "a" => 1 }, **options))
    end
    assert_equal "82 01 c0 00 c0", hex(Manypack::Codec.new(canonical: true).with(canonical: false).pack({ 1 => nil, 0 => nil }))
  end

  def test_every_ractor_packs_the_same
    codec = Manypack::Codec.new(canonical: true)
    assert_equal FORM, hex(in_ractor(codec, VALUE) { |own_codec, value| own_codec.pack(value) })
    assert_equal FORM, hex(in_ractor(Manypack.pack(VALUE)) { |bytes| Manypack.canonicalize(bytes) })
  end

  def test_parallel_filter_writes_each_message_in_its_form
    source = Manypack.pack({ 2 => 0, 1 => 0 }) * 3
    written = self.class.written { |io| Manypack::Parallel.filter(source, io, ractors: 1, canonical: true) { |map| map } }
    assert_equal "82 01 00 02 00 " * 3, "#{hex(written)} "
  end

  # --- what cannot be packed

  class Loose
    def to_msgpack(packer) = packer.write_map_header(2).write("b").write_float(1).write("a").write(0)
  end

  Sloppy = Class.new(Writing)

  def test_what_user_code_writes_becomes_canonical_too
    assert_equal "91 82 a1 61 00 a1 62 ca 3f 80 00 00", hex(exercise { Manypack.pack([Loose.new], canonical: true) })
  end

  def test_user_code_has_to_write_one_object
    [->(packer) {}, ->(packer) { packer.write(1).write(2) }, ->(packer) { packer.write_array_header(2).write(1) }].each do |write|
      error = assert_raises(ArgumentError) { Manypack.pack(Sloppy.new(&write), canonical: true) }
      assert_match(/\Ato_msgpack of CanonicalTest::Sloppy must write exactly one object/, error.message)
    end
  end

  def test_values_without_a_form_are_refused_in_the_words_of_who_packs
    { { [:a] => 1, ["a"] => 2 } => "not canonical: two keys of a Hash are the same key once packed, at $",
      [{ "é" => 1, "é".b => 2 }] => "not canonical: two keys of a Hash are the same key once packed, at $[0]",
      { [Float::NAN] => 1 } => "not canonical: a key of a Hash is NaN or contains it, at $",
      Manypack::ExtensionValue.new(-1, "abc") => "not canonical: a timestamp must have 4, 8 or 12 bytes, at $" }.each do |value, message|
      error = assert_raises(ArgumentError) { exercise { Manypack.pack(value, canonical: true) } }
      assert_equal message, error.message
    end
    error = assert_raises(EncodingError) { Manypack.pack(["\xFF"], canonical: true) }
    assert_equal "not canonical: a String is not valid UTF-8; pack bytes as BINARY, at $[0]", error.message
  end

  def test_a_failed_pack_writes_nothing
    io = StringIO.new("".b)
    assert_raises(ArgumentError) { Manypack.pack({ Float::NAN => 1 }, io, canonical: true) }
    assert_empty io.string
  end

  # Which would have written its first pairs before it knows the last key.
  def test_a_packer_cannot_be_canonical
    factory = Manypack::Factory.new
    [-> { Manypack::Packer.new(canonical: true) }, -> { Manypack::Packer.new(StringIO.new, { canonical: true }) },
     -> { Manypack::Codec.new(canonical: true).packer }, -> { Manypack::Codec.new.packer(nil, { canonical: true }) },
     -> { factory.packer(canonical: true) }, -> { factory.pool(1, canonical: true).packer { flunk } }].each do |make|
      error = assert_raises(ArgumentError, &make)
      assert_equal "a Packer cannot be canonical, because it writes piece by piece: use pack or dump for each message", error.message
    end
    assert_equal "01", hex(factory.pool.packer { |packer| packer.write(1).to_s })
    error = assert_raises(ArgumentError) { Manypack::Unpacker.new(canonical: true) }
    assert_equal "canonical has no effect on unpacking: it is an option of Manypack.pack and of a Codec", error.message
  end

  # --- bytes

  def test_canonicalize_leaves_its_argument_alone
    [bytes("82 02 00 01 00"), bytes("82 01 00 02 00")].each do |packed|
      packed.freeze
      form = exercise { Manypack.canonicalize(packed) }
      assert_equal "82 01 00 02 00", hex(form)
      assert_equal Encoding::BINARY, form.encoding
      refute_same packed, form
      refute_predicate form, :frozen?
    end
    assert_equal "a1 61", hex(Manypack.canonicalize("\xD9\x01a"))
  end

  def test_only_one_whole_object_is_canonical
    assert Manypack.canonical?("\xC0")
    ["", "\xC0\xC0", "\x92\xC0", "\xC1", "\xA1\xFF", "\xD9\x01a"].each { |other| refute Manypack.canonical?(other), other.inspect }
    assert_raises(TypeError) { Manypack.canonical?(nil) }
    assert_raises(TypeError) { Manypack.canonicalize(StringIO.new("\xC0")) }
  end

  def test_what_cannot_be_canonicalized_is_a_decode_error_with_an_offset
    { "" => [Manypack::TruncatedError, 0], "92 c0" => [Manypack::TruncatedError, 2], "c0 c0" => [Manypack::MalformedFormatError, 1],
      "91 c1" => [Manypack::MalformedFormatError, 1], "92 01 a1 ff" => [Manypack::MalformedFormatError, 2],
      "82 01 00 d0 01 00" => [Manypack::MalformedFormatError, 3] }.each do |input, (klass, offset)|
      error = assert_raises(klass, input) { exercise { Manypack.canonicalize(bytes(input)) } }
      assert_equal offset, error.offset, input
    end
  end

  # Nesting, and maps in another order, beyond what the C stack lends.
  def test_depth_and_length_are_those_of_the_bytes
    deep, wide = bytes("91") * 100_000 + bytes("c0"), Manypack.pack((0..3_000).to_h { |i| ["key #{-i}", { i => 0, -1 => 0 }] })
    assert Manypack.canonical?(deep)
    assert_equal deep, Manypack.canonicalize(deep)
    refute Manypack.canonical?("\x91".b + deep)
    assert_equal 100_000, assert_raises(Manypack::StackError) { Manypack.canonicalize("\x91".b + deep) }.offset
    form = Manypack.canonicalize(wide)
    refute Manypack.canonical?(wide)
    assert Manypack.canonical?(form)
    assert_equal Manypack.unpack(wide), Manypack.unpack(form)
    assert_equal Manypack.unpack(wide).keys.sort, Manypack.unpack(form).keys
  end

  # Enough for Strings as working memory.
  def test_working_memory_survives_a_collection_at_every_allocation
    assert_equal FORM, hex(exercise { Manypack.pack(VALUE, canonical: true) })
    deep = 40.times.inject(0) { |inner, i| { "z" => i, "a" => inner } }
    packed = exercise { Manypack.pack(deep, canonical: true) }
    assert Manypack.canonical?(packed)
    assert_equal deep, Manypack.unpack(packed)
  end
end
