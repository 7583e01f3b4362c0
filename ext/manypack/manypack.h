/* The face: packing and unpacking by a codec, to and from Strings and ios. */
#ifndef MANYPACK_H
#define MANYPACK_H

#include "codec/codec.h"

/* Packs obj. Returns a String or, if io is not nil, writes to it and returns nil. api: see options.h. */
VALUE mp_pack(VALUE obj, VALUE io, const mp_codec *codec, int api);

/* Unpacks the single object in a String, or the next object of an io. */
VALUE mp_unpack(VALUE source, const mp_codec *codec, int api);

/*
 * mp_unpack with options, which may include `as`, over those of a Codec object. With MP_WITH_CODEC, the options may
 * name another Codec. api: see options.h.
 */
VALUE mp_unpack_with(VALUE source, VALUE codec_object, VALUE options, int api);

#endif
