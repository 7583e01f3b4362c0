# frozen_string_literal: true

# JSON straight from packed bytes: whatever the bytes are, and with the collector at work.
require "test_helper"
require "json"
require "support/terminal_classes"

class JSONTextTest < Minitest::Test
  include CorePart

  JSONText = Manypack.const_get(:JSONText)
  VALUES = [1.5, -0.0, 1e300, Float::INFINITY, "é\u0001\"\\", "\xff", "b" * 50, ("c" * 40).b, [1, [2, {}]], {"a" => {"b" => []}, nil => 1, [2] => 3},
            2**64 - 1, -(2**63), nil, true, false, Manypack::ExtensionValue.new(-5, "x"), Manypack::Timestamp.new(-1, 10),
            Manypack::Timestamp.new(951_782_400, 0), Manypack::Timestamp.new(253_402_300_799, 999_999_999)].freeze
  BYTES = VALUES.map { |value| Manypack.pack(value, timestamp: true) }.join.freeze

  def test_each_object_becomes_a_line
    text = generate(BYTES)
    assert_equal [Encoding::UTF_8, true], [text.encoding, text.valid_encoding?]
    assert_equal VALUES.size, text.lines.size
    pretty = generate(BYTES, pretty: true)
    assert_equal(text.lines.map { |line| JSON.parse(line) }, pretty.split(/\n(?=\S)(?![\]}])/).map { |part| JSON.parse(part) })
  end

  def test_dates_are_those_of_the_calendar
    [-62_135_596_800, -1, 0, 68_169_600, 951_782_399, 951_868_800, 4_107_542_399, 253_402_300_799].each do |sec|
      said = JSON.parse(generate(Manypack.pack(Manypack::Timestamp.new(sec, 0), timestamp: true))).fetch("$timestamp")
      assert_equal Time.at(sec).utc.strftime("%Y-%m-%dT%H:%M:%SZ"), said
    end
  end

  def test_a_part_of_a_string
    assert_equal "2\n", exercise { JSONText.generate("\x01\x02\x03", 1, 1, false, false) }
    [[4, 0], [0, 4], [3, 1], [2**62, 2**62]].each do |start, size|
      assert_raises(RangeError) { JSONText.generate("\x01\x02\x03", start, size, false, false) }
    end
  end

  def test_bytes_that_end_anywhere_or_are_no_message_raise
    message = Manypack.pack(VALUES, timestamp: true)
    (1...message.bytesize).step(FEW_CASES ? 11 : 1) do |size|
      assert_raises(Manypack::TruncatedError) { generate(message.byteslice(0, size)) }
    end
    error = assert_raises(Manypack::MalformedFormatError) { generate("\x01\x81\xa1a\xc1") }
    assert_equal 4, error.offset
    assert_raises(Manypack::StackError) { generate("\x91".b * 100_000) }
    assert_raises(Manypack::StackError) { generate("\x81".b + "\x91".b * 100_000) }
  end

  NAN = "\xCB\x7F\xF8\0\0\0\0\0\0".b
  MAP = "\x81\xA1a\x01".b
  PACKED = "\x94".b + MAP * 4
  # Keys that hold maps: a bin, str and ext of packed maps, an array and a map.
  HOLDERS = [Manypack.pack(PACKED), Manypack.pack(PACKED.dup.force_encoding("UTF-8")), "\xC7\x11\x05".b + PACKED, PACKED, "\x81".b + PACKED + MAP].freeze
  # Pairs whose keys are alike in JSON.
  ALIKE = [(NAN + "\x01".b) * 2, "\xA1a\x01\xC4\x01a\x02".b, "\x01\x01\xA11\x02".b].freeze

  # Which maps have keys that are alike is found in a walk before the one that writes: both have to see the same maps.
  def test_a_map_is_written_as_it_is_alone_whatever_holds_maps_before_it
    HOLDERS.product(ALIKE, ["\x01".b, Manypack.pack(PACKED)], [false, true]) do |holder, pairs, value, opening|
      map = "\x83".b + pairs + holder + value
      array = "\x93".b + map + MAP + "\x82".b + ALIKE[0]
      assert_equal "[#{[map, MAP, "\x82".b + ALIKE[0]].map { |one| generate(one, opening: opening).chomp }.join(",")}]\n", generate(array, opening: opening)
    end
  end

  private

  def generate(bytes, pretty: false, opening: false)
    exercise { JSONText.generate(bytes, 0, bytes.bytesize, pretty, false, false, opening) }
  end
end
