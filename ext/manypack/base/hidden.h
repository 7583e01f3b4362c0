/* Characters that a reader would not see, or that change how the rest is shown. base/hidden.rb has the same list. */
#ifndef MP_BASE_HIDDEN_H
#define MP_BASE_HIDDEN_H

#include <stdint.h>

/*
 * The character at p if it is invisible or changes how the rest is shown: a control character, a mark or an embedding
 * of a writing direction, a line separator, or a byte order mark. Otherwise 0. Sets *bytes to its length.
 */
static inline unsigned
mp_hidden_character(const uint8_t *p, const uint8_t *end, int *bytes)
{
    unsigned c;

    *bytes = 1;
    if (*p < ' ' || *p == 0x7f) return *p ? *p : 0;
    if (*p == 0xc2 && end - p > 1 && p[1] < 0xa0) {
        *bytes = 2;
        return p[1];
    }
    if ((*p != 0xe2 && *p != 0xef) || end - p < 3) return 0;
    *bytes = 3;
    c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff
        ? c : 0;
}

#endif
