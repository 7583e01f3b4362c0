/*
 * The shortest decimal text of a double, for most of those that people write: up to 16 digits, neither very large nor
 * very small. All others are left to the caller.
 */
#ifndef MP_STREAM_DECIMAL_H
#define MP_STREAM_DECIMAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/platform.h"

enum { MP_DECIMAL_MAX = 32 }; /* bytes of a text, at most */

/*
 * Sets *digits to the integer that is closest to real * power, and returns true if digits / power is that real again.
 * Both are below 2^53 and a power of ten up to 10^22, so they are exact, and the division is rounded as text is read.
 */
static inline bool
mp_decimal_scaled(double real, double power, uint64_t *digits)
{
    volatile double rounded = real * power; /* no compiler may leave out this rounding, which rest makes good */
    double product = rounded, rest = fma(real, power, -product), whole = rint(product), off;

    off = (product - whole) + rest;
    if (off > 0.5) whole += 1, off -= 1;
    else if (off < -0.5) whole -= 1, off += 1;
    if (whole >= 9007199254740992.0 || off == 0.5 || off == -0.5) return false;
    *digits = (uint64_t)whole;
    return whole / power == real;
}

/*
 * Writes the shortest text that reads back as this double, and of these the closest, such as -0.5 or 100.0, and returns
 * its size. Returns 0 for doubles that it does not write.
 */
static inline size_t
mp_decimal(double real, char to[MP_DECIMAL_MAX])
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                    1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20};
    double size = fabs(real);
    int places = 14; /* after the point: as many as make 15 digits, of which any two are two doubles */
    uint64_t digits;
    char text[24], *p = text + sizeof(text), *start = to;

    if (!MP_EXACT_DOUBLES || !(size >= 1e-3 && size < 1e14)) return 0;
    while (places > 0 && size >= powers[15 - places]) places--;
    while (places < 17 && size * powers[places] < 1e14) places++;
    if (!mp_decimal_scaled(size, powers[places], &digits)) {
        if (!mp_decimal_scaled(size, powers[++places], &digits)) return 0;
    }
    while (places > 1 && digits % 10 == 0) digits /= 10, places--;
    for (int n = 0; n <= places || digits; n++) {
        if (n == places) *--p = '.';
        *--p = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (real < 0) *to++ = '-';
    memcpy(to, p, (size_t)(text + sizeof(text) - p));
    return (size_t)(to - start) + (size_t)(text + sizeof(text) - p);
}

#endif
