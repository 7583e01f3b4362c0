/*
 * The offsets of every 8th element of the long arrays in a message: any element is at most 7 steps from one. Made once,
 * for a complete tape, and never written again.
 *
 *   mp_places places = {.first = memory};          // for tape.count + 1 numbers
 *
 *   places.at = more_memory;                       // for mp_places_count(&places, &tape) offsets
 *   mp_places_fill(&places, &look);                // look.tape is the tape
 *   mp_cursor_open(&cursor, &look, offset);        // an array
 *   status = mp_places_go(&places, mp_tape_entry_of(&tape, offset), &cursor, 500);
 *
 * All places together take at most half as many bytes as the message.
 */
#ifndef MP_PLACES_H
#define MP_PLACES_H

#include "find.h"

/* Arrays of at most this many elements get no places: walking through them takes no longer than finding a place. */
#define MP_PLACES_MIN 32

#define MP_PLACES_STEP 8

typedef struct {
    uint32_t *first; /* for each entry of the tape: index of its first place; then the number of places */
    uint32_t *at;    /* the offsets of elements 8, 16 and so on of one array after the other */
} mp_places;

/* Fills in `first`, and returns how many places there are. */
uint32_t mp_places_count(mp_places *places, const mp_tape *tape);

/* Fills in `at`. */
void mp_places_fill(const mp_places *places, mp_look *look);

/* Moves a cursor, which has just opened the array of an entry, to its nth element. */
mp_status mp_places_go(const mp_places *places, uint32_t entry, mp_cursor *cursor, uint32_t n);

#endif
