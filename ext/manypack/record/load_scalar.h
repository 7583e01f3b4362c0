/* Loads the next object of a message: as a scalar of a shape, as a View, or as unpacking makes it. */
#ifndef MANYPACK_LOAD_SCALAR_H
#define MANYPACK_LOAD_SCALAR_H

#include "record/loader.h"

/*
 * Each function loads the next object, whose head is row, and moves past it. The caller has checked its head. If the
 * shape does not accept the value, the function returns Qundef and does not move. Raises the errors of error.h.
 */

/* A str or bin. */
VALUE mp_load_string(mp_loader *l, mp_wire_row row);

/* A str, if it is valid UTF-8. */
VALUE mp_load_text(mp_loader *l, mp_wire_row row);

/* A str as a frozen String or a Symbol, the same object for the same bytes; 0 for a Symbol that is not UTF-8. */
VALUE mp_load_cached(mp_loader *l, mp_wire_row row, mp_string_kind kind);

/* A str or bin as a frozen String that is the key of a Hash; a str as mp_load_cached. */
VALUE mp_load_key(mp_loader *l, mp_wire_row row);

VALUE mp_load_symbol(mp_loader *l, mp_wire_row row);
VALUE mp_load_integer(mp_loader *l, const mp_shape *shape, mp_wire_row row);
VALUE mp_load_float(mp_loader *l, const mp_shape *shape, mp_wire_row row);

/* True if a shape takes the integer of that sign and magnitude; a negative one is at least -2**63. */
bool mp_takes_integer_p(const mp_shape *shape, bool negative, uint64_t magnitude);

/* True if a shape takes a Float. */
bool mp_takes_real_p(const mp_shape *shape, double real);

/* Converts an integer to *real; true if that is exact. */
bool mp_exact_real(bool negative, uint64_t magnitude, double *real);

/*
 * The literal of an enum that equals the object (a plain String, a number, nil, true, false or a Symbol); Qundef
 * without one. If exact, an integer does not match a Float.
 */
VALUE mp_literal(const mp_shape *shape, VALUE object, bool exact);

/* Loads one of the literals of an enum. If exact, an integer does not match a Float. */
VALUE mp_load_literal(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact);

/* Loads any object as Manypack.unpack does. */
VALUE mp_load_any(mp_loader *l);

/* mp_load_any, but Qundef if the object is not of the shape's class. */
VALUE mp_load_of_class(mp_loader *l, const mp_shape *shape);

/*
 * Loads an ext whose head the shape does not accept: the codec may turn it into an object of a class that the shape, or
 * one of its alternatives, takes.
 */
VALUE mp_load_ext(mp_loader *l, const mp_shape *shape, mp_wire_row row);

/*
 * Loads the bytes or the time that a str of JSON stands for, written in base64 or as a timestamp. The shape, or one of
 * its alternatives, takes text.
 */
VALUE mp_load_said(mp_loader *l, const mp_shape *shape, mp_wire_row row);

/* Applies rules to an object that was loaded from `at`. Qundef if it does not keep them: l->broken says which. */
VALUE mp_load_ruled(mp_loader *l, const mp_rules *rules, VALUE object, const uint8_t *at);

/* The View of the whole message, made on first use. All Views in the loaded object share its Index. */
VALUE mp_load_view_root(mp_loader *l);

/* A View of the next object. */
VALUE mp_load_view(mp_loader *l);

#endif
