/* The decoder: bytes in, objects out, by one loop that can stop where its bytes end. */
#ifndef MANYPACK_DECODE_H
#define MANYPACK_DECODE_H

#include "decoder.h"

/*
 * Decodes on. Returns the object, or Qundef when the bytes end before it does; d->at then is at the head that
 * lacks something. Raises the errors of error.h and what user code raises. With d->committed, d->at is then behind the
 * object to blame, which d->tree counts as still to come; without, decoding cannot go on.
 */
VALUE mp_decode_on(mp_decoder *d);

/*
 * The number, short str, nil or boolean that is whole at *p, which is moved behind it; Qundef, and *p stays, for
 * anything else. For options without limits. Allocates: the String with the bytes is on the caller's stack. Raises
 * nothing but NoMemoryError.
 */
VALUE mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end);

/* Unpacks the one object in a String. Raises the errors of error.h and what user code raises. */
VALUE mp_decode_whole(VALUE source, const mp_codec *codec);

#endif
