/* Map keys that would make a Hash take quadratic time: different ones with the same hash. */
#ifndef MANYPACK_KEY_HASH_H
#define MANYPACK_KEY_HASH_H

#include "manypack.h"

/* So many different keys of a map may have the same hash. Each costs a comparison with half of them. */
#define MP_SAME_HASH_MAX 16

/*
 * Whether no more of the keys have the same hash; n objects, a key and a value in turn. A NaN equals nothing and has the
 * hash of every other; user code, which runs in here, can do the same to a class of its own. Other keys cannot be made
 * to collide, as Ruby salts their hashes. Takes linear time.
 */
bool mp_key_hashes_spread_p(size_t n, const VALUE *values);

#endif
