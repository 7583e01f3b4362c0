/*
 * The packed bytes of Symbols, found by the objects themselves: a table of each Ractor.
 *
 * Before 4.1 Ruby looks up the name of a Symbol under a lock of all Ractors: two that pack rows with Symbol keys
 * would do half of what one does. Only Symbols that are never collected are kept, so that the collector need not know.
 */
#ifndef MANYPACK_SYMBOL_CACHE_H
#define MANYPACK_SYMBOL_CACHE_H

#include "cache_table.h"
#include "wire.h"

/* A fixstr of any length. Longer names, and those that are not UTF-8, are looked up each time. */
#define MP_PACKED_SYMBOL_MAX (1 + MP_FIXSTR_MAX)

typedef struct {
    VALUE symbol; /* 0 when the entry is free */
    uint8_t bytes[MP_PACKED_SYMBOL_MAX];
} mp_packed_symbol;

typedef struct {
    mp_cache_table table;
} mp_symbol_cache;

/* For the dsize of the object that has the cache. */
size_t mp_symbol_cache_memsize(const mp_symbol_cache *cache);

/* The index of the entry that is a Symbol's home. */
MP_INLINE size_t
mp_symbol_cache_home(const mp_symbol_cache *cache, VALUE symbol)
{
    return mp_cache_table_index(&cache->table, symbol);
}

/* A Symbol that is never collected and not at home; NULL when it cannot be kept, and *name is its name. */
const mp_packed_symbol *mp_symbol_cache_search(mp_symbol_cache *cache, VALUE symbol, VALUE *name);

/* The same of one that may be at home. The entry stays where it is until the next look-up. */
MP_INLINE const mp_packed_symbol *
mp_symbol_cache_find(mp_symbol_cache *cache, VALUE symbol, VALUE *name)
{
    const mp_packed_symbol *entries = cache->table.entries, *home = &entries[mp_symbol_cache_home(cache, symbol)];

    return MP_LIKELY(home->symbol == symbol) ? home : mp_symbol_cache_search(cache, symbol, name);
}

/* Writes it to p, where there is room for MP_PACKED_SYMBOL_MAX bytes. Returns where it ends. */
MP_INLINE uint8_t *
mp_put_packed_symbol(uint8_t *p, const mp_packed_symbol *packed)
{
    memcpy(p, packed->bytes, sizeof(packed->bytes));
    return p + 1 + (packed->bytes[0] & MP_FIXSTR_MAX);
}

#endif
