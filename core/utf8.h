/* UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef MP_UTF8_H
#define MP_UTF8_H

#include "platform.h"

bool mp_utf8_valid_p(const uint8_t *p, size_t n);

MP_INLINE bool
mp_utf8_continuation_p(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the valid sequence at p, which must be before end; 0 if there is none. */
MP_INLINE size_t
mp_utf8_sequence(const uint8_t *p, const uint8_t *end)
{
    uint8_t lead = p[0];
    size_t left = (size_t)(end - p);

    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0;
    if (left < 2 || !mp_utf8_continuation_p(p[1])) return 0;
    if (lead < 0xe0) return 2;
    if (left < 3 || !mp_utf8_continuation_p(p[2])) return 0;
    if (lead < 0xf0) {
        if (lead == 0xe0 && p[1] < 0xa0) return 0; /* overlong */
        if (lead == 0xed && p[1] > 0x9f) return 0; /* surrogate */
        return 3;
    }
    if (left < 4 || !mp_utf8_continuation_p(p[3])) return 0;
    if (lead == 0xf0 && p[1] < 0x90) return 0; /* overlong */
    if (lead == 0xf4 && p[1] > 0x8f) return 0; /* above U+10FFFF */
    return lead <= 0xf4 ? 4 : 0;
}

MP_INLINE bool
mp_ascii_p(const uint8_t *p, size_t n)
{
    uint8_t all = 0;

    while (n--) all |= *p++;
    return all < 0x80;
}

#endif
