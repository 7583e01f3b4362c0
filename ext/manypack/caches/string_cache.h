/*
 * Strings and Symbols that a Ractor has seen before, found by their bytes. It has two of these caches: one for map
 * keys, and one for short values, which only options that freeze Strings use, so that one String may be in several
 * places.
 *
 * An entry holds the bytes of a short String, so that a hit reads half a cache line and takes no lock. Ruby's own table
 * of Strings takes ten times as long.
 */
#ifndef MANYPACK_STRING_CACHE_H
#define MANYPACK_STRING_CACHE_H

#include "caches/cache_table.h"

/* An entry holds all bytes of a String up to this length. For longer Strings, the object itself is compared, too. */
#define MP_STRING_INLINE 22

/* Longer Strings are not cached. */
#define MP_STRING_CACHED_MAX 128

/* The kind of object for the bytes. A cache may hold the same bytes once per kind. */
typedef enum { MP_KEY_STRING = 1, MP_KEY_SYMBOL, MP_VALUE_SHAREABLE, MP_VALUE_FROZEN } mp_string_kind;

typedef struct {
    VALUE object;         /* 0 if the entry is free */
    uint64_t first, last; /* up to 8 bytes from each end: all bytes of up to 16 */
    uint64_t rest;        /* length, kind, and up to 6 bytes from the middle; never 0 */
} mp_string_entry;

/* For the dmark, the dcompact and the dsize of the object that holds the cache. */
void mp_string_cache_mark(const mp_cache_table *cache);
void mp_string_cache_compact(mp_cache_table *cache);
size_t mp_string_cache_memsize(const mp_cache_table *cache);

/* Makes the entry for 1 to 255 bytes, without its object. */
MP_INLINE mp_string_entry
mp_string_describe(const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry entry = {.rest = len | (uint64_t)kind << 8};

    if (len >= 8) {
        entry.first = mp_word64(p);
        entry.last = mp_word64(p + len - 8);
    } else if (len >= 4) {
        entry.first = (uint64_t)mp_word32(p) << 32 | mp_word32(p + len - 4);
    } else {
        entry.first = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
    }
    if (len > 16) {
        unsigned bytes = len < MP_STRING_INLINE ? (unsigned)len - 16 : 6;
        const uint8_t *middle = len <= MP_STRING_INLINE ? p + 8 : p + len / 2;
        entry.rest |= mp_load64(middle) >> (64 - 8 * bytes) << 16;
    }
    return entry;
}

MP_INLINE bool
mp_string_same_p(const mp_string_entry *a, const mp_string_entry *b)
{
    return a->first == b->first && a->last == b->last && a->rest == b->rest;
}

MP_INLINE size_t
mp_string_home(const mp_cache_table *table, const mp_string_entry *entry)
{
    return mp_cache_table_index(table, entry->first + (entry->last << 7 | entry->last >> 57) + entry->rest);
}

/* Finds the object for 1 to MP_STRING_INLINE bytes if its entry is at or next to home, as most are; otherwise 0. */
MP_INLINE VALUE
mp_string_near(const mp_cache_table *table, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry wanted = mp_string_describe(p, len, kind);
    const mp_string_entry *entries = table->entries;
    size_t home = mp_string_home(table, &wanted);

    if (MP_LIKELY(mp_string_same_p(&entries[home], &wanted))) return entries[home].object;
    if (MP_LIKELY(mp_string_same_p(&entries[home ^ 1], &wanted))) return entries[home ^ 1].object;
    return 0;
}

/* The slow path of mp_string_cache_fetch: searches all places, and makes missing objects. */
VALUE mp_string_cache_search(mp_cache_table *cache, const uint8_t *p, size_t len, mp_string_kind kind);

/*
 * The object for the len bytes at p, from the cache or new. A String is frozen and shareable; with
 * MP_VALUE_FROZEN it is frozen and interned. 0 for a Symbol whose bytes are not UTF-8.
 */
MP_INLINE VALUE
mp_string_cache_fetch(mp_cache_table *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    VALUE object = MP_LIKELY(len - 1 < MP_STRING_INLINE) ? mp_string_near(cache, p, len, kind) : 0;

    return MP_LIKELY(object != 0) ? object : mp_string_cache_search(cache, p, len, kind);
}

#endif
