/* Manypack::View: the bytes of an object, into which one can look without building it. */
#ifndef MANYPACK_VIEW_H
#define MANYPACK_VIEW_H

#include "pack/foreign.h"
#include "view/peek.h"

/* The View of the whole message that a View is a part of. */
VALUE mp_view_root(VALUE view);

/* True if the last of equal keys counts, and not the first. */
bool mp_view_last_key_p(VALUE view);

/* Starts a peek into the message of a View, and returns the View's offset. A second look makes an Index. */
size_t mp_view_peek(VALUE view, mp_peek *peek);

/*
 * The same for one pass over the bytes, which uses an Index only if it is complete: it would have to be built up to
 * each place that the pass comes to.
 */
size_t mp_view_peek_once(VALUE view, mp_peek *peek);

/*
 * The same for several nested looks. If the last of equal keys counts, each look reads its map to the end, so this
 * makes an Index at once: otherwise an inner map would be read again with each map around it.
 */
size_t mp_view_peek_steps(VALUE view, mp_peek *peek, long steps);

/*
 * The value at an offset, which is inside the message: a View of a container, any other object built. end is the offset
 * after it, or 0 if that is not known. root is the View of the message, or 0 if there is none yet.
 */
VALUE mp_view_value_at(mp_peek *peek, VALUE root, size_t offset, size_t end);

/*
 * The View of a whole message, a frozen binary String, for the parts that a codec has of it. origin is a View of the
 * message, whose Index it shares, or 0: a message is indexed once, however many objects are loaded from it.
 */
VALUE mp_view_root_for(VALUE origin, VALUE message, VALUE codec);

/* A View of the object from offset to end in the message of a root View. */
VALUE mp_view_part(VALUE root, size_t offset, size_t end, VALUE codec);

/* Finds the bytes of a View. A DecodeError unless they are whole; TypeError for any other object. */
mp_slice mp_view_slice(VALUE view);

/* A frozen binary String of the same bytes; TypeError unless it is a String. Short ones are copied. */
VALUE mp_view_message(VALUE bytes);

/* TruncatedError if a part of a message is empty, LimitError if it is longer than max_bytes. */
void mp_view_check_size(VALUE message, size_t start, size_t end, const mp_options *options);

#endif
