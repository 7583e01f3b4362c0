# frozen_string_literal: true

# How Manypack.pack and Manypack.unpack are called, and the constants around them.
require "test_helper"

class ApiTest < Minitest::Test
  def test_dump_and_load_are_pack_and_unpack
    assert_equal "91 01", hex(Manypack.dump([1]))
    assert_equal [1], Manypack.load("\x91\x01")
    assert_equal({ a: 1 }, Manypack.load("\x81\xA1a\x01", symbolize_keys: true))
  end

  def test_options_may_be_a_hash
    assert_equal({ a: 1 }, Manypack.unpack("\x81\xA1a\x01", { symbolize_keys: true, max_bytes: nil }))
    assert_equal({ "a" => 1 }, Manypack.unpack("\x81\xA1a\x01", nil))
    assert_equal "d6 ff 00 00 00 00", hex(Manypack.pack(Time.at(0), { timestamp: true, max_depth: nil }))
    assert_equal "d6 ff 00 00 00 00", hex(Manypack.pack(Time.at(0), nil, { timestamp: true }))
    assert_equal "01", hex(Manypack.pack(1, nil, nil))
  end

  def test_string_keys_are_no_options
    error = assert_raises(ArgumentError) { Manypack.unpack("\x81\xA1a\x01", { "symbolize_keys" => true }) }
    assert_equal 'unknown option "symbolize_keys", options are Symbols: symbolize_keys:', error.message
  end

  def test_nil_is_called_nil
    factory = Manypack::Factory.new
    [Manypack.method(:unpack), Manypack::Codec.new.method(:unpack), factory.method(:unpack), factory.pool.method(:load)].each do |unpack|
      assert_equal "expected a String or an IO, got nil", assert_raises(TypeError) { unpack.call(nil) }.message
    end
  end

  def test_wrong_numbers_of_arguments
    assert_raises(ArgumentError) { Manypack.pack }
    assert_raises(ArgumentError) { Manypack.pack(1, nil, {}, 4) }
    assert_raises(ArgumentError) { Manypack.unpack }
    assert_raises(ArgumentError) { Manypack.unpack("\x01", {}, 3) }
  end

  def test_options_that_are_no_hash_are_a_type_error
    assert_raises(TypeError) { Manypack.unpack("\x01", 5) }
    assert_raises(TypeError) { Manypack.pack(1, nil, 5) }
  end

  def test_a_hash_is_packed_and_not_taken_for_options
    assert_equal "81 a4 66 72 65 65 01", hex(Manypack.pack({ free: 1 }.transform_keys { "free" }))
    assert_equal "81 a9 74 69 6d 65 73 74 61 6d 70 c3", hex(Manypack.pack({ timestamp: true }))
  end

  def test_the_four_are_module_functions
    user = Class.new { include Manypack }.new
    assert_equal "01", hex(user.send(:pack, 1))
    assert_equal 1, user.send(:unpack, "\x01")
    assert_raises(NoMethodError) { user.pack(1) }
  end

  def test_the_version_is_one
    assert_match(/\A\d+\.\d+\.\d+/, Manypack::VERSION)
  end

  def test_the_tree_of_errors
    assert_equal StandardError, Manypack::UnpackError.superclass
    [Manypack::MalformedFormatError, Manypack::StackError, Manypack::UnexpectedTypeError, Manypack::UnknownExtTypeError,
     Manypack::LimitError].each { |error| assert_equal Manypack::UnpackError, error.superclass }
    [Manypack::UnpackError, Manypack::TruncatedError].each { |error| assert_includes error, Manypack::DecodeError }
    [Manypack::UnexpectedTypeError, Manypack::UnknownExtTypeError].each { |error| assert_includes error, Manypack::TypeError }
    assert_equal EOFError, Manypack::TruncatedError.superclass
    assert_equal StandardError, Manypack::NestingError.superclass
  end

  def test_an_extension_value_is_a_struct
    ext = Manypack::ExtensionValue.new(5, "ab")
    assert_equal [5, "ab"], ext.to_a
    assert_equal ext, Manypack::ExtensionValue.new(5, "ab")
    refute_equal ext, Manypack::ExtensionValue.new(6, "ab")
  end

  def test_timestamps_are_equal_by_their_moment
    stamp = Manypack::Timestamp.new(1, 2)
    same = Manypack::Timestamp.new(1, 2)
    assert_equal stamp, same
    assert stamp.eql?(same)
    assert_equal stamp.hash, same.hash
    assert_equal :found, { stamp => :found }[same]
    refute_equal stamp, Manypack::Timestamp.new(1, 3)
    refute_equal stamp, Manypack::Timestamp.new(2, 2)
    refute_equal stamp, Time.at(1, 2, :nsec)
    assert_equal [-1, 2**32 - 1, 2**34 - 1],
                 [Manypack::Timestamp::TYPE, Manypack::Timestamp::TIMESTAMP32_MAX_SEC, Manypack::Timestamp::TIMESTAMP64_MAX_SEC]
  end

  def test_a_timestamp_that_is_malformed_says_why
    assert_unpack_error Manypack::MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got 5, at byte 1",
                        "91 c7 05 ff 00 00 00 00 00", timestamp: true
    assert_unpack_error Manypack::MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got 0, at byte 0",
                        "c7 00 ff", timestamp: true
    assert_unpack_error Manypack::MalformedFormatError, "a timestamp must have at most 999999999 nanoseconds, at byte 0",
                        "d7 ff ee 6b 28 00 00 00 00 00", timestamp: true
    assert_unpack_error Manypack::MalformedFormatError, "a timestamp must have at most 999999999 nanoseconds, at byte 0",
                        "c7 0c ff 3b 9a ca 00 00 00 00 00 00 00 00 00", timestamp: true
  end

  def test_times_at_the_edges_of_int64
    [-(2**63), 2**63 - 1].each do |sec|
      packed = Manypack.pack(Manypack::Timestamp.new(sec, 1), timestamp: true)
      assert_equal Time.at(sec, 1, :nsec), Manypack.unpack(packed, timestamp: true)
    end
  end
end
