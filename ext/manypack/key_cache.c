/* The key cache: where it lives, how it grows, what it does about a key that it does not have. */
#include "key_cache.h"

#include "utf8.h"

/* A key is in one of so many entries. */
enum { WAYS = 4 };

/*
 * One of so many keys that had to be searched for moves to its own place, where a hit is inline: keys of maps that
 * come no more are soon out of the way, and two keys of one map that share their place seldom move each other.
 */
enum { STRAYS_TO_MOVE = 64 };

MP_STATIC_ASSERT(key_cache_begins_with_its_table, offsetof(mp_key_cache, table) == 0);

static rb_ractor_local_key_t cache_key;

/* The ith entry that a key can be in whose own place is home; the first two are beside each other. */
static mp_string_entry *
way(const mp_string_table *table, const mp_string_entry *home, size_t i)
{
    return &table->entries[(size_t)(home - table->entries) ^ i];
}

mp_key_cache *
mp_key_cache_get(void)
{
    return mp_string_cache_get(cache_key, sizeof(mp_key_cache));
}

/* Where a key can be put that is in none of its entries; NULL when other keys have them all. */
static mp_string_entry *
free_entry(const mp_string_table *table, const mp_string_entry *key)
{
    const mp_string_entry *home = mp_string_place(table, key);
    size_t i;

    for (i = 0; i < WAYS; i++) {
        mp_string_entry *entry = way(table, home, i);
        if (!entry->object) return entry;
    }
    return NULL;
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

/*
 * Moves a key to its own place, home, where it is not. What is there, another map's key for the most part, goes to a
 * free one of its places if there is one.
 */
static void
bring_home(const mp_string_table *table, mp_string_entry *home, mp_string_entry *entry)
{
    mp_string_entry *to, guest = *home;

    *home = *entry;
    *entry = (mp_string_entry){0};
    to = free_entry(table, &guest);
    if (to) *to = guest;
}

/*
 * Puts a new key into the cache, in the place of another one if there is no other way. With four places for each key
 * most of them are in their own, where a hit is inline.
 */
static void
keep(mp_key_cache *cache, mp_string_entry key)
{
    mp_string_table *table = &cache->table;
    mp_string_entry *entry;

    if (++cache->keys > mp_string_table_size(table) / 4 && mp_string_table_grow(table, free_entry)) cache->strays = 0;
    entry = free_entry(table, &key);
    if (!entry) entry = way(table, mp_string_place(table, &key), cache->keys % WAYS);
    *entry = key;
}

/* The key with those bytes from another entry than home, its own; 0 when there is none. */
static VALUE
find_stray(mp_key_cache *cache, const mp_string_entry *key, mp_string_entry *home, const uint8_t *p, size_t len)
{
    size_t i;

    for (i = 1; i < WAYS; i++) {
        mp_string_entry *entry = way(&cache->table, home, i);
        VALUE found = entry->object;

        if (!mp_string_same_p(entry, key) || !mp_string_whole_p(entry, p, len)) continue;
        if (++cache->strays % STRAYS_TO_MOVE == 0) bring_home(&cache->table, home, entry);
        return found;
    }
    return 0;
}

static VALUE
key_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    return kind == MP_KEY_SYMBOL ? symbol_new(p, len) : string_new(p, len);
}

static MP_NOINLINE VALUE
stray_or_new(mp_key_cache *cache, mp_string_entry key, mp_string_entry *home, const uint8_t *p, size_t len,
             mp_string_kind kind)
{
    VALUE found = find_stray(cache, &key, home, p, len);

    if (found) return found;
    key.object = key_new(p, len, kind);
    if (key.object) keep(cache, key);
    return key.object;
}

VALUE
mp_key_cache_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry key, *home;

    if (len - 1 >= MP_KEY_MAX) return key_new(p, len, kind);
    key = mp_string_describe(p, len, kind);
    home = mp_string_place(&cache->table, &key);
    if (mp_string_same_p(home, &key) && mp_string_whole_p(home, p, len)) return home->object;
    return stray_or_new(cache, key, home, p, len, kind);
}

void
Init_manypack_key_cache(void)
{
    cache_key = mp_string_cache_key();
}
