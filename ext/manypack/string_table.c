/* The cold half of tables of Strings: memory, marks, and Strings that are longer than an entry. */
#include "string_table.h"

MP_STATIC_ASSERT(two_string_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_string_entry) == 32);

void
mp_string_table_init(mp_string_table *table, unsigned bits)
{
    table->shift = 64 - bits;
    table->entries = ZALLOC_N(mp_string_entry, mp_string_table_size(table));
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

const struct rb_ractor_local_storage_type mp_string_table_storage = {string_table_mark, string_table_free};

bool
mp_string_whole_p(const mp_string_entry *entry, const uint8_t *p, size_t len)
{
    VALUE string = entry->object;

    if (len <= MP_STRING_INLINE) return true;
    if (SYMBOL_P(string)) string = rb_sym2str(string);
    return memcmp(RSTRING_PTR(string), p, len) == 0;
}
