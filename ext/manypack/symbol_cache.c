/* The symbol cache: where it lives, how it grows, where it puts a Symbol. */
#include "symbol_cache.h"

/* A Symbol is in one of so many entries. */
enum { WAYS = 4 };

/* 640 bytes at first, 20 KB at most: a process may have ten thousand Ractors. */
enum { FIRST_BITS = 4, MAX_BITS = 9 };

static rb_ractor_local_key_t cache_key;

static void
symbol_cache_free(void *ptr)
{
    xfree(((mp_symbol_cache *)ptr)->entries);
    xfree(ptr);
}

static const struct rb_ractor_local_storage_type cache_type = {NULL, symbol_cache_free};

static size_t
size_of(const mp_symbol_cache *cache)
{
    return (size_t)1 << (64 - cache->shift);
}

/* One of 1 << bits free entries. */
static mp_symbol_cache
symbol_cache_new(unsigned bits)
{
    mp_symbol_cache cache = {.shift = 64 - bits};

    cache.entries = ZALLOC_N(mp_packed_symbol, size_of(&cache));
    return cache;
}

static MP_NOINLINE mp_symbol_cache *
symbol_cache_create(void)
{
    /* The entries first: if the second allocation raises, so small a leak is all that is lost. */
    mp_symbol_cache new = symbol_cache_new(FIRST_BITS);
    mp_symbol_cache *cache = ALLOC(mp_symbol_cache);

    *cache = new;
    rb_ractor_local_storage_ptr_set(cache_key, cache);
    return cache;
}

mp_symbol_cache *
mp_symbol_cache_get(void)
{
    mp_symbol_cache *cache = rb_ractor_local_storage_ptr(cache_key);

    return MP_LIKELY(cache != NULL) ? cache : symbol_cache_create();
}

/* The ith entry that a Symbol can be in. */
static mp_packed_symbol *
way(const mp_symbol_cache *cache, VALUE symbol, size_t i)
{
    return &cache->entries[mp_symbol_cache_home(cache, symbol) ^ i];
}

/* One of the entries that a Symbol can be in that has the other one; NULL when none has. 0 stands for none at all. */
static mp_packed_symbol *
way_with(const mp_symbol_cache *cache, VALUE symbol, VALUE other)
{
    size_t i;

    for (i = 0; i < WAYS; i++) {
        mp_packed_symbol *entry = way(cache, symbol, i);
        if (entry->symbol == other) return entry;
    }
    return NULL;
}

/* Twice as many entries; where there is no room for a Symbol it is forgotten. */
static void
grow(mp_symbol_cache *cache)
{
    mp_symbol_cache grown = symbol_cache_new(64 - cache->shift + 1);
    size_t i;

    grown.kept = cache->kept;
    for (i = 0; i < size_of(cache); i++) {
        VALUE symbol = cache->entries[i].symbol;
        mp_packed_symbol *to = symbol ? way_with(&grown, symbol, 0) : NULL;
        if (to) *to = cache->entries[i];
    }
    xfree(cache->entries);
    *cache = grown;
}

/* Where a new Symbol goes; in the place of another one if there is no other way. */
static mp_packed_symbol *
place(mp_symbol_cache *cache, VALUE symbol)
{
    mp_packed_symbol *entry;

    if (++cache->kept > size_of(cache) / 2 && 64 - cache->shift < MAX_BITS) grow(cache);
    entry = way_with(cache, symbol, 0);
    return entry ? entry : way(cache, symbol, cache->kept % WAYS);
}

MP_NOINLINE const mp_packed_symbol *
mp_symbol_cache_search(mp_symbol_cache *cache, VALUE symbol, VALUE *name)
{
    mp_packed_symbol *entry = way_with(cache, symbol, symbol);
    size_t n;

    if (entry) return entry;
    *name = rb_sym2str(symbol);
    n = (size_t)RSTRING_LEN(*name);
    if (n > MP_FIXSTR_MAX || !mp_utf8_index_p(rb_enc_get_index(*name))) return NULL;
    entry = place(cache, symbol);
    entry->symbol = symbol;
    mp_copy(mp_put_str_head(entry->bytes, (uint32_t)n, false), RSTRING_PTR(*name), n);
    return entry;
}

void
Init_manypack_symbol_cache(void)
{
    cache_key = rb_ractor_local_storage_ptr_newkey(&cache_type);
}
