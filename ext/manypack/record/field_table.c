/* Finds the field of a key by the key's bytes, without making or looking up a Ruby object. */
#include "record/field_table.h"

#include "core/utf8.h"

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

static uint64_t
hash_of_key(const mp_key *key)
{
    return key->kind == MP_STR ? hash_of_text(key->bytes, key->n) : key->bits;
}

/* The bucket where the search for a hash starts. */
static uint32_t
home(const mp_field_table *table, uint64_t hash)
{
    return (uint32_t)(hash * UINT64_C(0xff51afd7ed558ccd) >> 32) & table->mask;
}

/* Takes no mp_key: a pair with an unknown key took 1.6 times as long while this read one from memory. */
const mp_field_key *
mp_field_table_text(const mp_field_table *table, const uint8_t *p, size_t n)
{
    uint32_t bucket = home(table, hash_of_text(p, n));

    for (; table->buckets[bucket] != MP_FIELD_NONE; bucket = (bucket + 1) & table->mask) {
        const mp_field_key *found = &table->keys[table->buckets[bucket]];

        if (found->key.kind == MP_STR && found->key.n == n && memcmp(found->key.bytes, p, n) == 0) return found;
    }
    return NULL;
}

const mp_field_key *
mp_field_table_find(const mp_field_table *table, const mp_key *key)
{
    uint32_t bucket = home(table, key->bits);

    if (!table->count) return NULL;
    if (key->kind == MP_STR || (key->kind == MP_BIN && mp_ascii_p(key->bytes, key->n))) {
        return mp_field_table_text(table, key->bytes, key->n);
    }
    for (; table->buckets[bucket] != MP_FIELD_NONE; bucket = (bucket + 1) & table->mask) {
        const mp_field_key *found = &table->keys[table->buckets[bucket]];

        if (mp_key_compare(&found->key, key) == 0) return found;
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

bool
mp_field_table_add(mp_field_table *table, const uint8_t *packed, size_t size, uint32_t field)
{
    mp_field_key key = {.key = mp_key_read(packed, packed + size), .size = (uint32_t)size, .field = field};
    uint32_t bucket = home(table, hash_of_key(&key.key));

    if (mp_field_table_find(table, &key.key)) return false;
    key.packed = ALLOC_N(uint8_t, size);
    memcpy(key.packed, packed, size);
    key.key = mp_key_read(key.packed, key.packed + size);
    set_words(&key);
    while (table->buckets[bucket] != MP_FIELD_NONE) bucket = (bucket + 1) & table->mask;
    table->buckets[bucket] = table->count;
    table->keys[table->count++] = key;
    return true;
}
