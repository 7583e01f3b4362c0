/* The path from the root of an object to the value that the encoder is at, for error messages. */
#ifndef MANYPACK_PATH_H
#define MANYPACK_PATH_H

#include "support.h"

/* One open container on the way to the current value. Lives on the C stack. */
typedef struct mp_place {
    const struct mp_place *up;
    VALUE key;  /* in a map; Qundef in an array */
    long index; /* in an array */
} mp_place;

/* A String such as "$.users[3].avatar"; "$", the root, for NULL. */
VALUE mp_path(const mp_place *innermost);

#endif
