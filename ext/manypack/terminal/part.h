/* A part of a String with packed messages: what the functions for the program take. */
#ifndef MANYPACK_PART_H
#define MANYPACK_PART_H

#include "base/support.h"

/* Lives on the C stack. */
typedef struct {
    VALUE bytes; /* a frozen copy, which shares the bytes; RB_GC_GUARD it */
    const uint8_t *start, *end;
} mp_part;

/* RangeError if there is no such part of the String. */
MP_INLINE mp_part
mp_part_of(VALUE string, VALUE start, VALUE size)
{
    mp_part part = {.bytes = rb_str_new_frozen(StringValue(string))};
    size_t whole = (size_t)RSTRING_LEN(part.bytes), from = NUM2SIZET(start), n = NUM2SIZET(size);

    if (from > whole || n > whole - from) rb_raise(rb_eRangeError, "no such part of the String");
    part.start = (const uint8_t *)RSTRING_PTR(part.bytes) + from;
    part.end = part.start + n;
    return part;
}

#endif
