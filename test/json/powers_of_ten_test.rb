# frozen_string_literal: true

# The powers of ten of json/powers_of_ten.h, computed again.
require "test_helper"

class PowersOfTenTest < Minitest::Test
  HEADER = File.read(File.expand_path("../../ext/manypack/json/powers_of_ten.h", __dir__))

  def test_each_power_has_its_first_128_bits_rounded_up
    powers = HEADER.scan(/\{0x(\h{16}), 0x(\h{16})\}/).map { |high, low| "#{high}#{low}".hex }
    assert_equal 617, powers.size
    powers.each.with_index(-292) { |power, exponent| assert_equal first_bits(10r**exponent), power, exponent }
  end

  private

  def first_bits(rational)
    shift = 127 - (rational >= 1 ? rational.to_i.bit_length - 1 : -(1 / rational).ceil.pred.bit_length)
    (rational * (2r**shift)).ceil
  end
end
