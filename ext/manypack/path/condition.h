/* The conditions of a Path: [?@.price < 10]. */
#ifndef MANYPACK_CONDITION_H
#define MANYPACK_CONDITION_H

#include "path/search_state.h"

/* True if a condition is true of the object at an offset. May run user code. */
bool mp_condition_true_p(mp_search *s, const mp_condition *condition, size_t at);

/* The same for the condition of a filter: also finds the filter's keys in the object and stores them in row. */
bool mp_condition_true_over_p(mp_search *s, const mp_selector *filter, size_t at, mp_row *row);

#endif
