/* The slow path of the caches of Strings: searches all places, makes missing objects, and bypasses the cache. */
#include "caches/string_cache.h"

#include "core/utf8.h"

MP_STATIC_ASSERT(two_string_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_string_entry) == 32);

/* How many values bypass the cache once the credit is used up. */
enum { BYPASSING = 512 };

static size_t
string_home(const mp_cache_table *table, const void *entry)
{
    return mp_string_home(table, entry);
}

/* 1 KB at first, 32 KB at most: a process may have ten thousand Ractors. */
static const mp_cache_layout layout = {
    .entry_size = sizeof(mp_string_entry), .first_bits = 5, .max_bits = 10, .home = string_home,
};

void
mp_string_cache_init(mp_string_cache *cache)
{
    mp_cache_table_init(&cache->table);
    cache->credit = MP_STRING_CREDIT_MAX;
}

void
mp_string_cache_mark(const mp_string_cache *cache)
{
    const mp_string_entry *entries = cache->table.entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(&cache->table); i++) {
        if (entries[i].object) rb_gc_mark_movable(entries[i].object);
    }
}

/* An entry is found by its bytes, so it stays in place when its object moves. */
void
mp_string_cache_compact(mp_string_cache *cache)
{
    mp_string_entry *entries = cache->table.entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(&cache->table); i++) {
        if (entries[i].object) entries[i].object = rb_gc_location(entries[i].object);
    }
}

size_t
mp_string_cache_memsize(const mp_string_cache *cache)
{
    return mp_cache_table_memsize(&cache->table, &layout);
}

/* --- what is not cached ------------------------------------------------------------------------------- */

/* A Symbol that can be collected: rb_intern and the like would keep a stranger's keys forever. */
static VALUE
symbol_new(const uint8_t *p, size_t len)
{
    VALUE symbol;

    if (!mp_utf8_valid_p(p, len)) return 0;
    symbol = rb_check_symbol_cstr((const char *)p, (long)len, mp_utf8);
    return NIL_P(symbol) ? rb_str_intern(rb_enc_interned_str((const char *)p, (long)len, mp_utf8)) : symbol;
}

/* A key is interned, because since Ruby 4.0 an interned String may store its hash, which Hashes would recompute. */
static VALUE
string_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    VALUE string;

    if (kind == MP_VALUE_SHAREABLE) {
        string = rb_enc_str_new((const char *)p, (long)len, mp_utf8);
        RB_OBJ_FREEZE(string);
        return mp_obj_set_shareable(string);
    }
    string = rb_enc_interned_str((const char *)p, (long)len, mp_utf8);
    /* Another Ractor may have the same interned String: do not write to it needlessly. */
    return kind == MP_VALUE_FROZEN || RB_OBJ_SHAREABLE_P(string) ? string : mp_obj_set_shareable(string);
}

static VALUE
object_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    return kind == MP_KEY_SYMBOL ? symbol_new(p, len) : string_new(p, len, kind);
}

/* --- the search --------------------------------------------------------------------------------------- */

static bool
cached_length_p(size_t len)
{
    return len - 1 < MP_STRING_CACHED_MAX;
}

/* Confirms a match longer than MP_STRING_INLINE by comparing the whole payload with the entry's object. */
static bool
whole_match_p(const mp_string_entry *entry, const uint8_t *p, size_t len)
{
    VALUE string = entry->object;

    if (len <= MP_STRING_INLINE) return true;
    if (SYMBOL_P(string)) string = rb_sym2str(string);
    return memcmp(RSTRING_PTR(string), p, len) == 0;
}

/* Finds the object for the bytes that `wanted` describes, in any of its four places; 0 without one. */
static VALUE
find(mp_cache_table *table, const mp_string_entry *wanted, const uint8_t *p, size_t len)
{
    const mp_string_entry *entries = table->entries;
    size_t home = mp_string_home(table, wanted), way;

    for (way = 0; way < MP_CACHE_WAYS; way++) {
        const mp_string_entry *entry = &entries[home ^ way];

        if (!mp_string_same_p(entry, wanted) || !whole_match_p(entry, p, len)) continue;
        entry = mp_cache_table_hit(table, &layout, home, way);
        return entry->object;
    }
    return 0;
}

/* Makes the object and stores it in one of its four places. None of them may have it already. */
static VALUE
make(mp_cache_table *table, mp_string_entry *entry, const uint8_t *p, size_t len, mp_string_kind kind)
{
    entry->object = object_new(p, len, kind);
    if (entry->object) mp_cache_table_keep(table, &layout, entry);
    return entry->object;
}

VALUE
mp_key_cache_search(mp_string_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry key;
    VALUE found;

    if (!cached_length_p(len)) return object_new(p, len, kind);
    key = mp_string_describe(p, len, kind);
    found = find(&cache->table, &key, p, len);
    return found ? found : make(&cache->table, &key, p, len, kind);
}

VALUE
mp_value_cache_search(mp_string_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry value;
    VALUE found;

    if (!cached_length_p(len)) return object_new(p, len, kind);
    if (cache->credit <= 0) {
        if (++cache->credit == 0) cache->credit = MP_STRING_CREDIT_MAX;
        return object_new(p, len, kind);
    }
    value = mp_string_describe(p, len, kind);
    found = find(&cache->table, &value, p, len);
    if (found) {
        if (cache->credit < MP_STRING_CREDIT_MAX) cache->credit++;
        return found;
    }
    if (--cache->credit == 0) cache->credit = -BYPASSING;
    return make(&cache->table, &value, p, len, kind);
}
