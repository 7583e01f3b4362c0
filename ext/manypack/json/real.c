/* Reads decimal numbers that mp_real_of_digits leaves to the C library's strtod. */
#include "json/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

double
mp_real(const mp_decimal_text *text)
{
    double real;

    if (!text->count) return 0;
    if (text->count <= 19 && mp_real_of_digits(text->digits, text->exponent, &real)) return real;
    return real_of_library(text);
}
