/* Packing one JSON text, for what loads the bytes. */
#ifndef MANYPACK_FROM_JSON_H
#define MANYPACK_FROM_JSON_H

#include "codec/codec.h"

/* The text of a String as UTF-8 that nobody changes: bytes of no encoding are taken as UTF-8. */
VALUE mp_json_utf8(VALUE text);

/* The bytes of a text that mp_json_utf8 returned. Raises the errors of Manypack.from_json. */
VALUE mp_json_packed(VALUE text, const mp_codec *codec);

#endif
