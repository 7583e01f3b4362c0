/* UTF-8: must agree with the reference about the input from each of its first offsets on, to meet every alignment. */
#include "utf8.h"

#include "target.h"

void
mp_fuzz_utf8(const uint8_t *bytes, size_t n)
{
    size_t from;

    if (n > MP_FUZZ_MAX) return;
    for (from = 0; from <= n && from < 9; from++) {
        const uint8_t *p = mp_at_the_edge(bytes + from, n - from);
        bool valid = mp_utf8_valid_p(p, n - from);
        ENSURE(valid == mp_reference_utf8_p(p, n - from), "from %zu: %d", from, valid);
    }
}
