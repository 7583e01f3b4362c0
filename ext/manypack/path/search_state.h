/* The state of a search for what a Path finds, and of those that its conditions make inside it. */
#ifndef MANYPACK_SEARCH_STATE_H
#define MANYPACK_SEARCH_STATE_H

#include "path/program.h"
#include "view/peek.h"

/*
 * What to do with the values that are found. The order matters: the first three, up to WAYS, yield, and the last two,
 * from COUNT on, need no order of values.
 */
typedef enum {
    MP_SINK_YIELD,
    MP_SINK_PLACES, /* yield each with the keys and indices that lead to it */
    MP_SINK_WAYS,   /* yield those keys and indices alone */
    MP_SINK_ARRAY,
    MP_SINK_BYTES,  /* append the bytes of each to a String */
    MP_SINK_ROWS,   /* the same, as an array of what each selector of the last segment finds, or nil for nothing */
    MP_SINK_WANTED, /* stop at the first that is equal to a scalar or, without one, neither nil nor false */
    MP_SINK_FIRST,  /* stop at the first that would be yielded */
    MP_SINK_COUNT,
    MP_SINK_ANY,    /* stop at the first */
} mp_sink;

/* What all searches in one message share. */
typedef struct {
    uint64_t looks, max_looks; /* left to conditions, and allowed */
    uint64_t path_bytes;       /* of the keys and indices that led to values so far */
    VALUE patterns[2]; /* Hashes of texts and the Patterns made of them: for search, for match; 0 for none */
} mp_search_shared;

/* What a condition is about: of a map, where the values of the keys are that the filter wants. */
typedef struct {
    size_t end;                  /* the offset after it */
    bool read;                   /* false for another object, which has no values */
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
    size_t start;     /* the offset of what an absolute path starts at */
    size_t outermost; /* the first object inside the message, which nothing may follow; 0 if that is not looked at */
    bool bytes_only;  /* equal keys have equal bytes: no ext can become a String or a number */
    bool inner;       /* inside a condition: each object counts as a look */

    mp_sink sink;
    VALUE found;      /* ARRAY: of values; BYTES: a binary String */
    uint64_t count;
    size_t first;     /* the offset of the first value that was found */
    const mp_key *scalar; /* WANTED: the scalar; or NULL */
    bool stopped;     /* ANY, FIRST, WANTED: found one */
    size_t passed;    /* after mp_search_find: the offset after the map, if the search has come to it; else 0 */

    const mp_row *row; /* what the condition that is being looked at is about; NULL unless it was read */
    VALUE covered;    /* an Array: for each segment `..` after another one, what it has searched; 0 for none */
    size_t covered_from, covered_size; /* what the first `..` walks over */

    /* mp_search_from. A pointer, because conditions and `..` are below the file that does it. */
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

/* Those that a SLICE means in an array of n elements. */
mp_slice_range mp_slice_of(const mp_selector *selector, int64_t n);

MP_INLINE mp_find_which
mp_search_which(const mp_search *s)
{
    return mp_peek_which(&s->peek->codec->options);
}

/* True if the bytes of a key tell whether it is the selector's. */
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

/* --- looks, which conditions have a budget for -------------------------------------------------------- */

/* A long value counts as one look for each of so many bytes. */
enum { MP_LOOK_BYTES = 16 };

NORETURN(void mp_search_spent(const mp_search *s, size_t at));

/* Counts a look at the object at an offset. LimitError after the last that is allowed. */
MP_INLINE void
mp_search_look(const mp_search *s, size_t at)
{
    if (s->inner && MP_UNLIKELY(!s->shared->looks--)) mp_search_spent(s, at);
}

/*
 * Counts looks at a value of `bytes` bytes, which a condition reads as a whole: otherwise a large value that each of
 * many small ones is compared with would take quadratic time.
 */
MP_INLINE void
mp_search_look_through(const mp_search *s, size_t at, size_t bytes)
{
    uint64_t looks = bytes / MP_LOOK_BYTES;

    if (MP_UNLIKELY(s->shared->looks < looks)) mp_search_spent(s, at);
    s->shared->looks -= looks;
}

#endif
