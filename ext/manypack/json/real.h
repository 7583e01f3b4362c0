/*
 * Reads decimal numbers as doubles: always the nearest, and of two that are equally near the even one.
 *
 * Most are read by the algorithm of Eisel and Lemire: Daniel Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51 (8), 2021, arXiv:2101.11408. It multiplies the digits by the first 128 bits of a
 * power of ten, and notices when these are too few. Then, and for more than 19 digits, the C library's strtod decides.
 */
#ifndef MP_REAL_H
#define MP_REAL_H

#include "json/powers_of_ten.h"

/* A decimal number: digits without leading zeros, times 10^exponent. */
typedef struct {
    const uint8_t *from, *end; /* the text of the digits, with at most one point and no exponent */
    uint64_t digits;           /* the value of the digits, if there are at most 19 */
    size_t count;              /* how many digits there are */
    int64_t exponent;
} mp_decimal_text;

/* The double nearest to the number. HUGE_VAL if that is above all doubles. */
double mp_real(const mp_decimal_text *text);

enum { MP_MANTISSA_BITS = 52, MP_DOUBLE_BIAS = 1023, MP_DOUBLE_INFINITE = 0x7ff };

/*
 * Multiplies digits, whose highest bit is set, by 10^exponent; keeps the first 128 bits. False if they may be too few.
 * The algorithm needs powers rounded down, except 10^-27 to 10^-1, but the table rounds all of them up: hence low - 1.
 */
MP_INLINE bool
mp_real_scaled(uint64_t digits, int64_t exponent, uint64_t *high, uint64_t *low)
{
    const mp_power *power = &MP_POWERS_OF_TEN[exponent - MP_POWER_LEAST];
    const uint64_t spare = UINT64_MAX >> (MP_MANTISSA_BITS + 3);

    *high = mp_multiply(digits, power->high, low);
    if (MP_UNLIKELY((*high & spare) == spare)) {
        bool enough = exponent >= -27 && exponent <= 55;
        uint64_t ignored, more = mp_multiply(digits, enough ? power->low : power->low - 1, &ignored);

        *low += more;
        *high += more > *low;
        return *low != UINT64_MAX || enough;
    }
    return true;
}

/* Sets *real to the double nearest to digits * 10^exponent, digits not 0. False if only mp_real can tell. */
MP_INLINE bool
mp_real_of_digits(uint64_t digits, int64_t exponent, double *real)
{
    unsigned zeros = mp_zeros_above(digits), shift;
    uint64_t high, low, mantissa;
    int64_t power;

    if (exponent < MP_POWER_LEAST || exponent > MP_POWER_MOST) return false;
    if (!mp_real_scaled(digits << zeros, exponent, &high, &low)) return false;
    shift = (unsigned)(high >> 63) + 64 - MP_MANTISSA_BITS - 3;
    mantissa = high >> shift;
    power = ((217706 * exponent) >> 16) + 64 + (int64_t)(high >> 63) - zeros + MP_DOUBLE_BIAS - 1;
    if (power <= 0) return false;
    if (MP_UNLIKELY(low <= 1) && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << shift == high) {
        mantissa--;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1; /* its highest bit adds 1 to the exponent: hence power - 1 */
    mantissa += (uint64_t)(power - 1) << MP_MANTISSA_BITS;
    if (mantissa >= (uint64_t)MP_DOUBLE_INFINITE << MP_MANTISSA_BITS) return false;
    *real = mp_double_of_bits(mantissa);
    return true;
}

#endif
