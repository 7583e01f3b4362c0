/* Computes the powers of ten by long multiplication and division, 0.1 ms when the library is loaded. */
#include "json/powers_of_ten.h"

mp_power MP_POWERS_OF_TEN[MP_POWER_MOST - MP_POWER_LEAST + 1];

/* The words of a number, the lowest first. The LOWEST ones let first_bits read five; those of 10^0 and above are 0. */
enum { WORDS = 40, LOWEST = 4 };

static uint64_t
two_words(const uint32_t *high)
{
    return (uint64_t)high[0] << 32 | high[-1];
}

/* The first 128 bits of a number, rounded up. `more`: it has bits after its words. */
static mp_power
first_bits(const uint32_t *words, bool more)
{
    const uint32_t *top = words + WORDS - 1, *p;
    mp_power power;
    unsigned shift;
    uint64_t last;

    while (!*top) top--;
    shift = mp_zeros_above(*top) - 32;
    last = (uint64_t)top[-4] << shift;
    power.low = (two_words(top - 2) << shift) + (last >> 32);
    power.high = two_words(top) << shift | (shift ? two_words(top - 2) >> (64 - shift) : 0);
    more |= (uint32_t)last != 0;
    for (p = words; p < top - LOWEST; p++) more |= *p != 0;
    power.low += more;
    power.high += more && !power.low;
    return power;
}

void
mp_powers_of_ten_init(void)
{
    uint32_t words[WORDS] = {[LOWEST] = 1};
    int exponent, i;

    for (exponent = 0; exponent <= MP_POWER_MOST; exponent++) {
        uint64_t carry = 0;

        MP_POWERS_OF_TEN[exponent - MP_POWER_LEAST] = first_bits(words, false);
        for (i = 0; i < WORDS; i++, carry >>= 32) {
            carry += (uint64_t)words[i] * 10;
            words[i] = (uint32_t)carry;
        }
    }
    memset(words, 0, sizeof(words));
    words[WORDS - 1] = 1; /* 2^1248: even 10^-292 of it has more than 128 bits */
    for (exponent = -1; exponent >= MP_POWER_LEAST; exponent--) {
        uint64_t rest = 0;

        for (i = WORDS - 1; i >= 0; i--) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        MP_POWERS_OF_TEN[exponent - MP_POWER_LEAST] = first_bits(words, true);
    }
}
