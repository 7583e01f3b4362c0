/* The conditions of a Path: [?@.price < 10]. */
#ifndef MANYPACK_CONDITION_H
#define MANYPACK_CONDITION_H

#include "path/search_state.h"

/* True if a condition is true of the object at an offset. May run user code. */
bool mp_condition_true_p(mp_search *s, const mp_condition *condition, size_t at);

/*
 * The same for an object in a container, and sets *end to the offset after the object: the condition has already read a
 * part of it, so this costs less than walking over it again.
 */
bool mp_condition_true_over_p(mp_search *s, const mp_condition *condition, size_t at, size_t *end);

#endif
