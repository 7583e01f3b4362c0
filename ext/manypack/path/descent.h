/* The segment `..` of a Path. */
#ifndef MANYPACK_DESCENT_H
#define MANYPACK_DESCENT_H

#include "path/search_state.h"

/* mp_search_from for a step that is a `..`. */
size_t mp_search_descend(mp_search *s, size_t at, long step, bool wanted, const mp_way *up);

#endif
