/* Paths from the root of an object or a message to a place in it, for errors: Strings such as "$.users[3].avatar". */
#ifndef MANYPACK_ERROR_PATH_H
#define MANYPACK_ERROR_PATH_H

#include "base/support.h"

/* One open container on the way to the current value. Lives on the C stack. */
typedef struct mp_place {
    const struct mp_place *up;
    VALUE key;  /* in a map; Qundef in an array */
    long index; /* in an array */
} mp_place;

/* The path to the value that the encoder is at; "$", the root, for NULL. */
VALUE mp_error_path(const mp_place *innermost);

/* Joins the path of a place and a path that starts there. */
VALUE mp_error_path_join(VALUE outer, VALUE path);

/* The path for an error message, without its middle if it is long. */
VALUE mp_error_path_shown(VALUE path);

/*
 * The path from the message that starts at start of a String, which nobody changes meanwhile, to the object at an
 * offset of the String, or to the one that has the byte at that offset in its head or payload. An object in a map key
 * has the path of the map. Manypack::Path reads it, unless it has a step that Paths cannot have, is too deep, or has a
 * key that is too long.
 *
 * A frozen String; nil if the message ends before the offset, or is not well formed up to there. Takes time in
 * proportion to the distance, and raises only NoMemoryError.
 */
VALUE mp_error_path_of(VALUE source, size_t start, size_t offset);

#endif
