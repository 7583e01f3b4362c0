/*
 * A walk in pieces: of exactly as many bytes as it reports missing, which must never reach past its object, and of
 * other sizes, which the bytes of the input choose.
 */
#include "target.h"

enum { PLACES = 64 };

typedef struct {
    const uint8_t *bytes;
    size_t n, max_depth;
    mp_reference expected;
    size_t stop; /* where expected stops */
} run;

/* The size of the next piece. */
static size_t
piece(const run *r, size_t to, uint64_t missing, bool by_missing)
{
    uint64_t size = by_missing ? missing : 1 + r->bytes[r->n - 1 - to] % 40u;

    return size < r->n - to ? (size_t)size : r->n - to;
}

static void
in_pieces(const run *r, bool by_missing)
{
    uint64_t left[PLACES];
    size_t from = 0, to = 0;
    mp_walk walk;
    mp_status status = MP_E_TRUNCATED;

    mp_walk_init(&walk, left, r->max_depth);
    for (;;) {
        const uint8_t *start = mp_at_the_edge(r->bytes + from, to - from), *p = start;
        uint64_t missing;

        status = mp_skip(&walk, &p, start + (to - from));
        from += (size_t)(p - start);
        if (status != MP_E_TRUNCATED) break;
        missing = mp_walk_missing(&walk, p, start + (to - (from - (size_t)(p - start))));
        ENSURE(missing >= 1, "at %zu", to);
        if (r->expected.status == MP_OK)
            ENSURE(missing <= r->stop - to, "%" PRIu64 " at %zu of %zu", missing, to, r->stop);
        if (to == r->n) break;
        to += piece(r, to, missing, by_missing);
    }
    ENSURE(status == r->expected.status, "%d, reference %d", (int)status, (int)r->expected.status);
    ENSURE(from == r->stop, "%zu, reference %zu", from, r->stop);
    ENSURE(!by_missing || status != MP_OK || to == r->stop, "%zu bytes asked for, %zu needed", to, r->stop);
}

void
mp_fuzz_resume(const uint8_t *bytes, size_t n)
{
    run r = {.bytes = bytes, .n = n};

    if (n == 0 || n > MP_FUZZ_MAX) return;
    r.max_depth = bytes[n - 1] % PLACES;
    r.expected = mp_reference_walk(bytes, bytes + n, r.max_depth, false);
    r.stop = (size_t)(r.expected.at - bytes);
    in_pieces(&r, true);
    in_pieces(&r, false);
}
