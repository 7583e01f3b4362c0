/* Numbers as decimal text. */
#ifndef MP_JSON_DECIMAL_H
#define MP_JSON_DECIMAL_H

#include "core/platform.h"

/* Room for the text of an integer of 64 bits, and of a double. Bytes after a text may be overwritten, too. */
enum { MP_INTEGER_MAX = 32, MP_DECIMAL_MAX = 48 };

static const uint64_t MP_TENS[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
    1000000000000000000, 10000000000000000000u,
};

/* The number of digits: an estimate from the number of bits, times log10(2), is right or one too low. */
MP_INLINE unsigned
mp_digits(uint64_t n)
{
    unsigned least = mp_bit_length(n | 1) * 1233 >> 12;

    return least + (n >= MP_TENS[least]) + (n == 0);
}

/*
 * Eight digits as characters, the first in the lowest byte. Divides both halves, then all pairs, then all digits at
 * once, in parts of one word.
 */
MP_INLINE uint64_t
mp_eight_digits(uint32_t n)
{
    uint64_t halves = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t hundreds = halves * 10486 >> 20 & 0x0000007f0000007f;
    uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
    uint64_t tens = pairs * 103 >> 10 & 0x000f000f000f000f;

    return (tens | (pairs - 10 * tens) << 8) | 0x3030303030303030;
}

MP_INLINE void
mp_store_characters(uint8_t *to, uint64_t characters)
{
    mp_store64(to, MP_SWAP64(characters));
}

/* Writes a number of `digits` digits, at most 16, and returns the place after it. */
MP_INLINE uint8_t *
mp_put_digits(uint8_t *to, uint64_t n, unsigned digits)
{
    if (digits <= 8) {
        mp_store_characters(to, mp_eight_digits((uint32_t)n) >> (64 - 8 * digits));
    } else {
        mp_store_characters(to, mp_eight_digits((uint32_t)(n / 100000000)) >> (128 - 8 * digits));
        mp_store_characters(to + digits - 8, mp_eight_digits((uint32_t)(n % 100000000)));
    }
    return to + digits;
}

/* mp_put_digits for any number of digits. */
MP_INLINE uint8_t *
mp_put_many_digits(uint8_t *to, uint64_t n, unsigned digits)
{
    if (MP_LIKELY(digits <= 16)) return mp_put_digits(to, n, digits);
    mp_put_digits(to, n / 10000000000000000, digits - 16);
    return mp_put_digits(to + digits - 16, n % 10000000000000000, 16);
}

MP_INLINE uint8_t *
mp_put_decimal_uint(uint8_t *to, uint64_t n)
{
    return mp_put_many_digits(to, n, mp_digits(n));
}

MP_INLINE uint8_t *
mp_put_decimal_sint(uint8_t *to, int64_t n)
{
    if (n >= 0) return mp_put_decimal_uint(to, (uint64_t)n);
    *to = '-';
    return mp_put_decimal_uint(to + 1, 0 - (uint64_t)n);
}

/*
 * Writes the shortest text that reads back as the same finite double, and of these the nearest, laid out as json does:
 * -0.5, 100.0, 1.5e-10, 1e+20. Returns the place after it. MP_DECIMAL_MAX bytes must be free.
 */
uint8_t *mp_put_double(uint8_t *to, double real);

#endif
