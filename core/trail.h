/*
 * The trail to an object: the containers around it, and the key or index in each that leads to the object.
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
 * The offset is that of an object, or of any byte of its head or payload. Bytes from the offset on are not read. All
 * calls together take time in proportion to the offset.
 *
 *   trail.marks = ...                           // as many as the tape has entries; grow makes room for both
 *   if (mp_trail_go_on(&trail, offset)) ...     // then the steps, as above
 *
 * A trail with marks can continue to a later offset of the same message. All its walks together take time in proportion
 * to the last offset or, at worst, to that times the number of maps around it.
 */
#ifndef MP_TRAIL_H
#define MP_TRAIL_H

#include "tape.h"
#include "wire_table.h"

/* The last key in a map on the trail: the search for the next key starts there. */
typedef struct {
    uint32_t map;   /* the offset of the map's head */
    uint32_t place; /* objects before the key */
    uint32_t at;    /* the offset of the key; 0 for no mark */
} mp_trail_mark;

typedef struct {
    mp_tape tape;   /* its open entries are the containers, outermost first; `at` is the object */
    uint32_t depth; /* containers on the trail; a trail that ends in a map key does not enter the key */
    mp_trail_mark *marks; /* one for each entry that the tape has room for, all zero at first; or NULL */
} mp_trail;

/* bytes is the start of the message. */
void mp_trail_init(mp_trail *trail, const uint8_t *bytes, size_t offset);

/*
 * Walks to the offset. False if the message ends before the offset or is malformed before it, if the offset is 4 GiB or
 * more, or if the tape cannot grow.
 */
bool mp_trail_walk(mp_trail *trail);

/*
 * Like mp_trail_walk, walks on to a later offset of the same message, or to one in the same object. Also false if the
 * offset is before the object of the last walk, or if that walk failed: then start anew. If the message may have moved,
 * set trail->tape.bytes first.
 */
bool mp_trail_go_on(mp_trail *trail, size_t offset);

/* A container on the trail, and the index or key in it of the next container or of the object. */
typedef struct {
    mp_kind kind;   /* MP_ARRAY or MP_MAP */
    uint32_t index; /* in an array */
    size_t key;     /* in a map: the offset of the key, which ends at key_end */
    size_t key_end;
} mp_trail_step;

/* How many numbers `left` must have room for in mp_trail_step_at. */
MP_INLINE size_t
mp_trail_places(const mp_trail *trail)
{
    return (size_t)trail->tape.capacity + 1;
}

/* The step in the ith container of the trail; 0 is the outermost. */
mp_trail_step mp_trail_step_at(mp_trail *trail, uint32_t i, uint64_t *left);

#endif
