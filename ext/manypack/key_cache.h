/*
 * Map keys that were seen before: one small table for each Ractor, made when its first map is decoded.
 *
 * The bytes of a key stand inline beside it, so that a hit reads one cache line, hashes eight or sixteen
 * bytes and takes no lock, where Ruby's own table of strings costs ten times as much.
 */
#ifndef MANYPACK_KEY_CACHE_H
#define MANYPACK_KEY_CACHE_H

#include "manypack.h"

typedef enum { MP_KEY_STRING, MP_KEY_SYMBOL } mp_key_kind;

/* 64 bytes: a cache line. */
#define MP_KEY_MIDDLE 38
#define MP_KEY_MAX (MP_KEY_MIDDLE + 16)

typedef struct {
    VALUE key;                     /* 0 when the entry is free */
    uint64_t first, last;          /* up to 8 bytes from each end: with len all of a key of up to 16 */
    uint8_t len, kind;
    uint8_t middle[MP_KEY_MIDDLE]; /* what lies between them in a longer one */
} mp_key_entry;

typedef struct {
    mp_key_entry *entries;
    unsigned shift;  /* 64 - log2 of their number */
    unsigned misses; /* of keys whose place was taken, since the table got this size */
} mp_key_cache;

/* The cache of the current Ractor. */
mp_key_cache *mp_key_cache_get(void);

/*
 * A new key for bytes that were not found, put into the cache at entry unless that is NULL. A String is
 * frozen and shareable. 0 where the bytes are not UTF-8 and a Symbol is wanted.
 */
VALUE mp_key_new(mp_key_cache *cache, mp_key_entry *entry, const uint8_t *p, size_t len, mp_key_kind kind);

/* Both ends of a key of 1 to MP_KEY_MAX bytes. */
MP_INLINE void
mp_key_ends(const uint8_t *p, size_t len, uint64_t *first, uint64_t *last)
{
    *last = 0;
    if (len >= 8) {
        *first = mp_load64(p);
        *last = mp_load64(p + len - 8);
    } else if (len >= 4) {
        *first = (uint64_t)mp_load32(p) << 32 | mp_load32(p + len - 4);
    } else {
        *first = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
    }
}

/* The String or Symbol for the len bytes at p, from the cache or as mp_key_new. */
MP_INLINE VALUE
mp_key(mp_key_cache *cache, const uint8_t *p, size_t len, mp_key_kind kind)
{
    uint64_t first, last, hash;
    mp_key_entry *entry;

    if (MP_UNLIKELY(len - 1 >= MP_KEY_MAX)) return mp_key_new(cache, NULL, p, len, kind);
    mp_key_ends(p, len, &first, &last);
    /* The high bits: the low ones of such a product are the same for attribute_001 to attribute_999. */
    hash = (first + (last << 7 | last >> 57) + len) * 0x9e3779b97f4a7c15u;
    entry = &cache->entries[hash >> cache->shift];
    if (MP_LIKELY(entry->first == first && entry->last == last && entry->len == len && entry->kind == kind &&
                  (len <= 16 || memcmp(entry->middle, p + 8, len - 16) == 0))) {
        return entry->key;
    }
    return mp_key_new(cache, entry, p, len, kind);
}

#endif
