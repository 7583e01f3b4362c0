/*
 * The keys of the maps of a text. JSON repeats them: a key that was read before at the same depth is known, and is not
 * read again where it follows the same key as last time. A known key also remembers the map that it was last in, which
 * tells at once that it comes twice. Keys that find no place are noted, and compared when their map ends: that takes
 * n log n comparisons whatever the keys are, so there is no hash table to flood.
 */
#ifndef MANYPACK_JSON_KEYS_H
#define MANYPACK_JSON_KEYS_H

#include "buffer/window.h"

enum {
    MP_KNOWN_KEYS = 256, MP_KNOWN_SLOTS = 512, MP_KNOWN_PROBES = 4,
    MP_KNOWN_DEPTHS = 32,  /* keys of deeper maps are noted */
    MP_KNOWN_SIZE = 64,    /* and so are longer keys, in bytes */
    MP_KNOWN_LEAST = 512,  /* a text with fewer bytes repeats too little */
};

typedef struct {
    uint32_t text;   /* its offset in the text, or in `decoded` */
    uint32_t map;    /* the map that it was last in */
    uint16_t next;   /* the key that followed it last; 0 if none did */
    uint8_t n;       /* its size in bytes */
    uint8_t depth : 7;
    bool decoded : 1; /* it had escapes */
} mp_known_key;

typedef struct {
    const uint8_t *text; /* the whole text */
    mp_window decoded;
    uint16_t count;
    uint16_t first[MP_KNOWN_DEPTHS];     /* the key that was first in the last map of each depth */
    uint8_t room[2][MP_KNOWN_DEPTHS];    /* bytes of the head of the last array and the last map of each depth */
    uint16_t slots[MP_KNOWN_SLOTS];      /* hash table of keys */
    mp_known_key keys[MP_KNOWN_KEYS];    /* from 1 on */
} mp_known_keys;

void mp_known_keys_init(mp_known_keys *known, const uint8_t *text);

/*
 * The key of n bytes, which becomes a known one if there is a place for it; 0 if there is none. in_text is its place in
 * the text, NULL if it had escapes.
 */
uint16_t mp_known_key_find(mp_known_keys *known, unsigned depth, const uint8_t *bytes, size_t n,
                           const uint8_t *in_text);

/* True if n bytes are equal, of which there are more: 8 may be read at each place. */
MP_INLINE bool
mp_same_bytes(const uint8_t *one, const uint8_t *other, size_t n)
{
    if (n > 16) return !memcmp(one, other, n);
    if (n >= 8) return mp_word64(one) == mp_word64(other) && mp_word64(one + n - 8) == mp_word64(other + n - 8);
    return !n || !((mp_load64(one) ^ mp_load64(other)) >> (64 - 8 * n));
}

/*
 * If the key in quotes at p is the one that comes next after a key (0: first in a map of that depth), and this is not
 * in the map yet, returns it, otherwise 0. There are at least 16 bytes more than it could have.
 */
MP_INLINE uint16_t
mp_known_key_next(mp_known_keys *known, unsigned depth, uint16_t after, uint32_t map, const uint8_t *p)
{
    uint16_t next = after ? known->keys[after].next : known->first[depth];
    const mp_known_key *key = &known->keys[next];

    if (!next || key->decoded || key->map == map || p[key->n + 1] != '"') return 0;
    return mp_same_bytes(p + 1, known->text + key->text, key->n) ? next : 0;
}

/* Remembers that a key came after another in a map. */
MP_INLINE void
mp_known_key_came(mp_known_keys *known, unsigned depth, uint16_t after, uint16_t key, uint32_t map)
{
    *(after ? &known->keys[after].next : &known->first[depth]) = key;
    known->keys[key].map = map;
}

#endif
