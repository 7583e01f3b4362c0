/* UTF-8 validation: ASCII in steps of eight bytes, other characters one by one. */
#include "utf8.h"

/* True if the n bytes at p, fewer than eight, are ASCII. Overlapping loads are faster than a loop. */
MP_INLINE bool
few_ascii_p(const uint8_t *p, size_t n)
{
    if (n >= 4) return !((mp_load32(p) | mp_load32(p + n - 4)) & 0x80808080u);
    return n == 0 || !((p[0] | p[n / 2] | p[n - 1]) & 0x80);
}

bool
mp_utf8_valid_p(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;

    for (;;) {
        size_t left = (size_t)(end - p), length;

        if (left < 8) {
            if (few_ascii_p(p, left)) return true;
        } else if (!(mp_load64(p) & 0x8080808080808080u)) {
            p += 8;
            continue;
        }
        length = mp_utf8_sequence(p, end);
        if (!length) return false;
        p += length;
    }
}
