/*
 * Most numbers are read by the algorithm of Eisel and Lemire: Daniel Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51 (8), 2021, arXiv:2101.11408. It multiplies the digits by the first 128 bits of a
 * power of ten, and notices when these are too few. Then, and for more than 19 digits, the C library's strtod decides.
 */
#include "json/real.h"

#include "json/powers_of_ten.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the C library --------------------------------------------------------------------------------- */

/* More digits than are needed to tell on which side of the midpoint between two doubles a number is. */
enum { DIGITS_MAX = 800 };

/*
 * strtod gets no point, because it expects the locale's. If there are more digits than matter, the last one kept tells
 * whether any of the rest is not 0.
 */
static double
real_of_library(const mp_decimal_text *text)
{
    char digits[DIGITS_MAX + 32];
    size_t n = 0, left = text->count;
    const uint8_t *p = text->from;
    int64_t exponent = text->exponent;

    while (*p == '0' || *p == '.') p++;
    for (; left && n < DIGITS_MAX; p++) {
        if (*p == '.') continue;
        digits[n++] = (char)*p;
        left--;
    }
    exponent += (int64_t)left;
    for (; left && p < text->end; p++) {
        if (*p == '0' || *p == '.') continue;
        digits[n - 1] = (char)(digits[n - 1] == '0' ? '1' : digits[n - 1]);
        break;
    }
    if (exponent > 400 || exponent < -2000) return exponent > 0 ? HUGE_VAL : 0;
    snprintf(digits + n, sizeof(digits) - n, "e%d", (int)exponent);
    return strtod(digits, NULL);
}

/* --- Eisel and Lemire ------------------------------------------------------------------------------ */

enum { MANTISSA_BITS = 52, INFINITE = 0x7ff, BIAS = 1023 };

/*
 * digits, of which the highest bit is set, times 10^exponent: its first 128 bits. False if they may be too few. The
 * algorithm needs powers that are rounded down, only those from 10^-27 to 10^-1 are rounded up.
 */
MP_INLINE bool
scaled(uint64_t digits, int64_t exponent, uint64_t *high, uint64_t *low)
{
    const mp_power *power = &MP_POWERS_OF_TEN[exponent - MP_POWER_LEAST];
    const uint64_t spare = UINT64_MAX >> (MANTISSA_BITS + 3);

    *high = mp_multiply(digits, power->high, low);
    if ((*high & spare) == spare) {
        bool enough = exponent >= -27 && exponent <= 55;
        uint64_t ignored, more = mp_multiply(digits, enough ? power->low : power->low - 1, &ignored);

        *low += more;
        *high += more > *low;
        return *low != UINT64_MAX || enough;
    }
    return true;
}

bool
mp_real_of_digits(uint64_t digits, int64_t exponent, double *real)
{
    unsigned zeros = mp_zeros_above(digits), shift;
    uint64_t high, low, mantissa;
    int64_t power;

    if (exponent < MP_POWER_LEAST || exponent > MP_POWER_MOST) return false;
    if (!scaled(digits << zeros, exponent, &high, &low)) return false;
    shift = (unsigned)(high >> 63) + 64 - MANTISSA_BITS - 3;
    mantissa = high >> shift;
    power = ((217706 * exponent) >> 16) + 64 + (int64_t)(high >> 63) - zeros + BIAS - 1;
    if (power <= 0) return false;
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << shift == high) mantissa--;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (MANTISSA_BITS + 1)) {
        mantissa >>= 1;
        power++;
    }
    if (power >= INFINITE) return false;
    *real = mp_double_of_bits((uint64_t)power << MANTISSA_BITS | (mantissa & (((uint64_t)1 << MANTISSA_BITS) - 1)));
    return true;
}

double
mp_real(const mp_decimal_text *text)
{
    double real;

    if (!text->count) return 0;
    if (text->count <= 19 && mp_real_of_digits(text->digits, text->exponent, &real)) return real;
    return real_of_library(text);
}
