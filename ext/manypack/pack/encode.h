/* The encoder turns objects into bytes. */
#ifndef MANYPACK_ENCODE_H
#define MANYPACK_ENCODE_H

#include "pack/encoder.h"

/* Appends obj. Raises NoMethodError, RangeError, ArgumentError, RuntimeError and NestingError, each with the path. */
void mp_encode(mp_encoder *e, VALUE obj);

/* Appends a pair: a key that is packed already, and a value. */
void mp_encode_pair(mp_encoder *e, const uint8_t *key, size_t size, VALUE value);

/* mp_encode_string appends a String as str or bin, depending on its encoding; mp_encode_bin always as bin. */
void mp_encode_string(mp_encoder *e, VALUE string);
void mp_encode_bin(mp_encoder *e, VALUE string);

/* Append a container as array or map, even if its class has an ext type. */
void mp_encode_array(mp_encoder *e, VALUE array);
void mp_encode_hash(mp_encoder *e, VALUE hash);

/* Packs obj into a String. Raises the errors of mp_encode. */
VALUE mp_encode_whole(VALUE obj, const mp_codec *codec);

#endif
