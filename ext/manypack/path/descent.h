/*
 * The segment `..` of a Path with one selector: one walk over everything in an object. What it finds is collected
 * first, because the standard wants what is in a container before what is in its parts, unlike the order of the bytes.
 *
 *   mp_descent descent = {.search = s, .selector = selector};
 *   end = mp_descent_walk(&descent, offset, up);   // the offset after the object
 *   while (mp_descent_next(&descent, &match)) ...  // in the order of the standard
 */
#ifndef MANYPACK_DESCENT_H
#define MANYPACK_DESCENT_H

#include "path/search_state.h"

typedef struct {
    uint64_t container; /* in the order in which they start */
    size_t at;
    long way;           /* the place in `ways` of the keys and indices that lead to it; -1 if nobody asked */
} mp_match;

typedef struct {
    mp_search *search;
    const mp_selector *selector;
    bool unordered;     /* only the number of matches counts: nothing is collected */
    uint64_t containers;
    VALUE memory, ways; /* a String and an Array, hidden; 0 for none */
    size_t count, capacity, next;
    bool sorted;
} mp_descent;

/* True if a segment can be searched so. */
MP_INLINE bool
mp_descent_possible_p(const mp_search *s, const mp_segment *segment)
{
    const mp_selector *selector = segment->selectors;

    if (segment->count != 1 || selector->kind == MP_SELECT_SLICE) return false;
    return selector->kind == MP_SELECT_ALL || selector->kind == MP_SELECT_FILTER
        || (s->bytes_only && selector->key.kind != MP_BIN);
}

/* Walks over the object at an offset and returns the offset after it. up is the way to the object, or NULL. */
size_t mp_descent_walk(mp_descent *descent, size_t at, const mp_way *up);

/* The next match, after the walk. False if there is none. */
bool mp_descent_next(mp_descent *descent, mp_match *match);

/* The keys and indices that lead to a match, an Array; 0 if nobody asked. */
MP_INLINE VALUE
mp_descent_keys(const mp_descent *descent, const mp_match *match)
{
    return match->way < 0 ? 0 : RARRAY_AREF(descent->ways, match->way);
}

/* An Array of the keys and indices of a way. Refreshes the peek. */
VALUE mp_way_keys(mp_search *s, const mp_way *way);

#endif
