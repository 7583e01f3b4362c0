/*
 * A Ractor's cache of Symbols in packed form, for packing.
 *
 * Before 4.1 Ruby looks up the name of a Symbol under a lock that all Ractors share: two Ractors that pack rows with
 * Symbol keys would do half the work of one. Only Symbols that are never collected are cached, so the collector need
 * not know of them.
 */
#ifndef MANYPACK_PACKED_SYMBOLS_H
#define MANYPACK_PACKED_SYMBOLS_H

#include "caches/cache_table.h"
#include "core/wire.h"

/* The longest fixstr with its head. Longer names, and names that are not valid UTF-8, are not cached. */
#define MP_PACKED_SYMBOL_MAX (1 + MP_FIXSTR_MAX)

typedef struct {
    VALUE symbol; /* 0 if the entry is free */
    uint8_t bytes[MP_PACKED_SYMBOL_MAX];
} mp_packed_symbol;

/* For the dsize of the object that holds the cache. */
size_t mp_packed_symbols_memsize(const mp_cache_table *cache);

/* The slow path of mp_packed_symbols_find: searches all places. Adds a Symbol that is not there. */
const mp_packed_symbol *mp_packed_symbols_search(mp_cache_table *cache, VALUE symbol, VALUE *name);

/*
 * The entry of a Symbol that is never collected, valid until the next look-up. If the Symbol cannot be cached, returns
 * NULL and sets *name to its name.
 */
MP_INLINE const mp_packed_symbol *
mp_packed_symbols_find(mp_cache_table *cache, VALUE symbol, VALUE *name)
{
    const mp_packed_symbol *entries = cache->entries, *home = &entries[mp_cache_table_index(cache, symbol)];

    return MP_LIKELY(home->symbol == symbol) ? home : mp_packed_symbols_search(cache, symbol, name);
}

/* Writes the packed Symbol to p, where MP_PACKED_SYMBOL_MAX bytes must be free. Returns its end. */
MP_INLINE uint8_t *
mp_put_packed_symbol(uint8_t *p, const mp_packed_symbol *packed)
{
    memcpy(p, packed->bytes, sizeof(packed->bytes));
    return p + 1 + (packed->bytes[0] & MP_FIXSTR_MAX);
}

#endif
