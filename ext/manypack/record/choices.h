/*
 * The Records among the types of an ANY_OF, if there are several. A map is loaded as the first Record whose required
 * members it has; the Record that requires most comes first.
 *
 *   uint64_t *state = ALLOCV_N(uint64_t, memory, choices->size);
 *
 *   mp_choices_begin(choices, state);
 *   mp_choices_found(choices, state, i, field);     // for each key of the map, and each choice with a field for it
 *   chosen = mp_choices_made(choices, state);       // the shape; NULL if each lacks a member
 */
#ifndef MANYPACK_CHOICES_H
#define MANYPACK_CHOICES_H

#include "base/support.h"

struct mp_shape;

typedef struct {
    const struct mp_shape *shape;
    VALUE misread;  /* the other class that dumped objects of the Record would be read as; nil if there is none */
    uint32_t first; /* index of the first bit of its fields in the state */
    uint32_t fields; /* the number of fields up to the last required one */
} mp_choice;

typedef struct {
    mp_choice *all;
    uint32_t count;
    uint32_t size;   /* words of the state: for each choice the number of missing fields, then a bit for each field */
    uint64_t *start; /* the state before the first key */
} mp_choices;

/*
 * Initializes zeroed memory from `list`, which has an Array for each choice: the index of its part, its required
 * fields, and misread.
 */
void mp_choices_init(mp_choices *choices, VALUE list, const struct mp_shape **parts);

void mp_choices_free(mp_choices *choices);
size_t mp_choices_memsize(const mp_choices *choices);

/* Sets choices->size words to the state before the first key. */
MP_INLINE void
mp_choices_begin(const mp_choices *choices, uint64_t *state)
{
    memcpy(state, choices->start, choices->size * sizeof(*state));
}

/* Returns the first choice that lacks nothing, or NULL. */
MP_INLINE const struct mp_shape *
mp_choices_made(const mp_choices *choices, const uint64_t *state)
{
    uint32_t i = 0;

    while (i < choices->count && state[i]) i++;
    return i < choices->count ? choices->all[i].shape : NULL;
}

/* Notes that the map has the field. May be called again for a field. */
MP_INLINE void
mp_choices_found(const mp_choices *choices, uint64_t *state, uint32_t number, uint32_t field)
{
    uint64_t *bits = &state[choices->all[number].first + field / 64], bit = UINT64_C(1) << (field % 64);

    if (field >= choices->all[number].fields || !(*bits & bit)) return;
    *bits &= ~bit;
    state[number]--;
}

#endif
