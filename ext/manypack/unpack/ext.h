/* Makes the object of an ext. */
#ifndef MANYPACK_EXT_H
#define MANYPACK_EXT_H

#include "unpack/decoder.h"

/*
 * Makes the object of an ext. Its head is at `at`, its body is the n bytes at p. Raises the errors of error.h, and what
 * a handler raises.
 */
VALUE mp_ext_new(mp_decoder *d, int type, const uint8_t *p, uint32_t n, const uint8_t *at);

#endif
