/* Map keys that would make a Hash take quadratic time: different ones with the same hash. */
#ifndef MANYPACK_KEY_FLOOD_H
#define MANYPACK_KEY_FLOOD_H

#include "support.h"

/*
 * So many different keys of a map may have the same hash, and so many that are containers, which are dear to compare.
 * Each costs a comparison with half of them.
 */
#define MP_SAME_HASH_MAX 16
#define MP_SAME_HASH_CONTAINERS_MAX 4

/*
 * Which of these two the keys exceed, or 0; n objects, a key and a value in turn. A NaN equals nothing and has the
 * hash of every other; user code, which runs in here, can do the same to a class of its own. Other keys cannot be made
 * to collide, as Ruby salts their hashes. Takes linear time.
 */
int mp_same_hash_exceeded(size_t n, const VALUE *values);

#endif
