/* Loading: bytes in, objects of given types out. */
#ifndef MANYPACK_LOAD_H
#define MANYPACK_LOAD_H

#include "codec.h"
#include "shape.h"

/* Where a message is in the input that errors refer to. */
typedef struct {
    size_t origin; /* its offset */
    VALUE whole;   /* a message of which it is a part, in which that is its offset; 0 if it is none */
} mp_load_place;

/*
 * Loads the one object in message, a frozen binary String, as shapes[0] of the Type. collect: look for all errors.
 * Raises RecordError for another type, the errors of error.h, and what the classes of Records raise.
 */
VALUE mp_load_whole(VALUE message, mp_load_place place, VALUE type, const mp_shapes *shapes, VALUE codec, bool collect);

/* Loads the value of a Record's field at an offset of a message. The paths of its errors start at the Record. */
VALUE mp_load_field(VALUE message, size_t offset, VALUE type, const mp_record *record, uint32_t field, VALUE codec);

#endif
