/* Map keys that were seen before, as Strings and as Symbols: a table of each Ractor. */
#ifndef MANYPACK_KEY_CACHE_H
#define MANYPACK_KEY_CACHE_H

#include "string_table.h"

/* Longer keys are not kept. */
#define MP_KEY_MAX 64

typedef struct {
    mp_cache_table table;
} mp_key_cache;

/*
 * The String or Symbol for the len bytes at p that were not found inline: from another entry, or a new one, which is
 * kept unless it is too long. A String is frozen and shareable. 0 if the bytes are not UTF-8 and a Symbol is wanted.
 */
VALUE mp_key_cache_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind);

/* The same, wherever it is. */
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
