# frozen_string_literal: true

# Manypack.to_json: the text of packed bytes. JSON.generate of the json gem is the judge.
require "test_helper"
require "json"
require "stringio"

class ToJSONTest < Minitest::Test
  # Whatever to_json writes of bytes is what JSON.generate writes of the objects in them.
  OBJECTS = [
    nil, true, false, 0, 1, 9, 10, 99, 100, 127, 128, 255, 256, 65_535, 65_536, 99_999_999, 100_000_000, 2**32, 10**16,
    10**19, 2**63, (2**64) - 1, -1, -32, -33, -128, -129, -32_769, -(2**31) - 1, -(2**63), 0.0, -0.0, 1.5, 100.0, -1.25,
    1e14, 123_456_789_012_345.6, 1e15, 1e20, 5e-324, 1.7976931348623157e308, 1e-5, 1.5e-7, 1.5e-10, 0.1 + 0.2, 1 / 3.0,
    "", "a", "a" * 15, "a" * 16, "a" * 17, "a" * 31, "a" * 32, "a" * 33, "a" * 300, "a" * 70_000, "\"", "\\", "/",
    (0..0x7f).map(&:chr).join, "é", "日本語" * 20, "😀" * 9, "a\u2028b\u2029", "#{"x" * 15}é", "#{"x" * 16}\n",
    [], {}, [[]], [{}], { "a" => [] }, [1, [2, [3, []]], {}], { "a" => { "b" => [1, nil] }, "c" => "d" },
    Array.new(20) { |i| i }, Array.new(70_000) { |i| i % 300 }, (0..20).to_h { |i| ["key #{i}", i] },
    (0..400).to_h { |i| ["k\n#{i}", "v"] }, { "" => 1 }, { "é" => "\u0000" }, { "a" * 40 => 1, "a" * 41 => 2 }
  ].freeze

  def test_writes_what_json_generates
    OBJECTS.each do |object|
      text = Manypack.to_json(Manypack.pack(object))
      assert_equal JSON.generate(object), text
      assert_equal Encoding::UTF_8, text.encoding
      assert_predicate text, :valid_encoding?
    end
  end

  def test_pretty_is_what_json_generates_prettily
    OBJECTS.each { |object| assert_equal JSON.pretty_generate(object), to_json(object, pretty: true) }
  end

  def test_ascii_only_and_script_safe_escape_as_json_does
    [{ ascii_only: true }, { script_safe: true }, { ascii_only: true, script_safe: true }].each do |options|
      OBJECTS.each { |object| assert_equal JSON.generate(object, **options), to_json(object, **options) }
    end
  end

  def test_strings_of_all_lengths_with_an_escape_at_each_place
    (1..40).each do |size|
      size.times do |at|
        ["\"", "\u001f", "é", "日", "😀"].each do |special|
          text = ("x" * size).tap { |string| string[at] = special }
          assert_equal JSON.generate([text, text]), to_json([text, text])
        end
      end
    end
  end

  # The digits are those of Float#to_s, which are the shortest; json writes one more for one Float in 200.
  def test_floats_have_the_shortest_digits_in_the_layout_of_json
    random = Random.new(50)
    floats = Array.new(20_000) { [random.rand(2**64)].pack("Q").unpack1("D") } +
             Array.new(20_000) { random.rand(10**random.rand(1..17)).fdiv(10**random.rand(0..18)) }
    floats.select(&:finite?).each do |float|
      text = to_json(float)
      assert_equal digits(float.to_s), digits(text)
      assert_equal JSON.generate(float), text if digits(JSON.generate(float)) == digits(text)
      assert_equal float, Float(text)
    end
  end

  def test_a_float32_is_the_float_that_unpack_returns
    bytes = "\xCA\x3D\xCC\xCC\xCD".b
    assert_equal JSON.generate(Manypack.unpack(bytes)), Manypack.to_json(bytes)
  end

  def test_reads_every_form_of_a_number_and_a_length
    { "\xCC\x05" => "5", "\xCD\x00\x05" => "5", "\xCE\x00\x00\x00\x05" => "5", "\xCF#{"\0" * 7}\x05" => "5",
      "\xD0\xFF" => "-1", "\xD1\xFF\xFF" => "-1", "\xD2\xFF\xFF\xFF\xFF" => "-1", "\xD3#{"\xFF" * 8}" => "-1",
      "\xD9\x01a" => '"a"', "\xDA\0\x01a" => '"a"', "\xDB\0\0\0\x01a" => '"a"', "\xDC\0\x01\x05" => "[5]",
      "\xDD\0\0\0\x01\x05" => "[5]", "\xDE\0\x01\xA1a\x05" => '{"a":5}', "\xDF\0\0\0\x01\xD9\x01a\x05" => '{"a":5}',
      "\xDC\0\0" => "[]", "\xDE\0\0" => "{}" }.each do |bytes, text|
      assert_equal text, Manypack.to_json(bytes.b)
      assert_equal "[#{text},#{text}]", Manypack.to_json("\x92".b + bytes.b + bytes.b)
    end
  end

  def test_bin_is_an_error_or_text
    bytes = Manypack.pack({ "a" => [1, "\xFF\x00abc".b] })
    error = assert_raises(Manypack::UnexpectedTypeError) { Manypack.to_json(bytes) }
    assert_equal "JSON has no bin; bin: :base64 or bin: :hex writes it as a String, at $.a[1], byte 5", error.message
    assert_equal ["$.a[1]", 5], [error.path, error.offset]
    assert_equal '{"a":[1,"/wBhYmM="]}', Manypack.to_json(bytes, bin: :base64)
    assert_equal '{"a":[1,"ff00616263"]}', Manypack.to_json(bytes, bin: :hex)
    (0..70).each do |n|
      string = Random.new(n).bytes(n)
      assert_equal [[string].pack("m0"), string.unpack1("H*")],
                   [:base64, :hex].map { |way| JSON.parse(to_json([string], bin: way)).first }
    end
  end

  def test_ext_is_an_error_or_text
    bytes = Manypack.pack([Manypack::ExtensionValue.new(5, "ab")])
    error = assert_raises(Manypack::UnexpectedTypeError) { Manypack.to_json(bytes) }
    assert_equal "JSON has no ext type 5; ext: :base64 or ext: :hex writes its bytes as a String, at $[0], byte 1", error.message
    assert_equal '["YWI="]', Manypack.to_json(bytes, ext: :base64)
    assert_equal '["6162"]', Manypack.to_json(bytes, ext: :hex)
  end

  Point = Struct.new(:x)

  # A class without a name, and a type without a class, have the number of the type.
  def test_an_ext_has_the_name_of_its_class
    factory = Manypack::Factory.new
    [Point, Class.new].each.with_index(1) { |klass, type| factory.register_type(type, klass, packer: ->(_) { "ab" }, unpacker: ->(_) { 1 }) }
    bytes = Manypack.pack([1, 2, 3].to_h { |type| ["t#{type}", Manypack::ExtensionValue.new(type, "a" * type)] })
    expected = { "t1" => { "ToJSONTest::Point" => "YQ==" }, "t2" => { "2" => "YWE=" }, "t3" => { "3" => "YWFh" } }
    assert_equal JSON.generate(expected), factory.to_json(bytes, ext: :name)
    assert_equal JSON.pretty_generate(expected), factory.to_json(bytes, ext: :name, pretty: true)
    assert_equal expected, Manypack.unpack(Manypack.from_json(factory.to_json(bytes, ext: :name)))
    assert_equal '{"1":"YQ=="}', Manypack.to_json(Manypack.pack(Manypack::ExtensionValue.new(1, "a")), ext: :name)
  end

  def test_an_object_of_an_ext_is_no_key_and_counts_as_a_level
    key = "\x81\xD4\x01a\x01".b
    assert_equal '{"YQ==":1}', Manypack.to_json(key, ext: :base64)
    assert_raises(Manypack::UnexpectedTypeError) { Manypack.to_json(key, ext: :name) }
    assert_raises(Manypack::StackError) { Manypack.to_json("\x91\xD4\x01a".b, ext: :name, max_depth: 1) }
    assert_equal '{"1970-01-01T00:00:00Z":1}', Manypack.to_json("\x81\xD6\xFF\0\0\0\0\x01".b, ext: :name, timestamp: true)
    assert_raises(ArgumentError) { Manypack.to_json("\xC0".b, bin: :name) }
  end

  def test_a_timestamp_is_an_error_or_rfc_3339
    times = [Time.at(0), Time.at(1_700_000_000, 5, :nsec), Time.at(1, 120, :millisecond), Time.at(-1), Time.utc(1, 1, 1),
             Time.utc(9999, 12, 31, 23, 59, 59), Time.utc(2024, 2, 29), Time.utc(2000, 3, 1), Time.utc(1900, 2, 28)]
    bytes = Manypack.pack(times, timestamp: true)
    expected = times.map { |time| "#{time.getutc.strftime("%Y-%m-%dT%H:%M:%S.%9N").sub(/0+\z/, "").delete_suffix(".")}Z" }
    assert_equal expected, JSON.parse(Manypack.to_json(bytes, timestamp: true))
    error = assert_raises(Manypack::UnexpectedTypeError) { Manypack.to_json(bytes) }
    assert_match(/\AJSON has no timestamp; timestamp: true writes it as a String \(RFC 3339\), at \$\[0\], byte 1\z/, error.message)
    assert_raises(Manypack::MalformedFormatError) { Manypack.to_json("\xC7\x01\xFF\x00".b, timestamp: true) }
  end

  def test_nan_and_infinity_are_an_error_or_what_json_writes
    { Float::NAN => "NaN", Float::INFINITY => "Infinity", -Float::INFINITY => "-Infinity" }.each do |float, text|
      error = assert_raises(Manypack::UnexpectedTypeError) { to_json([float]) }
      assert_equal "JSON has no #{text}; allow_nan: true writes it, at $[0], byte 1", error.message
      assert_equal "[#{text}]", to_json([float], allow_nan: true)
      assert_equal JSON.generate([float], allow_nan: true), to_json([float], allow_nan: true)
    end
  end

  def test_keys_that_are_no_strings_are_an_error_or_strings
    { 1 => "int", nil => "nil", true => "true", 1.5 => "float64", 300 => "int" }.each do |key, _|
      error = assert_raises(Manypack::UnexpectedTypeError) { to_json({ "a" => { key => 1 } }) }
      assert_match(/\AJSON has no .+ as a key: a key is a String; stringify_keys: true makes one, at /, error.message)
      assert_equal JSON.generate({ key => [1] }), to_json({ key => [1] }, stringify_keys: true)
    end
    error = assert_raises(Manypack::UnexpectedTypeError) { to_json({ [1] => 1 }, stringify_keys: true) }
    assert_match(/\AJSON has no array as a key: a key is a String, at /, error.message)
    assert_raises(Manypack::UnexpectedTypeError) { to_json({ "a".b => 1 }, stringify_keys: true) }
    assert_equal '{"YQ==":1}', to_json({ "a".b => 1 }, bin: :base64)
  end

  def test_a_float_as_a_key_is_what_to_s_writes
    random = Random.new(7)
    floats = Array.new(500) { [random.rand(2**64)].pack("Q").unpack1("D") } + (-30..30).map { |n| 1.5 * 10.0**n } +
             (-30..30).map { |n| 10.0**n } + [0.0, -0.0, Float::NAN, Float::INFINITY, -Float::INFINITY]
    floats.each { |float| assert_equal "{#{float.to_s.inspect}:1}", to_json({ float => 1 }, stringify_keys: true) }
    assert_equal '{"1.5e-05":1}', Manypack.to_json("\x81\xCB\x3E\xEF\x75\x10\x4D\x55\x1D\x69\x01".b, stringify_keys: true)
    assert_raises(Manypack::MalformedFormatError) { to_json({ 1e20 => 1, "1.0e+20" => 2 }, stringify_keys: true) }
  end

  # Bytes are text like any other: what is escaped in a String is escaped in them, and they can be equal keys.
  def test_script_safe_escapes_the_slashes_of_base64
    (0..9).each do |n|
      bytes = ("\xFF" * n).b
      assert_equal JSON.generate({ [bytes].pack("m0") => [bytes].pack("m0") }, script_safe: true),
                   to_json({ bytes => bytes }, bin: :base64, script_safe: true)
    end
    both = { "\xFF\xFF\xFF".b => 1, "////" => 2 }
    assert_raises(Manypack::MalformedFormatError) { to_json(both, bin: :base64, script_safe: true) }
    assert_raises(Manypack::MalformedFormatError) { to_json(both, bin: :base64) }
  end

  def test_equal_keys_are_an_error_or_written_twice
    pairs = "\x83\xA1a\x01\xA1b\x92\x01\x02\xA1a\x03".b
    error = assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(pairs) }
    assert_equal "a map has the same key twice; allow_duplicate_key: true writes both, at byte 9", error.message
    assert_equal '{"a":1,"b":[1,2],"a":3}', Manypack.to_json(pairs, allow_duplicate_key: true)
    both = { 1 => 1, "1" => 2 }
    assert_raises(JSON::GeneratorError) { JSON.generate(both) }
    assert_raises(Manypack::MalformedFormatError) { to_json(both, stringify_keys: true) }
  end

  # A few keys are compared in another way than many, and those that need an escape as their text.
  def test_equal_keys_are_found_among_few_and_many
    [2, 3, 8, 9, 30, 300, 3000].each do |n|
      ["k%d", "a long key that has more than thirty-one bytes %d", "\"%d\n", "é%d"].each do |form|
        keys = Array.new(n) { |i| format(form, i) }
        assert_equal JSON.generate(keys.to_h { |key| [key, 1] }), to_json(keys.to_h { |key| [key, 1] })
        [[0, n - 1], [n - 2, n - 1], [0, 1]].each do |one, other|
          twice = keys.dup.tap { |all| all[other] = all[one] }
          bytes = map_of(twice)
          error = assert_raises(Manypack::MalformedFormatError, "#{n} #{form}") { Manypack.to_json(bytes) }
          assert_equal map_of(twice.take(other)).bytesize, error.offset
        end
      end
    end
  end

  # Escapes make a text grow before the malformed byte is found: what is written then must not go to its old memory.
  def test_text_that_grows_before_a_malformed_byte_is_thrown_away
    [1, 10, 100, 1_000, 10_000, 300_000].product(["\0", "é", "\u{1F600}", "\u2028"]).each do |count, character|
      text = "#{character * count}\xFF"
      whole = Manypack.pack(character * count)
      ["\x91", "\x81\xA1k", "\x93\x01\x81\xA1k"].each do |before|
        [{}, { ascii_only: true }, { script_safe: true }, { pretty: true }].each do |options|
          error = assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(before.b + Manypack.pack(text), **options) }
          assert_match(/not valid UTF-8/, error.message)
          assert_raises(Manypack::MalformedFormatError) { Manypack.to_json("\x81".b + Manypack.pack(text) + "\x01", **options) }
        end
      end
      assert_equal JSON.generate(character * count), Manypack.to_json(whole)
    end
  end

  def test_text_that_is_no_utf8_is_an_error
    ["\xFF", "a\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", "x" * 40 + "\x80", "\xE6\x97"].each do |text|
      bytes = "\x92\x01".b + Manypack.pack(text.dup.force_encoding("UTF-8"))
      error = assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(bytes) }
      assert_equal ["a str is not valid UTF-8, at byte 2", "$[1]"], [error.message, error.path]
      assert_raises(Manypack::MalformedFormatError) { Manypack.to_json("\x81".b + Manypack.pack(text.dup.force_encoding("UTF-8")) + "\x01") }
    end
  end

  def test_bytes_cut_anywhere_are_truncated
    object = { "id" => 1000, "name" => "Ada é", "list" => [1.5, nil, true, -300, "x" * 40, 2**40], "m" => { "a" => {} } }
    bytes = Manypack.pack(object)
    [bytes, "\x91".b + Manypack.pack("x" * 300)].each do |whole|
      whole.bytesize.times do |size|
        expected = assert_raises(Manypack::TruncatedError) { Manypack.unpack(whole.byteslice(0, size)) }
        error = assert_raises(Manypack::TruncatedError) { Manypack.to_json(whole.byteslice(0, size)) }
        assert_equal expected.message, error.message
      end
    end
    assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(bytes + "\x01") }
    assert_raises(Manypack::MalformedFormatError) { Manypack.to_json("\x91\xC1".b) }
  end

  def test_depth_and_limits_hold
    deep = "\x91".b * 100_000 + "\x01".b
    assert_raises(Manypack::StackError) { Manypack.to_json(deep) }
    assert_equal "#{"[" * 100_000}1#{"]" * 100_000}", Manypack.to_json(deep, max_depth: 100_000)
    maps = "\x81\xA1a".b * 40_000 + "\x01".b
    assert_equal "#{'{"a":' * 40_000}1#{"}" * 40_000}", Manypack.to_json(maps, max_depth: 100_000)
    assert_raises(Manypack::StackError) { Manypack.to_json("\x91".b * 33 + "\x01", untrusted: true) }
    assert_raises(Manypack::LimitError) { to_json([1, 2, 3], max_array_size: 2) }
    assert_raises(Manypack::LimitError) { to_json([1, 2, 3], max_bytes: 3) }
    assert_raises(Manypack::LimitError) { to_json([1] * 400, max_bytes: 300) }
  end

  def test_options_that_have_no_effect_are_refused
    assert_raises(ArgumentError) { to_json(1, symbolize_keys: true) }
    assert_raises(ArgumentError) { to_json(1, prety: true) }
    assert_raises(ArgumentError) { to_json(1, bin: :utf8) }
    assert_raises(TypeError) { Manypack.to_json(nil) }
    assert_raises(TypeError) { Manypack.to_json({ "a" => 1 }) }
  end

  def test_no_notation_of_the_terminal_leaks
    object = { "$bin" => "YQ==", "$a" => { "$ext" => [1, "YQ=="] } }
    assert_equal JSON.generate(object), to_json(object)
  end

  private

  def to_json(object, **options)
    Manypack.to_json(Manypack.pack(object), **options)
  end

  # Without sign, point, exponent and zeros at either end.
  def digits(text)
    text.delete("-").sub(/e.*/, "").delete(".").sub(/\A0+/, "").sub(/0+\z/, "")
  end

  def map_of(keys)
    "\xDF".b + [keys.size].pack("N") + keys.map { |key| "#{Manypack.pack(key)}\x01".b }.join
  end
end
