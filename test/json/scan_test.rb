# frozen_string_literal: true

# What looks at 16 bytes at once finds what plain C finds, and each Float is the one that strtod reads.
require "minitest/autorun"
require "open3"
require "tmpdir"

class ScanTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PROGRAM = <<~'C'
    /* Compares the two ways of each function of scan.h, at every offset and length, and real.c with strtod. */
    #include "json/real.h"
    #include "json/scan.h"
    #include <stdio.h>
    #include <stdlib.h>

    static unsigned long long seed = 88172645463325252ull;
    static unsigned long long next(void) { seed ^= seed << 13; seed ^= seed >> 7; return seed ^= seed << 17; }

    static int scans(const char *alphabet, size_t kinds)
    {
        unsigned char text[80];
        for (int round = 0; round < 3000; round++) {
            for (size_t i = 0; i < sizeof(text); i++) text[i] = next() % 24 ? 'a' : (unsigned char)alphabet[next() % kinds];
            if (round % 2) for (size_t i = 0; i < sizeof(text); i++) text[i] = next() % 24 ? ' ' : text[i];
            for (size_t from = 0; from < 40; from++) {
                uint64_t one = 0, other = 0;
                const unsigned char *end = text + from + next() % (sizeof(text) - from + 1);
                if (mp_scan_text(text + from, end, &one) != mp_scan_plain_text(text + from, end, &other)) return 1;
                if (!one != !other) return 2;
                if (mp_scan_space(text + from, end) != mp_scan_plain_space(text + from, end)) return 3;
            }
        }
        return 0;
    }

    static int reals(void)
    {
        char text[64];
        for (int round = 0; round < 200000; round++) {
            uint64_t digits = next() >> next() % 64;
            int exponent = (int)(next() % 700) - 350;
            double real, library;
            digits = digits > 9999999999999999999ull ? digits / 10 : digits;
            snprintf(text, sizeof(text), "%llue%d", (unsigned long long)digits, exponent);
            library = strtod(text, NULL);
            if (digits && mp_real_of_digits(digits, exponent, &real) && real != library) return puts(text), 4;
        }
        return 0;
    }

    int main(void)
    {
        static const char alphabet[] = "\"\\\x1f\0\n\r\t \x80\xff\x7f!#[]";
        int wrong;
        mp_powers_of_ten_init();
        wrong = scans(alphabet, sizeof(alphabet) - 1);
        return wrong ? wrong : reals();
    }
  C

  def test_both_ways_agree
    Dir.mktmpdir do |folder|
      File.write("#{folder}/scan.c", PROGRAM)
      ["", "-DMP_PLAIN_C"].each do |flag|
        output, status = Open3.capture2e("cc", "-O1", "-std=gnu99", *flag.split, "-I#{ROOT}", "-I#{ROOT}/ext/manypack", "-o", "#{folder}/scan", "#{folder}/scan.c",
                                         *%w[real powers_of_ten].map { |name| "#{ROOT}/ext/manypack/json/#{name}.c" }, "-lm")
        assert_predicate status, :success?, output
        output, status = Open3.capture2e("#{folder}/scan")
        assert_equal ["", 0], [output, status.exitstatus]
      end
    end
  end
end
