/*
 * mp_split: must find as many complete objects as the reference counts up to a number of objects or bytes, and the same
 * if the bytes come in pieces, each together with the bytes after the last cut.
 */
#include "target.h"

enum { PLACES = 64 };

typedef struct {
    uint64_t objects, bytes;
} amount;

/* Where a split has to end. */
typedef struct {
    mp_status status;
    amount passed;
    size_t at; /* the head to blame, or the next byte */
} outcome;

static outcome
expected_of(const uint8_t *bytes, size_t n, size_t max_depth, amount wanted)
{
    outcome expected = {.status = MP_OK};
    const uint8_t *p = mp_at_the_edge(bytes, n), *start = p;

    while (expected.passed.objects < wanted.objects && expected.passed.bytes < wanted.bytes) {
        mp_reference object = mp_reference_walk(p, start + n, max_depth, false);
        expected.status = object.status;
        expected.at = (size_t)(object.at - start);
        if (object.status != MP_OK) break;
        expected.passed.objects++;
        expected.passed.bytes += (uint64_t)(object.at - p);
        p = object.at;
    }
    return expected;
}

static void
in_pieces(const uint8_t *bytes, size_t n, size_t max_depth, amount wanted, size_t step)
{
    outcome expected = expected_of(bytes, n, max_depth, wanted);
    uint64_t left[PLACES];
    size_t cut = 0, at = 0, to = step < n ? step : n;
    mp_walk walk;
    mp_run run = {.objects = 0};
    mp_status status;

    mp_walk_init(&walk, left, max_depth);
    for (;;) {
        const uint8_t *start = mp_at_the_edge(bytes + cut, to - cut);
        run.cut = start;
        run.at = start + (at - cut);
        status = mp_split(&walk, &run, start + (to - cut), wanted.objects, wanted.bytes);
        ENSURE(run.cut <= run.at, "%td", run.at - run.cut);
        at = cut + (size_t)(run.at - start);
        cut += (size_t)(run.cut - start);
        if (status != MP_E_TRUNCATED || to == n) break;
        to += step < n - to ? step : n - to;
    }
    ENSURE(status == expected.status, "%d, reference %d, step %zu", (int)status, (int)expected.status, step);
    ENSURE(at == expected.at, "%zu, reference %zu, step %zu", at, expected.at, step);
    ENSURE(cut == expected.passed.bytes && run.bytes == cut, "%zu and %" PRIu64 ", reference %" PRIu64, cut, run.bytes,
           expected.passed.bytes);
    ENSURE(run.objects == expected.passed.objects, "%" PRIu64 ", reference %" PRIu64, run.objects,
           expected.passed.objects);
}

void
mp_fuzz_split(const uint8_t *bytes, size_t n)
{
    amount wanted = {UINT64_MAX, UINT64_MAX};
    size_t max_depth, step;

    if (n == 0 || n > MP_FUZZ_MAX) return;
    max_depth = bytes[n - 1] % PLACES;
    in_pieces(bytes, n, max_depth, wanted, n);
    for (step = 1; step <= 40; step += 13) in_pieces(bytes, n, max_depth, wanted, step);
    wanted.objects = bytes[n / 2] % 8;
    in_pieces(bytes, n, max_depth, wanted, n);
    in_pieces(bytes, n, max_depth, wanted, 5);
    wanted = (amount){UINT64_MAX, bytes[n / 3]};
    in_pieces(bytes, n, max_depth, wanted, n);
    in_pieces(bytes, n, max_depth, wanted, 5);
}
