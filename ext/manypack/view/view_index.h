/*
 * The Index of a message, which all Views of the message share: where its containers end (core/tape.h), where elements
 * of its long arrays are (core/places.h), and tables of the keys of its large maps (core/key_table.h). It is made whole
 * and never written again, except that the first look for a key in a large map makes the map's table.
 *
 *   index = mp_view_index_new(message, 128);              // 0 for a short message, which needs none
 *   look.tape = mp_view_index_tape(index, message);       // a search skips containers by their entries (core/find.h)
 *   status = mp_view_index_go(index, &cursor, 500); // the cursor, which has just opened an array, is at element 500
 *
 *   mp_view_index_end(index, message);                    // raises if the message is malformed
 *   mp_view_index_freeze(index, message, MP_FIND_FIRST);  // from now on Ractors may share it
 *
 * For a malformed message, the Index covers the bytes before the fault; a look that reaches the fault raises.
 */
#ifndef MANYPACK_VIEW_INDEX_H
#define MANYPACK_VIEW_INDEX_H

#include "codec/codec.h"
#include "core/key_table.h"

/* A shorter message needs no Index, because walking over it takes no longer. A message of 4 GiB can have none. */
#define MP_VIEW_INDEX_MIN 512

/*
 * Makes the Index of a message whose containers may be max_depth deep. 0 if the message needs no Index, or can have
 * none.
 */
VALUE mp_view_index_new(VALUE message, uint32_t max_depth);

/*
 * Makes the Index of a message that is checked; 0 if it needs none or can have none. Raises what unpacking the message
 * by the codec would raise.
 */
VALUE mp_view_index_checked(VALUE message, const mp_codec *codec);

/* Raises what unpacking the single object from start to end of a message would raise. */
void mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec);

/* The offset after the object. Raises a DecodeError if the message is malformed. */
size_t mp_view_index_end(VALUE index, VALUE message);

/*
 * Makes the tables of all large maps, and freezes the Index. Then Ractors may share it, because using it changes
 * nothing. `which` says which of two equal keys counts.
 */
void mp_view_index_freeze(VALUE index, VALUE message, mp_find_which which);

/* Moves a cursor, which has just opened an array, to its nth element. Allocates nothing. */
mp_status mp_view_index_go(VALUE index, mp_cursor *cursor, uint32_t n);

/*
 * Returns the key table of the map whose head is at an offset. NULL if the map is not large, or if it has a key twice
 * and the table was made for another `which`. May allocate: the first look makes the table.
 */
const mp_key_table *mp_view_index_keys(VALUE index, VALUE message, size_t head, uint64_t pairs, mp_find_which which);

/* The tape of an Index, over the bytes of the message. Valid while the caller has both objects on its stack. */
mp_tape *mp_view_index_tape(VALUE index, VALUE message);

#endif
