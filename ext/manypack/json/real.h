/* Reads decimal numbers as doubles: always the nearest, and of two that are equally near the even one. */
#ifndef MP_REAL_H
#define MP_REAL_H

#include "core/platform.h"

/* A decimal number: digits without leading zeros, times 10^exponent. */
typedef struct {
    const uint8_t *from, *end; /* the text of the digits, with at most one point and no exponent */
    uint64_t digits;           /* the value of the digits, if there are at most 19 */
    size_t count;              /* how many digits there are */
    int64_t exponent;
} mp_decimal_text;

/* The double nearest to the number. HUGE_VAL if that is above all doubles. */
double mp_real(const mp_decimal_text *text);

/* Sets *real to the double nearest to digits * 10^exponent, digits not 0. False if only mp_real can tell. */
bool mp_real_of_digits(uint64_t digits, int64_t exponent, double *real);

#endif
