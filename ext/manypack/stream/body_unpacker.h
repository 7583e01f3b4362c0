/* The Unpackers that handlers of recursive ext types get, to read a body. */
#ifndef MANYPACK_BODY_UNPACKER_H
#define MANYPACK_BODY_UNPACKER_H

#include "unpack/decoder.h"

/*
 * Makes an Unpacker for the body of an ext; it can only read and skip. The body is n bytes, at index `at` of a frozen
 * String and at `offset` in the whole input. d is the decoder of the ext.
 */
VALUE mp_unpacker_for_body(mp_decoder *d, const mp_type *type, VALUE source, size_t at, size_t n, size_t offset,
                           const mp_outer *outer);

/*
 * Ends the body: every use of the Unpacker raises until it gets another body. Returns the number of objects of the
 * message so far. outer is the decoder of the ext. MalformedFormatError unless the body was read to its end.
 */
uint64_t mp_unpacker_end_body(VALUE self, mp_decoder *outer);

/* The body of an ext, for a Record, which loads its bytes. */
typedef struct {
    VALUE bytes;     /* frozen */
    mp_codec codec;  /* of the Unpacker */
    mp_outer outer;  /* what encloses the body */
    uint64_t number; /* which body it is: a Fiber may resume when the Unpacker reads a later one */
} mp_body;

/*
 * Returns and skips the rest of a body, which must be one object. Raises what skip raises, RuntimeError after the end
 * of the body, ArgumentError for an Unpacker that reads no body, and TypeError for any other object.
 */
mp_body mp_unpacker_take_body(VALUE self);

/* Adds to the count of objects of the body with that number, unless the Unpacker has moved on to a later body. */
void mp_unpacker_count_in_body(VALUE self, uint64_t number, uint64_t objects);

#endif
