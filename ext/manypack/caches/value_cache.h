/*
 * The value cache: short Strings that a Ractor has seen before as values. Used only with options that freeze Strings,
 * so that one String may appear in several places.
 */
#ifndef MANYPACK_VALUE_CACHE_H
#define MANYPACK_VALUE_CACHE_H

#include "caches/string_table.h"

/* Longer Strings, and empty ones, are not cached: the caller uses mp_value_new. */
#define MP_VALUE_MAX 128

/*
 * A hit saves about four misses, so each hit earns four credits, up to a cap. Out of credit, the cache is bypassed for
 * a while, so that unique Strings pay almost nothing.
 */
enum { MP_VALUE_HIT = 4, MP_VALUE_CREDIT_MAX = 256 };

typedef struct {
    mp_cache_table table;
    int credit; /* how many misses are left; if negative, how many Strings still bypass the cache */
} mp_value_cache;

void mp_value_cache_init(mp_value_cache *cache);

/* A new frozen String of the len bytes at p, interned for the option freeze, shareable for the option shareable. */
VALUE mp_value_new(const uint8_t *p, size_t len, mp_string_kind kind);

/* The cold half of mp_value_cache_fetch: searches all places, makes a String that is not there, and may cache it. */
VALUE mp_value_cache_search(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind);

MP_INLINE VALUE
mp_value_cache_hit(mp_value_cache *cache, const mp_string_entry *entry)
{
    if (cache->credit < MP_VALUE_CREDIT_MAX) cache->credit += MP_VALUE_HIT;
    return entry->object;
}

/* The frozen String of the len bytes at p, 1 to MP_VALUE_MAX, from the cache or new. */
MP_INLINE VALUE
mp_value_cache_fetch(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (MP_LIKELY(len - 1 < MP_STRING_INLINE && cache->credit > 0)) {
        mp_string_entry value = mp_string_describe(p, len, kind);
        const mp_string_entry *found = mp_string_near(&cache->table, &value);
        if (MP_LIKELY(found != NULL)) return mp_value_cache_hit(cache, found);
    }
    return mp_value_cache_search(cache, p, len, kind);
}

#endif
