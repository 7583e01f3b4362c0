/* The key cache: where it lives, how it grows, what it does about a key that it does not have. */
#include "key_cache.h"

#include "utf8.h"

MP_STATIC_ASSERT(two_key_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_key_entry) == 32);

/* A key is in one of so many entries. */
enum { WAYS = 4 };

/*
 * One of so many keys that are found elsewhere moves to its own place, where a hit is inline: keys of maps that come no
 * more are soon out of the way, and two keys of one map that share their place seldom move each other.
 */
enum { STRAYS_TO_MOVE = 64 };

/* 1 KB at first, 16 KB at most: a process may have ten thousand Ractors. */
enum { FIRST_BITS = 5, MAX_BITS = 9 };

static rb_ractor_local_key_t cache_key;

static size_t
entry_count(const mp_key_cache *cache)
{
    return (size_t)1 << (64 - cache->shift);
}

/* The ith entry that a key can be in whose own place is home; behind the last one comes the first. */
static mp_key_entry *
way(const mp_key_cache *cache, const mp_key_entry *home, size_t i)
{
    size_t place = (size_t)(home - cache->entries);

    return &cache->entries[(place + i) & (entry_count(cache) - 1)];
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
    mp_key_cache shape = {.shift = 64 - FIRST_BITS};
    mp_key_cache *cache;

    /* The entries first: if the second allocation raises, so small a leak is all that is lost. */
    shape.entries = ZALLOC_N(mp_key_entry, entry_count(&shape));
    cache = ALLOC(mp_key_cache);
    *cache = shape;
    rb_ractor_local_storage_ptr_set(cache_key, cache);
    return cache;
}

mp_key_cache *
mp_key_cache_get(void)
{
    mp_key_cache *cache = rb_ractor_local_storage_ptr(cache_key);

    return MP_LIKELY(cache != NULL) ? cache : key_cache_create();
}

/* Where a key can be put that is in none of its entries; NULL when other keys have them all. */
static mp_key_entry *
free_entry(const mp_key_cache *cache, const mp_key_entry *key)
{
    const mp_key_entry *home = mp_key_place(cache, key);
    size_t i;

    for (i = 0; i < WAYS; i++) {
        mp_key_entry *entry = way(cache, home, i);
        if (!entry->key) return entry;
    }
    return NULL;
}

/* Twice as many places. */
static void
key_cache_grow(mp_key_cache *cache)
{
    mp_key_cache grown = {.shift = cache->shift - 1, .keys = cache->keys};
    size_t i;

    grown.entries = ZALLOC_N(mp_key_entry, entry_count(&grown));
    for (i = 0; i < entry_count(cache); i++) {
        mp_key_entry *to = cache->entries[i].key ? free_entry(&grown, &cache->entries[i]) : NULL;
        if (to) *to = cache->entries[i];
    }
    xfree(cache->entries);
    *cache = grown;
}

/* Interned: since Ruby 4.0 a String of its own table may know its hash, which every Hash else computes anew. */
static VALUE
string_new(const uint8_t *p, size_t len)
{
    VALUE string = rb_enc_interned_str((const char *)p, (long)len, mp_utf8);

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

/* Whether the key of an entry has the bytes at p, of which it has those that the entry has. */
static bool
long_key_p(const mp_key_entry *entry, const uint8_t *p, size_t len, mp_key_kind kind)
{
    VALUE string = kind == MP_KEY_SYMBOL ? rb_sym2str(entry->key) : entry->key;

    return memcmp(RSTRING_PTR(string), p, len) == 0;
}

/*
 * Moves a key to its own place, home, where it is not. What is there, another map's key for the most part, goes to a
 * free one of its places if there is one.
 */
static void
bring_home(mp_key_cache *cache, mp_key_entry *home, mp_key_entry *entry)
{
    mp_key_entry *to, guest = *home;

    *home = *entry;
    *entry = (mp_key_entry){0};
    to = free_entry(cache, &guest);
    if (to) *to = guest;
}

/*
 * Puts a new key into the cache, in the place of another one if there is no other way. With four places for each key
 * most of them are in their own, where a hit is inline.
 */
static void
keep(mp_key_cache *cache, mp_key_entry key)
{
    mp_key_entry *entry;

    if (++cache->keys > entry_count(cache) / 4 && cache->shift > 64 - MAX_BITS) key_cache_grow(cache);
    entry = free_entry(cache, &key);
    if (!entry) entry = way(cache, mp_key_place(cache, &key), cache->keys % WAYS);
    *entry = key;
}

/* The cached key with those bytes; 0 when there is none. */
static VALUE
find_key(mp_key_cache *cache, const mp_key_entry *key, const uint8_t *p, size_t len, mp_key_kind kind)
{
    mp_key_entry *home = mp_key_place(cache, key);
    size_t i;

    for (i = 0; i < WAYS; i++) {
        mp_key_entry *entry = way(cache, home, i);
        VALUE found = entry->key;

        if (!mp_key_same_p(entry, key) || (len > MP_KEY_INLINE && !long_key_p(entry, p, len, kind))) continue;
        if (i && ++cache->strays % STRAYS_TO_MOVE == 0) bring_home(cache, home, entry);
        return found;
    }
    return 0;
}

VALUE
mp_key_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_key_kind kind)
{
    bool cached = len - 1 < MP_KEY_MAX;
    mp_key_entry key = {0};

    if (cached) {
        VALUE found;

        key = mp_key_describe(p, len, kind);
        found = find_key(cache, &key, p, len, kind);
        if (found) return found;
    }
    key.key = kind == MP_KEY_SYMBOL ? symbol_new(p, len) : string_new(p, len);
    if (cached && key.key) keep(cache, key);
    return key.key;
}

void
Init_manypack_key_cache(void)
{
    cache_key = rb_ractor_local_storage_ptr_newkey(&key_cache_type);
}
