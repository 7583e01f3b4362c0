/* What every file of the extension uses: names of Ruby things, set once when it is loaded, and small helpers. */
#ifndef MANYPACK_SUPPORT_H
#define MANYPACK_SUPPORT_H

#include "compat.h"
#include "platform.h"

extern VALUE mp_mManypack;
extern VALUE mp_cExtensionValue, mp_cTimestamp;

extern rb_encoding *mp_utf8;
extern int mp_utf8_index, mp_usascii_index, mp_binary_index;

/* Whether the bytes of text in an encoding are UTF-8 as they are. */
MP_INLINE bool
mp_utf8_index_p(int index)
{
    return index == mp_utf8_index || index == mp_usascii_index;
}

/* A size that a user gave: RangeError below 0 and above SIZE_MAX, TypeError for what is no Integer. */
size_t mp_size(VALUE integer, const char *what);

/* Says if an Integer is from -2^63 to 2^63 - 1. */
MP_INLINE bool
mp_int64_p(VALUE integer)
{
    int zeros; /* bits that the highest byte of its magnitude begins with */
    size_t bytes;

    if (RB_FIXNUM_P(integer)) return true;
    bytes = rb_absint_size(integer, &zeros);
    if (bytes != sizeof(int64_t)) return bytes < sizeof(int64_t);
    return zeros > 0 || (RBIGNUM_NEGATIVE_P(integer) && rb_absint_singlebit_p(integer));
}

/* A class or module that lib/manypack defined before it loaded the extension; kept for ever. */
VALUE mp_const(const char *name);

#endif
