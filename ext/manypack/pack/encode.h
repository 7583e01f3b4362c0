/* The encoder: objects in, bytes out. */
#ifndef MANYPACK_ENCODE_H
#define MANYPACK_ENCODE_H

#include "pack/encoder.h"

/* Appends obj. NoMethodError, RangeError, ArgumentError, RuntimeError, NestingError with the path. */
void mp_encode(mp_encoder *e, VALUE obj);

/* Appends the packed key of a pair, and its value. */
void mp_encode_pair(mp_encoder *e, const uint8_t *key, size_t size, VALUE value);

/* Appends a String as str or bin, by its encoding, and as bin. */
void mp_encode_string(mp_encoder *e, VALUE string);
void mp_encode_bin(mp_encoder *e, VALUE string);

/* Appends a container as such, whatever ext type its class has. */
void mp_encode_array(mp_encoder *e, VALUE array);
void mp_encode_hash(mp_encoder *e, VALUE hash);

/* Packs obj into a String; errors as mp_encode. */
VALUE mp_encode_whole(VALUE obj, const mp_codec *codec);

#endif
