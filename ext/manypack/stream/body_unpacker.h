/* Unpackers that the handlers of recursive ext types read bodies with. */
#ifndef MANYPACK_BODY_UNPACKER_H
#define MANYPACK_BODY_UNPACKER_H

#include "unpack/decoder.h"

/*
 * An Unpacker over the body of an ext, which can only read and skip. The body is the n bytes at index at of a frozen
 * String, and at offset in the whole input. used is an Unpacker whose body has ended, to be used again, or 0.
 */
VALUE mp_unpacker_for_body(VALUE used, const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n,
                           size_t offset, mp_outer outer);

/*
 * Ends the body: every use of the Unpacker raises until it gets another one. Returns the number of objects of the
 * message so far. MalformedFormatError unless the body was read to its end; outer is the decoder that has the ext.
 * RuntimeError if it is not the body of that number.
 */
uint64_t mp_unpacker_end_body(VALUE self, uint64_t number, const mp_decoder *outer);

/* The number of this Unpacker's current body: a handler that returns a second time must not end a later body. */
uint64_t mp_unpacker_body_number(VALUE self);

/* Makes an Unpacker whose body has ended the Ractor's spare, with some of the Unpackers for bodies nested in it. */
void mp_unpacker_keep_for_bodies(VALUE self);

#endif
