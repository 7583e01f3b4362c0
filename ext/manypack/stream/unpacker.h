/* Unpackers for other files: with a Codec, over an io, and for the blocks of pools. */
#ifndef MANYPACK_UNPACKER_H
#define MANYPACK_UNPACKER_H

#include "codec/codec.h"

/* A new Unpacker with a Codec object; the arguments are (io = nil, options = nil). api as for mp_options_read. */
VALUE mp_unpacker_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

/*
 * A frozen Unpacker with a Codec object for the block of a pool: the Ractor's spare, or a new one. Giving it back makes
 * it the spare, unless user code is still in the middle of one of its methods.
 */
VALUE mp_unpacker_borrow(VALUE codec);
void mp_unpacker_give_back(VALUE unpacker);

/* Unpacks an io that holds exactly one object. */
VALUE mp_unpack_io(VALUE io, const mp_codec *codec);

#endif
