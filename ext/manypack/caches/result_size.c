/* Predicts the size of a Ractor's next long result from its last two. */
#include "caches/result_size.h"

/* Never predicts more than 32 MB. */
enum { UNIT = 1024, MOST = 32 * 1024 - 1 };

size_t
mp_result_size_expected(const mp_result_sizes *sizes)
{
    return (size_t)(sizes->last < sizes->before ? sizes->last : sizes->before) * UNIT;
}

void
mp_result_size_note(mp_result_sizes *sizes, size_t size)
{
    sizes->before = sizes->last;
    sizes->last = size / UNIT < MOST ? (uint32_t)(size / UNIT) + 1 : MOST;
}
