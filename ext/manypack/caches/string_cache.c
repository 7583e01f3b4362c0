/* The slow path of the caches of Strings: searches all places, and makes missing objects. */
#include "caches/string_cache.h"

#include "core/utf8.h"

MP_STATIC_ASSERT(two_string_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_string_entry) == 32);

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
mp_string_cache_mark(const mp_cache_table *cache)
{
    const mp_string_entry *entries = cache->entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(cache); i++) {
        if (entries[i].object) rb_gc_mark_movable(entries[i].object);
    }
}

/* An entry is found by its bytes, so it stays in place when its object moves. */
void
mp_string_cache_compact(mp_cache_table *cache)
{
    mp_string_entry *entries = cache->entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(cache); i++) {
        if (entries[i].object) entries[i].object = rb_gc_location(entries[i].object);
    }
}

size_t
mp_string_cache_memsize(const mp_cache_table *cache)
{
    return mp_cache_table_memsize(cache, &layout);
}

/* --- what is not cached ------------------------------------------------------------------------------- */

/* A Symbol that can be collected: rb_intern and the like would keep a stranger's keys forever. */
static VALUE
collectable_symbol(const uint8_t *p, size_t len)
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
    return kind == MP_KEY_SYMBOL ? collectable_symbol(p, len) : string_new(p, len, kind);
}

/* --- the search --------------------------------------------------------------------------------------- */

/* Confirms a match longer than MP_STRING_INLINE by comparing the whole payload with the entry's object. */
static bool
whole_match_p(const mp_string_entry *entry, const uint8_t *p, size_t len)
{
    VALUE string = entry->object;

    if (len <= MP_STRING_INLINE) return true;
    if (SYMBOL_P(string)) string = rb_sym2str(string);
    return memcmp(RSTRING_PTR(string), p, len) == 0;
}

VALUE
mp_string_cache_search(mp_cache_table *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    const mp_string_entry *entries = cache->entries;
    mp_string_entry wanted;
    size_t home, way;

    if (len - 1 >= MP_STRING_CACHED_MAX) return object_new(p, len, kind);
    wanted = mp_string_describe(p, len, kind);
    home = mp_string_home(cache, &wanted);
    for (way = 0; way < MP_CACHE_WAYS; way++) {
        const mp_string_entry *entry = &entries[home ^ way];

        if (mp_string_same_p(entry, &wanted) && whole_match_p(entry, p, len)) return entry->object;
    }
    wanted.object = object_new(p, len, kind);
    if (wanted.object) mp_cache_table_keep(cache, &layout, &wanted);
    return wanted.object;
}
