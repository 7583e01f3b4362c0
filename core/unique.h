/* Finds a map key that is there twice, in n log n comparisons whatever the bytes are: there is no hash to flood. */
#ifndef MP_UNIQUE_H
#define MP_UNIQUE_H

#include "tape_entry.h"
#include "wire.h"

/* The entry of the key that is the object between two offsets. */
mp_tape_entry mp_unique_entry(const uint8_t *bytes, size_t from, size_t to);

/* True if two of n keys, at least two, are the same. Their entries change places. */
bool mp_unique_twice_p(const uint8_t *bytes, mp_tape_entry *keys, size_t n);

/*
 * The keys of a map, noted while a walk passes over them: for most maps that shows that they differ, and nobody has to
 * read them again. Only a str can be noted.
 */
#define MP_NOTED_BITS_LOG2 13

typedef struct {
    uint32_t left; /* keys that are not noted: at 0 all keys of the map differ, otherwise nobody knows */
    uint32_t shift;
    uint64_t bits[(1 << MP_NOTED_BITS_LOG2) / 64];
} mp_noted_keys;

/* Starts with a map of n pairs. Of maps with up to 22 different keys, at most one in 32 comes to no answer. */
void mp_noted_keys_start(mp_noted_keys *noted, uint32_t n);

/* A hash of a str: of its length and its first and last eight bytes. There are eight bytes at p. */
MP_INLINE uint32_t
mp_noted_key_hash(const uint8_t *p, size_t n)
{
    unsigned missing = n < 8 ? 8 - (unsigned)n : 0; /* of eight bytes; no branches, as predictors miss lengths */
    uint64_t mask = n ? UINT64_MAX << 8 * missing : 0;
    uint64_t first = mp_load64(p) & mask, last = mp_load64(p + n + missing - 8) & mask;

    return (uint32_t)(((first * UINT64_C(0x9e3779b97f4a7c15) ^ last) + n) * UINT64_C(0xd6e8feb86659fd93) >> 32);
}

/* Notes a str of n bytes, unless it may be there already: then left cannot come to 0. There are eight bytes at p. */
MP_INLINE void
mp_noted_keys_add(mp_noted_keys *noted, const uint8_t *p, size_t n)
{
    uint32_t bit = mp_noted_key_hash(p, n) >> noted->shift;
    uint64_t *word = &noted->bits[bit / 64], mask = UINT64_C(1) << bit % 64;

    noted->left -= !(*word & mask);
    *word |= mask;
}

#endif
