/* Searches a message for what a Path finds. */
#ifndef MANYPACK_SEARCH_H
#define MANYPACK_SEARCH_H

#include "path/search_state.h"

/* Searches the object at an offset, by the query of the search. */
void mp_search_run(mp_search *s, size_t at);

/* The same for the segments from `step` on, of a search that needs no keys and indices that lead to a value. */
void mp_search_step(mp_search *s, size_t at, long step);

#endif
