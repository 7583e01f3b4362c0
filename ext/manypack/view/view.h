/* Manypack::View: reads values out of packed bytes without unpacking the rest. */
#ifndef MANYPACK_VIEW_H
#define MANYPACK_VIEW_H

#include "pack/foreign.h"
#include "view/peek.h"

/* The View of the whole message that a View is a part of. */
VALUE mp_view_root(VALUE view);

/* True if the last of equal keys counts instead of the first. */
bool mp_view_last_key_p(VALUE view);

/* The kind of the object that a View shows. DecodeError for 0xc1. */
mp_kind mp_view_kind(VALUE view);

/* The head of the map or array that a View shows. TypeError for any other object, DecodeError if it is incomplete. */
mp_head mp_view_head(VALUE view);

/* Starts a peek into the message of a View, and returns the View's offset. The second look builds an Index. */
size_t mp_view_peek(VALUE view, mp_peek *peek);

/*
 * The same for a single pass over the bytes. It uses an Index only if that is complete: otherwise the Index would be
 * built up to each place that the pass reaches.
 */
size_t mp_view_peek_once(VALUE view, mp_peek *peek);

/*
 * The same for a walk that passes a few times over the bytes: the first one needs no Index, whatever the size of the
 * message.
 */
size_t mp_view_peek_walk(VALUE view, mp_peek *peek);

/*
 * The same for several nested looks. If the last of equal keys counts, each look reads its map to the end, so this
 * builds an Index at once: otherwise an inner map would be read again for each map around it.
 */
size_t mp_view_peek_steps(VALUE view, mp_peek *peek, long steps);

/*
 * The value at an offset, which must be inside the message: a container as a View, any other object built. end is the
 * offset after it, or 0 if it is not known. root is the View of the message, or 0 if there is none yet.
 */
VALUE mp_view_value_at(mp_peek *peek, VALUE root, size_t offset, size_t end);

/*
 * Makes the root View for parts of a message, which is a frozen binary String. origin is a View of the same message,
 * whose Index the new View shares, or 0: a message is indexed once, even if many objects are loaded from it.
 */
VALUE mp_view_root_for(VALUE origin, VALUE message, VALUE codec);

/* Makes a View of bytes that are known to be exactly one object. Raises what the options of the Codec refuse. */
VALUE mp_view_whole(VALUE bytes, VALUE codec);

/* Makes a View of the object from offset to end in the message of a root View. */
VALUE mp_view_part(VALUE root, size_t offset, size_t end, VALUE codec);

/*
 * Says where the object of a View ends, as a walk over it has found. MalformedFormatError if its source is to be one
 * message, and other bytes follow.
 */
void mp_view_ended(VALUE view, size_t end);

/* The bytes of a View. DecodeError if they are incomplete or malformed; TypeError for an object of another class. */
mp_slice mp_view_slice(VALUE view);

/* A frozen binary String of the same bytes. Copies only short Strings. TypeError for anything that is not a String. */
VALUE mp_view_message(VALUE bytes);

/* TruncatedError if a part of a message is empty, LimitError if it is longer than max_bytes. */
void mp_view_check_size(VALUE message, size_t start, size_t end, const mp_options *options);

#endif
