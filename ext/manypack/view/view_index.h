/* The index of the containers in a message, which all Views of it share: a tape (tape.h) that the collector owns. */
#ifndef MANYPACK_VIEW_INDEX_H
#define MANYPACK_VIEW_INDEX_H

#include "codec/codec.h"
#include "core/tape.h"

/* A message of fewer bytes needs no Index: passing over what is in it takes no longer. One of 4 GiB can have none. */
#define MP_VIEW_INDEX_MIN 512

/* An empty Index for a message with containers at most max_depth deep; 0 if it needs or can have none. */
VALUE mp_view_index_new(VALUE message, uint32_t max_depth);

/* An Index of all of a message, after checking that unpacking it by a codec would not raise; otherwise it raises. */
VALUE mp_view_index_checked(VALUE message, const mp_codec *codec);

/* Checks that unpacking a part of a message, from the start of an object on, would not raise; otherwise it raises. */
void mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec);

/* Indexes the rest of the message. Raises a DecodeError. */
void mp_view_index_finish(VALUE index, VALUE message);

/* Freezes the Index of a whole message. Ractors may share it then, because using it changes nothing. */
void mp_view_index_freeze(VALUE index, VALUE message);

bool mp_view_index_whole_p(VALUE index);

/* An element of an array: its offset after the n elements before it. Looks for later ones start from there. */
typedef struct {
    uint32_t array; /* offset of the first element */
    uint32_t n;
    uint32_t at;
    uint32_t near; /* for the tape */
} mp_view_place;

/*
 * A place at or before the nth element of the array that starts at an offset: the one that was kept last or, of a
 * frozen Index, one that is never far from it.
 */
mp_view_place mp_view_index_place(VALUE index, size_t array, uint32_t n);

/* Keeps a place in the array that was asked for last. */
void mp_view_index_keep_place(VALUE index, mp_view_place place);

/* Its tape, over the bytes of the message. Valid while the caller has both objects on its stack. */
mp_tape *mp_view_index_tape(VALUE index, VALUE message);

#endif
