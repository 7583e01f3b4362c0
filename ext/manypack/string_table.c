/* The cold half of tables of Strings: memory, marks, and Strings that are longer than an entry. */
#include "string_table.h"

MP_STATIC_ASSERT(two_string_entries_to_a_cache_line, sizeof(VALUE) != 8 || sizeof(mp_string_entry) == 32);

void
mp_string_table_init(mp_string_table *table, unsigned bits)
{
    table->shift = 64 - bits;
    table->entries = ZALLOC_N(mp_string_entry, mp_string_table_size(table));
}

void
mp_string_table_mark(const mp_string_table *table)
{
    size_t i;

    for (i = 0; i < mp_string_table_size(table); i++) {
        if (table->entries[i].object) rb_gc_mark(table->entries[i].object);
    }
}

bool
mp_string_whole_p(const mp_string_entry *entry, const uint8_t *p, size_t len)
{
    VALUE object = entry->object, string = SYMBOL_P(object) ? rb_sym2str(object) : object;

    return len <= MP_STRING_INLINE || memcmp(RSTRING_PTR(string), p, len) == 0;
}
