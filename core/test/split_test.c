/*
 * Splitting a run of objects: at every limit, in pieces of every size, in linear time with small pieces, and with
 * malformed bytes.
 */
#include "test.h"

#include "skip.h"
#include "wire.h"

/* 1, [2, {"k": [nil]}], "hello", {}, ext(5, 4 bytes), [] */
static const char sample[] = "\x01" "\x92\x02\x81\xa1" "k\x91\xc0" "\xa5" "hello" "\x80" "\xd6\x05" "wxyz" "\x90";
static const size_t ends[] = {0, 1, 8, 14, 15, 21, 22};
enum { OBJECTS = 6 };

static mp_run
run_from(const uint8_t *p)
{
    return (mp_run){.at = p, .cut = p};
}

static void
stops_after_so_many_objects(void)
{
    uint64_t left[8], most;
    size_t n = sizeof(sample) - 1;
    uint8_t *block = mp_exact(sample, n);

    for (most = 0; most <= OBJECTS; most++) {
        mp_run run = run_from(block);
        mp_walk walk;

        mp_walk_init(&walk, left, 8);
        CHECK(mp_split(&walk, &run, block + n, most, UINT64_MAX) == MP_OK, "%" PRIu64, most);
        CHECK(run.objects == most && run.bytes == ends[most], "%" PRIu64, most);
        CHECK(run.cut == block + ends[most] && run.at == run.cut, "%" PRIu64, most);
    }
    free(block);
}

/* The cut is after the object that reaches the limit. */
static void
stops_after_so_many_bytes(void)
{
    uint64_t left[8];
    size_t n = sizeof(sample) - 1, enough, expected = 0;
    uint8_t *block = mp_exact(sample, n);

    for (enough = 0; enough <= n; enough++) {
        mp_run run = run_from(block);
        mp_walk walk;

        while (ends[expected] < enough) expected++;
        mp_walk_init(&walk, left, 8);
        CHECK(mp_split(&walk, &run, block + n, UINT64_MAX, enough) == MP_OK, "%zu", enough);
        CHECK(run.cut == block + ends[expected] && run.objects == expected, "%zu: %" PRIu64, enough, run.objects);
    }
    free(block);
}

/* Between two objects run.at is run.cut, inside an object it is after run.cut. */
static void
tells_where_the_bytes_end(void)
{
    uint64_t left[8];
    size_t cut, expected = 0;

    for (cut = 0; cut < sizeof(sample); cut++) {
        uint8_t *block = mp_exact(sample, cut);
        mp_run run = run_from(block);
        mp_walk walk;
        bool between;

        if (ends[expected + 1] <= cut && expected < OBJECTS) expected++;
        mp_walk_init(&walk, left, 8);
        CHECK(mp_split(&walk, &run, block + cut, UINT64_MAX, UINT64_MAX) == MP_E_TRUNCATED, "%zu", cut);
        CHECK(run.objects == expected && run.cut == block + ends[expected], "%zu: %" PRIu64, cut, run.objects);
        between = run.at == run.cut && run.at == block + cut;
        CHECK(between == (ends[expected] == cut), "%zu", cut);
        free(block);
    }
}

/* Feeds pieces of step bytes, each in a block of its own, together with the bytes of the incomplete object. */
static void
goes_on_in_pieces(size_t step)
{
    uint64_t left[8], objects = 0;
    size_t n = sizeof(sample) - 1, from = 0, at = 0, to;
    mp_walk walk;

    mp_walk_init(&walk, left, 8);
    for (to = step; from < n; to = to + step < n ? to + step : n) {
        uint8_t *block = mp_exact(sample + from, to - from);
        mp_run run = {.at = block + (at - from), .cut = block};
        mp_status status = mp_split(&walk, &run, block + (to - from), UINT64_MAX, UINT64_MAX);

        CHECK(status == MP_E_TRUNCATED, "step %zu at %zu: %d", step, to, (int)status);
        objects += run.objects;
        at = from + (size_t)(run.at - block);
        from += (size_t)(run.cut - block);
        CHECK(from == ends[objects], "step %zu: %zu", step, from);
        free(block);
    }
    CHECK(objects == OBJECTS, "step %zu: %" PRIu64 " objects", step, objects);
}

static void
resumes_at_every_byte(void)
{
    size_t step;

    for (step = 1; step < sizeof(sample); step++) goes_on_in_pieces(step);
}

/* A large object that comes byte by byte: no byte may be walked over twice. */
static void
passes_over_each_byte_once(void)
{
    enum { ELEMENTS = 60000 };
    static uint8_t bytes[3 + ELEMENTS];
    uint64_t left[2];
    size_t to;
    mp_run run = run_from(bytes);
    mp_walk walk;

    memset(bytes, 0x01, sizeof(bytes));
    bytes[0] = 0xdc;
    mp_store16(bytes + 1, ELEMENTS);
    mp_walk_init(&walk, left, 2);
    for (to = 1; to <= sizeof(bytes); to++) {
        mp_status status = mp_split(&walk, &run, bytes + to, 1, UINT64_MAX);

        CHECK(status == (to == sizeof(bytes) ? MP_OK : MP_E_TRUNCATED), "at %zu: %d", to, (int)status);
        CHECK(run.at == bytes + (to < 3 ? 0 : to), "at %zu", to);
    }
    CHECK(run.cut == bytes + sizeof(bytes) && run.objects == 1, "%" PRIu64, run.objects);
}

static void
keeps_what_is_whole_before_the_head_to_blame(void)
{
    uint64_t left[8];
    const uint8_t *bad = (const uint8_t *)"\x01\x91\x02\x92\x03\xc1", *deep = (const uint8_t *)"\x01\x91\x91\x91\x02";
    mp_run run = run_from(bad);
    mp_walk walk;

    mp_walk_init(&walk, left, 8);
    CHECK(mp_split(&walk, &run, bad + 6, UINT64_MAX, UINT64_MAX) == MP_E_BAD_HEAD, "0xc1");
    CHECK(run.at == bad + 5 && run.cut == bad + 3 && run.objects == 2, "%" PRIu64, run.objects);

    run = run_from(deep);
    mp_walk_init(&walk, left, 2);
    CHECK(mp_split(&walk, &run, deep + 5, UINT64_MAX, UINT64_MAX) == MP_E_DEPTH, "3 deep");
    CHECK(run.at == deep + 3 && run.cut == deep + 1 && run.objects == 1, "%" PRIu64, run.objects);
}

void
mp_test_split(void)
{
    stops_after_so_many_objects();
    stops_after_so_many_bytes();
    tells_where_the_bytes_end();
    resumes_at_every_byte();
    passes_over_each_byte_once();
    keeps_what_is_whole_before_the_head_to_blame();
}
