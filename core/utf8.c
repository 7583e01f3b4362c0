/* UTF-8 validation: ASCII in steps of eight bytes, other characters one by one. */
#include "utf8.h"

MP_INLINE bool
continuation_p(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the valid sequence at p, or 0. */
static size_t
sequence_length(const uint8_t *p, const uint8_t *end)
{
    uint8_t lead = p[0];
    size_t left = (size_t)(end - p);

    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0;
    if (left < 2 || !continuation_p(p[1])) return 0;
    if (lead < 0xe0) return 2;
    if (left < 3 || !continuation_p(p[2])) return 0;
    if (lead < 0xf0) {
        if (lead == 0xe0 && p[1] < 0xa0) return 0; /* overlong */
        if (lead == 0xed && p[1] > 0x9f) return 0; /* surrogate */
        return 3;
    }
    if (left < 4 || !continuation_p(p[3])) return 0;
    if (lead == 0xf0 && p[1] < 0x90) return 0; /* overlong */
    if (lead == 0xf4 && p[1] > 0x8f) return 0; /* above U+10FFFF */
    return lead <= 0xf4 ? 4 : 0;
}

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
        length = sequence_length(p, end);
        if (!length) return false;
        p += length;
    }
}
