/* Finds a map key that is there twice, in n log n comparisons whatever the bytes are: there is no hash to flood. */
#ifndef MP_UNIQUE_H
#define MP_UNIQUE_H

#include "platform.h"
#include "tape_entry.h"

/* The entry of the key that is the object between two offsets. */
mp_tape_entry mp_unique_entry(const uint8_t *bytes, size_t from, size_t to);

/* True if two of n keys, at least two, are the same. Their entries change places. */
bool mp_unique_twice_p(const uint8_t *bytes, mp_tape_entry *keys, size_t n);

#endif
