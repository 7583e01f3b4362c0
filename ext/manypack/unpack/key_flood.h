/* Detects different map keys with the same hash, which would make a Hash take quadratic time. */
#ifndef MANYPACK_KEY_FLOOD_H
#define MANYPACK_KEY_FLOOD_H

#include "base/support.h"

/*
 * How many different keys of a map may have the same hash: each is compared with half of the others. The limit for
 * containers is lower, because comparing them takes longer.
 */
#define MP_SAME_HASH_MAX 16
#define MP_SAME_HASH_CONTAINERS_MAX 4

/*
 * Returns the limit that the keys among n objects (keys and values in turn) exceed, or 0. All NaNs have the same hash
 * and are different; user code can define a class like that, and its methods run here. An attacker cannot make other
 * keys collide, because Ruby salts their hashes. Takes linear time.
 */
int mp_same_hash_exceeded(size_t n, const VALUE *values);

/*
 * The same for an Array of keys and values in turn. Raises LimitError, with that offset, if the keys exceed the limit.
 */
void mp_same_hash_check(VALUE objects, size_t offset);

#endif
