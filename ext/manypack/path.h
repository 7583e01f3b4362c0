/* Where in an object the encoder is. */
#ifndef MANYPACK_PATH_H
#define MANYPACK_PATH_H

#include "support.h"

/* One open container on the way to the value at hand; lives on the C stack, read only for error messages. */
typedef struct mp_place {
    const struct mp_place *up;
    VALUE key;  /* of a map; Qundef in an array */
    long index; /* of an array */
} mp_place;

/* "$.users[3].avatar"; NULL is the root, "$". */
VALUE mp_path(const mp_place *innermost);

#endif
