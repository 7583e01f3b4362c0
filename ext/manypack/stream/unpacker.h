/* Unpackers for other files: with a Codec, and over an io. */
#ifndef MANYPACK_UNPACKER_H
#define MANYPACK_UNPACKER_H

#include "codec/codec.h"

/*
 * Makes an Unpacker with the codec of a Codec object and the arguments (io = nil, options = nil). api: see options.h.
 */
VALUE mp_unpacker_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

/* Makes the next full_unpack leave the bytes after the object in the io, if nothing has been read from the io yet. */
void mp_unpacker_leave_rest(VALUE unpacker);

/* Unpacks the next object of an io and leaves the bytes after it in the io. */
VALUE mp_unpack_io(VALUE io, const mp_codec *codec);

#endif
