/* Packs one JSON text, for callers that load the bytes. */
#ifndef MANYPACK_FROM_JSON_H
#define MANYPACK_FROM_JSON_H

#include "codec/codec.h"

/* Returns the text of a String in UTF-8, frozen. Binary bytes count as UTF-8. */
VALUE mp_json_utf8(VALUE text);

/* Packs a text that mp_json_utf8 returned, and returns the bytes. Raises the errors of Manypack.from_json. */
VALUE mp_json_packed(VALUE text, const mp_codec *codec);

#endif
