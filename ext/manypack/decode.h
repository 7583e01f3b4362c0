/* The decoder: bytes of one whole message in, one object out. */
#ifndef MANYPACK_DECODE_H
#define MANYPACK_DECODE_H

#include "codec.h"

/* Decodes source, a String that holds exactly one object. Raises the errors of error.h. */
VALUE mp_decode(VALUE source, const mp_options *options);

#endif
