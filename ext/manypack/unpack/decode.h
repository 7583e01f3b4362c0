/* Decoding: bytes in, objects out, by one loop that can stop where its bytes end. */
#ifndef MANYPACK_DECODE_H
#define MANYPACK_DECODE_H

#include "unpack/decoder.h"

/*
 * Continues decoding. Returns the object, or Qundef if the bytes end inside it; d->at is then at the incomplete head or
 * payload's head. Raises the errors of error.h and what user code raises. If d->committed is then true, d->at is after
 * the object to blame, which d->tree counts as still to come; if not, decoding cannot continue.
 */
VALUE mp_decode_on(mp_decoder *d);

/*
 * Returns the number, short str, nil, boolean or empty container at *p and moves *p past it. Returns Qundef and leaves
 * *p for anything else, and for an incomplete object. Only for options without limits. Allocates, so the caller keeps
 * the String that holds the bytes on its stack. Raises only NoMemoryError.
 */
VALUE mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end);

/*
 * Unpacks the object that starts at an offset of a String, and moves the offset after it; what follows does not matter.
 * Raises as mp_decode_whole does, with offsets in the whole String.
 */
VALUE mp_decode_part(VALUE source, size_t *offset, const mp_codec *codec);

/*
 * Unpacks the object at d->at of a decoder that has count words of its value stack in use, inside that many open
 * containers, and moves d->at after it. Raises as mp_decode_whole does.
 */
VALUE mp_decode_inside(mp_decoder *d, size_t count, uint32_t depth);

/* Unpacks a String that holds exactly one object. Raises the errors of error.h and what user code raises. */
VALUE mp_decode_whole(VALUE source, const mp_codec *codec);

#endif
