/*
 * A hash table of the keys of a map: a search takes the same time for any key, and for a missing one.
 *
 *   mp_key_table table = {.slots = zeros, .capacity = mp_key_table_slots(n), .most = n,
 *                         .seed = {random, random}, .which = MP_FIND_FIRST};
 *
 *   mp_cursor_open(&cursor, &look, offset);               // a map of n pairs
 *   status = mp_key_table_fill(&table, &cursor);          // if not MP_OK the map is malformed, the table of no use
 *   value = mp_key_table_find(&table, bytes, size, &key); // the value's offset; 0 without such a key
 *
 * Keys that are arrays, maps or exts are not in the table, and NaN is not, because no search finds it. Without the
 * seed, nobody can make a map whose keys collide.
 */
#ifndef MP_KEY_TABLE_H
#define MP_KEY_TABLE_H

#include "find.h"

typedef struct {
    uint32_t *slots;     /* in the caller's memory: offsets of keys, 0 in an unused slot */
    uint32_t capacity;   /* number of slots */
    uint32_t most, used; /* how many different keys it may hold, fewer than capacity, and how many it holds */
    uint64_t seed[2];
    mp_find_which which; /* MP_FIND_FIRST or MP_FIND_LAST */
    bool twice;          /* a key is in the map twice: only a search by the same `which` may use the table */
    bool others;         /* the map has keys that are not in the table */
} mp_key_table;

/* How many slots a table of n pairs should have: half of them stay unused. At most UINT32_MAX. */
MP_INLINE uint32_t
mp_key_table_slots(uint32_t n)
{
    return n < UINT32_MAX / 2 ? n * 2 + 1 : UINT32_MAX;
}

/*
 * Fills an empty table. The cursor has just opened the map; offsets must fit 32 bits. MP_E_NO_ROOM if the map has more
 * different keys than the table may have.
 */
mp_status mp_key_table_fill(mp_key_table *table, mp_cursor *cursor);

/* Finds the offset of a key's value; 0 without such a key. Keys are compared by mp_key_compare. */
size_t mp_key_table_find(const mp_key_table *table, const uint8_t *bytes, size_t size, const mp_key *key);

#endif
