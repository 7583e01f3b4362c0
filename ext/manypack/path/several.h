/* Several Paths in one walk over a message. */
#ifndef MANYPACK_SEVERAL_H
#define MANYPACK_SEVERAL_H

#include "path/search_state.h"

/* At most this many searches share a walk: each level of the walk has a slot for each search on the C stack. */
enum { MP_SEVERAL_MAX = 16 };

/*
 * Runs n searches, which must have the same peek and start. Each finds what it would find alone, in the same order.
 * Keys, indices and * share the walk; from any other segment on, a search walks alone.
 */
void mp_search_several(mp_search *searches, int n);

#endif
