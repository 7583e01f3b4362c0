/*
 * Finds equal keys in maps: the walk notes each key, and at the end of a map its keys are compared. Most maps have few
 * keys, whose hashes differ.
 */
#ifndef MANYPACK_JSON_NOTED_H
#define MANYPACK_JSON_NOTED_H

#include "buffer/window.h"
#include "core/unique.h"

/* A key: n bytes at an offset of the text, or of the packed bytes. */
typedef struct {
    size_t at;
    uint32_t n, hash;
} mp_json_noted_key;

enum { MP_JSON_SLOTS_LOG2 = 12, MP_JSON_SLOTS = 1 << MP_JSON_SLOTS_LOG2 };

typedef struct {
    mp_window noted;               /* an mp_json_noted_key for each key of the open maps */
    uint16_t stamp;                /* counts the maps that used the slots; 0: they are not cleared yet */
    uint16_t slots[MP_JSON_SLOTS]; /* by hash: the stamp of the last map with a key of this hash */
} mp_json_noted;

MP_INLINE void
mp_json_noted_init(mp_json_noted *keys)
{
    mp_window_init(&keys->noted);
    keys->stamp = 0;
}

MP_INLINE size_t
mp_json_noted_count(const mp_json_noted *keys)
{
    return mp_out_size(&keys->noted.out) / sizeof(mp_json_noted_key);
}

/* Notes a key, by a hash that equal keys share: that of mp_noted_key_hash. */
MP_INLINE void
mp_json_noted_note(mp_json_noted *keys, size_t at, size_t n, uint32_t hash)
{
    mp_json_noted_key *key = (mp_json_noted_key *)(void *)mp_out_reserve(&keys->noted.out, sizeof(*key));

    *key = (mp_json_noted_key){.at = at, .n = (uint32_t)n, .hash = hash};
    mp_out_commit(&keys->noted.out, (uint8_t *)(key + 1));
}

/*
 * Compares the keys of a map, which are those from the index `from` on, and forgets them. Returns the offset of the
 * first key that equals an earlier one, and sets *index to its index in the map; SIZE_MAX if all differ. The offsets
 * count from `bytes`.
 */
size_t mp_json_noted_forget(mp_json_noted *keys, size_t from, const uint8_t *bytes, size_t *index);

#endif
