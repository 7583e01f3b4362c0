/*
 * The marks of an array: where every 8th element is, or every 4th, 2nd or each, so that a look passes over few others.
 * A search makes the marks that it comes by; no search walks over the same part of the array twice.
 *
 *   mp_marks marks = {.shift = mp_marks_shift(3)}; // elements have 3 bytes on average
 *
 *   marks.at = memory;                             // for mp_marks_needed(n, marks.shift) marks
 *   mp_cursor_open(&cursor, &look, offset);        // an array of n elements
 *   status = mp_marks_go(&marks, &cursor, 500);    // MP_OK: the cursor is at element 500
 *   p = mp_marks_find(&marks, bytes, end, 500);    // so is p; NULL: only mp_marks_go can tell
 */
#ifndef MP_MARKS_H
#define MP_MARKS_H

#include "find.h"

/* The tape checks the entry that a cursor is near: one that was cut costs it a search. */
#define MP_NEAR_BITS 31

/* A place in an array. The tape limits offsets to 32 bits. */
typedef struct {
    uint32_t at;
    uint32_t near : MP_NEAR_BITS; /* as in a cursor */
    uint32_t even : 1;            /* up to the next mark, all have the size that the first head byte tells, and bytes
                                   * are ahead of each */
} mp_mark;

typedef struct {
    mp_mark *at;    /* in the caller's memory; the first is of the first element */
    uint32_t count; /* marks that are made */
    uint32_t shift; /* there is a mark every 1 << shift elements */
} mp_marks;

/* How often marks should be, by the mean size of the elements: so that they take no more memory than the elements. */
MP_INLINE uint32_t
mp_marks_shift(size_t mean)
{
    return mean >= sizeof(mp_mark) ? 0 : mean >= 4 ? 1 : mean >= 2 ? 2 : 3;
}

/* Marks that are farther apart help little. */
#define MP_MARKS_SHIFT_MAX 4

/* How many marks an array of n elements can have. */
MP_INLINE uint32_t
mp_marks_needed(uint32_t n, uint32_t shift)
{
    return n ? ((n - 1) >> shift) + 1 : 0;
}

/* True if mp_marks_go makes no mark on its way to the nth element: then it writes nothing. */
MP_INLINE bool
mp_marks_made_p(const mp_marks *marks, uint32_t n)
{
    return n >> marks->shift < marks->count;
}

/*
 * Moves a cursor, which has just opened the array and has a tape, to its nth element. Makes the marks between the last
 * one and that element.
 */
mp_status mp_marks_go(mp_marks *marks, mp_cursor *cursor, uint32_t n);

/* The nth element; NULL if there is no mark near it, or a container in between, or few bytes are ahead. */
MP_INLINE const uint8_t *
mp_marks_find(const mp_marks *marks, const uint8_t *bytes, const uint8_t *end, uint32_t n)
{
    uint32_t mark = n >> marks->shift, passed = n & ((1u << marks->shift) - 1);
    const uint8_t *p;

    if (!mp_marks_made_p(marks, n)) return NULL;
    p = bytes + marks->at[mark].at;
    if (marks->at[mark].even) return p + passed * mp_row_size(MP_WIRE[*p]);
    return mp_leaves_over(&p, end, passed) || p >= end ? NULL : p;
}

#endif
