/* The state of a search for a Path, and of the inner searches of its conditions. */
#ifndef MANYPACK_SEARCH_STATE_H
#define MANYPACK_SEARCH_STATE_H

#include "path/program.h"
#include "view/peek.h"

/*
 * What a search does with the values it finds. The order matters: the first three, up to WAYS, yield, and the last two,
 * from COUNT on, need no order of values.
 */
typedef enum {
    MP_SINK_YIELD,
    MP_SINK_PLACES, /* yield each with the keys and indices that lead to it */
    MP_SINK_WAYS,   /* yield those keys and indices alone */
    MP_SINK_ARRAY,
    MP_SINK_BYTES,  /* append the bytes of each to a String */
    MP_SINK_ROWS,   /* append an array with the value, or nil, that each selector of the last segment finds */
    MP_SINK_WANTED, /* stop at the first that is equal to a scalar or, without one, neither nil nor false */
    MP_SINK_FIRST,  /* stop at the first that would be yielded */
    MP_SINK_COUNT,
    MP_SINK_ANY,    /* stop at the first */
} mp_sink;

/* The state that all searches in one message share. */
typedef struct {
    uint64_t looks, max_looks; /* looks that conditions may still take, and may take in all */
    uint64_t path_bytes;       /* size of the paths to the values found so far */
    VALUE patterns[2]; /* Hashes from texts to Patterns, for the functions search and match; 0 for none */
} mp_search_shared;

/* A value that a filter tests, and the offsets at which it has the keys in the filter's `wanted`. */
typedef struct {
    size_t end;                  /* the offset after it */
    bool read;                   /* values is set: it is a map, and bytes decide which keys are equal */
    size_t values[MP_ROW_KEYS];  /* 0 for none */
} mp_row;

/* One step on the way to a value. Lives on the C stack. */
typedef struct mp_way {
    const struct mp_way *up;
    VALUE before;    /* if not 0: no step, but an Array of all keys and indices that lead here */
    bool map;
    uint64_t at;     /* in a map the offset of the key, else the index */
} mp_way;

typedef struct mp_search mp_search;

struct mp_search {
    mp_peek *peek;
    VALUE root;
    const mp_program *program;
    const mp_query *query;
    mp_search_shared *shared;
    size_t start;     /* the offset at which absolute paths start */
    size_t outermost; /* offset of the root's first part if bytes after the root must be refused; else 0 */
    bool bytes_only;  /* equal keys have equal bytes, because no ext can become a String or a number */
    bool inner;       /* inside a condition: each object counts as a look */

    mp_sink sink;
    VALUE found;      /* ARRAY: of values; BYTES: a binary String */
    uint64_t count;
    size_t first;     /* the offset of the first value that was found */
    const mp_key *scalar; /* WANTED: the scalar; or NULL */
    bool stopped;     /* ANY, FIRST, WANTED: found one */
    size_t passed;    /* after mp_search_find: the offset after the map, if the search reached it; else 0 */

    const mp_row *row; /* of the value that the current condition tests; NULL if its keys were not read */
    mp_search *next;  /* several.c: the next of the searches that are at the same place */
    VALUE covered;    /* an Array with the bytes that each later segment `..` has searched; 0 for none */
    size_t covered_from, covered_size; /* the range that the first `..` walks over */

    /* mp_search_from, as a pointer: condition.c and descent.c call it, but search.c is above them. */
    size_t (*from)(mp_search *s, size_t at, long step, bool wanted, const mp_way *up);
};

/*
 * Finds the key or index of a selector. The cursor has just opened the container, and moves to the value. False if
 * there is none; in a map the cursor is at the end then.
 */
bool mp_search_find(mp_search *s, mp_cursor *cursor, const mp_selector *selector);

/* An Array of the keys and indices of a way. Refreshes the peek. */
VALUE mp_way_keys(mp_search *s, const mp_way *way);

/* The elements of a slice: from `low` on, each step, below `high`; in reverse if the slice's step is negative. */
typedef struct {
    uint64_t low, high, step;
    bool reverse;
} mp_slice_range;

/* The elements that a SLICE selects in an array of n. */
mp_slice_range mp_slice_of(const mp_selector *selector, int64_t n);

MP_INLINE mp_find_which
mp_search_which(const mp_search *s)
{
    return mp_peek_which(&s->peek->codec->options);
}

/* True if comparing bytes decides whether a key is the selector's. */
MP_INLINE bool
mp_search_by_bytes_p(const mp_search *s, const mp_selector *selector)
{
    return s->bytes_only && selector->key.kind != MP_BIN;
}

/* True if the keys and indices that lead to a value are of interest. */
MP_INLINE bool
mp_search_ways_p(const mp_search *s)
{
    return s->sink == MP_SINK_PLACES || s->sink == MP_SINK_WAYS;
}

/* Raises a DecodeError if the message ends before the object at an offset. */
MP_INLINE void
mp_search_inside(const mp_search *s, size_t at)
{
    if (MP_UNLIKELY(at >= s->peek->look.size)) mp_peek_over(s->peek, at);
}

/* Opens the container at an offset for the segment `step` of a path. StackError if it is nested too deeply. */
MP_INLINE void
mp_search_open(mp_peek *peek, mp_cursor *cursor, size_t at, long step)
{
    mp_peek_open(peek, cursor, at);
    if (MP_UNLIKELY((size_t)step >= peek->look.walk.max_depth) && cursor->left) mp_peek_raise(peek, MP_E_DEPTH);
}

/* --- looks, which conditions have a budget for -------------------------------------------------------- */

/* A long value counts as one look for each of this many bytes. */
enum { MP_LOOK_BYTES = 16 };

NORETURN(void mp_search_spent(const mp_search *s, size_t at));

/* Counts a look at the object at an offset. LimitError after the last that is allowed. */
MP_INLINE void
mp_search_look(const mp_search *s, size_t at)
{
    if (s->inner && MP_UNLIKELY(!s->shared->looks--)) mp_search_spent(s, at);
}

/*
 * Counts the looks for a value of `bytes` bytes that a condition reads as a whole: otherwise comparing many small
 * values with one large value would take quadratic time.
 */
MP_INLINE void
mp_search_look_through(const mp_search *s, size_t at, size_t bytes)
{
    uint64_t looks = bytes / MP_LOOK_BYTES;

    if (MP_UNLIKELY(s->shared->looks < looks)) mp_search_spent(s, at);
    s->shared->looks -= looks;
}

#endif
