/* Dumping turns objects of given types into bytes. */
#ifndef MANYPACK_DUMP_H
#define MANYPACK_DUMP_H

#include "codec/codec.h"
#include "pack/written.h"
#include "record/shape.h"

/*
 * Packs an object as shapes[0], inside of `depth` levels: Records as maps or arrays of their fields, everything else as
 * mp_encode_whole does. Sets doubtful if loading may refuse the result; the values of scalars are not checked. Raises
 * TypeError for an object of no class of the shape, ArgumentError for one that would be read as another class, and the
 * errors of mp_encode. Unless notes is NULL, sets *notes to the notes on the bytes that user code wrote.
 */
VALUE mp_dump_whole(VALUE object, const mp_shapes *shapes, const mp_codec *codec, uint32_t depth, bool *doubtful,
                    mp_notes *notes);

#endif
