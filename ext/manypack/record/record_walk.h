/* A Record that is being loaded: its keys and its values so far. */
#ifndef MANYPACK_RECORD_WALK_H
#define MANYPACK_RECORD_WALK_H

#include "record/instance.h"
#include "record/loader.h"

/* Lives on the C stack. */
typedef struct {
    const mp_record *record;
    const mp_record *outer;   /* the Record around this one */
    uint32_t outer_field;
    const mp_field_key *next; /* the key that is expected next, or the end of the keys */
    uint32_t missing;         /* fields that have no value yet */
    size_t first;             /* where its values begin on the value stack; Qundef for fields without a value */
    const uint8_t *at;        /* its head */
    const mp_tag_key *tag_keys; /* as in mp_loader */
    bool keys_may_collide;    /* an unknown key is not a String, Symbol or Integer */
    long errors;              /* number of errors kept before this Record */
    mp_place place;
} mp_record_walk;

/* Opens the Record at the next head without moving past the head. StackError if it is too deep. */
MP_INLINE void
mp_record_open(mp_loader *l, mp_record_walk *walk, const mp_record *record)
{
    VALUE *values;
    uint32_t i;

    *walk = (mp_record_walk){.record = record, .outer = l->record, .outer_field = l->field, .first = l->count,
                             .next = record->keys.keys, .missing = record->count, .at = l->d.at,
                             .tag_keys = l->tag_keys, .errors = l->kept, .place = {.key = Qundef}};
    mp_loader_open(l, &walk->place, l->d.at);
    l->tag_keys = NULL;
    l->record = record;
    l->field = MP_FIELD_NONE;
    while (MP_UNLIKELY(l->d.stack.capacity - l->count < record->count)) mp_decoder_grow_stack(&l->d, l->count);
    values = l->d.stack.values + l->count;
    for (i = 0; i < record->count; i++) values[i] = Qundef;
    l->count += record->count;
}

MP_INLINE void
mp_record_close(mp_loader *l, const mp_record_walk *walk)
{
    mp_loader_close(l, &walk->place);
    l->record = walk->outer;
    l->field = walk->outer_field;
    l->count = walk->first;
}

/* The values, one for each field. The pointer is valid until something is pushed on the value stack. */
MP_INLINE VALUE *
mp_record_values(const mp_loader *l, const mp_record_walk *walk)
{
    return l->d.stack.values + walk->first;
}

MP_INLINE void
mp_record_set(mp_loader *l, mp_record_walk *walk, uint32_t field, VALUE value)
{
    VALUE *place = &mp_record_values(l, walk)[field];

    if (MP_LIKELY(*place == Qundef)) walk->missing--;
    *place = value;
}

/* The slow path of mp_record_next_key: any key, in any order. */
const mp_field_key *mp_record_search_key(mp_loader *l, const mp_field_table *keys);

/*
 * Moves past the next key and finds its field; NULL if no field has it. Most messages have keys in the members' order.
 */
MP_INLINE const mp_field_key *
mp_record_next_key(mp_loader *l, mp_record_walk *walk)
{
    const mp_field_table *keys = &walk->record->keys;
    const mp_field_key *key = walk->next;

    if (key < keys->keys + keys->count && mp_ahead_p(l->d.at, l->d.end) && mp_field_key_at_p(key, l->d.at, l->d.end)) {
        l->d.at += key->size;
    } else {
        key = mp_record_search_key(l, keys);
        if (!key) return NULL;
    }
    walk->next = key + 1;
    return key;
}

/*
 * Skips, keeps or refuses (RecordError) an unknown pair, as the Record says. The key is at key_at, the value is next.
 * Returns true if the pair must be loaded by the types of record->rest, from key_at on.
 */
bool mp_record_unknown_pair(mp_loader *l, mp_record_walk *walk, const uint8_t *key_at);

/* The dump_only field with the key at key_at; NULL without one. */
const mp_field_key *mp_record_dump_only_key(mp_loader *l, const mp_record_walk *walk, const uint8_t *key_at);

/*
 * Called before the value of a field that already has one. If the first one counts, skips the second and returns true.
 * With unique_keys, raises: the key must be an alias, because equal keys were refused before.
 */
bool mp_record_skip_second(mp_loader *l, const mp_record_walk *walk);

/* True for the tag key of a union that chose the Record, or that objects of its class have everywhere. */
bool mp_record_tag_key_p(const mp_record_walk *walk, VALUE key);

#endif
