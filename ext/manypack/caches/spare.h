/*
 * Spare objects: a Ractor keeps one Packer and one Unpacker for the blocks of pools, and a few Unpackers for the bodies
 * of ext types, so that small messages need no new ones. A spare is taken out while it is in use: user code that needs
 * one meanwhile gets a new object. A spare has no bytes, and refuses all use until it is taken.
 */
#ifndef MANYPACK_SPARE_H
#define MANYPACK_SPARE_H

#include "base/support.h"

typedef struct {
    VALUE packer, unpacker; /* of pools; 0 without one */
    VALUE body;             /* an Unpacker whose body has ended, and which knows the next one; 0 without one */
    unsigned bodies;        /* how many of these there are */
} mp_spares;

/* Takes the object out of its place; 0 if there is none. */
MP_INLINE VALUE
mp_spare_take(VALUE *place)
{
    VALUE spare = *place;

    *place = 0;
    return spare;
}

#endif
