/*
 * The trail to an object: the containers around it, and which key or index of each leads to it.
 *
 *   mp_trail trail;
 *   mp_trail_step step;
 *   uint32_t i;
 *
 *   mp_trail_init(&trail, bytes, offset);
 *   trail.tape.grow = more_entries;             // as for any tape
 *   if (mp_trail_walk(&trail)) {
 *       uint64_t *left = ...                    // mp_trail_places(&trail) of them
 *       for (i = 0; i < trail.depth; i++) step = mp_trail_step_at(&trail, i, left);
 *   }
 *
 * The offset is that of an object, or of any byte of its head or its payload. Nothing from there on is read. All of
 * this together takes time in proportion to the offset.
 */
#ifndef MP_TRAIL_H
#define MP_TRAIL_H

#include "tape.h"
#include "wire_table.h"

typedef struct {
    mp_tape tape;   /* its open entries are the containers, outermost first; at is the object */
    uint32_t depth; /* containers on the trail: those inside of a map key are not on it */
} mp_trail;

/* bytes are those of the message. */
void mp_trail_init(mp_trail *trail, const uint8_t *bytes, size_t offset);

/*
 * Walks to the offset. False if the message ends before it or is not well formed up to there, if the offset is 4 GiB or
 * more, or if there is no room.
 */
bool mp_trail_walk(mp_trail *trail);

/* One container, and where in it the next one is, or the object. */
typedef struct {
    mp_kind kind;   /* MP_ARRAY or MP_MAP */
    uint32_t index; /* in an array */
    size_t key;     /* in a map: the offset of the key, which ends at key_end */
    size_t key_end;
} mp_trail_step;

/* How many numbers left must have for mp_trail_step_at. */
MP_INLINE size_t
mp_trail_places(const mp_trail *trail)
{
    return (size_t)trail->tape.capacity + 1;
}

/* The container with that many others around it. */
mp_trail_step mp_trail_step_at(const mp_trail *trail, uint32_t i, uint64_t *left);

#endif
