/*
 * Reads and compares values for the conditions of a Path. Values are compared in the message; only arrays and maps that
 * are compared with each other are built.
 */
#ifndef MANYPACK_COMPARE_H
#define MANYPACK_COMPARE_H

#include "path/program.h"
#include "view/peek.h"

/* Reads the object at an offset, which must be inside the message. DecodeError if it is incomplete. */
mp_value mp_value_read(mp_peek *peek, size_t at);

/* Makes a value of an object that a function returned. The value must stay on the caller's stack. */
mp_value mp_value_of(VALUE obj, VALUE nothing);

/* Returns the object as View#[] does, or the argument nothing. Refreshes the peek. root is the View of the message. */
VALUE mp_value_object(mp_peek *peek, VALUE root, const mp_value *value, VALUE nothing);

/* How a value stands to another one, as bits. APART: neither equal nor in any order. */
typedef enum { MP_BELOW = 1, MP_SAME = 2, MP_ABOVE = 4, MP_APART = 8 } mp_order;

#define MP_ORDER_OF(a, b) ((a) < (b) ? MP_BELOW : (a) > (b) ? MP_ABOVE : MP_SAME)

/*
 * Compares as the standard says, and values that JSON does not have as docs/paths.md says. Without `equality`,
 * containers and objects are not compared: they have no order. Refreshes the peek.
 */
mp_order mp_value_order(mp_peek *peek, const mp_value *a, const mp_value *b, bool equality);

/* The payload of a STR, BIN or EXT. Valid until something allocates. */
MP_INLINE const uint8_t *
mp_value_bytes(const mp_peek *peek, const mp_value *value)
{
    if (value->object) return (const uint8_t *)RSTRING_PTR(value->object);
    return value->bytes ? value->bytes : peek->look.bytes + value->at;
}

#endif
