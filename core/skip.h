/*
 * Walking over packed bytes without building anything: skip, validate, measure. Iterative, so that depth
 * costs eight bytes of the caller's memory and no C stack; resumable at every byte.
 */
#ifndef MP_SKIP_H
#define MP_SKIP_H

#include "platform.h"
#include "status.h"

typedef struct {
    uint64_t *left;    /* objects still to come in each open container; the caller's memory */
    size_t depth;      /* open containers */
    size_t max_depth;  /* places in left */
    uint64_t payload;  /* bytes still to come of an open str, bin or ext */
    uint64_t objects;  /* heads read; mp_measure only */
    size_t deepest;    /* most containers ever open; mp_measure only */
} mp_walk;

/* Starts a walk over one object. left holds max_depth numbers and must outlive the walk. */
void mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth);

/*
 * Each passes over what is left of the object at *p and sets *p behind it. On MP_E_TRUNCATED, *p is
 * behind what was passed over: give the bytes from there on, more of them, to the next call, and the walk
 * goes on. On another status, *p is at the head to blame.
 *
 * mp_skip       checks the structure: heads, lengths, depth
 * mp_validate   also that each str is UTF-8 and each timestamp well formed
 * mp_measure    as mp_skip, and counts
 */
mp_status mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_validate(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_measure(mp_walk *walk, const uint8_t **p, const uint8_t *end);

/* Counts the object at hand as passed over by somebody else; true when that was the last one of the walk. */
bool mp_walk_object_passed(mp_walk *walk);

/*
 * After MP_E_TRUNCATED: how many bytes at least the walk still needs behind end, given the same p. Never
 * more than the object has, so that a blocking read of so many does not wait for another object.
 */
uint64_t mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end);

#endif
