/*
 * The Index of the containers in a message, which all Views of the message share: a tape (core/tape.h) that the
 * collector owns.
 *
 *   index = mp_view_index_new(message, 128);              // empty; 0 for a short message, which needs none
 *   look.tape = mp_view_index_tape(index, message);       // grows as a search with it walks on (core/find.h)
 *   status = mp_cursor_next(&cursor);                     // skips a container by its entry
 *
 *   mp_view_index_prepare(index, &cursor, 500);           // before the cursor goes to element 500 of its array
 *   status = mp_view_index_go(index, &cursor, 500);
 *
 *   mp_view_index_finish(index, message);                 // walks to the end; raises if the message is malformed
 *   mp_view_index_freeze(index, message, MP_FIND_FIRST);  // from now on Ractors may share it
 */
#ifndef MANYPACK_VIEW_INDEX_H
#define MANYPACK_VIEW_INDEX_H

#include "codec/codec.h"
#include "core/key_table.h"

/*
 * A message of fewer bytes needs no Index, because walking over it takes no longer. A message of 4 GiB can have none.
 */
#define MP_VIEW_INDEX_MIN 512

/*
 * Makes an empty Index for a message whose containers may be max_depth deep. 0 if the message needs no Index, or can
 * have none.
 */
VALUE mp_view_index_new(VALUE message, uint32_t max_depth);

/*
 * The complete Index of a message of fewer than MP_VIEW_INDEX_MIN bytes, which pays after some looks into a container
 * of many objects. 0 if the message is malformed or too deep: then a look finds what it found without an Index.
 */
VALUE mp_view_short_index(VALUE message, uint32_t max_depth);

/*
 * Makes the complete Index of a message; 0 if it needs none or can have none. Raises what unpacking the message by the
 * codec would raise.
 */
VALUE mp_view_index_checked(VALUE message, const mp_codec *codec);

/* Raises what unpacking the single object from start to end of a message would raise. */
void mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec);

/* Indexes the rest of the message, and returns the offset after it. Raises a DecodeError if it is malformed. */
size_t mp_view_index_finish(VALUE index, VALUE message);

/*
 * Freezes a complete Index. Then Ractors may share it, because using it changes nothing. `which` of two equal keys
 * counts.
 */
void mp_view_index_freeze(VALUE index, VALUE message, mp_find_which which);

bool mp_view_index_complete_p(VALUE index);

/*
 * Called before mp_view_index_go, with the same arguments, because it may allocate. Gives an array memory for marks at
 * the second look that would walk far from its start, or at a look near the start after one that walked far: a single
 * look needs none, nor do looks in the array's order.
 */
void mp_view_index_prepare(VALUE index, const mp_cursor *cursor, uint32_t n);

/* Moves a cursor, which has just opened an array, to its nth element, by the shortest way that the Index knows. */
mp_status mp_view_index_go(VALUE index, mp_cursor *cursor, uint32_t n);

/*
 * Fast path: the element n, which may be negative, of the array whose head is at an offset of the message. NULL if
 * there is no such element, or if only mp_view_index_go can tell. Allocates nothing.
 */
const uint8_t *mp_view_index_element(VALUE index, const uint8_t *bytes, const uint8_t *end, size_t head, long n);

/*
 * Fast path: sets *value to the offset of a key's value, 0 without such a key, in a map whose head is at an offset.
 * False if the map has many pairs and no table, or the Index is not complete. Allocates nothing.
 */
bool mp_view_index_key(VALUE index, VALUE message, size_t head, uint32_t pairs, const mp_key *key, mp_find_which which,
                       size_t *value);

/*
 * The table of the keys of a map, whose first key is at an offset of the message; NULL if there is none, or if it has a
 * key twice and keeps another of the two than `which` says.
 */
const mp_key_table *mp_view_index_keys(VALUE index, size_t map, uint64_t pairs, mp_find_which which);

/*
 * Counts the pairs of a map that a search has passed. Makes a table of its keys when all searches together have passed
 * so many that it would have cost less. May allocate.
 */
void mp_view_index_passed(VALUE index, VALUE message, const mp_cursor *opened, uint64_t pairs, mp_find_which which);

/* The tape of an Index, over the bytes of the message. Valid while the caller has both objects on its stack. */
mp_tape *mp_view_index_tape(VALUE index, VALUE message);

#endif
