/*
 * Remembers the sizes of a Ractor's long results. The next result is usually about as long. A String that has the right
 * size from the start is not copied as it grows and has no pages that it does not fill.
 */
#ifndef MANYPACK_RESULT_SIZE_H
#define MANYPACK_RESULT_SIZE_H

#include "base/support.h"

/* The last two sizes in KB; 0 for none. */
typedef struct {
    uint32_t last, before;
} mp_result_sizes;

/*
 * The size in bytes to start with: the smaller of the last two sizes, so that one outlier does no harm. 0 until there
 * are two.
 */
size_t mp_result_size_expected(const mp_result_sizes *sizes);

void mp_result_size_note(mp_result_sizes *sizes, size_t size);

#endif
