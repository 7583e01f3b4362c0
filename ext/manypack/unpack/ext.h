/* The object that an ext becomes. */
#ifndef MANYPACK_EXT_H
#define MANYPACK_EXT_H

#include "unpack/decoder.h"

/*
 * The object of an ext of that type whose head is at that place and whose body is the n bytes at p. Raises the errors
 * of error.h, and what a handler raises.
 */
VALUE mp_ext_new(mp_decoder *d, int type, const uint8_t *p, uint32_t n, const uint8_t *at);

/* Keeps for the next call the Unpacker that read the bodies of this one, if there is one. */
void mp_ext_keep_unpacker(mp_decoder *d);

#endif
