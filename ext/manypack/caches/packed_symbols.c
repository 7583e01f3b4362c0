/* The slow path of the packed Symbols: Symbols that are not at home, or not in the cache yet. */
#include "caches/packed_symbols.h"

MP_STATIC_ASSERT(a_packed_symbol_is_an_entry, sizeof(mp_packed_symbol) <= MP_CACHE_ENTRY_MAX);

static size_t
symbol_home(const mp_cache_table *table, const void *entry)
{
    return mp_cache_table_index(table, ((const mp_packed_symbol *)entry)->symbol);
}

/* 640 bytes at first, 20 KB at most: a process may have ten thousand Ractors. */
static const mp_cache_layout layout = {
    .entry_size = sizeof(mp_packed_symbol), .first_bits = 4, .max_bits = 9, .home = symbol_home,
};

size_t
mp_packed_symbols_memsize(const mp_cache_table *cache)
{
    return mp_cache_table_memsize(cache, &layout);
}

MP_NOINLINE const mp_packed_symbol *
mp_packed_symbols_search(mp_cache_table *cache, VALUE symbol, VALUE *name)
{
    const mp_packed_symbol *entries = cache->entries;
    size_t home = mp_cache_table_index(cache, symbol), way, n;
    mp_packed_symbol packed = {.symbol = symbol};

    for (way = 1; way < MP_CACHE_WAYS; way++) {
        if (entries[home ^ way].symbol == symbol) return &entries[home ^ way];
    }
    *name = rb_sym2str(symbol);
    n = (size_t)RSTRING_LEN(*name);
    if (n > MP_FIXSTR_MAX || !mp_utf8_index_p(rb_enc_get_index(*name))) return NULL;
    if (rb_enc_str_coderange(*name) == ENC_CODERANGE_BROKEN) return NULL; /* US-ASCII with other bytes */
    mp_copy(mp_put_str_head(packed.bytes, (uint32_t)n, false), RSTRING_PTR(*name), n);
    return mp_cache_table_keep(cache, &layout, &packed);
}
