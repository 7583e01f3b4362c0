/*
 * Strings and Symbols that were seen before, by their bytes: what the caches of a Ractor keep theirs in.
 *
 * The bytes stand inline beside each, so that a hit reads half a cache line and takes no lock, where Ruby's own table
 * of strings costs ten times as much.
 */
#ifndef MANYPACK_STRING_TABLE_H
#define MANYPACK_STRING_TABLE_H

#include "manypack.h"

/* Up to so many bytes an entry has all of them, of others the object itself is compared. */
#define MP_STRING_INLINE 22

/* What is made of bytes, each for itself. */
typedef enum { MP_KEY_STRING = 1, MP_KEY_SYMBOL, MP_VALUE_SHAREABLE, MP_VALUE_INTERNED } mp_string_kind;

typedef struct {
    VALUE object;         /* 0 when the entry is free */
    uint64_t first, last; /* up to 8 bytes from each end: with the length all of up to 16 */
    uint64_t rest;        /* length, kind, and up to 6 bytes from the middle; never 0 */
} mp_string_entry;

typedef struct {
    mp_string_entry *entries;
    unsigned shift; /* 64 - log2 of their number */
} mp_string_table;

/* A key for a cache that each Ractor has of its own: a struct that begins with its table, and owns nothing else. */
rb_ractor_local_key_t mp_string_cache_key(void);

/* That of the current Ractor, of so many bytes. A new one is zero behind its table. */
void *mp_string_cache_get(rb_ractor_local_key_t key, size_t size);

/*
 * Makes the table twice as large, unless it may not be. place says where in the larger one an entry goes; NULL where
 * there is no room for it. Returns whether it is.
 */
typedef mp_string_entry *mp_string_placing(const mp_string_table *table, const mp_string_entry *entry);
bool mp_string_table_grow(mp_string_table *table, mp_string_placing *place);

/* Whether the object of an entry has the bytes at p, of which it has those that the entry has. */
bool mp_string_whole_p(const mp_string_entry *entry, const uint8_t *p, size_t len);

MP_INLINE size_t
mp_string_table_size(const mp_string_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

/* What an entry has of 1 to 255 bytes. */
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

/* By the high bits of a product: the low ones are the same for attribute_001 to attribute_999. */
MP_INLINE size_t
mp_string_index(const mp_string_table *table, const mp_string_entry *entry)
{
    uint64_t sum = entry->first + (entry->last << 7 | entry->last >> 57) + entry->rest;

    return (size_t)(sum * 0x9e3779b97f4a7c15u >> table->shift);
}

MP_INLINE mp_string_entry *
mp_string_place(const mp_string_table *table, const mp_string_entry *entry)
{
    return &table->entries[mp_string_index(table, entry)];
}

#endif
