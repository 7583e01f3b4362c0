/*
 * Map keys that were seen before: one small table for each Ractor, made when its first map is decoded.
 *
 * A key is in its own place, beside it, or in two more near by: were there but one, two keys of a document that share
 * it would push each other out in every row.
 */
#ifndef MANYPACK_KEY_CACHE_H
#define MANYPACK_KEY_CACHE_H

#include "string_table.h"

/* Longer keys are not kept. */
#define MP_KEY_MAX 64

typedef struct {
    mp_string_table table;
    unsigned keys;      /* put into it so far, in place of others too */
    unsigned strays;    /* keys that were searched for and found in another place than their own, since it grew */
} mp_key_cache;

/* The cache of the current Ractor. */
mp_key_cache *mp_key_cache_get(void);

/*
 * The String or Symbol for the len bytes at p that were not found inline: from another entry, or a new one, which is
 * kept there unless it is too long. A String is frozen and shareable. 0 where the bytes are not UTF-8 and a Symbol is
 * wanted.
 */
VALUE mp_key_cache_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind);

/* The same, from wherever it is. */
MP_INLINE VALUE
mp_key_cache_fetch(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (MP_LIKELY(len - 1 < MP_STRING_INLINE)) {
        mp_string_entry key = mp_string_describe(p, len, kind);
        const mp_string_entry *entries = cache->table.entries;
        size_t place = mp_string_index(&cache->table, &key);
        if (MP_LIKELY(mp_string_same_p(&entries[place], &key))) return entries[place].object;
        if (MP_LIKELY(mp_string_same_p(&entries[place ^ 1], &key))) return entries[place ^ 1].object;
    }
    return mp_key_cache_search(cache, p, len, kind);
}

#endif
