# frozen_string_literal: true

# What comes with Manypack for ext types: Bigint, Time, Timestamp, Symbol.
require "test_helper"
require "yaml"

class BundledTypesTest < Minitest::Test
  # What the msgpack gem writes: a byte of sign, then chunks, the least significant first.
  BIGINTS = {
    0 => "00", 1 => "00 00 00 00 01", -1 => "01 00 00 00 01", 2**32 - 1 => "00 ff ff ff ff", 2**32 => "00 00 00 00 00 00 00 00 01",
    2**64 => "00 00 00 00 00 00 00 00 00 00 00 00 01", -(2**64) - 5 => "01 00 00 00 05 00 00 00 00 00 00 00 01"
  }.freeze

  def test_bigints_have_a_byte_of_sign_and_chunks_of_32_bits
    BIGINTS.each do |integer, expected|
      body = Manypack::Bigint.to_msgpack_ext(integer)
      assert_equal expected, hex(body)
      assert_equal Encoding::BINARY, body.encoding
      assert_equal integer, Manypack::Bigint.from_msgpack_ext(body)
    end
    assert_equal [32, "L>*", "CL>*"], [Manypack::Bigint::CHUNK_BITLENGTH, Manypack::Bigint::CHUNK_FORMAT, Manypack::Bigint::FORMAT]
  end

  def test_bigints_of_every_length_round_trip
    (0..200).each do |bits|
      [2**bits, -(2**bits), 2**bits - 1, 3**bits].each do |integer|
        assert_equal integer, Manypack::Bigint.from_msgpack_ext(Manypack::Bigint.to_msgpack_ext(integer))
      end
    end
  end

  def test_a_huge_bigint_takes_moments
    integer = 7**500_000
    assert_equal integer, Manypack::Bigint.from_msgpack_ext(Manypack::Bigint.to_msgpack_ext(integer))
  end

  def test_bodies_of_no_bigint_are_malformed
    ["", "\0\0", "\0\0\0\0", "\0\0\0\0\0\0"].each do |body|
      assert_raises(Manypack::MalformedFormatError) { Manypack::Bigint.from_msgpack_ext(body) }
    end
  end

  TIMESTAMPS = {
    [0, 0] => "00 00 00 00", [2**32 - 1, 0] => "ff ff ff ff", [1, 1] => "00 00 00 04 00 00 00 01",
    [2**34 - 1, 999_999_999] => "ee 6b 27 ff ff ff ff ff", [2**34, 0] => "00 00 00 00 00 00 00 04 00 00 00 00",
    [-1, 5] => "00 00 00 05 ff ff ff ff ff ff ff ff", [2**63 - 1, 0] => "00 00 00 00 7f ff ff ff ff ff ff ff",
    [-(2**63), 999_999_999] => "3b 9a c9 ff 80 00 00 00 00 00 00 00"
  }.freeze

  def test_a_timestamp_takes_the_shortest_of_its_layouts
    TIMESTAMPS.each do |(sec, nsec), expected|
      assert_equal expected, hex(Manypack::Timestamp.to_msgpack_ext(sec, nsec))
      assert_equal expected, hex(Manypack::Timestamp.new(sec, nsec).to_msgpack_ext)
      assert_equal Manypack::Timestamp.new(sec, nsec), Manypack::Timestamp.from_msgpack_ext(bytes(expected))
    end
  end

  def test_a_timestamp_outside_the_format_is_a_range_error
    [[2**63, 0], [-(2**63) - 1, 0], [0, -1], [0, 1_000_000_000]].each do |sec, nsec|
      assert_raises(RangeError) { Manypack::Timestamp.to_msgpack_ext(sec, nsec) }
      assert_raises(RangeError) { Manypack::Timestamp.new(sec, nsec).to_msgpack_ext }
    end
  end

  def test_seconds_and_nanoseconds_that_are_no_integers_are_a_type_error_that_names_them
    [["5", 0, "seconds", "String"], [0, nil, "nanoseconds", "NilClass"]].each do |sec, nsec, what, found|
      message = "the #{what} of a timestamp must be an Integer, got #{found}"
      assert_equal message, assert_raises(TypeError) { Manypack::Timestamp.to_msgpack_ext(sec, nsec) }.message
      assert_equal message, assert_raises(TypeError) { Manypack::Timestamp.new(sec, nsec) }.message
    end
    never_made = Manypack::Timestamp.allocate
    error = assert_raises(TypeError) { Manypack.pack([never_made], timestamp: true) }
    assert_equal "the seconds of a timestamp must be an Integer, got NilClass, at $[0]", error.message
    assert_equal "\0\0\0\x05", Manypack::Timestamp.to_msgpack_ext(5.9, 0.0)
  end

  def test_a_timestamp_is_a_value
    stamps = [[5, 0], [4, 999_999_999], [-1, 1], [2**62, 7], [-(2**63), 0]].map { |pair| Manypack::Timestamp.new(*pair) }
    assert_equal [-(2**63), -1, 4, 5, 2**62], stamps.sort.map(&:sec)
    assert_operator stamps[1], :<, stamps[0]
    assert stamps[0].between?(stamps[1], stamps[3])
    assert_nil stamps[0] <=> 5
    assert_raises(ArgumentError) { stamps[0] < Time.now }
    stamps.each do |stamp|
      assert Ractor.shareable?(stamp)
      [stamp.dup, stamp.clone].each { |copy| assert_same stamp, copy }
      assert_raises(ArgumentError) { stamp.clone(freeze: false) }
      [Marshal.load(Marshal.dump(stamp)), Psych.unsafe_load(stamp.to_yaml)].each do |copy|
        assert_equal [stamp, true, stamp.hash], [copy, copy.frozen?, copy.hash]
      end
    end
  end

  def test_a_timestamp_of_a_fraction_is_the_moment_that_time_at_says
    like_an_integer = Class.new { def to_int = 5 }.new
    [[5.9, 0.0], [1.9, 0], [-1.5, 0], [Rational(1, 3), 1], [1, 1.5], [5.0, 7], [Rational(1, 4), 3], [0.5, 999_999_999]].each do |pair|
      time = Time.at(*pair, :nsec)
      assert_equal [time.to_i, time.nsec], Manypack::Timestamp.new(*pair).then { |stamp| [stamp.sec, stamp.nsec] }, pair.inspect
    end
    assert_equal Manypack::Timestamp.new(5, 0), Manypack::Timestamp.new(like_an_integer, 0)
    [Float::INFINITY, Float::NAN].each { |sec| assert_raises(FloatDomainError) { Manypack::Timestamp.new(sec, 0) } }
    assert_raises(RangeError) { Manypack::Timestamp.new(1.5, 10**9) }
    last = (2**63) - Rational(1, 10)
    assert_equal [(2**63) - 1, 900_000_000], Manypack::Timestamp.new(last, 0).then { |stamp| [stamp.sec, stamp.nsec] }
    assert_raises(RangeError) { Manypack::Timestamp.new(last, 999_999_999) }
  end

  def test_a_timestamp_is_a_time_and_now
    time = Time.at(1_700_000_000, 7, :nanosecond)
    assert_equal time, Manypack::Timestamp.new(1_700_000_000, 7).to_time
    before, now, after = Time.now, Manypack::Timestamp.now.to_time, Time.now
    assert now.between?(before, after), [before, now, after].inspect
  end

  def test_a_body_of_no_timestamp_is_malformed
    ["", "\0" * 3, "\0" * 5, "\0" * 16, "\xFF" * 8, ("\xFF".b * 4) + ("\0" * 8)].each do |body|
      assert_raises(Manypack::MalformedFormatError) { Manypack::Timestamp.from_msgpack_ext(body.b) }
    end
  end

  def test_timestamp_as_a_type_of_a_factory
    factory = Manypack::Factory.new
    factory.register_type(Manypack::Timestamp::TYPE, Manypack::Timestamp)
    stamp = Manypack::Timestamp.new(2**40, 7)
    assert_equal pack(stamp, timestamp: true), factory.dump(stamp)
    assert_equal stamp, factory.load(factory.dump(stamp))
  end

  def test_time_as_a_type_of_a_factory
    factory = Manypack::Factory.new
    factory.register_type(-1, Time, packer: Manypack::Time::Packer, unpacker: Manypack::Time::Unpacker)
    [Time.at(0), Time.at(1, 5, :nsec), Time.at(-1), Time.at(2**40), Time.utc(2026), Time.new(2026, 1, 1, 0, 0, 0, "+09:00")].each do |time|
      assert_equal pack(time, timestamp: true), factory.dump(time)
      assert_equal time, factory.load(factory.dump(time))
      assert_equal time.nsec, factory.load(factory.dump(time)).nsec
      assert_equal Time.at(0).utc_offset, factory.load(factory.dump(Time.at(0))).utc_offset
    end
    assert_raises(RangeError) { factory.dump(Time.at(2**70)) }
    assert Manypack::Time::TIME_AT_3_AVAILABLE
    assert [Manypack::Time::Packer, Manypack::Time::Unpacker].all? { |handler| Ractor.shareable?(handler) }
  end

  def test_time_under_an_id_of_ones_own
    factory = Manypack::Factory.new
    factory.register_type(0x11, Time, packer: Manypack::Time::Packer, unpacker: Manypack::Time::Unpacker)
    assert_equal "d6 11 00 00 00 05", hex(factory.dump(Time.at(5)))
    assert_equal Time.at(5), factory.load(factory.dump(Time.at(5)))
  end

  def test_a_registered_type_goes_before_the_timestamp_option
    factory = Manypack::Factory.new
    factory.register_type(5, Time, packer: ->(_) { "t" })
    factory.register_type(-1, Time, unpacker: ->(_) { :mine })
    assert_equal "d4 05 74", hex(factory.dump(Time.at(0), timestamp: true))
    assert_equal :mine, factory.load("\xD6\xFF\0\0\0\0".b, timestamp: true)
  end

  def test_the_ext_methods_of_symbol
    assert_equal "name", :name.to_msgpack_ext
    assert_equal :é, Symbol.from_msgpack_ext("é".b)
    binary = Symbol.from_msgpack_ext("\xFF".b)
    assert_equal [Encoding::BINARY, [0xff]], [binary.encoding, binary.name.bytes]
  end
end
