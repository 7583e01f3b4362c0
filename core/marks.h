/*
 * The marks of an array: where every 16th element is, so that a look at any element passes over 15 others at most. A
 * search makes the marks that it comes by; no search walks over the same part of the array twice.
 *
 *   mp_marks marks = {.at = memory};            // for mp_marks_needed(n) marks
 *
 *   mp_cursor_open(&cursor, &look, offset);     // an array of n elements
 *   status = mp_marks_go(&marks, &cursor, 500); // MP_OK: the cursor is at element 500
 */
#ifndef MP_MARKS_H
#define MP_MARKS_H

#include "find.h"

#define MP_MARK_DISTANCE 16

/* A place in an array. The tape limits offsets to 32 bits. */
typedef struct {
    uint32_t at;
    uint32_t near; /* as in a cursor */
} mp_mark;

typedef struct {
    mp_mark *at;    /* in the caller's memory; the first is of element MP_MARK_DISTANCE */
    uint32_t count; /* marks that are made */
} mp_marks;

/* How many marks an array of n elements can have. */
MP_INLINE uint32_t
mp_marks_needed(uint32_t n)
{
    return n ? (n - 1) / MP_MARK_DISTANCE : 0;
}

/*
 * Moves a cursor, which has just opened the array and has a tape, to its nth element. Makes the marks between the last
 * one and that element.
 */
mp_status mp_marks_go(mp_marks *marks, mp_cursor *cursor, uint32_t n);

#endif
