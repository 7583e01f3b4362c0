/*
 * The powers of ten from 10^-292 to 10^324, each divided by the power of two that leaves 128 bits, and rounded up.
 * Those from 10^0 to 10^55 are exact.
 */
#ifndef MP_JSON_POWERS_OF_TEN_H
#define MP_JSON_POWERS_OF_TEN_H

#include "core/platform.h"

enum { MP_POWER_LEAST = -292, MP_POWER_MOST = 324 };

typedef struct {
    uint64_t high, low; /* low is not 0 if the number is rounded */
} mp_power;

/* Set once, by mp_powers_of_ten_init. */
extern mp_power MP_POWERS_OF_TEN[MP_POWER_MOST - MP_POWER_LEAST + 1];

void mp_powers_of_ten_init(void);

#endif
