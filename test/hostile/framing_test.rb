# frozen_string_literal: true

# Requirements 1 to 5: framing and arithmetic.
require "hostile/hostile"
require "support/costs"

module Hostile
  class FramingTest < Test
    include Costs

    # By head byte an object that has it and is not empty, and what it is.
    SAMPLES = {
      **(0x00..0x7f).to_h { |head| [[head], head] },
      **(0x80..0x8f).to_h { |head| [[head, *(0...head - 0x80).flat_map { |i| [i, 0xc0] }], (0...head - 0x80).to_h { |i| [i, nil] }] },
      **(0x90..0x9f).to_h { |head| [[head, *[0xc3] * (head - 0x90)], [true] * (head - 0x90)] },
      **(0xa0..0xbf).to_h { |head| [[head, *[0x61] * (head - 0xa0)], "a" * (head - 0xa0)] },
      [0xc0] => nil, [0xc2] => false, [0xc3] => true,
      [0xc4, 2, 0xff, 0] => "\xFF\0".b, [0xc5, 0, 2, 0xff, 0] => "\xFF\0".b, [0xc6, 0, 0, 0, 2, 0xff, 0] => "\xFF\0".b,
      [0xc7, 3, 5, 1, 2, 3] => Manypack::ExtensionValue.new(5, "\1\2\3"), [0xc8, 0, 3, 5, 1, 2, 3] => Manypack::ExtensionValue.new(5, "\1\2\3"),
      [0xc9, 0, 0, 0, 3, 5, 1, 2, 3] => Manypack::ExtensionValue.new(5, "\1\2\3"),
      [0xca, 0x3f, 0xc0, 0, 0] => 1.5, [0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0] => 1.5,
      [0xcc, 0xff] => 255, [0xcd, 0xff, 0xff] => 65_535, [0xce, *[0xff] * 4] => 2**32 - 1, [0xcf, *[0xff] * 8] => 2**64 - 1,
      [0xd0, 0x80] => -128, [0xd1, 0x80, 0] => -32_768, [0xd2, 0x80, 0, 0, 0] => -(2**31), [0xd3, 0x80, *[0] * 7] => -(2**63),
      **[1, 2, 4, 8, 16].each_with_index.to_h { |size, i| [[0xd4 + i, 5, *[0x61] * size], Manypack::ExtensionValue.new(5, "a" * size)] },
      [0xd9, 2, 0x61, 0x62] => "ab", [0xda, 0, 2, 0x61, 0x62] => "ab", [0xdb, 0, 0, 0, 2, 0x61, 0x62] => "ab",
      [0xdc, 0, 2, 1, 2] => [1, 2], [0xdd, 0, 0, 0, 2, 1, 2] => [1, 2],
      [0xde, 0, 1, 1, 2] => { 1 => 2 }, [0xdf, 0, 0, 0, 1, 1, 2] => { 1 => 2 },
      **(0xe0..0xff).to_h { |head| [[head], head - 256] }
    }.transform_keys { |codes| codes.pack("C*") }.freeze

    def test_01_every_format_byte_has_a_sample
      assert_equal [*0x00..0xff] - [0xc1], SAMPLES.keys.map { |sample| sample.getbyte(0) }.sort
    end

    WAYS.each do |name, decode|
      define_method("test_01_every_format_byte_cut_at_every_point_is_an_eof_error_by_#{name.tr(" ", "_")}") do
        SAMPLES.each_key do |sample|
          (0...sample.bytesize).each do |size|
            assert_raises(EOFError, "#{hex(sample)} cut to #{size}") { decode.call(sample.byteslice(0, size), { allow_unknown_ext: true }) }
          end
        end
      end
    end

    READING.each do |name, decode|
      define_method("test_01_every_format_byte_is_the_right_value_once_complete_by_#{name.tr(" ", "_")}") do
        SAMPLES.each do |sample, expected|
          actual = decode.call(sample, { allow_unknown_ext: true })
          expected.nil? ? assert_nil(actual) : assert_equal(expected, actual, hex(sample))
        end
      end
    end

    def test_01_after_the_lacking_bytes_came_the_value_is_right
      SAMPLES.each do |sample, expected|
        (1...sample.bytesize).each do |size|
          unpacker = Manypack::Unpacker.new(allow_unknown_ext: true).feed(sample.byteslice(0, size))
          assert_raises(EOFError) { unpacker.read }
          assert_equal expected, unpacker.feed(sample.byteslice(size..)).read
        end
      end
    end

    # Heads with a length field, by the width of it, with what comes behind it.
    LENGTHS = { 8 => ["\xC4", "\xD9", "\xC7"], 16 => ["\xC5", "\xDA", "\xC8", "\xDC", "\xDE"], 32 => ["\xC6", "\xDB", "\xC9", "\xDD", "\xDF"] }.freeze
    COUNTS = [1, 2, 0xff, 2**15, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1].freeze
    FIELDS = { 8 => "C", 16 => "S>", 32 => "L>" }.freeze

    def self.declared
      LENGTHS.flat_map do |width, heads|
        heads.map(&:b).product(COUNTS.select { |count| count < 2**width }).map do |head, count|
          head + [count].pack(FIELDS[width]) + (head.match?(/[\xC7-\xC9]/n) ? "\5" : "")
        end
      end
    end

    DECLARED = declared.freeze

    WAYS.each do |name, decode|
      define_method("test_02_declared_lengths_allocate_nothing_by_#{name.tr(" ", "_")}") do
        allocated = allocated_bytes { DECLARED.each { |head| assert_raises(EOFError) { decode.call(head, {}) } } }
        assert_operator allocated / DECLARED.size, :<, 20_000
      end
    end

    # The 635 bytes of each connection: map headers, or array headers, as deep as they may be, with as many objects as can be.
    BOMBS = { "map" => "\xDF\xFF\xFF\xFF\xFF\xC0", "array" => "\xDD\xFF\xFF\xFF\xFF", "map as key" => "\xDF\xFF\xFF\xFF\xFF" }.transform_values(&:b).freeze

    BOMBS.each do |what, header|
      %i[feed_each read skip].each do |method|
        define_method("test_02_a_header_bomb_of_#{what.tr(" ", "_")}_on_100_connections_stays_within_a_few_megabytes_by_#{method}") do
          bomb = header * (635 / header.bytesize)
          unpackers = []
          grown = allocated_bytes do
            unpackers = Array.new(100) { Manypack::Unpacker.new }
            unpackers.each { |unpacker| outcome { method == :feed_each ? unpacker.feed_each(bomb) { nil } : unpacker.feed(bomb).public_send(method) } }
          end
          assert_operator grown, :<, 4_000_000
          assert_operator reachable_size(unpackers), :<, 2_000_000
        end
      end
    end

    def test_02_what_is_allocated_before_a_message_is_complete_is_a_small_multiple_of_what_came
      ["\x91", "\xDD\xFF\xFF\xFF\xFF", "\x81\xC0", "\xDF\xFF\xFF\xFF\xFF\xC0"].map(&:b).each do |header|
        unpacker = Manypack::Unpacker.new(max_depth: 100_000)
        bytes = header * (99_000 / header.bytesize)
        outcome { unpacker.feed(bytes).read }
        assert_operator reachable_size(unpacker), :<, bytes.bytesize * 50
        outcome { unpacker.skip }
        assert_operator reachable_size(unpacker), :<, bytes.bytesize * 50
      end
    end

    # A count times two, or a length and one for the type, that wraps at 32 bits would be complete here.
    WRAPPING = ["\xDF\x80\0\0\0", "\xDF\x80\0\0\1\1\2", "\xDF\xFF\xFF\xFF\xFF\1", "\xC9\xFF\xFF\xFF\xFF\5", "\xC9\xFF\xFF\xFF\xFE\5ab",
                "\xDB\xFF\xFF\xFF\xFF", "\xC6\xFF\xFF\xFF\xFFabcd", "\xDD\xFF\xFF\xFF\xFF\1\2\3", "\x91\xDF\x80\0\0\0", "\x92\xDB\xFF\xFF\xFF\xFF\1",
                "\xDD\x80\0\0\0\x91\1", "\xDD\x40\0\0\0\x81\1\2\x91", "\xDF\xFF\xFF\xFF\xFF\1\x92\1\2\2", "\x91\xDF\x40\0\0\0\x91\1\2"].map(&:b).freeze

    # As strict as it gets, but for the sizes.
    HUGE_LIMITS = { untrusted: true, max_map_size: 2**32, max_array_size: 2**32, max_string_bytes: 2**32, max_ext_bytes: 2**32, max_objects: 2**62,
                    allow_unknown_ext: true }.freeze

    WAYS.each do |name, decode|
      define_method("test_03_no_size_wraps_by_#{name.tr(" ", "_")}") do
        WRAPPING.product([{ allow_unknown_ext: true }, HUGE_LIMITS]).each do |message, options|
          assert_raises(EOFError, hex(message)) { decode.call(message, options) }
        end
      end
    end

    def test_03_a_stream_is_in_step_behind_sizes_at_every_edge
      [2**15 - 1, 2**15, 2**16 - 1, 2**16].each do |size|
        [pack("s" * size), pack("b".b * size), pack([1] * size), pack((1..size).to_h { |i| [i, 1] }), pack(Manypack::ExtensionValue.new(5, "e" * size))].each do |message|
          unpacker = Manypack::Unpacker.new(allow_unknown_ext: true).feed("#{message}\x06#{message}\x07".b)
          assert_equal size, size_of(unpacker.read)
          assert_equal 6, unpacker.read
          assert_nil unpacker.skip
          assert_equal 7, unpacker.read
        end
      end
    end

    WAYS.each do |name, decode|
      define_method("test_04_0xc1_is_malformed_by_#{name.tr(" ", "_")}") do
        ["\xC1", "\x91\xC1", "\x81\xC1\1", "\x81\1\xC1"].each { |message| assert_raises(Manypack::MalformedFormatError) { decode.call(message.b, {}) } }
      end
    end

    def test_04_trailing_bytes_empty_input_and_a_lone_nil
      assert_equal 1, assert_raises(Manypack::MalformedFormatError) { Manypack.unpack("\x01\x02\x03") }.offset
      assert_equal [1, 2, 3], Manypack::Unpacker.new.feed_each("\x01\x02\x03").to_a
      assert_raises(Manypack::TruncatedError) { Manypack.unpack("") }
      assert_raises(TypeError) { Manypack.unpack(nil) }
      assert_empty Manypack::Unpacker.new.feed_each("").to_a
      assert_nil Manypack.unpack("\xC0".b)
      assert_equal [nil], Manypack::Unpacker.new.feed_each("\xC0".b).to_a
    end

    # Of the same object every encoding that is longer than needed.
    LONGER = {
      5 => %w[cc05 cd0005 ce00000005 cf0000000000000005 d005 d10005 d200000005 d30000000000000005], -1 => %w[d0ff d1ffff d2ffffffff d3ffffffffffffffff],
      "a" => %w[d90161 da000161 db0000000161], "b".b => %w[c5000162 c60000000162], [1] => %w[dc000101 dd0000000101],
      { 1 => 2 } => %w[de00010102 df000000010102], Manypack::ExtensionValue.new(5, "e") => %w[c7010565 c800010565 c9000000010565]
    }.freeze

    def test_05_longer_encodings_than_needed_are_read_and_never_written
      LONGER.each do |object, encodings|
        encodings.map { |encoding| [encoding].pack("H*") }.each do |encoding|
          READING.each_value { |decode| assert_equal object, decode.call(encoding, { allow_unknown_ext: true }) }
          assert_operator pack(object).bytesize, :<, encoding.bytesize
        end
      end
    end

    def test_05_every_integer_and_length_takes_its_shortest_form
      edges = [0, 127, 128, 255, 256, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**64 - 1, -1, -32, -33, -128, -129, -(2**15), -(2**15) - 1, -(2**31), -(2**31) - 1]
      assert_equal [1, 1, 2, 2, 3, 3, 5, 5, 9, 9, 1, 1, 2, 2, 3, 3, 5, 5, 9], edges.map { |integer| pack(integer).bytesize }
      assert_equal [1, 2, 2, 3, 3, 5], [31, 32, 255, 256, 65_535, 65_536].map { |size| pack("s" * size).bytesize - size }
      assert_equal [1, 3, 3, 5], [15, 16, 65_535, 65_536].map { |size| pack([nil] * size).bytesize - size }
    end

    private

    def size_of(object)
      object.is_a?(Manypack::ExtensionValue) ? object.payload.bytesize : object.size
    end
  end
end
