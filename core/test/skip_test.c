/* The walk: in one go and in pieces cut anywhere, its limits, and how many bytes it reports missing. */
#include "test.h"

#include "skip.h"
#include "wire.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* {"a": [1, -33.5, nil, <bin 3>], "bc": {"d": ext(5, 16 bytes)}, "e": str8, "f": timestamp, "g": {}} */
static const char sample[] =
    "\x85\xa1" "a" "\x94\x01\xcb\xc0\x40\xc0\x00\x00\x00\x00\x00\xc0\xc4\x03" "xyz"
    "\xa2" "bc" "\x81\xa1" "d" "\xd8\x05" "0123456789abcdef"
    "\xa1" "e" "\xd9\x05" "hello"
    "\xa1" "f" "\xd6\xff\x00\x00\x00\x01"
    "\xa1" "g" "\x80";
enum { SAMPLE_OBJECTS = 17 };

static mp_status
walk_whole(const uint8_t *bytes, size_t n, size_t max_depth, size_t *passed)
{
    uint64_t left[8];
    uint8_t *block = mp_exact(bytes, n);
    const uint8_t *p = block;
    mp_walk walk;
    mp_status status;

    mp_walk_init(&walk, left, max_depth);
    status = mp_skip(&walk, &p, block + n);
    *passed = (size_t)(p - block);
    CHECK(*passed <= n, "walked over %zu of %zu", *passed, n);
    free(block);
    return status;
}

static void
passes_over_exactly_one_object(void)
{
    size_t n = sizeof(sample) - 1, cut, passed;
    char bytes[sizeof(sample) + 1];

    memcpy(bytes, sample, n);
    bytes[n] = bytes[n + 1] = (char)0xc1; /* never read */
    CHECK(walk_whole((uint8_t *)bytes, n + 2, 8, &passed) == MP_OK && passed == n, "%zu", passed);
    for (cut = 0; cut < n; cut++)
        CHECK(walk_whole((uint8_t *)bytes, cut, 8, &passed) == MP_E_TRUNCATED, "cut at %zu", cut);
}

/*
 * Feeds piece after piece of at most step bytes, each in a block of its own, together with the bytes that the walk left
 * over. If step is 0, a piece has as many bytes as the walk reports missing.
 */
static void
goes_on_after(const uint8_t *bytes, size_t n, size_t step)
{
    uint64_t left[8];
    size_t from = 0, to = 0;
    mp_walk walk;
    mp_status status = MP_E_TRUNCATED;

    mp_walk_init(&walk, left, 8);
    while (status == MP_E_TRUNCATED && to < n) {
        uint8_t *before = mp_exact(bytes + from, to - from);
        uint64_t missing = mp_walk_missing(&walk, before, before + (to - from));
        uint8_t *block;
        const uint8_t *p;

        free(before);
        CHECK(missing >= 1 && missing <= n - to, "at %zu: %" PRIu64 " of %zu missing", to, missing, n - to);
        to += step ? step : (size_t)missing;
        if (to > n) to = n;
        block = mp_exact(bytes + from, to - from);
        p = block;
        status = mp_skip(&walk, &p, block + (to - from));
        from += (size_t)(p - block);
        free(block);
    }
    CHECK(status == MP_OK && from == n, "step %zu: status %d at %zu", step, (int)status, from);
}

static void
resumes_at_every_byte(void)
{
    size_t step;

    for (step = 0; step < sizeof(sample); step++) goes_on_after(BYTES(sample), step);
}

/*
 * Every head byte in a long array, followed by every byte that could be a size. Skipping it in one go, with strides,
 * must end as skipping it byte by byte, without strides.
 */
static void
strides_as_it_creeps(const uint8_t *bytes, size_t n, size_t max_depth)
{
    uint64_t left[2][8];
    mp_walk walks[2];
    const uint8_t *p[2] = {bytes, bytes};
    mp_status status[2];
    size_t to = 0;

    mp_walk_init(&walks[0], left[0], max_depth);
    mp_walk_init(&walks[1], left[1], max_depth);
    status[0] = mp_skip(&walks[0], &p[0], bytes + n);
    do status[1] = mp_skip(&walks[1], &p[1], bytes + ++to);
    while (status[1] == MP_E_TRUNCATED && to < n);
    CHECK(status[0] == status[1] && p[0] == p[1], "%02x %02x: %d at %zu, %d at %zu", bytes[3], bytes[4], status[0],
          (size_t)(p[0] - bytes), status[1], (size_t)(p[1] - bytes));
    CHECK(walks[0].depth == walks[1].depth && walks[0].payload == walks[1].payload, "%02x %02x", bytes[3], bytes[4]);
    CHECK(!memcmp(left[0], left[1], walks[0].depth * sizeof(left[0][0])), "%02x %02x", bytes[3], bytes[4]);
}

static void
strides_over_every_head(void)
{
    unsigned head, next;

    for (head = 0; head < 256; head++) {
        for (next = 0; next < 256; next++) {
            uint8_t bytes[3 + 2 * MP_AHEAD] = {0xdc, 0, 24};
            bytes[3] = (uint8_t)head;
            bytes[4] = (uint8_t)next;
            strides_as_it_creeps(bytes, sizeof(bytes), 1);
            strides_as_it_creeps(bytes, sizeof(bytes), 3);
        }
    }
}

static void
stops_at_the_head_to_blame(void)
{
    size_t passed;

    CHECK(walk_whole(BYTES("\x92\x01\xc1"), 8, &passed) == MP_E_BAD_HEAD && passed == 2, "%zu", passed);
    CHECK(walk_whole(BYTES("\x91\x91\x91\x01"), 3, &passed) == MP_OK && passed == 4, "%zu", passed);
    CHECK(walk_whole(BYTES("\x91\x91\x91\x01"), 2, &passed) == MP_E_DEPTH && passed == 2, "%zu", passed);
    CHECK(walk_whole(BYTES("\x91\x91\x90"), 2, &passed) == MP_OK && passed == 3, "an empty one is not open");
    CHECK(walk_whole(BYTES("\x92\x01\xa1\xff"), 8, &passed) == MP_OK, "skip does not look into a str");
}

