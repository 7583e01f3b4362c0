# frozen_string_literal: true

# Factory#register_common: the bytes of ActiveSupport::MessagePack, and bodies that are not those of the class.
require "test_helper"
require "support/program"
require "support/costs"
require "bigdecimal"
require "date"
require "ipaddr"
require "pathname"
require "set"
require "uri"

class CommonTypesTest < Minitest::Test
  include ProgramHelper
  include Costs

  NAMES = %i[symbol bigint bigdecimal rational complex datetime date time range set uri ipaddr pathname regexp].freeze
  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_common(*NAMES) }.freeze

  # As ActiveSupport 7.2 and 8.1 write them; test/integration/active_support_test.rb asks it.
  VALUES = {
    :ready => "c7 05 00 72 65 61 64 79",
    1 << 64 => "c7 0d 01 00 00 00 00 00 00 00 00 00 00 00 00 01",
    -1 => "ff",
    BigDecimal("-1.5") => "c7 0a 02 31 38 3a 2d 30 2e 31 35 65 31",
    BigDecimal("-Infinity") => "c7 0b 02 39 3a 2d 49 6e 66 69 6e 69 74 79",
    Rational(-3, 4) => "d5 03 fd 04",
    Rational(0) => "d4 03 00",
    Complex(1, 2.5) => "c7 0a 04 01 cb 40 04 00 00 00 00 00 00",
    DateTime.new(2026, 1, 31, 12, 30, Rational(3, 2), "+2") => "c7 0c 05 ce 00 25 8d 90 0c 1e 01 01 02 01 0c",
    Date.new(2026, 1, 31) => "c7 05 06 ce 00 25 8d 90",
    Time.at(1, 500, :nsec, in: "+09:00") => "c7 07 07 01 cd 01 f4 cd 7e 90",
    (1..) => "c7 03 0b 01 c0 c2",
    ("a"..."c") => "c7 05 0b a1 61 a1 63 c3",
    Set[1, :a] => "c7 05 0c 92 01 d4 00 61",
    URI("http://example.com/?a=1") => "c7 17 0d 68 74 74 70 3a 2f 2f 65 78 61 6d 70 6c 65 2e 63 6f 6d 2f 3f 61 3d 31",
    IPAddr.new("10.0.0.0/8") => "c7 0b 0e aa 31 30 2e 30 2e 30 2e 30 2f 38",
    IPAddr.new("::1") => "d6 0e a3 3a 3a 31",
    IPAddr.new("fe80::/10") => "c7 0a 0e a9 66 65 38 30 3a 3a 2f 31 30",
    Pathname("/tmp/é") => "c7 07 0f 2f 74 6d 70 2f c3 a9"
  }.freeze

  def test_values_have_the_bytes_of_active_support
    VALUES.each { |value, expected| assert_equal expected, hex(FACTORY.dump(value)), value.inspect }
  end

  def test_values_come_back_as_they_were
    VALUES.each do |value, packed|
      actual = FACTORY.load(bytes(packed))
      assert_equal value, actual
      assert_same value.class, actual.class
    end
  end

  def test_times_keep_their_offset_and_their_nanoseconds
    time = FACTORY.load(FACTORY.dump(Time.at(1, 500, :nsec, in: "+09:00")))
    assert_equal [32_400, 500], [time.utc_offset, time.nsec]
  end

  def test_bodies_that_no_object_would_write_are_refused
    array = ->(*values) { values.map { |value| FACTORY.dump(value) }.join }
    [[Time, [1, 1_000_000_000, 0]], [Time, [1, -1, 0]], [Range, [1, 2, 3]], [Range, [1, 2, nil]]].each do |klass, values|
      type = FACTORY.registered_types.find { |row| row[:class] == klass }[:type]
      ext = Manypack.pack(Manypack::ExtensionValue.new(type, array.call(*values)))
      assert_raises(Manypack::MalformedFormatError, values.inspect) { FACTORY.load(ext) }
    end
  end

  def test_a_regexp_that_would_lose_its_timeout_is_refused
    return refute_respond_to(Regexp, :timeout) unless Regexp.respond_to?(:timeout)

    assert_raises(ArgumentError) { FACTORY.dump(Regexp.new("a", timeout: 1)) }
  end

  def test_a_regexp_matches_what_it_matched
    packed = FACTORY.dump(/É\n/i)
    assert_equal "c7 0c 10 28 3f 69 2d 6d 78 3a c3 89 5c 6e 29", hex(packed)
    assert_match FACTORY.load(packed), "é\n"
  end

  def test_a_subclass_of_a_uri_comes_back_as_what_its_scheme_says
    assert_equal [URI::HTTP, URI::MailTo], FACTORY.load(FACTORY.dump([URI("http://a"), URI("mailto:a@b")])).map(&:class)
  end

  def test_types_nest
    nested = { Set[Date.new(2026)] => [Complex(Rational(1, 2), BigDecimal("0.5")), (Date.new(2026)..), { a: 1..2 }] }
    assert_equal nested, FACTORY.load(FACTORY.dump(nested))
  end

  def test_every_value_can_be_born_shareable
    VALUES.each_value { |packed| assert Ractor.shareable?(FACTORY.load(bytes(packed), shareable: true)), packed }
  end

  def test_the_codec_of_all_types_is_shareable
    assert Ractor.shareable?(FACTORY.codec)
  end

  def test_every_ractor_can_register_and_use_types
    assert_equal(Set[Date.new(2026), 1 << 70], in_ractor do
      factory = Manypack::Factory.new
      factory.register_common(:date, :set, :bigint)
      factory.load(factory.dump(Set[Date.new(2026), 1 << 70]))
    end)
  end

  def test_only_what_is_named_is_registered
    factory = Manypack::Factory.new
    assert_nil factory.register_common(:date, :set)
    assert_equal([[6, Date], [12, Set]], factory.registered_types.map { |entry| entry.values_at(:type, :class) })
  end

  def test_integers_that_fit_are_no_ext
    assert_equal "cf ff ff ff ff ff ff ff ff", hex(FACTORY.dump(2**64 - 1))
  end

  # It would be found by its ancestor, and lose its time.
  def test_a_datetime_is_never_packed_as_a_date
    factory = Manypack::Factory.new
    factory.register_common(:date)
    error = assert_raises(ArgumentError) { factory.dump(DateTime.new(2026)) }
    assert_match(/a DateTime cannot be packed as a Date: register :datetime too/, error.message)
  end

  def test_an_object_of_a_subclass_of_datetime_is_packed_as_one_whatever_is_registered_first
    appointment = Class.new(DateTime).new(2026, 1, 31, 12)
    [%i[date datetime], %i[datetime date]].each do |names|
      factory = Manypack::Factory.new
      factory.register_common(*names)
      assert_equal DateTime.new(2026, 1, 31, 12), factory.load(factory.dump(appointment))
      assert_equal Date.new(2026), factory.load(factory.dump(Class.new(Date).new(2026)))
    end
  end

  def test_unknown_names_are_refused_before_anything_is_registered
    factory = Manypack::Factory.new
    error = assert_raises(ArgumentError) { factory.register_common(:date, :sets, "set") }
    assert_match(/\Aunknown type :sets, "set"; known types are :symbol, :bigint, /, error.message)
    assert_empty factory.registered_types
    assert_raises(ArgumentError) { factory.register_common }
    assert_raises(FrozenError) { factory.freeze.register_common(:date) }
  end

  def test_a_library_is_loaded_only_when_its_class_is_registered
    assert_program <<~'RUBY', "[false, true]"
      before = [Object.const_defined?(:DateTime)]
      Manypack::Factory.new.register_common(:datetime)
      p before << Object.const_defined?(:DateTime)
    RUBY
  end

  # Bodies of what is no value of the class, as ext type and the values in the body; of a String the bytes.
  WRONG = {
    "no BigDecimal" => [2, "1:x"], "a BigDecimal without a colon" => [2, "1"], "a BigDecimal of nothing" => [2, ""],
    "a Rational of text" => [3, ["1e9", 1]], "a Rational of nil" => [3, [1, nil]], "a Rational over zero" => [3, [1, 0]],
    "a Complex of text" => [4, ["1", 1]], "a Complex of nil" => [4, [1, nil]],
    "a DateTime of hour 99" => [5, [2_461_072, 99, 0, 0, 0, 0]], "a DateTime of text" => [5, ["1", 1, 0, 0, 0, 0]],
    "a Date of NaN" => [6, [Float::NAN]], "a Date of nil" => [6, [nil]],
    "a Time of NaN" => [7, [Float::NAN, 0, 0]], "a Time far from UTC" => [7, [1, 1, 1 << 30]],
    "a Range of two classes" => [11, ["a", 1, false]], "a Set of nil" => [12, [nil]], "a Set of a Range" => [12, [(1..)]],
    "a URI of spaces" => [13, "   "], "a URI that is no text" => [13, "\xFF"], "an IPAddr of an Integer" => [14, [1]],
    "an IPAddr of a name" => [14, ["localhost"]], "a Pathname with a NUL" => [15, "a\0"], "no Regexp" => [16, "("]
  }.freeze

  def test_bodies_of_something_else_are_malformed_and_say_where
    WRONG.each do |name, (type, body)|
      body = body.map { |value| FACTORY.dump(value) }.join if body.is_a?(Array)
      error = assert_raises(Manypack::MalformedFormatError, name) { FACTORY.load(FACTORY.dump([ext(type, body)])) }
      assert_equal 1, error.offset, name
    end
  end

  # Ruby's own errors would repeat a body of a megabyte, escaped, as six megabytes.
  LONG = { "bigdecimal" => [2, "1:#{"x" * 1_000_000}"], "uri" => [13, "<\xFF" * 500_000], "uri in UTF-8" => [13, "é" * 500_000],
           "ipaddr" => [14, [".é" * 300_000]], "pathname" => [15, "\0a" * 500_000], "regexp" => [16, "(\xFF" * 500_000],
           "wrapped regexp" => [16, "(?-mix:#{"(a" * 500_000})"], "rational" => [3, ["x" * 1_000_000, 1]],
           "complex" => [4, ["x" * 1_000_000, 1]], "range" => [11, ["x" * 1_000_000, 1, false]],
           "range of arrays" => [11, [["x" * 1_000_000], {}, false]], "set" => [12, ["x" * 1_000_000]],
           "date" => [6, ["x" * 1_000_000]], "time" => [7, ["x" * 1_000_000, 0, 0]],
           "datetime" => [5, ["x" * 1_000_000, 0, 0, 0, 0, 0]] }.freeze

  def test_an_error_quotes_some_hundred_bytes_of_a_body
    LONG.each do |name, (type, body)|
      body = body.map { |value| FACTORY.dump(value) }.join if body.is_a?(Array)
      error = assert_raises(Manypack::MalformedFormatError, name) { FACTORY.load(FACTORY.dump(ext(type, body))) }
      assert_operator error.message.bytesize, :<, 500, name
      assert_predicate error.message, :valid_encoding?, name
      assert_operator error.full_message.bytesize, :<, 10_000, "#{name}, with its cause"
      assert_match(/, at byte 0\z/, error.message)
    end
  end

  def test_a_short_error_of_ruby_is_the_cause
    error = assert_raises(Manypack::MalformedFormatError) { FACTORY.load(FACTORY.dump(ext(13, "   "))) }
    assert_kind_of URI::InvalidURIError, error.cause
  end

  def test_bodies_that_end_too_early_or_too_late_are_decode_errors
    [3, 4, 5, 6, 7, 11, 12, 14].product(["", "\x01" * 16]) do |type, body|
      error = assert_raises(StandardError) { FACTORY.load(pack(ext(type, body))) }
      assert_kind_of Manypack::DecodeError, error, type
    end
  end

  # BigDecimal._load would allocate as many digits as the body asks for.
  def test_a_small_body_costs_little
    packed = pack(ext(2, "1000000000:1"))
    assert_operator allocated_bytes { FACTORY.load(packed) }, :<, 1 << 20
  end

  def test_a_set_of_many_nans_is_refused
    packed = pack(ext(12, pack([Float::NAN] * 20_000)))
    error = assert_raises(Manypack::LimitError) { FACTORY.load(packed) }
    assert_equal "max_same_hash", error.limit.to_s
    repeated = pack(ext(12, pack([1, "a", [2]] * 1_000)))
    assert_equal Set[1, "a", [2]], FACTORY.load(repeated)
  end

  private

  def ext(type, body)
    Manypack::ExtensionValue.new(type, body)
  end
end
