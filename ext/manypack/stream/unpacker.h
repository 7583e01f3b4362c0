/* Manypack::Unpacker for other files. */
#ifndef MANYPACK_UNPACKER_H
#define MANYPACK_UNPACKER_H

#include "codec/codec.h"

/*
 * Makes an Unpacker with the codec of a Codec object and the arguments (io = nil, options = nil). api: see options.h.
 */
VALUE mp_unpacker_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

#endif
