/* Finds the field of a key by the key's bytes, without making or looking up a Ruby object. */
#include "record/field_table.h"

/* --- storage ---------------------------------------------------------------------------------------- */

void
mp_field_table_init(mp_field_table *table, size_t keys)
{
    size_t buckets = 4;

    while (buckets < keys * 2) buckets *= 2;
    table->keys = ALLOC_N(mp_field_key, keys ? keys : 1);
    table->buckets = ALLOC_N(uint32_t, buckets);
    memset(table->buckets, 0xff, buckets * sizeof(uint32_t));
    table->mask = (uint32_t)buckets - 1;
}

void
mp_field_table_free(mp_field_table *table)
{
    uint32_t i;

    for (i = 0; i < table->count; i++) xfree(table->keys[i].packed);
    xfree(table->keys);
    xfree(table->buckets);
}

size_t
mp_field_table_memsize(const mp_field_table *table)
{
    size_t size = table->buckets ? (table->mask + (size_t)1) * sizeof(uint32_t) : 0;
    uint32_t i;

    for (i = 0; i < table->count; i++) size += sizeof(mp_field_key) + table->keys[i].size;
    return size;
}

/* --- buckets ---------------------------------------------------------------------------------------- */

/*
 * Hashes the length and up to 8 bytes of each end. Collisions need no defence: the program's own type has all keys, so
 * a search compares at most table->count.
 */
static uint64_t
hash_of_text(const uint8_t *p, size_t n)
{
    uint64_t hash = n;
    size_t i;

    if (n >= 8) return (hash + mp_word64(p)) * UINT64_C(0x9e3779b97f4a7c15) ^ mp_word64(p + n - 8);
    for (i = 0; i < n; i++) hash = hash << 8 | p[i];
    return hash;
}

static uint32_t
home(const mp_field_table *table, uint64_t hash)
{
    return (uint32_t)(hash * UINT64_C(0xff51afd7ed558ccd) >> 32) & table->mask;
}

const mp_field_key *
mp_field_table_text(const mp_field_table *table, const uint8_t *p, size_t n)
{
    uint32_t bucket = home(table, hash_of_text(p, n));

    for (; table->buckets[bucket] != MP_FIELD_NONE; bucket = (bucket + 1) & table->mask) {
        const mp_field_key *key = &table->keys[table->buckets[bucket]];

        if (key->head && key->size - key->head == n && memcmp(key->packed + key->head, p, n) == 0) return key;
    }
    return NULL;
}

const mp_field_key *
mp_field_table_number(const mp_field_table *table, int64_t number)
{
    uint32_t bucket = home(table, (uint64_t)number);

    for (; table->buckets[bucket] != MP_FIELD_NONE; bucket = (bucket + 1) & table->mask) {
        const mp_field_key *key = &table->keys[table->buckets[bucket]];

        if (!key->head && key->number == number) return key;
    }
    return NULL;
}

/* --- adding ----------------------------------------------------------------------------------------- */

/* The first n of 8 bytes of a word. */
static uint64_t
mask_of(size_t n)
{
    uint8_t bytes[8] = {0};

    memset(bytes, 0xff, n < 8 ? n : 8);
    return mp_word64(bytes);
}

/* Fills the words that mp_field_key_at_p compares. */
static void
set_words(mp_field_key *key)
{
    uint8_t bytes[MP_FIELD_AHEAD] = {0};

    memcpy(bytes, key->packed, key->size < MP_FIELD_AHEAD ? key->size : MP_FIELD_AHEAD);
    key->first = mp_word64(bytes);
    key->second = mp_word64(bytes + 8);
    key->first_mask = mask_of(key->size);
    key->second_mask = key->size > 8 ? mask_of(key->size - 8) : 0;
}

/* The value of an Integer key that is known to be complete. */
static int64_t
number_at(const uint8_t *p)
{
    mp_wire_row row = MP_WIRE[*p];

    return row.kind == MP_UINT ? (int64_t)mp_row_uint(p, row) : mp_row_sint(p, row);
}

bool
mp_field_table_add(mp_field_table *table, const uint8_t *packed, size_t size, uint32_t field)
{
    mp_wire_row row = MP_WIRE[*packed];
    mp_field_key key = {.size = (uint32_t)size, .field = field};
    uint32_t bucket;

    if (row.kind == MP_STR) {
        key.head = row.head;
        if (mp_field_table_text(table, packed + row.head, size - row.head)) return false;
        bucket = home(table, hash_of_text(packed + row.head, size - row.head));
    } else {
        key.number = number_at(packed);
        if (mp_field_table_number(table, key.number)) return false;
        bucket = home(table, (uint64_t)key.number);
    }
    key.packed = ALLOC_N(uint8_t, size);
    memcpy(key.packed, packed, size);
    set_words(&key);
    while (table->buckets[bucket] != MP_FIELD_NONE) bucket = (bucket + 1) & table->mask;
    table->buckets[bucket] = table->count;
    table->keys[table->count++] = key;
    return true;
}
