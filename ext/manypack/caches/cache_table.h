/*
 * The table behind every cache of a Ractor: small, growing as it fills, 4-way set-associative.
 *
 * An entry has four ways: its home, which its hash gives, and the three places whose index differs from the home's in
 * the lowest two bits. With a single way, two keys of one document that share a home would evict each other in every
 * row. Entries are nearly always at home, so the look-up there is inline in the cache that owns the table; this file
 * decides what goes where.
 */
#ifndef MANYPACK_CACHE_TABLE_H
#define MANYPACK_CACHE_TABLE_H

#include "base/support.h"

/* The number of places for an entry: home ^ 0 to home ^ 3. */
enum { MP_CACHE_WAYS = 4 };

typedef struct {
    void *entries;  /* never NULL; each begins with a VALUE, which is 0 if the entry is free */
    unsigned kept;  /* entries added so far, including those that replaced another */
    uint8_t shift;  /* 64 - log2 of the number of entries */
} mp_cache_table;

/* The properties of one kind of table; static and constant. */
typedef struct {
    size_t entry_size; /* at most MP_CACHE_ENTRY_MAX */
    unsigned first_bits, max_bits; /* log2 of the number of entries at first and at most */
    size_t (*home)(const mp_cache_table *table, const void *entry); /* the index of an entry's home */
} mp_cache_layout;

#define MP_CACHE_ENTRY_MAX 64

/* Makes the table empty. It gets memory of its own with its first entry. */
void mp_cache_table_init(mp_cache_table *table);

/* For the dfree and the dsize of the object that holds the table. */
void mp_cache_table_free(mp_cache_table *table);
size_t mp_cache_table_memsize(const mp_cache_table *table, const mp_cache_layout *layout);

/* Adds a copy of entry, which must not be in the table, and returns it. Replaces another entry if no way is free. */
void *mp_cache_table_keep(mp_cache_table *table, const mp_cache_layout *layout, const void *entry);

MP_INLINE size_t
mp_cache_table_size(const mp_cache_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

/* The home for a hash: the high bits of a product, because similar hashes often share their low bits. */
MP_INLINE size_t
mp_cache_table_index(const mp_cache_table *table, uint64_t hash)
{
    return (size_t)(hash * 0x9e3779b97f4a7c15u >> table->shift);
}

#endif
