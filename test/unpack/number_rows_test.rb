# frozen_string_literal: true

# Numbers side by side in an Array, which go a short way: the same as anywhere else, whatever ends the row.
require "test_helper"

class NumberRowsTest < Minitest::Test
  include CorePart

  NUMBERS = [0, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**62 - 1, 2**62, 2**63, 2**64 - 1, -1, -32, -33, -128, -129, -32_768,
             -32_769, -(2**31), -(2**31) - 1, -(2**62), -(2**62) - 1, -(2**63), 0.0, -0.0, 1.5, 1e-320, -1e308, Float::INFINITY].freeze

  OTHERS = [nil, "str", "s" * 40, [], [1], {}, { "k" => 1.5 }, true].freeze

  # The value stack grows at 512.
  SIZES = [1, 2, 15, 16, 31, 32, 509, 510, 511, 512, 513, 1_022, 1_023, 1_024, 1_025].freeze

  def test_rows_of_every_size
    SIZES.each do |size|
      row = Array.new(size) { |i| NUMBERS[i % NUMBERS.size] }
      [row, [row], [nil, row, row], { "k" => row }, { row => row }].each do |object|
        assert_equal object, unpack(pack(object)), size
      end
    end
  end

  def test_what_stands_between_numbers
    OTHERS.each do |other|
      [0, 1, 20, 30].each do |i|
        row = NUMBERS.dup.insert(i, other)
        assert_equal [row, row], exercise { unpack(pack([row, row])) }
      end
    end
  end

  def test_a_row_that_comes_in_pieces
    packed = pack([NUMBERS, *NUMBERS])
    (1...packed.bytesize).each do |at|
      unpacker = Manypack::Unpacker.new.feed(packed[0, at])
      assert_raises(EOFError) { unpacker.read }
      assert_equal [NUMBERS, *NUMBERS], unpacker.feed(packed[at..]).read, at
      assert_raises(Manypack::TruncatedError) { unpack(packed[0, at]) }
    end
  end

  def test_a_nan_in_a_row
    row = [1, 2.5, Float::NAN, 3]
    [{}, { untrusted: true }, { shareable: true }].each do |options|
      back = exercise { unpack(pack([row, row]), **options) }
      assert_equal [[1, 2.5, 3]] * 2, back.each { |numbers| assert_predicate numbers[2], :nan? }.map { |numbers| numbers.values_at(0, 1, 3) }
    end
    assert_raises(Manypack::MalformedFormatError) { unpack(pack({ row => 1 }), untrusted: true) }
  end

  def test_rows_may_be_shared
    row = exercise { unpack(pack(NUMBERS), shareable: true) }
    assert Ractor.shareable?(row)
    row.each { |number| assert Ractor.shareable?(number), number }
  end

  def test_float32_in_a_row
    assert_equal [1.5, -0.25, 7, 1.5], unpack("\x94\xCA\x3F\xC0\x00\x00\xCA\xBE\x80\x00\x00\x07\xCA\x3F\xC0\x00\x00".b)
    row = "\xDC\x00\x28".b + ("\xCA\x3F\xC0\x00\x00".b * 40)
    assert_equal [1.5] * 40, unpack(row)
  end
end
