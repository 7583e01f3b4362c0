# frozen_string_literal: true

# The powers of ten that json/powers_of_ten.c computes, computed again as fractions.
require "minitest/autorun"
require "open3"
require "tmpdir"

class PowersOfTenTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PROGRAM = <<~'C'
    #include "json/powers_of_ten.h"
    #include <stdio.h>

    int main(void)
    {
        mp_powers_of_ten_init();
        for (int i = 0; i <= MP_POWER_MOST - MP_POWER_LEAST; i++) {
            mp_power power = MP_POWERS_OF_TEN[i];
            printf("%016llx %016llx\n", (unsigned long long)power.high, (unsigned long long)power.low);
        }
        return 0;
    }
  C

  def powers
    Dir.mktmpdir do |folder|
      File.write("#{folder}/print.c", PROGRAM)
      output, status = Open3.capture2e("cc", "-O1", "-std=gnu99", "-I#{ROOT}", "-I#{ROOT}/ext/manypack", "-o", "#{folder}/print", "#{folder}/print.c", "#{ROOT}/ext/manypack/json/powers_of_ten.c")
      assert_predicate status, :success?, output
      Open3.capture2("#{folder}/print").first.lines.map { |line| line.split.map(&:hex) }
    end
  end

  # Reading takes 1 from the lower half of one that is rounded, to round down: that half must not be 0.
  def test_each_power_has_its_first_128_bits_rounded_up
    all = powers
    assert_equal 617, all.size
    all.each.with_index(-292) { |(high, low), exponent| assert_equal first_bits(10r**exponent), high << 64 | low, exponent }
    assert_equal [*0..27], all.each_index.select { |i| all[i].last.zero? }.map { |i| i - 292 }
  end

  private

  def first_bits(rational)
    shift = 127 - (rational >= 1 ? rational.to_i.bit_length - 1 : -(1 / rational).ceil.pred.bit_length)
    (rational * (2r**shift)).ceil
  end
end
