/*
 * The message that Views of a Ractor looked into last, and its Index: a new View of the same bytes reuses it, for
 * example in a loop that makes a new View of one message each time.
 *
 *   index = mp_latest_index(&latest, message, 128);     // 0: another message was the last, or another limit
 *   mp_latest_remember(&latest, message, 128, Qtrue);   // looked into once, without an Index
 *   mp_latest_remember(&latest, message, 128, index);
 *
 * A message is recognized by the address of its bytes, because several String objects may share them. A collection
 * forgets message and Index, unless a View has found the Index here since the last collection.
 */
#ifndef MANYPACK_LATEST_INDEX_H
#define MANYPACK_LATEST_INDEX_H

#include "base/support.h"

/* All zero at first. */
typedef struct {
    const uint8_t *bytes; /* of the message */
    size_t size;
    VALUE message;        /* immutable; its bytes stay where they are */
    VALUE index;          /* the Index; Qtrue after one look without one; 0 if nothing is remembered */
    uint32_t max_depth;   /* the limit that the Index was made for */
    bool found;           /* a View found it since the last collection */
    size_t kept;          /* the last collection that kept it */
} mp_latest;

/* The Index of a message, Qtrue, or 0. Allocates nothing. */
VALUE mp_latest_index(mp_latest *latest, VALUE message, uint32_t max_depth);

void mp_latest_remember(mp_latest *latest, VALUE message, uint32_t max_depth, VALUE index);

void mp_latest_mark(mp_latest *latest);

#endif
