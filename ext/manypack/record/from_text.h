/* Converts text to what a type wants: the text of forms, of query strings, of CSV. */
#ifndef MANYPACK_FROM_TEXT_H
#define MANYPACK_FROM_TEXT_H

#include "record/shape.h"

/* True for an empty String where the type allows nil, even if it allows text, too. */
bool mp_empty_is_nil_p(const mp_shape *shape, VALUE object);

/* Reads the whole text as a number of JSON: an Integer of 64 bits or a Float; Qundef for any other text. */
VALUE mp_number_of_text(VALUE text);

/*
 * The literal that the text stands for; Qundef without one. Numbers are written as in JSON; "true", "1", "on" are true,
 * "false", "0", "off" are false, and "" is nil.
 */
VALUE mp_literal_of_text(VALUE literals, VALUE text);

#endif
