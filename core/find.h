/*
 * Looks into packed bytes without building anything: the objects of a container in turn, the value of a key, the n-th
 * element.
 *
 *   uint64_t left[128];
 *   mp_look look;
 *   mp_cursor cursor;
 *   mp_key key = mp_key_str("id", 2);
 *   size_t value;
 *
 *   mp_look_init(&look, bytes, size, left, 128);
 *   look.tape = &tape;                               // or NULL: pass over containers anew each time
 *   status = mp_cursor_open(&cursor, &look, offset); // cursor.kind, cursor.left
 *   status = mp_find(&cursor, &key, MP_FIND_FIRST, &value);
 *   if (status == MP_OK && value) ...                // the value's offset; 0 without such a key
 *
 *   while (cursor.left) {                            // every object; in a map keys and values in turn
 *       size_t from = cursor.at;
 *       status = mp_cursor_next(&cursor);            // MP_OK: the object is from there to cursor.at
 *   }
 *
 * Everything is an offset, so that bytes may move between two calls: set look.bytes, and those of the tape, anew. On
 * any status but MP_OK the cursor must not be used further; look.blame is the offset of the head to blame.
 */
#ifndef MP_FIND_H
#define MP_FIND_H

#include "key.h"
#include "skip.h"
#include "tape.h"

/* The bytes that are looked into, and what passing over containers in them needs. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    mp_walk walk;  /* without a tape */
    mp_tape *tape; /* of the same bytes; or NULL */
    size_t blame;
} mp_look;

/*
 * Containers may be max_depth deep, that of the cursor included, for which left has as many places. With a tape its own
 * max_depth counts, from the outermost container on, and left may be NULL.
 */
void mp_look_init(mp_look *look, const uint8_t *bytes, size_t size, uint64_t *left, size_t max_depth);

typedef struct {
    mp_look *look;
    size_t at;     /* the next object */
    uint64_t left; /* objects from there on, in a map keys and values counted apart */
    uint32_t near; /* for the tape */
    mp_kind kind;
} mp_cursor;

/* Opens the container at offset, which must be inside the bytes. For any other object, sets kind, and left to 0. */
mp_status mp_cursor_open(mp_cursor *cursor, mp_look *look, size_t offset);

/* Passes over one object. The container must have one left. */
mp_status mp_cursor_next(mp_cursor *cursor);

/* Passes over n objects, or all that are left. There is another one if cursor->left is not 0. */
mp_status mp_cursor_pass(mp_cursor *cursor, uint64_t n);

/* What to do about a duplicate key. */
typedef enum {
    MP_FIND_FIRST, /* stop at the first, which does not even pass over its value */
    MP_FIND_LAST,  /* go on to the end of the map: the one that unpacking keeps */
    MP_FIND_ONLY,  /* the same; MP_E_DUPLICATE_KEY at the second */
} mp_find_which;

/*
 * Sets *value to the offset of a key's value, searching the map from the cursor's position; 0 without one. Keys are
 * compared by mp_key_compare. After MP_FIND_FIRST the cursor is at the value.
 */
mp_status mp_find(mp_cursor *cursor, const mp_key *key, mp_find_which which, size_t *value);

#endif
