/*
 * Walks over packed bytes without building anything: skip and split. A walk can stop at any byte and continue later. It
 * does not recurse: a level of depth takes eight bytes of the caller's memory and no C stack.
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
    uint64_t objects;  /* mp_skip_limited: objects declared, added to the caller's count */
} mp_walk;

/* Starts a walk over one object. left holds max_depth numbers and must outlive the walk. */
void mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth);

/*
 * Walks over the rest of the object at *p and sets *p to its end. Checks the structure: heads, lengths, depth. On
 * MP_E_TRUNCATED, *p is where the walk stopped: to continue, call again with the bytes from there on and more bytes
 * after them. On any other status, *p is at the head to blame. mp_skip_limited also checks the limits on declared
 * sizes: MP_E_MAX_ statuses.
 */
mp_status mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end);
mp_status mp_skip_limited(mp_walk *walk, const uint8_t **p, const uint8_t *end, const mp_limits *limits);

/* The progress of a walk over successive objects. */
typedef struct {
    const uint8_t *at;  /* where the walk continues */
    const uint8_t *cut; /* the end of the last complete object; initially the start of the first */
    uint64_t objects;   /* complete objects before cut */
    uint64_t bytes;     /* bytes of these objects */
} mp_run;

/*
 * Skips objects as mp_skip does, until the run has at least `objects` complete objects or `bytes` bytes of them: MP_OK.
 * MP_E_TRUNCATED if the bytes end before that, between two objects (then run->at is run->cut) or inside one: to
 * continue, call again with the same run, after its pointers were moved into a block with more bytes. On any other
 * status, run->at is at the head to blame; the objects before run->cut are complete all the same.
 */
mp_status mp_split(mp_walk *walk, mp_run *run, const uint8_t *end, uint64_t objects, uint64_t bytes);

/* Counts an object that the caller has skipped itself. True if it was the last object of the walk. */
bool mp_walk_object_passed(mp_walk *walk);

/* mp_walk_missing counts only this many innermost containers: counting all of them would cost time at each byte. */
#define MP_MISSING_LEVELS 64

/*
 * After MP_E_TRUNCATED, with the same p: how many bytes after end the walk needs at least. Never more than the object
 * has, so that a blocking read of that many bytes does not wait for another object.
 */
uint64_t mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end);

#endif
