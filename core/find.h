/*
 * Finds objects in packed bytes without building anything: the value of a key, the n-th element, or each object of a
 * container in turn.
 *
 *   uint64_t left[128];
 *   mp_look look;
 *   mp_cursor cursor;
 *   mp_key key = mp_key_str("id", 2);
 *   size_t value;
 *
 *   mp_look_init(&look, bytes, size, left, 128);
 *   look.tape = &tape;                               // or NULL: walk over containers each time
 *   status = mp_cursor_open(&cursor, &look, offset); // cursor.kind, cursor.left
 *   status = mp_find(&cursor, &key, MP_FIND_FIRST, &value);
 *   if (status == MP_OK && value) ...                // the value's offset; 0 without such a key
 *
 *   while (cursor.left) {                            // every object; in a map keys and values in turn
 *       size_t from = cursor.at;
 *       status = mp_cursor_next(&cursor);            // MP_OK: the object is from there to cursor.at
 *   }
 *
 * Everything is an offset, so the bytes may move between two calls: then set look.bytes, and tape.bytes, anew. On any
 * status except MP_OK the cursor must not be used any more; look.blame is the offset of the head to blame.
 */
#ifndef MP_FIND_H
#define MP_FIND_H

#include "key.h"
#include "skip.h"
#include "tape.h"

/* The bytes to search, and what helps to skip containers in them. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    mp_walk walk;  /* used without a tape */
    mp_tape *tape; /* a tape over the same bytes; or NULL */
    size_t blame;
} mp_look;

/*
 * Containers may be max_depth deep, the cursor's own container included; left has as many places. With a tape, left may
 * be NULL, and the tape's own max_depth counts, from the outermost container on.
 */
MP_INLINE void
mp_look_init(mp_look *look, const uint8_t *bytes, size_t size, uint64_t *left, size_t max_depth)
{
    *look = (mp_look){.bytes = bytes, .size = size, .walk = {.left = left, .max_depth = max_depth}};
}

typedef struct {
    mp_look *look;
    size_t head;   /* of the container */
    size_t at;     /* the next object */
    uint64_t left; /* objects from there on; in a map keys and values count separately */
    uint32_t near; /* for the tape */
    mp_kind kind;
} mp_cursor;

/* Opens the container at offset, which must be inside the bytes. For an object that is not a container, left is 0. */
mp_status mp_cursor_open(mp_cursor *cursor, mp_look *look, size_t offset);

/* Skips one object. cursor->left must not be 0. */
mp_status mp_cursor_next(mp_cursor *cursor);

/* Skips n objects, or all objects that are left. */
mp_status mp_cursor_skip(mp_cursor *cursor, uint64_t n);

/* Moves *p over at most n leaves, up to the first object that mp_skip_leaf refuses. Returns how many are left. */
MP_INLINE uint64_t
mp_skip_leaves(const uint8_t **p, const uint8_t *end, uint64_t n)
{
    while (n && mp_skip_leaf(p, end)) n--;
    return n;
}

/* The same from a cursor on. Its container must have at least n objects left. */
MP_INLINE uint64_t
mp_cursor_skip_leaves(mp_cursor *cursor, uint64_t n)
{
    const uint8_t *const bytes = cursor->look->bytes;
    const uint8_t *p = bytes + cursor->at;
    uint64_t left = mp_skip_leaves(&p, bytes + cursor->look->size, n);

    cursor->at = (size_t)(p - bytes);
    cursor->left -= n - left;
    return left;
}

/* Moves a cursor past a key of a map, and reads the key. */
MP_INLINE mp_status
mp_cursor_key(mp_cursor *cursor, mp_key *key)
{
    const uint8_t *p = cursor->look->bytes + cursor->at;
    mp_status status;
    uint32_t n;

    if (mp_ahead_p(p, cursor->look->bytes + cursor->look->size) && mp_fixstr_ahead_p(p, &n)) {
        cursor->at += 1 + n;
        cursor->left--;
        *key = mp_key_str(p + 1, n);
        return MP_OK;
    }
    status = mp_cursor_next(cursor);
    if (MP_LIKELY(status == MP_OK)) *key = mp_key_read(p, cursor->look->bytes + cursor->at);
    return status;
}

/* What to do if a map has the key more than once. */
typedef enum {
    MP_FIND_FIRST, /* stop at the first, without skipping its value */
    MP_FIND_LAST,  /* search to the end of the map, because unpacking keeps the last */
} mp_find_which;

/*
 * Searches a map for a key, from the cursor on. Sets *value to the offset of the key's value; 0 without such a key.
 * Keys are compared by mp_key_compare. With MP_FIND_FIRST, the cursor is at the value afterwards.
 */
mp_status mp_find(mp_cursor *cursor, const mp_key *key, mp_find_which which, size_t *value);

/* A key, and up to 8 bytes of a str key as a word that is compared under a mask. */
typedef struct {
    mp_key key;
    uint32_t n; /* the size of a str; UINT32_MAX of any other key */
    uint64_t start, mask;
} mp_wanted_key;

/*
 * Keys that one walk searches for.
 *
 *   mp_wanted_key keys[2];
 *   mp_wanted wanted = {.keys = keys};
 *   size_t values[2];
 *
 *   mp_wanted_add(&wanted, &id);
 *   mp_wanted_add(&wanted, &name);
 *   status = mp_find_wanted(&cursor, &wanted, true, values); // the offsets of their values
 */
typedef struct {
    mp_wanted_key *keys; /* the caller's memory */
    uint32_t count;
    uint32_t lengths;    /* bit n: one of the keys is a str of n bytes */
} mp_wanted;

/* Adds a key, which is not a bin. The caller's memory must have a place for it. */
void mp_wanted_add(mp_wanted *wanted, const mp_key *key);

/*
 * Searches a map for several keys, from the cursor on. Sets the element of values for each key to the offset of its
 * value, or to 0. Of equal keys the last counts if `last`; otherwise the first, and the search stops at the value of
 * the key that it finds last.
 */
mp_status mp_find_wanted(mp_cursor *cursor, const mp_wanted *wanted, bool last, size_t *values);

#endif
