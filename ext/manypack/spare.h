/*
 * Spare objects: a Ractor keeps one Packer and one Unpacker for the blocks of pools, and one Unpacker for the bodies of
 * ext types, so that small messages need not make them anew. Whoever takes one leaves none: user code inside may come
 * back for another. A spare has no bytes and refuses all use until it is taken.
 */
#ifndef MANYPACK_SPARE_H
#define MANYPACK_SPARE_H

#include "support.h"

typedef struct {
    VALUE packer, unpacker; /* of pools; 0 without one */
    VALUE body;             /* an Unpacker whose body has ended; 0 without one */
} mp_spares;

/* Whether no user code made it its own: froze it, gave it instance variables or a singleton class. */
MP_INLINE bool
mp_pristine_p(VALUE obj, VALUE klass)
{
    return RBASIC_CLASS(obj) == klass && !OBJ_FROZEN(obj) && !rb_ivar_count(obj);
}

/* Takes the object at that place; 0 when there is none. */
MP_INLINE VALUE
mp_spare_take(VALUE *place)
{
    VALUE spare = *place;

    *place = 0;
    return spare;
}

#endif
