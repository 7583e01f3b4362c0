/*
 * Short Strings that were seen before as values, where they are frozen, so that one may stand in several places: one
 * small table for each Ractor, made when its first of them is decoded.
 *
 * Values come and go, unlike keys: a String has one place, and the last one that came is there.
 */
#ifndef MANYPACK_VALUE_CACHE_H
#define MANYPACK_VALUE_CACHE_H

#include "string_table.h"

/* Longer Strings, and empty ones, are not kept: they are for mp_value_new. */
#define MP_VALUE_MAX 128

/*
 * A miss costs a quarter of what a hit saves: while hits are rarer than that, most Strings pass by unseen. A hit earns
 * so many misses, up to a limit, so that it is soon seen when Strings do not come again any more.
 */
enum { MP_VALUE_HIT = 4, MP_VALUE_CREDIT_MAX = 256 };

typedef struct {
    mp_string_table table;
    unsigned kept; /* put into it since it grew, in place of others too */
    int credit;    /* misses that are left; below 0, so many Strings more pass by */
} mp_value_cache;

/* The cache of the current Ractor. */
mp_value_cache *mp_value_cache_get(void);

/* A new frozen String of the len bytes at p, of either kind of values. */
VALUE mp_value_new(const uint8_t *p, size_t len, mp_string_kind kind);

/*
 * That of 1 to MP_VALUE_MAX bytes that the cache does not have inline: a longer one from the cache, or a new one, which
 * may be kept there.
 */
VALUE mp_value_cache_search(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind);

MP_INLINE VALUE
mp_value_hit(mp_value_cache *cache, const mp_string_entry *place)
{
    if (cache->credit < MP_VALUE_CREDIT_MAX) cache->credit += MP_VALUE_HIT;
    return place->object;
}

/* The same, from wherever it is. */
MP_INLINE VALUE
mp_value_cache_fetch(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (MP_LIKELY(len - 1 < MP_STRING_INLINE && cache->credit > 0)) {
        mp_string_entry value = mp_string_describe(p, len, kind);
        const mp_string_entry *place = mp_string_place(&cache->table, &value);
        if (MP_LIKELY(mp_string_same_p(place, &value))) return mp_value_hit(cache, place);
    }
    return mp_value_cache_search(cache, p, len, kind);
}

#endif
