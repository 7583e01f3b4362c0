# frozen_string_literal: true

# A stream that is cut into messages for Ractors: no declared length or count leads the cutter astray.
require_relative "attacks"

module Hostile
  class SplitTest < Minitest::Test
    include Attacks

    SIZES = [2**15, 2**16, (2**31) - 1, 2**31, (2**31) + 1, (2**32) - 2, (2**32) - 1].freeze
    HEADS32 = ["\xDB", "\xC6", "\xC9", "\xDD", "\xDF"].map(&:b).freeze

    def test_03_no_count_or_length_overflows_when_a_stream_is_split
      HEADS32.product(SIZES).each do |head, size|
        ["", "\x05\x05\x05"].each do |tail|
          stream = "\x01\x91\x02".b + head + [size].pack("N") + tail
          seen = []
          assert_raises(EOFError, hex(stream)) { Manypack::Parallel.each(stream, ractors: 0, allow_unknown_ext: true) { |object| seen << object } }
          assert_equal [1, [2]], seen
        end
      end
    end

    def test_03_what_is_as_long_as_it_says_is_split_right
      [2**15, 2**16].each do |size|
        messages = ["s" * size, "b".b * size, [1] * size, (0...size).to_h { |i| [i, nil] }]
        stream = messages.map { |message| Manypack.pack(message) }.join
        assert_equal messages, Manypack::Parallel.map(stream, ractors: 0) { |object| object }
      end
    end

    def test_08_the_same_limit_of_depth_holds_when_a_stream_is_split
      [129, 1_000_000].each do |levels|
        assert_raises(Manypack::StackError) { Manypack::Parallel.map("\x01".b + ("\x91".b * levels) + "\x05", ractors: 0) { |object| object } }
      end
      assert_equal 1, Manypack::Parallel.map(("\x91".b * 128) + "\x05", ractors: 0) { |object| object }.size
    end
  end
end
