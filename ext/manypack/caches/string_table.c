/* The cold half of string tables: marks them and searches all places. */
#include "caches/string_table.h"

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
mp_string_table_mark(const mp_cache_table *table)
{
    const mp_string_entry *entries = table->entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(table); i++) {
        if (entries[i].object) rb_gc_mark_movable(entries[i].object);
    }
}

/* An entry is found by its bytes, so it stays in place when its object moves. */
void
mp_string_table_compact(mp_cache_table *table)
{
    mp_string_entry *entries = table->entries;
    size_t i;

    for (i = 0; i < mp_cache_table_size(table); i++) {
        if (entries[i].object) entries[i].object = rb_gc_location(entries[i].object);
    }
}

size_t
mp_string_table_memsize(const mp_cache_table *table)
{
    return mp_cache_table_memsize(table, &layout);
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

const mp_string_entry *
mp_string_search(mp_cache_table *table, const mp_string_entry *wanted, const uint8_t *p, size_t len)
{
    const mp_string_entry *entries = table->entries;
    size_t home = mp_string_home(table, wanted), way;

    for (way = 0; way < MP_CACHE_WAYS; way++) {
        const mp_string_entry *entry = &entries[home ^ way];

        if (!mp_string_same_p(entry, wanted) || !whole_match_p(entry, p, len)) continue;
        return mp_cache_table_hit(table, &layout, home, way);
    }
    return NULL;
}

void
mp_string_keep(mp_cache_table *table, const mp_string_entry *entry)
{
    mp_cache_table_keep(table, &layout, entry);
}
