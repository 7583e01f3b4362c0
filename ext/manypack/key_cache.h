/*
 * Map keys that were seen before: one small table for each Ractor, made when its first map is decoded.
 *
 * The bytes of a key stand inline beside it, so that a hit reads half a cache line and takes no lock, where Ruby's own
 * table of strings costs ten times as much. A key is in one of the few entries from its own place on: were there but
 * one, two keys of a document that share it would push each other out in every row.
 */
#ifndef MANYPACK_KEY_CACHE_H
#define MANYPACK_KEY_CACHE_H

#include "manypack.h"

typedef enum { MP_KEY_STRING = 1, MP_KEY_SYMBOL } mp_key_kind;

/* Longer keys are not kept; up to MP_KEY_INLINE an entry has all bytes, of others the key itself is compared. */
#define MP_KEY_MAX 64
#define MP_KEY_INLINE 22

typedef struct {
    VALUE key;            /* 0 when the entry is free */
    uint64_t first, last; /* up to 8 bytes from each end: with the length all of a key of up to 16 */
    uint64_t rest;        /* length, kind, and up to 6 bytes behind the first 8; never 0 */
} mp_key_entry;

typedef struct {
    mp_key_entry *entries;
    unsigned shift;     /* 64 - log2 of their number */
    unsigned keys;      /* put into it so far, in place of others too */
    unsigned strays;    /* keys found in another place than their own, since it grew */
} mp_key_cache;

/* The cache of the current Ractor. */
mp_key_cache *mp_key_cache_get(void);

/* What an entry has of a key of 1 to MP_KEY_MAX bytes. */
MP_INLINE mp_key_entry
mp_key_describe(const uint8_t *p, size_t len, mp_key_kind kind)
{
    mp_key_entry entry = {.rest = len | (uint64_t)kind << 8};

    if (len >= 8) {
        entry.first = mp_load64(p);
        entry.last = mp_load64(p + len - 8);
    } else if (len >= 4) {
        entry.first = (uint64_t)mp_load32(p) << 32 | mp_load32(p + len - 4);
    } else {
        entry.first = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
    }
    if (len > 16) {
        unsigned bytes = len < MP_KEY_INLINE ? (unsigned)len - 16 : 6;
        entry.rest |= mp_load64(p + 8) >> (64 - 8 * bytes) << 16;
    }
    return entry;
}

MP_INLINE bool
mp_key_same_p(const mp_key_entry *a, const mp_key_entry *b)
{
    return a->first == b->first && a->last == b->last && a->rest == b->rest;
}

/* By the high bits of a product: the low ones are the same for attribute_001 to attribute_999. */
MP_INLINE mp_key_entry *
mp_key_place(const mp_key_cache *cache, const mp_key_entry *key)
{
    uint64_t sum = key->first + (key->last << 7 | key->last >> 57) + key->rest;

    return &cache->entries[sum * 0x9e3779b97f4a7c15u >> cache->shift];
}

/*
 * The String or Symbol for the len bytes at p that are not in their own place of the cache: from another entry, or a
 * new one, which is kept there unless it is too long. A String is frozen and shareable. 0 where the bytes are not UTF-8
 * and a Symbol is wanted.
 */
VALUE mp_key_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_key_kind kind);

/* The same, from wherever it is. */
MP_INLINE VALUE
mp_key(mp_key_cache *cache, const uint8_t *p, size_t len, mp_key_kind kind)
{
    if (MP_LIKELY(len - 1 < MP_KEY_INLINE)) {
        mp_key_entry key = mp_key_describe(p, len, kind);
        const mp_key_entry *place = mp_key_place(cache, &key);
        if (MP_LIKELY(mp_key_same_p(place, &key))) return place->key;
    }
    return mp_key_search(cache, p, len, kind);
}

#endif
