/* Decoding turns bytes into objects. One loop does it, which can stop where its bytes end. */
#ifndef MANYPACK_DECODE_H
#define MANYPACK_DECODE_H

#include "unpack/decoder.h"

/*
 * Continues decoding. Returns the object, or Qundef if the bytes end inside it; d->at is then at the head that is
 * incomplete or has an incomplete payload. Raises the errors of error.h and those of user code. After an error decoding
 * can continue only if d->committed: then d->at is after the object to blame, which d->tree counts as still to come.
 */
VALUE mp_decode_on(mp_decoder *d);

/*
 * Returns the number, short str, nil, boolean or empty container at *p and moves *p past it. For any other or an
 * incomplete object, returns Qundef and does not move *p. Only for options without limits. It allocates, so the caller
 * must keep the String with the bytes on its stack. Raises only NoMemoryError.
 */
VALUE mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end);

/*
 * Unpacks the object that starts at an offset of a String, and moves the offset past it. Other bytes may follow. Raises
 * the errors of mp_decode_whole, with offsets in the whole String.
 */
VALUE mp_decode_part(VALUE source, size_t *offset, const mp_codec *codec);

/*
 * Unpacks the object at d->at and moves d->at past it. The caller already uses `count` words of the decoder's value
 * stack, and has `depth` containers open. Raises the errors of mp_decode_whole.
 */
VALUE mp_decode_inside(mp_decoder *d, size_t count, uint32_t depth);

/* Unpacks a String that holds exactly one object. Raises the errors of error.h and what user code raises. */
VALUE mp_decode_whole(VALUE source, const mp_codec *codec);

#endif
