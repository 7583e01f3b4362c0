/*
 * The shortest decimal text of a double, for those that people write: from a thousandth up to 15 digits before the
 * point. All others are left to the caller, and so is everything if the compiler has no integers of 128 bits.
 */
#ifndef MP_JSON_DECIMAL_H
#define MP_JSON_DECIMAL_H

#include "core/platform.h"

enum { MP_DECIMAL_MAX = 32 }; /* bytes of a text, at most */

/* A double times 10^places, which makes 17 digits before the point, as an exact fraction: scaled / 2^shift. */
typedef struct {
    mp_uint128 scaled, gap; /* what is nearer than half of the gap reads back as the same double */
    unsigned shift;
    bool edge;              /* the double is a power of two: doubles below it are nearer than those above */
} mp_decimal_fraction;

/*
 * Sets *digits to the nearest multiple of a unit. Returns 1 if it reads back as the double, 0 if not, and -1 if that is
 * a close question, or two multiples are equally near.
 */
MP_INLINE int
mp_decimal_round(const mp_decimal_fraction *f, uint64_t unit, uint64_t *digits)
{
    uint64_t whole = (uint64_t)(f->scaled >> f->shift), over = whole % unit;
    mp_uint128 one = (mp_uint128)unit << f->shift;
    mp_uint128 off = f->scaled - ((mp_uint128)(whole - over) << f->shift);

    *digits = whole - over;
    if (2 * off == one) return -1;
    if (2 * off > one) {
        *digits += unit;
        off = one - off;
    }
    if (2 * off > f->gap) return 0;
    return (f->edge ? 4 * off : 2 * off) < f->gap ? 1 : -1;
}

/*
 * Sets *digits to the shortest number, filled up with zeros to 17 digits, that reads back as the double, and of these
 * to the nearest. Any two numbers of 15 digits are two doubles, and any two doubles differ in 17 digits.
 */
MP_INLINE bool
mp_decimal_digits(const mp_decimal_fraction *f, uint64_t *digits)
{
    int fits = 0;

    for (uint64_t unit = 100; unit && !fits; unit /= 10) fits = mp_decimal_round(f, unit, digits);
    return fits == 1;
}

/* Writes digits / 10^places, without the zeros at its end. Returns the number of bytes. */
MP_INLINE size_t
mp_decimal_write(uint64_t digits, int places, bool negative, char to[MP_DECIMAL_MAX])
{
    char text[MP_DECIMAL_MAX], *end = text + sizeof(text), *p = end;

    if (places > 8 && digits % 100000000 == 0) digits /= 100000000, places -= 8;
    while (places > 1 && digits % 10 == 0) digits /= 10, places--;
    for (int n = 0; n <= places || digits; n++) {
        if (n == places) *--p = '.';
        *--p = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (negative) *--p = '-';
    memcpy(to, p, (size_t)(end - p));
    return (size_t)(end - p);
}

/*
 * Writes the shortest text that reads back as this double, and of these the nearest, such as -0.5 or 100.0, and returns
 * its size. Returns 0 for doubles that it does not write.
 */
static inline size_t
mp_decimal(double real, char to[MP_DECIMAL_MAX])
{
    static const double bounds[] = {1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
                                    1e13, 1e14};
    enum { MANTISSA_BITS = 52, BIAS = 1075, MOST_PLACES = 19, LEAST_PLACES = 2 };
    static const uint64_t powers[] = {1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
                                      1e17, 1e18, 10000000000000000000u};
    double size = real < 0 ? -real : real;
    uint64_t bits, mantissa, digits;
    mp_decimal_fraction f;
    int places = MOST_PLACES;

    memcpy(&bits, &real, sizeof(bits));
    if (size == 0) return mp_decimal_write(0, 1, bits >> 63, to);
    if (!MP_HAS_UINT128 || !(size >= 1e-3 && size < 1e15)) return 0;
    while (places > LEAST_PLACES && size >= bounds[MOST_PLACES - places]) places--;
    mantissa = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    f.edge = !mantissa;
    f.shift = BIAS - (unsigned)(bits >> MANTISSA_BITS & 0x7ff);
    f.gap = powers[places - LEAST_PLACES];
    f.scaled = (mantissa | (uint64_t)1 << MANTISSA_BITS) * f.gap;
    if (!mp_decimal_digits(&f, &digits)) return 0;
    return mp_decimal_write(digits, places, bits >> 63, to);
}

#endif
