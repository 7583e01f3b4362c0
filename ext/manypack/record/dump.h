/* Dumping: objects of given types in, bytes out. */
#ifndef MANYPACK_DUMP_H
#define MANYPACK_DUMP_H

#include "codec/codec.h"
#include "record/shape.h"

/*
 * Packs an object as shapes[0]: Records as maps or arrays of their fields, everything else as mp_encode_whole does.
 * Sets doubtful if loading may refuse the result for anything but the value of a scalar. TypeError for an object that
 * is not of the Record's class; ArgumentError if nothing tells the tag of an object; errors as mp_encode.
 */
VALUE mp_dump_whole(VALUE object, const mp_shapes *shapes, VALUE codec, bool *doubtful);

#endif
