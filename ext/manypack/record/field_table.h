/* The packed keys of a Record's fields, and the field that each key belongs to. */
#ifndef MANYPACK_FIELD_TABLE_H
#define MANYPACK_FIELD_TABLE_H

#include "base/support.h"
#include "core/key.h"

/* The value of `field` for a key of no field. */
#define MP_FIELD_NONE UINT32_MAX

/* A key, and the bytes that dump writes for it. */
typedef struct {
    mp_key key;      /* a str, whose text is in packed, or an Integer */
    uint8_t *packed; /* owned by the table */
    uint32_t size;
    uint32_t field;
    uint64_t first, first_mask, second, second_mask; /* the first 16 bytes, for one comparison without a loop */
} mp_field_key;

/* The keys in the order in which they were added, and an open hash table of their indices, at most half full. */
typedef struct {
    mp_field_key *keys;
    uint32_t *buckets;     /* indices of keys; MP_FIELD_NONE in an empty bucket */
    uint32_t count, mask;  /* number of keys; number of buckets minus 1 */
} mp_field_table;

/* Makes zeroed memory an empty table with room for `keys` keys. After NoMemoryError it can and must be freed. */
void mp_field_table_init(mp_field_table *table, size_t keys);

void mp_field_table_free(mp_field_table *table);
size_t mp_field_table_memsize(const mp_field_table *table);

/* Adds a copy of a packed str or Integer. False if the table has that key already. */
bool mp_field_table_add(mp_field_table *table, const uint8_t *packed, size_t size, uint32_t field);

/* The str key whose text is the n bytes at p; NULL without one. */
const mp_field_key *mp_field_table_text(const mp_field_table *table, const uint8_t *p, size_t n);

/* The key in the table that equals a key; NULL without one. The table may be zeroed memory. */
const mp_field_key *mp_field_table_find(const mp_field_table *table, const mp_key *key);

/* Bytes that mp_field_key_at_p may read. */
enum { MP_FIELD_AHEAD = 16 };

/* True if the packed key is at p. MP_FIELD_AHEAD bytes must be present there. */
MP_INLINE bool
mp_field_key_at_p(const mp_field_key *key, const uint8_t *p, const uint8_t *end)
{
    uint64_t differ = (mp_word64(p) ^ key->first) & key->first_mask;

    differ |= (mp_word64(p + 8) ^ key->second) & key->second_mask;
    if (MP_LIKELY(key->size <= MP_FIELD_AHEAD) || differ) return !differ;
    return (size_t)(end - p) >= key->size && memcmp(p, key->packed, key->size) == 0;
}

#endif
