/* The cold half of tables of Strings: memory, marks, and Strings that are longer than an entry. */
#include "string_table.h"

MP_STATIC_ASSERT(two_string_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_string_entry) == 32);

/* 1 KB at first, 32 KB at most: a process may have ten thousand Ractors. */
enum { FIRST_BITS = 5, MAX_BITS = 10 };

/* One of 1 << bits free entries. */
static mp_string_table
string_table_new(unsigned bits)
{
    mp_string_table table = {.shift = 64 - bits};

    table.entries = ZALLOC_N(mp_string_entry, mp_string_table_size(&table));
    return table;
}

/* Storage of a Ractor has no compaction callback, so that objects must be pinned. */
static void
string_table_mark(void *ptr)
{
    const mp_string_table *table = ptr;
    size_t i;

    for (i = 0; i < mp_string_table_size(table); i++) {
        if (table->entries[i].object) rb_gc_mark(table->entries[i].object);
    }
}

static void
string_table_free(void *ptr)
{
    xfree(((mp_string_table *)ptr)->entries);
    xfree(ptr);
}

static const struct rb_ractor_local_storage_type string_cache_type = {string_table_mark, string_table_free};

rb_ractor_local_key_t
mp_string_cache_key(void)
{
    return rb_ractor_local_storage_ptr_newkey(&string_cache_type);
}

static MP_NOINLINE void *
string_cache_create(rb_ractor_local_key_t key, size_t size)
{
    /* The entries first: if the second allocation raises, so small a leak is all that is lost. */
    mp_string_table table = string_table_new(FIRST_BITS);
    mp_string_table *cache = ruby_xcalloc(1, size);

    *cache = table;
    rb_ractor_local_storage_ptr_set(key, cache);
    return cache;
}

void *
mp_string_cache_get(rb_ractor_local_key_t key, size_t size)
{
    void *cache = rb_ractor_local_storage_ptr(key);

    return MP_LIKELY(cache != NULL) ? cache : string_cache_create(key, size);
}

bool
mp_string_table_grow(mp_string_table *table, mp_string_placing *place)
{
    unsigned bits = 64 - table->shift;
    mp_string_table grown;
    size_t i;

    if (bits == MAX_BITS) return false;
    grown = string_table_new(bits + 1);
    for (i = 0; i < mp_string_table_size(table); i++) {
        mp_string_entry *to = table->entries[i].object ? place(&grown, &table->entries[i]) : NULL;
        if (to) *to = table->entries[i];
    }
    xfree(table->entries);
    *table = grown;
    return true;
}

bool
mp_string_whole_p(const mp_string_entry *entry, const uint8_t *p, size_t len)
{
    VALUE string = entry->object;

    if (len <= MP_STRING_INLINE) return true;
    if (SYMBOL_P(string)) string = rb_sym2str(string);
    return memcmp(RSTRING_PTR(string), p, len) == 0;
}
