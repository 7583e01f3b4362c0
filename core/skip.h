/*
 * Walks over packed bytes without building anything: skip, validate, measure, split. Iterative: a level of depth costs
 * eight bytes of the caller's memory and no C stack. Resumable at every byte.
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
    uint64_t objects;  /* heads read; in mp_skip_limited, those that containers declared, on top of the caller's */
    size_t deepest;    /* most containers ever open; mp_measure only */
} mp_walk;

/* Starts a walk over one object. left holds max_depth numbers and must outlive the walk. */
void mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth);

/*
 * Each passes over the rest of the object at *p and sets *p to its end. On MP_E_TRUNCATED, *p is at the end of what was
 * passed over: call again with the bytes from there on, and more of them, and the walk continues. On any other status,
 * *p is at the head to blame.
 *
 * mp_skip          checks the structure: heads, lengths, depth
 * mp_skip_limited  as mp_skip, and checks what heads declare against limits: MP_E_MAX_ statuses
 * mp_validate      also that each str is UTF-8 and each timestamp well formed
 * mp_measure       as mp_skip, and counts
 */
mp_status mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_skip_limited(mp_walk *walk, const uint8_t **p, const uint8_t *end, const mp_limits *limits);
mp_status mp_validate(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_measure(mp_walk *walk, const uint8_t **p, const uint8_t *end);

/* How far a walk over successive objects has come. */
typedef struct {
    const uint8_t *at;  /* where it goes on */
    const uint8_t *cut; /* the end of the last whole object; initially the start of the first one */
    uint64_t objects;   /* whole ones before cut */
    uint64_t bytes;     /* of those */
} mp_run;

/*
 * Passes over whole objects as mp_skip does, until there are at least that many objects or bytes: MP_OK.
 * MP_E_TRUNCATED if the bytes end before that, between two objects (then at is cut) or inside one; the walk continues
 * there with the same run, once its pointers point into a block that has more bytes. On any other status, at is at the
 * head to blame; what is before cut is whole all the same.
 */
mp_status mp_split(mp_walk *walk, mp_run *run, const uint8_t *end, uint64_t objects, uint64_t bytes);

/* Counts an object that the caller has passed over itself; true if it was the last one of the walk. */
bool mp_walk_object_passed(mp_walk *walk);

/* Open containers, from the innermost one, that mp_walk_missing looks at: all of them would cost time at each byte. */
#define MP_MISSING_LEVELS 64

/*
 * After MP_E_TRUNCATED: how many bytes the walk needs after end, at least, given the same p. Never more than the object
 * has, so that a blocking read of that many does not wait for another object.
 */
uint64_t mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end);

#endif
