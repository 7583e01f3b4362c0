/* The key cache: map keys that a Ractor has seen before, as frozen Strings and as Symbols. */
#ifndef MANYPACK_KEY_CACHE_H
#define MANYPACK_KEY_CACHE_H

#include "caches/string_table.h"

/* Longer keys are not cached. */
#define MP_KEY_MAX 64

typedef struct {
    mp_cache_table table;
} mp_key_cache;

/*
 * The cold half of mp_key_cache_fetch: searches all places. Makes a key that is not there, and caches it unless it is
 * too long.
 */
VALUE mp_key_cache_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind);

/*
 * The key with the len bytes at p, from the cache or new. A String is frozen and shareable. 0 if the key shall be a
 * Symbol and the bytes are not UTF-8.
 */
MP_INLINE VALUE
mp_key_cache_fetch(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (MP_LIKELY(len - 1 < MP_STRING_INLINE)) {
        mp_string_entry key = mp_string_describe(p, len, kind);
        const mp_string_entry *found = mp_string_near(&cache->table, &key);
        if (MP_LIKELY(found != NULL)) return found->object;
    }
    return mp_key_cache_search(cache, p, len, kind);
}

#endif
