/*
 * The table behind every cache of a Ractor: small, grown as it fills, each entry in one of four places.
 *
 * The four ways of an entry are its home, given by its hash, and the three places whose index differs from that of its
 * home in the lowest two bits. With a single way, two keys of one document that share a home would evict each other in
 * every row. A look-up for entries that are nearly always at home is inline in the cache that owns the table; this file
 * decides what goes where.
 */
#ifndef MANYPACK_CACHE_TABLE_H
#define MANYPACK_CACHE_TABLE_H

#include "support.h"

/* Places that an entry can be in: home ^ 0 to home ^ 3. */
enum { MP_CACHE_WAYS = 4 };

typedef struct {
    void *entries;   /* never NULL; each begins with a VALUE, which is 0 while the entry is free */
    unsigned shift;  /* 64 - log2 of the number of entries */
    unsigned kept;   /* entries put in so far, whether they took a free place or another's */
    unsigned strays; /* hits away from home since the table last grew */
} mp_cache_table;

/* What differs between the tables of two caches; static and constant. */
typedef struct {
    size_t entry_size; /* at most MP_CACHE_ENTRY_MAX */
    unsigned first_bits, max_bits; /* log2 of the number of entries at first and at most */
    size_t (*home)(const mp_cache_table *table, const void *entry); /* the index of an entry's home */
} mp_cache_layout;

#define MP_CACHE_ENTRY_MAX 64

/* Makes a table empty without memory of its own, which it gets when it keeps its first entry. */
void mp_cache_table_init(mp_cache_table *table);

/* For the dfree and the dsize of the object that has the table. */
void mp_cache_table_free(mp_cache_table *table);
size_t mp_cache_table_memsize(const mp_cache_table *table, const mp_cache_layout *layout);

/* Keeps a copy of entry, which no way has, and returns it: in a free way, or else instead of another entry. */
void *mp_cache_table_keep(mp_cache_table *table, const mp_cache_layout *layout, const void *entry);

/*
 * Counts a hit on the entry at home ^ way and returns the entry, which may move home for it: a hit there is inline, and
 * the entries of documents that come no more do not keep the home.
 */
void *mp_cache_table_hit(mp_cache_table *table, const mp_cache_layout *layout, size_t home, size_t way);

MP_INLINE size_t
mp_cache_table_size(const mp_cache_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

/* The index that a hash leads to. The high bits of a product: the low ones are the same for many similar hashes. */
MP_INLINE size_t
mp_cache_table_index(const mp_cache_table *table, uint64_t hash)
{
    return (size_t)(hash * 0x9e3779b97f4a7c15u >> table->shift);
}

#endif
