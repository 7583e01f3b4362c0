/* Dumping: objects of given types in, bytes out. */
#ifndef MANYPACK_TYPED_DUMP_H
#define MANYPACK_TYPED_DUMP_H

#include "codec.h"
#include "shape.h"

/*
 * Packs an object as shapes[0]: Records as maps or arrays of their fields, everything else as mp_encode_whole does,
 * whatever its type. TypeError where a Record is due and there is an object of another class; errors as mp_encode.
 */
VALUE mp_dump_whole(VALUE object, const mp_shapes *shapes, VALUE codec);

#endif
