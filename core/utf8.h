/* UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef MP_UTF8_H
#define MP_UTF8_H

#include "platform.h"

bool mp_utf8_valid_p(const uint8_t *p, size_t n);

MP_INLINE bool
mp_ascii_p(const uint8_t *p, size_t n)
{
    uint8_t all = 0;

    while (n--) all |= *p++;
    return all < 0x80;
}

#endif
