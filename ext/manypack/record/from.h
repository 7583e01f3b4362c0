/* Objects of given types from other Ruby objects, such as the Hashes of a form. */
#ifndef MANYPACK_FROM_H
#define MANYPACK_FROM_H

#include "record/shape.h"

/*
 * Makes an object of shapes[0] of the Type from any object, as mp_load_whole does from the packed object. Takes objects
 * that already are of a Record's class as they are. lax: converts text to objects that a type takes. With collect,
 * finds all errors and raises them together. RecordError where loading would raise it.
 */
VALUE mp_from_whole(VALUE object, VALUE type, const mp_shapes *shapes, VALUE codec, bool lax, bool collect);

#endif
