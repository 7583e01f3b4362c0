/*
 * Tables of keys. A slot holds only the offset of a key, so a search reads the keys of the slots that it passes from
 * the message. Strings are hashed by SipHash-1-3, which strangers cannot predict without the seed; for numbers,
 * multiplying by a secret odd number is as good and takes a fraction of the time.
 */
#include "key_table.h"

#define ROTATED(x, n) ((x) << (n) | (x) >> (64 - (n)))

static void
sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = ROTATED(v[1], 13) ^ v[0];
    v[0] = ROTATED(v[0], 32);
    v[2] += v[3];
    v[3] = ROTATED(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = ROTATED(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = ROTATED(v[1], 17) ^ v[2];
    v[2] = ROTATED(v[2], 32);
}

static void
sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

static uint64_t
text_hash(const uint64_t seed[2], const uint8_t *p, size_t n)
{
    uint64_t v[4], last = (uint64_t)n << 56;
    unsigned i;

    v[0] = seed[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = seed[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = seed[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = seed[1] ^ UINT64_C(0x7465646279746573);
    for (; n >= 8; n -= 8, p += 8) sip_word(v, mp_word64(p));
    for (i = 0; i < n; i++) last |= (uint64_t)p[i] << 8 * i;
    sip_word(v, last);
    v[2] ^= 0xff;
    for (i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Multiplies twice: after a single multiplication, consecutive numbers would be in neighboring slots. */
static uint64_t
number_hash(const uint64_t seed[2], uint64_t bits)
{
    uint64_t hash = bits * (seed[0] | 1);

    return (hash ^ hash >> 32) * (seed[1] | 1);
}

/* A str and a bin may be the same key, so both are hashed alike. */
MP_INLINE uint32_t
first_slot(const mp_key_table *table, const mp_key *key)
{
    bool text = key->kind == MP_STR || key->kind == MP_BIN;
    uint64_t hash = text ? text_hash(table->seed, key->bytes, key->n) : number_hash(table->seed, key->bits);

    return (uint32_t)((hash >> 32) * table->capacity >> 32);
}

MP_INLINE uint32_t
next_slot(const mp_key_table *table, uint32_t slot)
{
    return slot + 1 == table->capacity ? 0 : slot + 1;
}

/* Compares a key in the table, which starts at `at`: the offset after it if it is the wanted key, else 0. */
static size_t
end_if_same(const uint8_t *bytes, size_t size, uint32_t at, const mp_key *key)
{
    const uint8_t *p = bytes + at, *end = p;
    mp_key found;
    mp_head head;
    uint32_t n;

    if (mp_ahead_p(p, bytes + size)) {
        if (key->kind == MP_STR && mp_fixstr_ahead_p(p, &n)) {
            return n == key->n && !memcmp(p + 1, key->bytes, n) ? at + 1 + n : 0;
        }
        if (mp_key_integer_p(key)) {
            mp_wire_row row = mp_row_ahead(p);

            return mp_key_same_integer_p(key, p, row) ? at + row.head : 0;
        }
    }
    mp_head_over(p, bytes + size, &head, &end);
    found = mp_key_read(p, end);
    return mp_key_compare(&found, key) ? 0 : (size_t)(end - bytes);
}

/* The slot of a key, or the unused slot where it belongs. Sets *end to the offset after the key, or 0 if unused. */
MP_INLINE uint32_t
slot_of(const mp_key_table *table, const uint8_t *bytes, size_t size, const mp_key *key, size_t *end)
{
    uint32_t slot = first_slot(table, key);

    *end = 0;
    while (table->slots[slot] && !(*end = end_if_same(bytes, size, table->slots[slot], key))) {
        slot = next_slot(table, slot);
    }
    return slot;
}

static mp_status
add(mp_key_table *table, const mp_look *look, size_t at, const mp_key *key)
{
    uint32_t slot;
    size_t end;

    if (key->kind == MP_EXT || key->kind == MP_ARRAY || key->kind == MP_MAP) {
        table->others = true;
        return MP_OK;
    }
    if (mp_key_nan_p(key)) return MP_OK;
    slot = slot_of(table, look->bytes, look->size, key, &end);
    if (table->slots[slot]) table->twice = true;
    else if (table->used++ == table->most) return MP_E_NO_ROOM;
    if (!table->slots[slot] || table->which == MP_FIND_LAST) table->slots[slot] = (uint32_t)at;
    return MP_OK;
}

mp_status
mp_key_table_fill(mp_key_table *table, mp_cursor *cursor)
{
    mp_status status = MP_OK;

    while (cursor->left && status == MP_OK) {
        size_t at = cursor->at;
        mp_key key;

        status = mp_cursor_key(cursor, &key);
        if (status == MP_OK) status = add(table, cursor->look, at, &key);
        if (status == MP_OK && mp_cursor_skip_leaves(cursor, 1)) status = mp_cursor_next(cursor);
    }
    return status;
}

size_t
mp_key_table_find(const mp_key_table *table, const uint8_t *bytes, size_t size, const mp_key *key)
{
    size_t end;

    slot_of(table, bytes, size, key, &end);
    return end;
}
