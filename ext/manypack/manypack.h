/* The face: packing and unpacking by a codec, to and from Strings and ios. */
#ifndef MANYPACK_H
#define MANYPACK_H

#include "codec/codec.h"

/* Packs obj into a String, or to an io that is not nil, and then returns nil; api as for mp_check_sink. */
VALUE mp_pack(VALUE obj, VALUE io, const mp_codec *codec, int api);

/* Unpacks the one object in a String or an io. */
VALUE mp_unpack(VALUE source, const mp_codec *codec);

#endif
