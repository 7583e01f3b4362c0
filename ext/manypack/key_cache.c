/* The key cache: where it lives, how it grows, what it does about a key that it does not have. */
#include "key_cache.h"

#include "utf8.h"

MP_STATIC_ASSERT(key_entry_is_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_key_entry) == 64);

/* 4 KB at first, 16 KB at most: a process may have ten thousand Ractors. */
enum { FIRST_BITS = 6, MAX_BITS = 8 };

static rb_ractor_local_key_t cache_key;

static size_t
entry_count(const mp_key_cache *cache)
{
    return (size_t)1 << (64 - cache->shift);
}

/* Storage of a Ractor has no compaction callback, so that keys must be pinned. */
static void
key_cache_mark(void *ptr)
{
    mp_key_cache *cache = ptr;
    size_t i;

    for (i = 0; i < entry_count(cache); i++) {
        if (cache->entries[i].key) rb_gc_mark(cache->entries[i].key);
    }
}

static void
key_cache_free(void *ptr)
{
    mp_key_cache *cache = ptr;

    xfree(cache->entries);
    xfree(cache);
}

static const struct rb_ractor_local_storage_type key_cache_type = {key_cache_mark, key_cache_free};

static MP_NOINLINE mp_key_cache *
key_cache_create(void)
{
    /* The entries first: if the second allocation raises, so small a leak is all that is lost. */
    mp_key_entry *entries = ZALLOC_N(mp_key_entry, (size_t)1 << FIRST_BITS);
    mp_key_cache *cache = ALLOC(mp_key_cache);

    cache->entries = entries;
    cache->shift = 64 - FIRST_BITS;
    cache->misses = 0;
    rb_ractor_local_storage_ptr_set(cache_key, cache);
    return cache;
}

mp_key_cache *
mp_key_cache_get(void)
{
    mp_key_cache *cache = rb_ractor_local_storage_ptr(cache_key);

    return MP_LIKELY(cache != NULL) ? cache : key_cache_create();
}

/* Four times as many entries, all free. */
static void
key_cache_grow(mp_key_cache *cache)
{
    mp_key_entry *entries = ZALLOC_N(mp_key_entry, entry_count(cache) * 4);

    xfree(cache->entries);
    cache->entries = entries;
    cache->shift -= 2;
    cache->misses = 0;
}

static VALUE
string_new(const uint8_t *p, size_t len, bool interned)
{
    VALUE string;

    if (interned) string = rb_enc_interned_str((const char *)p, (long)len, mp_utf8);
    else string = rb_obj_freeze(rb_enc_str_new((const char *)p, (long)len, mp_utf8));
    /* Ruby's own table may hold it for another Ractor as well: do not touch what is right already. */
    return RB_OBJ_SHAREABLE_P(string) ? string : mp_obj_set_shareable(string);
}

/* Symbols that can be collected: rb_intern and its like would keep a stranger's keys for ever. */
static VALUE
symbol_new(const uint8_t *p, size_t len)
{
    VALUE symbol;

    if (!mp_utf8_valid_p(p, len)) return 0;
    symbol = rb_check_symbol_cstr((const char *)p, (long)len, mp_utf8);
    return NIL_P(symbol) ? rb_str_intern(rb_enc_interned_str((const char *)p, (long)len, mp_utf8)) : symbol;
}

VALUE
mp_key_new(mp_key_cache *cache, mp_key_entry *entry, const uint8_t *p, size_t len, mp_key_kind kind)
{
    /*
     * A first String for a free place need not be interned: the cache keeps it for the next time. Once keys
     * push each other out, only Ruby's own table can tell that a key was seen before and save its memory.
     */
    bool taken = !entry || entry->key;
    VALUE key = kind == MP_KEY_SYMBOL ? symbol_new(p, len) : string_new(p, len, taken);

    if (!entry || !key) return key;
    if (taken && ++cache->misses > entry_count(cache) && cache->shift > 64 - MAX_BITS) {
        key_cache_grow(cache);
        return key;
    }
    mp_key_ends(p, len, &entry->first, &entry->last);
    if (len > 16) memcpy(entry->middle, p + 8, len - 16);
    entry->len = (uint8_t)len;
    entry->kind = (uint8_t)kind;
    entry->key = key;
    return key;
}

void
Init_manypack_key_cache(void)
{
    cache_key = rb_ractor_local_storage_ptr_newkey(&key_cache_type);
}
