/*
 * mp_skip: must agree with the reference over the whole input, and give the same result if the bytes come in two
 * pieces, cut anywhere.
 */
#include "target.h"

enum { PLACES = 64, CUTS_MAX = 192 };

/* The last byte of the input also chooses the limit; it is still part of the message. */
static size_t
depth_of(const uint8_t *bytes, size_t n)
{
    return n ? bytes[n - 1] % PLACES : 0;
}

static void
same_as_reference(const mp_walk *walk, mp_status status, const uint8_t *at, const mp_reference *expected)
{
    ENSURE(status == expected->status, "%d, reference %d", (int)status, (int)expected->status);
    ENSURE(at == expected->at, "%td bytes off", at - expected->at);
    ENSURE(walk->payload == expected->payload, "%" PRIu64 ", reference %" PRIu64, walk->payload, expected->payload);
}

/* In two pieces, the second together with the rest of the first, as in a stream. */
static void
same_in_two(const uint8_t *bytes, size_t n, size_t cut, const mp_walk *whole, mp_status status, size_t stop)
{
    uint64_t left[PLACES];
    const uint8_t *start = mp_at_the_edge(bytes, cut), *p = start;
    size_t passed;
    mp_walk walk;
    mp_status first, second;

    mp_walk_init(&walk, left, whole->max_depth);
    first = mp_skip(&walk, &p, start + cut);
    passed = (size_t)(p - start);
    second = first;
    if (first == MP_E_TRUNCATED) {
        start = p = mp_at_the_edge(bytes + passed, n - passed);
        second = mp_skip(&walk, &p, start + (n - passed));
        passed += (size_t)(p - start);
    }
    ENSURE(second == status, "cut at %zu: %d, whole %d", cut, (int)second, (int)status);
    ENSURE(passed == stop, "cut at %zu: %zu, whole %zu", cut, passed, stop);
    ENSURE(walk.payload == whole->payload && walk.depth == whole->depth, "cut at %zu", cut);
    ENSURE(!walk.depth || !memcmp(left, whole->left, walk.depth * sizeof(left[0])), "cut at %zu", cut);
}

void
mp_fuzz_skip(const uint8_t *bytes, size_t n)
{
    size_t max_depth = depth_of(bytes, n), at = 0, cut;
    mp_status status = MP_OK;

    if (n > MP_FUZZ_MAX) return;
    while (status == MP_OK && at < n) { /* one object after another */
        uint64_t left[PLACES];
        const uint8_t *start = mp_at_the_edge(bytes + at, n - at), *p = start;
        mp_reference expected = mp_reference_walk(start, start + (n - at), max_depth, false);
        mp_walk walk;

        mp_walk_init(&walk, left, max_depth);
        status = mp_skip(&walk, &p, start + (n - at));
        same_as_reference(&walk, status, p, &expected);
        for (cut = 0; at == 0 && cut < n && cut < CUTS_MAX; cut++)
            same_in_two(bytes, n, cut, &walk, status, (size_t)(p - start));
        ENSURE(status != MP_OK || p > start, "no object is empty");
        at += (size_t)(p - start);
    }
}
