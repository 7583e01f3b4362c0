/* Converts text to what a type wants: the text of forms, of query strings, of CSV. */
#ifndef MANYPACK_FROM_TEXT_H
#define MANYPACK_FROM_TEXT_H

#include "record/loader.h"

/* True for an empty String where the type allows nil, even if it allows text, too. */
bool mp_empty_is_nil_p(const mp_shape *shape, VALUE object);

/*
 * The number, boolean, nil or literal that a String stands for where the shape takes one; Qundef if it stands for none.
 * A number is written as in JSON; "true", "1", "on" are true, and "false", "0", "off" are false.
 */
VALUE mp_from_text(mp_loader *l, const mp_shape *shape, VALUE text);

/* The Integer, Float, boolean or nil that the text stands for, if it is one of the literals; otherwise Qundef. */
VALUE mp_literal_of_text(VALUE literals, VALUE text);

#endif