/* Declared sizes at every edge, with nothing after them: no arithmetic may wrap. */
static void
declared_sizes_do_not_wrap(void)
{
    static const uint8_t heads[] = {0xc6, 0xdb, 0xdd, 0xdf, 0xc9};
    static const uint32_t sizes[] = {1, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
    size_t i, j, passed;

    for (i = 0; i < sizeof(heads); i++) {
        for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            uint8_t bytes[6] = {0};
            uint64_t left[8];
            const uint8_t *p = bytes;
            size_t n = MP_WIRE[heads[i]].head;
            uint64_t expected = heads[i] == 0xdf ? (uint64_t)sizes[j] * 2 : sizes[j];
            mp_walk walk;

            bytes[0] = heads[i];
            mp_store32(bytes + 1, sizes[j]);
            CHECK(walk_whole(bytes, n, 8, &passed) == MP_E_TRUNCATED, "%02x %" PRIx32, heads[i], sizes[j]);
            mp_walk_init(&walk, left, 8);
            CHECK(mp_skip(&walk, &p, bytes + n) == MP_E_TRUNCATED, "%02x", heads[i]);
            CHECK(mp_walk_missing(&walk, p, bytes + n) == expected, "%02x %" PRIx32, heads[i], sizes[j]);
        }
    }
}

/* The sample has a map of 5, an array of 4, a str of 5, an ext of 16 and SAMPLE_OBJECTS; each limit in turn. */
static void
holds_heads_against_limits(void)
{
    static const mp_limits exact = {SAMPLE_OBJECTS, 5, 4, 5, 16};
    static const struct {
        mp_limits limits;
        mp_status expected;
        size_t at;
    } cases[] = {
        {{SAMPLE_OBJECTS, 5, 4, 5, 16}, MP_OK, sizeof(sample) - 1},
        {{SAMPLE_OBJECTS - 1, 5, 4, 5, 16}, MP_E_MAX_OBJECTS, 23},
        {{SAMPLE_OBJECTS, 4, 4, 5, 16}, MP_E_MAX_MAP, 0},
        {{SAMPLE_OBJECTS, 5, 3, 5, 16}, MP_E_MAX_ARRAY, 3},
        {{SAMPLE_OBJECTS, 5, 4, 4, 16}, MP_E_MAX_STRING, 46},
        {{SAMPLE_OBJECTS, 5, 4, 5, 15}, MP_E_MAX_EXT, 26},
    };
    size_t i, cut;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (cut = 1; cut < sizeof(sample); cut++) { /* in two pieces, cut anywhere */
            uint64_t left[8];
            const uint8_t *p = (const uint8_t *)sample;
            mp_status status;
            mp_walk walk;

            mp_walk_init(&walk, left, 8);
            walk.objects = 1;
            status = mp_skip_limited(&walk, &p, p + cut, &cases[i].limits);
            if (status == MP_E_TRUNCATED)
                status = mp_skip_limited(&walk, &p, (const uint8_t *)sample + sizeof(sample) - 1, &cases[i].limits);
            CHECK(status == cases[i].expected, "case %zu: %d", i, (int)status);
            CHECK((size_t)(p - (const uint8_t *)sample) == cases[i].at, "case %zu: at %zu", i,
                  (size_t)(p - (const uint8_t *)sample));
            CHECK(mp_limit_p(status) == (status != MP_OK), "case %zu", i);
        }
    }
    CHECK(mp_limits_check(&MP_LIMITS_NONE, MP_STR, UINT32_MAX) == MP_OK, "no limit");
    CHECK(mp_limits_check(&exact, MP_BIN, 6) == MP_E_MAX_STRING, "bin");
}

/* After so many heads of arrays of two: a byte of the innermost array, and one of each that is looked at. */
static void
misses_a_byte_of_each_open_array(void)
{
    enum { DEEPEST = 2 * MP_MISSING_LEVELS };
    uint8_t bytes[DEEPEST];
    uint64_t left[DEEPEST];
    size_t depth;

    memset(bytes, 0x92, sizeof(bytes));
    for (depth = 1; depth <= DEEPEST; depth++) {
        const uint8_t *p = bytes, *end = bytes + depth;
        uint64_t missing, expected = 1 + (depth < MP_MISSING_LEVELS ? depth : MP_MISSING_LEVELS);
        mp_walk walk;

        mp_walk_init(&walk, left, DEEPEST);
        CHECK(mp_skip(&walk, &p, end) == MP_E_TRUNCATED && p == end, "%zu", depth);
        missing = mp_walk_missing(&walk, p, end);
        CHECK(missing == expected, "%zu deep: %" PRIu64, depth, missing);
    }
}

static void
knows_limits_from_other_statuses(void)
{
    int status;

    for (status = MP_OK; status < MP_STATUS_COUNT; status++) {
        bool limit = status >= MP_E_MAX_OBJECTS && status <= MP_E_MAX_EXT;

        CHECK(mp_limit_p((mp_status)status) == limit, "%s", mp_status_text((mp_status)status));
    }
}

void
mp_test_skip(void)
{
    knows_limits_from_other_statuses();
    misses_a_byte_of_each_open_array();
    holds_heads_against_limits();
    passes_over_exactly_one_object();
    resumes_at_every_byte();
    strides_over_every_head();
    stops_at_the_head_to_blame();
    declared_sizes_do_not_wrap();
}
