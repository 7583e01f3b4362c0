/* Objects of given types from other Ruby objects, such as the Hashes of a form. */
#ifndef MANYPACK_FROM_H
#define MANYPACK_FROM_H

#include "record/shape.h"

/*
 * Makes an object of shapes[0] of the Type from any object: what mp_load_whole makes of the packed object. Objects that
 * are of a Record's class already are taken as they are. lax: converts text to what a type takes. With collect, finds
 * all errors and raises them together. RecordError for what loading refuses.
 */
VALUE mp_from_whole(VALUE object, VALUE type, const mp_shapes *shapes, VALUE codec, bool lax, bool collect);

#endif
