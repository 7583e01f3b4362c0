/*
 * Walking over packed bytes without building anything: skip, validate, measure, split. Iterative, so that depth
 * costs eight bytes of the caller's memory and no C stack; resumable at every byte.
 */
#ifndef MP_SKIP_H
#define MP_SKIP_H

#include "limit.h"
#include "platform.h"
#include "status.h"

typedef struct {
    uint64_t *left;    /* objects still to come in each open container; the caller's memory */
    size_t depth;      /* open containers */
    size_t max_depth;  /* places in left */
    uint64_t payload;  /* bytes still to come of an open str, bin or ext */
    uint64_t objects;  /* heads read; of mp_skip_limited those that containers declared, on top of the caller's */
    size_t deepest;    /* most containers ever open; mp_measure only */
} mp_walk;

/* Starts a walk over one object. left holds max_depth numbers and must outlive the walk. */
void mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth);

/*
 * Each passes over what is left of the object at *p and sets *p behind it. On MP_E_TRUNCATED, *p is
 * behind what was passed over: give the bytes from there on, more of them, to the next call, and the walk
 * goes on. On another status, *p is at the head to blame.
 *
 * mp_skip          checks the structure: heads, lengths, depth
 * mp_skip_limited  as mp_skip, and holds what heads declare against limits: MP_E_MAX_ statuses
 * mp_validate      also that each str is UTF-8 and each timestamp well formed
 * mp_measure       as mp_skip, and counts
 */
mp_status mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_skip_limited(mp_walk *walk, const uint8_t **p, const uint8_t *end, const mp_limits *limits);
mp_status mp_validate(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_measure(mp_walk *walk, const uint8_t **p, const uint8_t *end);

/* How far a walk over objects that lie one behind another has come. */
typedef struct {
    const uint8_t *at;  /* where it goes on */
    const uint8_t *cut; /* behind the last whole object; at first where the first one starts */
    uint64_t objects;   /* whole ones before cut */
    uint64_t bytes;     /* of those */
} mp_run;

/*
 * Passes over whole objects as mp_skip does, until they are so many, or have so many bytes, or more: MP_OK.
 * MP_E_TRUNCATED when the bytes end before that, between two objects (at is cut then) or inside one; the walk goes
 * on there with the same run, once its pointers point into a block that has more bytes. On another status, at is at
 * the head to blame, and what is before cut is whole nevertheless.
 */
mp_status mp_split(mp_walk *walk, mp_run *run, const uint8_t *end, uint64_t objects, uint64_t bytes);

/* Counts the object at hand as passed over by somebody else; true when that was the last one of the walk. */
bool mp_walk_object_passed(mp_walk *walk);

/* Open containers, from the innermost one outwards, that are asked what they lack: all would cost time at each byte. */
#define MP_MISSING_LEVELS 64

/*
 * After MP_E_TRUNCATED: how many bytes the walk still needs at least behind end, given the same p. Never
 * more than the object has, so that a blocking read of that many does not wait for another object.
 */
uint64_t mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end);

#endif
