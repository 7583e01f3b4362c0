/*
 * Remembers the sizes of a Ractor's long results. The next result is most often about as long, and a String that has
 * the right size from the start is neither copied as it grows nor given pages that it does not fill.
 */
#ifndef MANYPACK_RESULT_SIZE_H
#define MANYPACK_RESULT_SIZE_H

#include "base/support.h"

/* The last two sizes in KB; 0 for none. */
typedef struct {
    uint32_t last, before;
} mp_result_sizes;

/* The size in bytes to start with: the smaller of the last two, so that one outlier does no harm; 0 without two. */
size_t mp_result_size_expected(const mp_result_sizes *sizes);

void mp_result_size_note(mp_result_sizes *sizes, size_t size);

#endif
