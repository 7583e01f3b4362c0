/* Dumping: objects of given types in, bytes out. */
#ifndef MANYPACK_TYPED_DUMP_H
#define MANYPACK_TYPED_DUMP_H

#include "codec.h"
#include "shape.h"

/*
 * Packs an object as shapes[0]: Records as maps or arrays of their fields, everything else as mp_encode_whole does.
 * Sets doubtful if loading may refuse the result for more than the value of a scalar. TypeError where a Record is due
 * and there is an object of another class; ArgumentError for a tag that nothing tells; errors as mp_encode.
 */
VALUE mp_dump_whole(VALUE object, const mp_shapes *shapes, VALUE codec, bool *doubtful);

#endif
