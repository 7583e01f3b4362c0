/*
 * Shortest decimals of doubles, by the algorithm of Raffaello Giulietti, "The Schubfach way to render doubles" (2020).
 * It takes three multiplications by a 128-bit power of ten and no loop, and is right for every double. Grisu, which
 * json uses, writes a digit too many for one double in 200.
 */
#include "json/decimal.h"

#include "json/powers_of_ten.h"

/* digits * 10^exponent */
typedef struct {
    uint64_t digits;
    int exponent;
} decimal;

enum { MANTISSA_BITS = 52, BIAS = 1075, EXPONENT_MASK = 0x7ff };

/* The logarithms, rounded down, for all exponents of doubles; shifts of negative numbers are arithmetic everywhere. */
static int
log10_of_power_of_2(int e)
{
    return (e * 1262611) >> 22;
}

static int
log10_of_three_quarters_of_power_of_2(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

static int
log2_of_power_of_10(int e)
{
    return (e * 1741647) >> 19;
}

/* A number times a power of ten, without the lowest 128 bits. Sets the last bit if these are more than rounding. */
static uint64_t
product_rounded_to_odd(mp_power power, uint64_t n)
{
    uint64_t ignored, low, below = mp_multiply(power.low, n, &ignored), high = mp_multiply(power.high, n, &low);

    low += below;
    high += low < below;
    return high | (low > 1);
}

/* The shortest decimal in the interval that rounds to mantissa * 2^exponent, and of these the nearest. */
static decimal
shortest(uint64_t mantissa, int exponent, bool lower_is_closer)
{
    int k = lower_is_closer ? log10_of_three_quarters_of_power_of_2(exponent) : log10_of_power_of_2(exponent);
    int h = exponent + log2_of_power_of_10(-k) + 1;
    mp_power power = MP_POWERS_OF_TEN[-k - MP_POWER_LEAST];
    uint64_t odd = mantissa & 1, four = 4 * mantissa; /* if the mantissa is even, its interval includes both ends */
    uint64_t lower = product_rounded_to_odd(power, (four - 2 + lower_is_closer) << h) + odd;
    uint64_t value = product_rounded_to_odd(power, four << h);
    uint64_t upper = product_rounded_to_odd(power, (four + 2) << h) - odd;
    uint64_t s = value / 4, tens = s / 10;
    bool under, over;

    if (tens) { /* one digit fewer */
        under = lower <= 40 * tens;
        over = 40 * tens + 40 <= upper;
        if (under != over) return (decimal){tens + over, k + 1};
    }
    under = lower <= 4 * s;
    over = 4 * s + 4 <= upper;
    if (under == over) over = value > 4 * s + 2 || (value == 4 * s + 2 && s & 1);
    return (decimal){s + over, k};
}

static decimal
decimal_of(uint64_t bits)
{
    uint64_t fraction = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    int exponent = (int)(bits >> MANTISSA_BITS & EXPONENT_MASK);
    uint64_t mantissa = exponent ? fraction | UINT64_C(1) << MANTISSA_BITS : fraction;
    int places = BIAS - exponent;

    if (places >= 0 && places <= MANTISSA_BITS && !(mantissa & ((UINT64_C(1) << places) - 1))) {
        return (decimal){mantissa >> places, 0};
    }
    return shortest(mantissa, exponent ? -places : 1 - BIAS, !fraction && exponent > 1);
}

/* Removes as many zeros as a power of ten has, again and again. The power is a constant: no division is left. */
MP_INLINE decimal
divided(decimal d, uint32_t power, int zeros)
{
    while (d.digits % power == 0) {
        d.digits /= power;
        d.exponent += zeros;
    }
    return d;
}

static decimal
without_zeros(decimal d)
{
    if (d.digits % 10) return d;
    return divided(divided(divided(divided(d, 100000000, 8), 10000, 4), 100, 2), 10, 1);
}

/*
 * Writes a number above 1 that has a fraction. Its shortest decimal has the same whole part: if an integer lay
 * between them, the decimal would be nearer to that integer, which is a double, too.
 */
static uint8_t *
put_mixed(uint8_t *to, decimal d, double real)
{
    uint64_t whole = (uint64_t)real;
    unsigned places = (unsigned)-d.exponent;

    to = mp_put_decimal_uint(to, whole);
    *to = '.';
    return mp_put_many_digits(to + 1, d.digits - whole * MP_TENS[places], places);
}

/* Writes n digits with some zeros between them and the point. */
static uint8_t *
put_fraction(uint8_t *to, uint64_t digits, unsigned n, unsigned zeros)
{
    memcpy(to, "0.00000000000", 13);
    return mp_put_many_digits(to + 2 + zeros, digits, n);
}

static uint8_t *
put_whole(uint8_t *to, uint64_t digits, unsigned n, unsigned zeros)
{
    to = mp_put_many_digits(to, digits, n);
    memset(to, '0', 16);
    memcpy(to + zeros, ".0", 2);
    return to + zeros + 2;
}

static uint8_t *
put_with_exponent(uint8_t *to, uint64_t digits, unsigned n, int exponent)
{
    uint8_t *end = mp_put_many_digits(to + 1, digits, n);

    to[0] = to[1];
    to[1] = '.';
    to = n == 1 ? end - 1 : end;
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    return mp_put_decimal_uint(to, (uint64_t)(exponent < 0 ? -exponent : exponent));
}

uint8_t *
mp_put_double(uint8_t *to, double real)
{
    uint64_t bits = mp_bits_of_double(real);
    decimal d;
    unsigned n;
    int first; /* the power of ten of the first digit */

    *to = '-';
    to += bits >> 63;
    if (!(bits << 1)) return (uint8_t *)memcpy(to, "0.0", 3) + 3;
    d = without_zeros(decimal_of(bits));
    if (real < 0) real = -real;
    if (d.exponent < 0 && real >= 1) return put_mixed(to, d, real);
    n = mp_digits(d.digits);
    first = d.exponent + (int)n - 1;
    if (d.exponent >= 0) {
        return first < 15 ? put_whole(to, d.digits, n, (unsigned)d.exponent)
                          : put_with_exponent(to, d.digits, n, first);
    }
    if (d.exponent <= -7 && first <= -10) return put_with_exponent(to, d.digits, n, first);
    return put_fraction(to, d.digits, n, (unsigned)(-first - 1));
}
