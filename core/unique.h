/* Detects a duplicate key in a map, in n log n comparisons for any bytes: there is no hash table to flood. */
#ifndef MP_UNIQUE_H
#define MP_UNIQUE_H

#include "tape_entry.h"
#include "wire.h"

/* Makes the entry of the key between two offsets. */
mp_tape_entry mp_unique_entry(const uint8_t *bytes, size_t from, size_t to);

/* True if two of n keys are the same. n is at least 2. Reorders the entries. */
bool mp_unique_twice_p(const uint8_t *bytes, mp_tape_entry *keys, size_t n);

/*
 * Notes the keys of a map while a walk passes them. For most maps that proves that the keys differ, so that they need
 * not be read again. Only a str can be noted.
 */
#define MP_NOTED_BITS_LOG2 13

typedef struct {
    uint32_t left; /* keys that are not noted; 0: all keys of the map differ; above 0: unknown */
    uint32_t shift;
    uint64_t bits[(1 << MP_NOTED_BITS_LOG2) / 64];
} mp_noted_keys;

/* Starts with a map of n pairs. At most one in 32 maps with up to 22 different keys gets no answer. */
void mp_noted_keys_start(mp_noted_keys *noted, uint32_t n);

/* Hashes the length and the first and last eight bytes of a str. Eight bytes must be readable at p. */
MP_INLINE uint32_t
mp_noted_key_hash(const uint8_t *p, size_t n)
{
    unsigned missing = n < 8 ? 8 - (unsigned)n : 0; /* of eight bytes; no branches, because predictors miss lengths */
    uint64_t mask = n ? UINT64_MAX << 8 * missing : 0;
    uint64_t first = mp_load64(p) & mask, last = mp_load64(p + n + missing - 8) & mask;

    return (uint32_t)(((first * UINT64_C(0x9e3779b97f4a7c15) ^ last) + n) * UINT64_C(0xd6e8feb86659fd93) >> 32);
}

/*
 * Notes a str of n bytes, unless it may be noted already: then left never reaches 0. Eight bytes must be readable at p.
 */
MP_INLINE void
mp_noted_keys_add(mp_noted_keys *noted, const uint8_t *p, size_t n)
{
    uint32_t bit = mp_noted_key_hash(p, n) >> noted->shift;
    uint64_t *word = &noted->bits[bit / 64], mask = UINT64_C(1) << bit % 64;

    noted->left -= !(*word & mask);
    *word |= mask;
}

#endif
