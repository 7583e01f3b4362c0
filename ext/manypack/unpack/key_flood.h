/* Detects map keys that would make a Hash take quadratic time: different keys with the same hash. */
#ifndef MANYPACK_KEY_FLOOD_H
#define MANYPACK_KEY_FLOOD_H

#include "base/support.h"

/*
 * How many different keys of a map may have the same hash; fewer if they are containers, which take long to compare.
 * Each such key is compared with half of the others.
 */
#define MP_SAME_HASH_MAX 16
#define MP_SAME_HASH_CONTAINERS_MAX 4

/*
 * Returns the limit that the keys among n objects (keys and values in turn) exceed, or 0. All NaNs have the same hash,
 * and none equals another; user code, which runs in here, can define a class like that. Other keys cannot be made to
 * collide, because Ruby salts their hashes. Takes linear time.
 */
int mp_same_hash_exceeded(size_t n, const VALUE *values);

/* LimitError, at that offset, if the keys of an Array that alternates keys and values exceed the limit. */
void mp_same_hash_check(VALUE objects, size_t offset);

#endif
