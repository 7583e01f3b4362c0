# frozen_string_literal: true

# The powers of ten of json/powers_of_ten.c, computed again as fractions.
require "test_helper"

class PowersOfTenTest < Minitest::Test
  TABLE = File.read(File.expand_path("../../ext/manypack/json/powers_of_ten.c", __dir__))

  def test_each_power_has_its_first_128_bits_rounded_up
    powers = TABLE.scan(/\{0x(\h{16}), 0x(\h{16})\}/).map { |high, low| "#{high}#{low}".hex }
    assert_equal 617, powers.size
    powers.each.with_index(-292) { |power, exponent| assert_equal first_bits(10r**exponent), power, exponent }
  end

  # Reading takes 1 from the lower half to round down.
  def test_no_power_that_is_rounded_ends_with_64_zeros
    lowers = TABLE.scan(/, 0x(\h{16})\}/).flatten.map(&:hex)
    assert_equal [*0..27], lowers.each_index.select { |i| lowers[i].zero? }.map { |i| i - 292 }
  end

  private

  def first_bits(rational)
    shift = 127 - (rational >= 1 ? rational.to_i.bit_length - 1 : -(1 / rational).ceil.pred.bit_length)
    (rational * (2r**shift)).ceil
  end
end
