/* Decides where a cache table puts its entries, when it grows, and which entry is replaced. */
#include "caches/cache_table.h"

/* A table grows when it is more than a quarter full, so that most entries are at home. */
enum { SIZE_PER_KEPT = 4 };

/* The entries of every table that has no memory yet: all free, so that a look-up needs no NULL check. Never written. */
static const uint64_t no_entries[MP_CACHE_WAYS * MP_CACHE_ENTRY_MAX / sizeof(uint64_t)];

static bool
memoryless_p(const mp_cache_table *table)
{
    return table->entries == (const void *)no_entries;
}

void
mp_cache_table_init(mp_cache_table *table)
{
    *table = (mp_cache_table){.entries = (void *)(uintptr_t)no_entries, .shift = 62};
}

void
mp_cache_table_free(mp_cache_table *table)
{
    if (!memoryless_p(table)) xfree(table->entries);
}

size_t
mp_cache_table_memsize(const mp_cache_table *table, const mp_cache_layout *layout)
{
    return memoryless_p(table) ? 0 : mp_cache_table_size(table) * layout->entry_size;
}

/* log2 of the number of entries. */
static unsigned
bits_of(const mp_cache_table *table)
{
    return 64u - table->shift;
}

static void *
entry_at(const mp_cache_table *table, const mp_cache_layout *layout, size_t index)
{
    return (uint8_t *)table->entries + index * layout->entry_size;
}

static bool
free_p(const void *entry)
{
    return *(const VALUE *)entry == 0;
}

/* The free way of a home; NULL if all are occupied. */
static void *
free_way(const mp_cache_table *table, const mp_cache_layout *layout, size_t home)
{
    size_t way;

    for (way = 0; way < MP_CACHE_WAYS; way++) {
        void *place = entry_at(table, layout, home ^ way);
        if (free_p(place)) return place;
    }
    return NULL;
}

/* Doubles the table, or gives it its first memory. Forgets entries that find no free way in the new one. */
static void
grow_table(mp_cache_table *table, const mp_cache_layout *layout)
{
    unsigned bits = memoryless_p(table) ? layout->first_bits : bits_of(table) + 1;
    mp_cache_table grown = {.shift = (uint8_t)(64 - bits), .kept = table->kept};
    size_t i;

    grown.entries = ruby_xcalloc((size_t)1 << bits, layout->entry_size);
    for (i = 0; i < mp_cache_table_size(table); i++) {
        const void *entry = entry_at(table, layout, i);
        void *place = free_p(entry) ? NULL : free_way(&grown, layout, layout->home(&grown, entry));
        if (place) memcpy(place, entry, layout->entry_size);
    }
    mp_cache_table_free(table);
    *table = grown;
}

/*
 * If no way is free, the new entry takes its home. The entry there moves to another way, whose entry is forgotten.
 * So old keys do not keep the keys of a new document away from their homes.
 */
void *
mp_cache_table_keep(mp_cache_table *table, const mp_cache_layout *layout, const void *entry)
{
    bool crowded = ++table->kept > mp_cache_table_size(table) / SIZE_PER_KEPT;
    size_t home;
    void *place;

    if (memoryless_p(table) || (crowded && bits_of(table) < layout->max_bits)) grow_table(table, layout);
    home = layout->home(table, entry);
    place = free_way(table, layout, home);
    if (!place) {
        place = entry_at(table, layout, home);
        memcpy(entry_at(table, layout, home ^ (1 + table->kept % (MP_CACHE_WAYS - 1))), place, layout->entry_size);
    }
    return memcpy(place, entry, layout->entry_size);
}
