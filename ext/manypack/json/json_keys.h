/*
 * The known keys of a JSON text, which repeats its keys: a key that was read before at the same depth is known, and
 * need not be read again if it follows the same key as last time. A known key also remembers its last map, so that a
 * duplicate is noticed at once. Keys without a slot are noted, and compared when their map ends: that takes n log n
 * comparisons for any keys, so there is no hash table to flood.
 */
#ifndef MANYPACK_JSON_KEYS_H
#define MANYPACK_JSON_KEYS_H

#include "buffer/window.h"

enum {
    MP_KNOWN_KEYS = 256, MP_KNOWN_SLOTS = 512, MP_KNOWN_PROBES = 4,
    MP_KNOWN_DEPTHS = 32,  /* keys of deeper maps are only noted */
    MP_KNOWN_SIZE = 64,    /* longer keys, in bytes, are only noted */
    MP_KNOWN_LEAST = 512,  /* known keys do not pay in a text with fewer bytes */
};

typedef struct {
    uint32_t text;   /* its offset in the text, or in `decoded` */
    uint32_t map;    /* the last map that had it */
    uint16_t next;   /* the key that followed it last time; 0 for none */
    uint8_t n;       /* its size in bytes */
    uint8_t depth : 7;
    bool decoded : 1; /* it had escapes */
} mp_known_key;

typedef struct {
    const uint8_t *text; /* the whole text */
    mp_window decoded;
    uint16_t count;
    uint16_t first[MP_KNOWN_DEPTHS];     /* the first key of the last map of each depth */
    uint16_t slots[MP_KNOWN_SLOTS];      /* hash table of keys */
    mp_known_key keys[MP_KNOWN_KEYS];    /* from 1 on */
} mp_known_keys;

void mp_known_keys_init(mp_known_keys *known, const uint8_t *text);

/*
 * The known key of n bytes, added if there is a free slot; otherwise 0. in_text is its place in the text, NULL if it
 * had escapes.
 */
uint16_t mp_known_key_find(mp_known_keys *known, unsigned depth, const uint8_t *bytes, size_t n,
                           const uint8_t *in_text);

/*
 * Returns the known key that last followed `after` (0: was first in a map of that depth), if it is in quotes at p and
 * not in the map yet; otherwise 0. MP_KNOWN_SIZE + 2 bytes must be readable.
 */
MP_INLINE uint16_t
mp_known_key_next(mp_known_keys *known, unsigned depth, uint16_t after, uint32_t map, const uint8_t *p)
{
    uint16_t next = after ? known->keys[after].next : known->first[depth];
    const mp_known_key *key = &known->keys[next];

    if (!next || key->decoded || key->map == map || p[key->n + 1] != '"') return 0;
    return memcmp(p + 1, known->text + key->text, key->n) ? 0 : next;
}

/* Remembers that a key followed `after` in a map. */
MP_INLINE void
mp_known_key_came(mp_known_keys *known, unsigned depth, uint16_t after, uint16_t key, uint32_t map)
{
    *(after ? &known->keys[after].next : &known->first[depth]) = key;
    known->keys[key].map = map;
}

#endif
