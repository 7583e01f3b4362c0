/* The Unpackers that handlers of recursive ext types get, to read a body. */
#ifndef MANYPACK_BODY_UNPACKER_H
#define MANYPACK_BODY_UNPACKER_H

#include "unpack/decoder.h"

/*
 * Makes an Unpacker for the body of an ext; it can only read and skip. The body is n bytes, at index `at` of a frozen
 * String and at `offset` in the whole input. `used` is an Unpacker whose body has ended and which may be used again, or
 * 0.
 */
VALUE mp_unpacker_for_body(VALUE used, const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n,
                           size_t offset, const mp_outer *outer);

/*
 * Ends the body: every use of the Unpacker raises until it gets another body. Returns the number of objects of the
 * message so far. outer is the decoder of the ext. MalformedFormatError unless the body was read to its end.
 */
uint64_t mp_unpacker_end_body(VALUE self, const mp_decoder *outer);

/* The body of an ext, for a Record, which loads its bytes. */
typedef struct {
    VALUE bytes;     /* frozen */
    mp_codec codec;  /* of the Unpacker */
    mp_outer outer;  /* what encloses the body */
    uint64_t number; /* of the body: a Fiber may go on when the Unpacker has a later body */
} mp_body;

/*
 * Takes the rest of a body, which must be one object, and skips that, with the errors of skipping. RuntimeError after
 * the end of the body, ArgumentError for an Unpacker of anything else, TypeError for any other object.
 */
mp_body mp_unpacker_take_body(VALUE self);

/* Counts objects in exts that are in the body of that number. */
void mp_unpacker_count_in_body(VALUE self, uint64_t number, uint64_t objects);

/* Makes an Unpacker whose body has ended the Ractor's spare, with some of the Unpackers for bodies nested in it. */
void mp_unpacker_keep_for_bodies(VALUE self);

#endif
