/* Tapes for tests: how they grow, and how they end. */
#ifndef MP_TEST_TAPES_H
#define MP_TEST_TAPES_H

#include "test.h"

#include "tape.h"

/* Grows by one entry, in a block of exactly that size. */
bool mp_grow_by_one(mp_tape *tape);

bool mp_grow_by_many(mp_tape *tape);
bool mp_refuse_to_grow(mp_tape *tape);

/* A tape over the bytes that grows by one entry at a time. The caller frees its entries. */
mp_tape mp_fresh_tape(const uint8_t *bytes, size_t n, uint32_t max_depth, uint32_t keep);

/*
 * How a tape ends that walks over all of the bytes, and the offset it blames: in a copy of exactly their size, with
 * strides into containers, for which there must be room, and without.
 */
mp_status mp_status_of_tape(const uint8_t *bytes, size_t n, const mp_check *checks, size_t *blame);

#endif
