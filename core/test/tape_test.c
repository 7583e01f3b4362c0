/* Tapes: their entries, how far they walk, how they end in malformed messages, and what their checks refuse. */
#include "test.h"

#include <setjmp.h>

#include "skip.h"
#include "tape.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* Grows by one entry at a time, in a block of exactly that size. */
static bool
grow_by_one(mp_tape *tape)
{
    mp_tape_entry *entries = malloc((tape->capacity + 1) * sizeof(mp_tape_entry));

    if (!entries) abort();
    if (tape->capacity) memcpy(entries, tape->entries, tape->capacity * sizeof(mp_tape_entry));
    free(tape->entries);
    tape->entries = entries;
    tape->capacity++;
    return true;
}

static bool
grow_by_many(mp_tape *tape)
{
    uint32_t capacity = tape->capacity * 2 + 1000;
    mp_tape_entry *entries = realloc(tape->entries, capacity * sizeof(mp_tape_entry));

    if (!entries) abort();
    tape->entries = entries;
    tape->capacity = capacity;
    return true;
}

static bool
refuse(mp_tape *tape)
{
    (void)tape;
    return false;
}

static mp_tape
fresh(const uint8_t *bytes, size_t n, uint32_t max_depth, uint32_t keep)
{
    mp_tape tape;

    CHECK(mp_tape_init(&tape, bytes, n, max_depth, keep) == MP_OK, "%zu", n);
    tape.grow = grow_by_one;
    return tape;
}

/* [[], [1 × 70], {"k" => [[2 × 66]], "s" => "str"}, 5], each size in an array16 */
static size_t
sample(uint8_t *p)
{
    static const char from[] = "\x94\x90\xdc\x00\x46", middle[] = "\x82\xa1k\x91\xdc\x00\x42";
    static const char to[] = "\xa1s\xa3str\x05";
    uint8_t *start = p;

    memcpy(p, from, 5);
    memset(p += 5, 1, 70);
    memcpy(p += 70, middle, 7);
    memset(p += 7, 2, 66);
    memcpy(p += 66, to, 7);
    return (size_t)(p + 7 - start);
}

static void
has_an_entry_for_each_large_container(void)
{
    static const mp_tape_entry expected[] = {{0, 155, 5}, {2, 75, 2}, {75, 154, 5}, {78, 148, 5}, {79, 148, 5}};
    uint8_t message[256];
    size_t n = sample(message);
    mp_tape tape = fresh(message, n, 8, MP_TAPE_KEEP);

    CHECK(mp_tape_finish(&tape) == MP_OK && tape.at == n && mp_tape_complete_p(&tape), "%" PRIu32, tape.at);
    CHECK(tape.count == 5 && !memcmp(tape.entries, expected, sizeof(expected)), "%" PRIu32, tape.count);
    free(tape.entries);
}

/* Arrays just below and above MP_TAPE_KEEP, with bytes after them. */
static void
keeps_containers_from_a_size_on(void)
{
    uint16_t n;

    for (n = MP_TAPE_KEEP - 5; n < MP_TAPE_KEEP; n++) {
        uint8_t message[4 + 2 * MP_TAPE_KEEP] = {0x92, 0xdc};
        mp_tape tape;

        mp_store16(message + 2, n);
        message[4 + n] = 0xc4; /* a bin of the rest */
        message[5 + n] = (uint8_t)(sizeof(message) - 6 - n);
        tape = fresh(message, sizeof(message), 8, MP_TAPE_KEEP);
        tape.grow = grow_by_many;
        CHECK(mp_tape_finish(&tape) == MP_OK && tape.count == 1 + (n + 3u >= MP_TAPE_KEEP), "%" PRIu32, tape.count);
        free(tape.entries);
    }
}

static void
goes_as_far_as_it_is_asked(void)
{
    uint8_t message[256];
    size_t n = sample(message), end = 0;
    mp_tape tape = fresh(message, n, 8, MP_TAPE_KEEP);
    uint32_t near = 0;

    CHECK(mp_tape_over(&tape, 2, &near, &end) == MP_OK && end == 75 && tape.at == 75, "%" PRIu32, tape.at);
    CHECK(mp_tape_over(&tape, 2, &near, &end) == MP_OK && end == 75 && near == 2, "again");
    CHECK(mp_tape_over(&tape, 78, &near, &end) == MP_OK && end == 148 && tape.at == 148, "%" PRIu32, tape.at);
    CHECK(mp_tape_over(&tape, 75, &near, &end) == MP_OK && end == 154 && tape.at == 154, "one that is open");
    CHECK(!mp_tape_complete_p(&tape), "not yet");
    tape.at = tape.count = tape.depth = near = 0;
    CHECK(mp_tape_over(&tape, 78, &near, &end) == MP_OK && tape.depth == 2, "%" PRIu32, tape.depth);
    CHECK(mp_tape_over(&tape, 0, &near, &end) == MP_OK && end == n && tape.at == n, "one around another");
    tape.at = tape.count = tape.depth = near = 0;
    CHECK(mp_tape_over(&tape, 75, &near, &end) == MP_OK && end == 154 && tape.at == 154, "%" PRIu32, tape.at);
    CHECK(mp_tape_over(&tape, 0, &near, &end) == MP_OK && end == n && mp_tape_complete_p(&tape), "all");
    free(tape.entries);
}

/* An error in what comes before a container is that of the container. Cursors pass leaves without the tape. */
static void
reports_errors_on_the_way(void)
{
    static const char message[] = "\x93\xa1\xff\x91\x01\x91\x01";
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8 = true};
    uint32_t near = 0;
    size_t end, at;

    for (at = 3; at <= 5; at += 2) {
        mp_tape tape = fresh(BYTES(message), 8, MP_TAPE_KEEP);

        tape.checks = &checks;
        CHECK(mp_tape_over(&tape, at, &near, &end) == MP_E_UTF8 && mp_tape_blame(&tape) == 1, "%d", (int)tape.status);
        CHECK(mp_tape_over(&tape, at, &near, &end) == MP_E_UTF8 && mp_tape_blame(&tape) == 1, "%d", (int)tape.status);
        free(tape.entries);
    }
}

/* Of the containers in the sample. */
static void
tells_what_it_has_passed(void)
{
    uint8_t message[256];
    size_t n = sample(message), end;
    mp_tape tape = fresh(message, n, 8, MP_TAPE_KEEP);
    uint32_t near = 0;

    CHECK(!mp_tape_passed_p(&tape, 0), "nothing");
    mp_tape_over(&tape, 2, &near, &end);
    CHECK(mp_tape_passed_p(&tape, 1) && mp_tape_passed_p(&tape, 2), "two");
    CHECK(!mp_tape_passed_p(&tape, 0) && !mp_tape_passed_p(&tape, 75), "one that is open, one that comes next");
    mp_tape_over(&tape, 79, &near, &end);
    CHECK(mp_tape_passed_p(&tape, 78) && mp_tape_passed_p(&tape, 79), "two more");
    CHECK(!mp_tape_passed_p(&tape, 0) && !mp_tape_passed_p(&tape, 75), "two that are open");
    mp_tape_finish(&tape);
    CHECK(mp_tape_passed_p(&tape, 0) && mp_tape_passed_p(&tape, 75) && !mp_tape_passed_p(&tape, n), "all");
    free(tape.entries);
    tape = fresh(message, n - 2, 8, MP_TAPE_KEEP);
    CHECK(mp_tape_finish(&tape) == MP_E_TRUNCATED, "cut");
    CHECK(!mp_tape_passed_p(&tape, 0) && !mp_tape_passed_p(&tape, 75), "two that have no end");
    free(tape.entries);
}

/*
 * Whatever entry the caller thinks is near, in containers that are nested more deeply than small ones can be. Without a
 * payload the innermost are small; with one all have entries, and the first unused entries were never used.
 */
static void
finds_a_container_from_anywhere(uint8_t payload)
{
    enum { DEPTH = 2 * MP_TAPE_KEEP };
    uint8_t message[DEPTH + 2 + UINT8_MAX] = {0};
    size_t n = DEPTH + 2u + payload, end = 0, at;
    uint32_t near, from;
    mp_tape tape;

    memset(message, 0x91, DEPTH);
    message[DEPTH] = 0xc4;
    message[DEPTH + 1] = payload;
    tape = fresh(message, n, DEPTH, MP_TAPE_KEEP);
    tape.entries = calloc(2 * DEPTH, sizeof(*tape.entries));
    tape.capacity = payload ? 2 * DEPTH : 0;
    CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32, tape.at);
    for (at = 0; at < DEPTH; at++) {
        for (from = 0; from <= tape.count + 1; from++) {
            near = from;
            CHECK(mp_tape_over(&tape, at, &near, &end) == MP_OK && end == n, "%zu, %" PRIu32, at, from);
        }
    }
    free(tape.entries);
}

/* Over a copy of the bytes that ends where a heap block ends. */
static mp_status
status_with_room(const uint8_t *bytes, size_t n, const mp_check *checks, bool room, size_t *blame)
{
    uint8_t *block = mp_exact(bytes, n);
    mp_tape tape = fresh(block, n, 8, MP_TAPE_KEEP);
    mp_status status;
    uint32_t at;

    if (room) tape.grow = grow_by_many;
    tape.checks = checks;
    status = mp_tape_finish(&tape);
    at = tape.at;
    CHECK(mp_tape_finish(&tape) == status && tape.at == at, "it stays so");
    *blame = mp_tape_blame(&tape);
    free(tape.entries);
    free(block);
    return status;
}

/* The same with strides into containers, for which there must be room, and without. */
static mp_status
status_of(const uint8_t *bytes, size_t n, const mp_check *checks, size_t *blame)
{
    size_t strided;
    mp_status status = status_with_room(bytes, n, checks, false, blame);

    CHECK(status_with_room(bytes, n, checks, true, &strided) == status, "%d", (int)status);
    CHECK(strided == *blame, "%zu and %zu", strided, *blame);
    return status;
}

static void
ends_as_skip(const uint8_t *bytes, size_t n)
{
    const mp_check none = MP_CHECK_NONE;
    uint64_t left[8];
    const uint8_t *p = bytes;
    mp_status expected;
    size_t blame[2];
    mp_walk walk;

    mp_walk_init(&walk, left, 8);
    expected = mp_skip(&walk, &p, bytes + n);
    CHECK(status_of(bytes, n, NULL, &blame[0]) == expected, "%zu bytes", n);
    CHECK(status_of(bytes, n, &none, &blame[1]) == expected, "%zu bytes", n);
    CHECK(blame[0] == blame[1], "%zu and %zu", blame[0], blame[1]);
    CHECK(expected == MP_E_TRUNCATED || blame[0] == (size_t)(p - bytes), "%zu", blame[0]);
}

static void
refuses_what_is_not_well_formed(void)
{
    uint8_t message[256];
    size_t n = sample(message), i;

    for (i = 0; i <= n; i++) ends_as_skip(message, i);
    for (i = 0; i < n; i++) {
        uint8_t was = message[i];

        message[i] = 0xc1;
        ends_as_skip(message, n);
        message[i] = was;
    }
}

/* Pairs with 0xcb where two float64 would have their heads, but only one of them or none at the start; and two. */
static void
knows_two_floats_from_what_looks_like_them(void)
{
    static const char *const pairs[] = {"\xcc\xcb\xa9xxxxxx\xcbxx", "\xa8xxxxxxxx\xcb\0\0\0\0\0\0\0\0",
                                        "\xcb\0\0\0\0\0\0\0\0\x01", "\xcb\0\0\0\0\0\0\0\0\xcb\0\0\0\0\0\0\0\0"};
    static const size_t sizes[] = {12, 18, 10, 18};
    size_t i, blame;

    for (i = 0; i < 4; i++) {
        uint8_t message[80] = {0xdc, 0, 0, 0x92};
        size_t n = 4 + sizes[i];

        memcpy(message + 4, pairs[i], sizes[i]);
        mp_store16(message + 1, (uint16_t)(1 + sizeof(message) - n)); /* the rest is zeros */
        ends_as_skip(message, sizeof(message));
        CHECK(status_of(message, sizeof(message), NULL, &blame) == MP_OK, "pair %zu", i);
    }
}

/* Declared sizes at every edge, with nothing after them: no arithmetic may wrap. */
static void
declared_sizes_do_not_wrap(void)
{
    static const uint8_t heads[] = {0xc6, 0xdb, 0xdd, 0xdf, 0xc9};
    static const uint32_t sizes[] = {0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    size_t i, j, ahead;

    for (i = 0; i < sizeof(heads) * 4; i++) {
        for (ahead = 0; ahead < 2; ahead++) {
            uint8_t bytes[80] = {0};

            for (j = 0; j < 80; j += 8) {
                bytes[0] = 0x91;
                bytes[1] = heads[i / 4];
                mp_store32(bytes + 2, sizes[i % 4]);
                ends_as_skip(bytes, ahead ? 80 - j : 6);
            }
        }
    }
}

/* 0x91 a hundred thousand times and more, in one go or container by container. */
static void
depth_is_no_matter(void)
{
    enum { DEPTH = 100000 };
    uint8_t *bytes = malloc(DEPTH + 1);
    uint32_t near = 0;
    size_t end, at;
    mp_tape tape;

    if (!bytes) abort();
    memset(bytes, 0x91, DEPTH);
    bytes[DEPTH] = 0xc0;
    tape = fresh(bytes, DEPTH + 1, DEPTH, MP_TAPE_KEEP);
    tape.grow = grow_by_many;
    CHECK(mp_tape_finish(&tape) == MP_OK && tape.count == DEPTH + 2 - MP_TAPE_KEEP, "%" PRIu32, tape.count);
    tape.at = tape.count = tape.depth = 0;
    for (at = DEPTH; at-- > 0;) {
        CHECK(mp_tape_over(&tape, at, &near, &end) == MP_OK && end == DEPTH + 1, "%zu", at);
    }
    tape.at = tape.count = tape.depth = 0;
    tape.max_depth--;
    CHECK(mp_tape_finish(&tape) == MP_E_DEPTH && tape.at == DEPTH - 1, "%" PRIu32, tape.at);
    free(tape.entries);
    free(bytes);
}

static void
knows_the_way_to_an_offset(void)
{
    uint8_t message[256];
    mp_tape tape;

    sample(message);
    tape = fresh(message, 150, 8, MP_TAPE_KEEP_NONE);
    CHECK(mp_tape_finish(&tape) == MP_E_TRUNCATED && tape.at == 150 && tape.depth == 2, "%" PRIu32, tape.depth);
    CHECK(tape.entries[0].offset == 0 && mp_tape_place(&tape, 0) == 2, "%" PRIu32, mp_tape_place(&tape, 0));
    CHECK(tape.entries[1].offset == 75 && mp_tape_place(&tape, 1) == 3, "%" PRIu32, mp_tape_place(&tape, 1));
    free(tape.entries);
}

static jmp_buf way_out;

static bool
leave(mp_tape *tape)
{
    (void)tape;
    longjmp(way_out, 1);
}

/* Without memory for an entry or for keys: the tape does not continue afterwards. */
static void
may_be_left_for_want_of_room(void)
{
    static const uint8_t map[] = "\x82\x01\x01\x02\x02";
    static const mp_check checks = {.unique_keys = true, .limits = {9, 9, 9, 9, 9}};
    static mp_tape_entry entries[2];
    static mp_tape tape;
    static uint32_t capacity;

    for (capacity = 0; capacity < 3; capacity++) {
        tape = fresh(map, sizeof(map) - 1, 8, MP_TAPE_KEEP);
        tape.entries = entries;
        tape.capacity = capacity;
        tape.checks = &checks;
        tape.grow = leave;
        if (!setjmp(way_out)) mp_tape_finish(&tape);
        CHECK(mp_tape_finish(&tape) == MP_E_NO_ROOM, "%" PRIu32, capacity);
    }
}

static void
may_have_no_room(void)
{
    static const uint8_t map[] = "\x82\x01\x01\x02\x02";
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true};
    mp_tape_entry entries[2];
    uint8_t message[256];
    mp_tape tape = fresh(message, sample(message), 8, MP_TAPE_KEEP);

    tape.grow = refuse;
    CHECK(mp_tape_finish(&tape) == MP_E_NO_ROOM && mp_tape_finish(&tape) == MP_E_NO_ROOM, "none");
    tape = fresh(map, sizeof(map) - 1, 8, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = 2;
    tape.grow = refuse;
    tape.checks = &checks;
    CHECK(mp_tape_finish(&tape) == MP_E_NO_ROOM, "for keys");
}

static uint32_t most_entries;

static bool
grow_to_the_most(mp_tape *tape)
{
    return tape->capacity < most_entries && grow_by_one(tape);
}

/* An entry for each container that is open, and one more. */
static void
needs_little_room(void)
{
    enum { DEPTH = 8 };
    uint8_t message[DEPTH + 1 + MP_AHEAD] = {0};
    uint32_t depth, behind;

    for (depth = 0; depth <= DEPTH; depth++) {
        memset(message, 0x91, depth);
        message[depth] = 0xc0;
        for (behind = 0; behind <= MP_AHEAD; behind += MP_AHEAD) {
            mp_tape tape = fresh(message, depth + 1 + behind, DEPTH, MP_TAPE_KEEP);

            most_entries = depth + 1;
            tape.grow = grow_to_the_most;
            CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32 ", %" PRIu32 " behind", depth, behind);
            free(tape.entries);
        }
        message[depth] = 0;
    }
}

static void
has_offsets_of_32_bits(void)
{
    uint64_t size = UINT64_C(1) << 32;
    mp_tape tape;

    if ((size_t)size != size) return;
    CHECK(mp_tape_init(&tape, NULL, (size_t)size, 8, MP_TAPE_KEEP) == MP_E_TAPE_RANGE, "4 GiB");
    CHECK(mp_tape_finish(&tape) == MP_E_TAPE_RANGE, "unusable");
    CHECK(mp_tape_init(&tape, NULL, (size_t)size - 1, 8, MP_TAPE_KEEP) == MP_OK, "less");
}

/* {"a" => [1, nil], "\xff" => bin 3, 5 => ext(5, 2 bytes), 6 => timestamp}: the status of each check. */
static void
checks_what_decoding_does(void)
{
    static const char message[] = "\x84\xa1" "a\x92\x01\xc0\xa1\xff\xc4\x03" "bin\x05\xd5\x05xy\x06\xd5\xffxy";
    const uint64_t known[] = {UINT64_C(1) << 5, 0, 0, 0}, all_known[] = {UINT64_C(1) << 5, 0, 0, UINT64_C(1) << 63};
    const mp_limits no = MP_LIMITS_NONE;
    const struct {
        mp_check checks;
        mp_status expected;
        size_t at;
    } cases[] = {
        {MP_CHECK_NONE, MP_OK, 0},
        {{.limits = no, .utf8 = true}, MP_E_UTF8, 6},
        {{.limits = no, .utf8_keys = true}, MP_E_UTF8, 6},
        {{.limits = no, .timestamps = true}, MP_E_TIMESTAMP_SIZE, 19},
        {{.limits = no, .ext_types = known}, MP_E_UNKNOWN_EXT, 19},
        {{.limits = no, .ext_types = all_known}, MP_OK, 0},
        {{.limits = no, .unique_keys = true}, MP_OK, 0},
        {{.limits = {11, 4, 2, 3, 2}}, MP_OK, 0},
        {{.limits = {10, 4, 2, 3, 2}}, MP_E_MAX_OBJECTS, 3},
        {{.limits = {11, 3, 2, 3, 2}}, MP_E_MAX_MAP, 0},
        {{.limits = {11, 4, 1, 3, 2}}, MP_E_MAX_ARRAY, 3},
        {{.limits = {11, 4, 2, 2, 2}}, MP_E_MAX_STRING, 8},
        {{.limits = {11, 4, 2, 3, 1}}, MP_E_MAX_EXT, 14},
    };
    enum { BEHIND = 2 * MP_AHEAD, LIMITED = 7 };
    uint8_t longer[3 + sizeof(message) + BEHIND] = {0xdc, 0, 1 + BEHIND}; /* in an array with zeros behind it */
    size_t i, blame;

    memcpy(longer + 3, message, sizeof(message) - 1);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mp_status status = status_of(BYTES(message), &cases[i].checks, &blame);
        CHECK(status == cases[i].expected, "case %zu: %d", i, (int)status);
        if (status != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
        if (i >= LIMITED) continue; /* the array would be beyond the limits */
        status = status_of(longer, sizeof(longer) - 1, &cases[i].checks, &blame);
        CHECK(status == cases[i].expected, "case %zu: %d", i, (int)status);
        if (status != MP_OK) CHECK(blame == 3 + cases[i].at, "case %zu: at %zu", i, blame);
    }
}

/* Each limit in turn, with this value: as in mp_skip_limited. */
static void
holds_heads_against_limits(void)
{
    uint8_t message[256];
    size_t n = sample(message), blame, i;
    uint32_t most;

    for (i = 0; i < 5 * 160; i++) {
        mp_check checks = MP_CHECK_NONE;
        uint64_t left[8];
        const uint8_t *p = message;
        mp_status expected;
        mp_walk walk;

        most = (uint32_t)i / 5;
        if (i % 5 == 0) checks.limits.objects = most;
        if (i % 5 == 1) checks.limits.map = most;
        if (i % 5 == 2) checks.limits.array = most;
        if (i % 5 == 3) checks.limits.string = most;
        if (i % 5 == 4) checks.limits.ext = most;
        mp_walk_init(&walk, left, 8);
        walk.objects = 1;
        expected = mp_skip_limited(&walk, &p, message + n, &checks.limits);
        CHECK(status_of(message, n, &checks, &blame) == expected, "%zu of %" PRIu32, i % 5, most);
        CHECK(blame == (size_t)(p - message), "%zu of %" PRIu32 ": at %zu", i % 5, most, blame);
    }
}

/* After every head byte, with every size, in an array and as a key: the same with checks and without. */
static void
strides_over_every_head(void)
{
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8 = true, .timestamps = true};
    unsigned head, next, map;

    for (head = 0; head < 256; head++) {
        for (next = 0; next < 512; next++) {
            uint8_t bytes[3 + 2 * MP_AHEAD] = {0xdc, 0, 24};
            uint64_t left[2];
            const uint8_t *p = bytes;
            mp_tape_entry entries[4];
            mp_tape tape;
            mp_status expected;
            mp_walk walk;

            map = next / 256;
            bytes[0] = map ? 0xde : 0xdc;
            bytes[3] = (uint8_t)head;
            bytes[4] = (uint8_t)next;
            mp_walk_init(&walk, left, 2);
            expected = mp_validate(&walk, &p, bytes + sizeof(bytes));
            tape = fresh(bytes, sizeof(bytes), 2, MP_TAPE_KEEP);
            tape.entries = entries;
            tape.capacity = 4;
            tape.checks = &checks;
            mp_tape_finish(&tape);
            if (tape.status == MP_E_UNDECIDED) continue; /* a container is a key */
            CHECK(tape.status == expected, "%02x %02x: %d, not %d", head, next, (int)tape.status, (int)expected);
            if (expected != MP_E_TRUNCATED) CHECK(tape.at == (size_t)(p - bytes), "%02x %02x", head, next);
        }
    }
}

/* utf8_keys does not check other strs, with any number of bytes after them. */
static void
checks_keys_that_become_symbols(void)
{
    static const uint8_t bytes[64] = "\x92\x81\xa1k\xa1\xff\xa1\xff";
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8_keys = true};
    size_t blame;

    CHECK(status_of(bytes, 8, &checks, &blame) == MP_OK, "%zu", blame);
    CHECK(status_of(bytes, sizeof(bytes), &checks, &blame) == MP_OK, "%zu", blame);
}

static void
checks_timestamps(void)
{
    static const char far[] = "\xc7\x0c\xff\x00\x00\x00\x00\x7f\x00\x00\x00\x00\x00\x00\x00";
    mp_check checks = {.limits = MP_LIMITS_NONE, .timestamps = true};
    size_t blame;

    CHECK(status_of(BYTES(far), &checks, &blame) == MP_OK, "any year");
    checks.timestamp_range = true;
    CHECK(status_of(BYTES(far), &checks, &blame) == MP_E_TIMESTAMP_RANGE, "%zu", blame);
}

static void
refuses_keys(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        mp_status unique, any;
        size_t at;
    } cases[] = {
#define CASE(s, unique, any, at) {s, sizeof(s) - 1, unique, any, at}
        CASE("\x91\x82\x01\xc0\xcc\x01\xc0", MP_E_DUPLICATE_KEY, MP_OK, 1),
        CASE("\x82\xa1" "a\xc0\xc4\x01" "a\xc0", MP_E_DUPLICATE_KEY, MP_OK, 0),
        CASE("\x82\xa1\xff\xc0\xc4\x01\xff\xc0", MP_OK, MP_OK, 0),
        CASE("\x82\x01\x82\x01\x02\x02\x03\x02\xc0", MP_OK, MP_OK, 0),
        CASE("\x84\x01\x01\x01\x01", MP_E_TRUNCATED, MP_E_TRUNCATED, 5),
        CASE("\x81\xca\x7f\xc0\x00\x00\x01", MP_E_NAN_KEY, MP_E_UNDECIDED, 1),
        CASE("\x81\x01\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", MP_OK, MP_OK, 0),
        CASE("\x91\x81\x90\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 2),
        CASE("\x81\xd4\x05\x01\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 1),
        CASE("\x91\x81\x91\x01\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 2),
        CASE("\x91\x81\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00", MP_E_NAN_KEY,
             MP_E_UNDECIDED, 2),
        CASE("\x92\x94\x01\x01\x01\x01\x94\x01\x01\x01\x01", MP_OK, MP_OK, 0),
#undef CASE
    };
    mp_check any = MP_CHECK_NONE, unique = any, limited;
    size_t i, blame;

    unique.unique_keys = true;
    limited = unique;
    limited.limits.string = 100; /* then it does not stride over strs without a look */
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t bytes[64] = {0};
        size_t behind; /* bytes after the message, into which it could stride */

        memcpy(bytes, cases[i].bytes, cases[i].n);
        for (behind = 0; behind <= MP_AHEAD && (!behind || cases[i].any != MP_E_TRUNCATED); behind += MP_AHEAD) {
            size_t n = cases[i].n + behind;
            CHECK(status_of(bytes, n, &any, &blame) == cases[i].any, "case %zu", i);
            CHECK(status_of(bytes, n, &unique, &blame) == cases[i].unique, "case %zu", i);
            if (cases[i].unique != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
            CHECK(status_of(bytes, n, &limited, &blame) == cases[i].unique, "case %zu", i);
            if (cases[i].unique != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
        }
    }
}

/* Maps of up to 300 integer keys in random order, without and with a key twice. */
static void
finds_a_duplicate_among_many(void)
{
    enum { MANY = 300 };
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true};
    uint8_t message[3 + 4 * MANY];
    uint32_t n, i;

    for (n = 2; n <= MANY; n++) {
        mp_tape tape = fresh(message, 3 + 4 * n, 8, MP_TAPE_KEEP);
        uint32_t round;

        tape.grow = grow_by_many;
        for (round = 0; round < 2; round++) {
            message[0] = 0xde;
            mp_store16(message + 1, (uint16_t)n);
            for (i = 0; i < n; i++) {
                message[3 + 4 * i] = 0xcd;
                mp_store16(message + 4 + 4 * i, (uint16_t)((i * 7919) % 65521));
                message[6 + 4 * i] = 0xc0;
            }
            if (round) memcpy(message + 3 + 4 * (n / 3), message + 3 + 4 * (n - 1), 3);
            tape.checks = &checks;
            tape.at = tape.count = tape.depth = 0;
            tape.status = MP_OK;
            CHECK(mp_tape_finish(&tape) == (round ? MP_E_DUPLICATE_KEY : MP_OK), "%" PRIu32, n);
        }
        free(tape.entries);
    }
}

/* Keys whose signatures are equal: comparing each key with each would take noticeable time. */
static void
sorts_keys_that_look_alike(void)
{
    enum { MANY = 30000, EACH = 25 };
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true};
    uint8_t *message = malloc(5 + MANY * (EACH + 1)), *p;
    uint32_t i;
    mp_tape tape;

    if (!message) abort();
    message[0] = 0xdf;
    mp_store32(message + 1, MANY);
    for (i = 0, p = message + 5; i < MANY; i++, p += EACH + 1) {
        memset(p, 'a', EACH);
        *p = 0xa0 | (EACH - 1);
        mp_store32(p + 10, i * 2654435761u);
        p[EACH] = 0xc0;
    }
    tape = fresh(message, (size_t)(p - message), 8, MP_TAPE_KEEP);
    tape.grow = grow_by_many;
    tape.checks = &checks;
    CHECK(mp_tape_finish(&tape) == MP_OK, "%d", (int)tape.status);
    memcpy(message + 5, p - EACH - 1, EACH);
    tape.at = tape.count = 0;
    CHECK(mp_tape_finish(&tape) == MP_E_DUPLICATE_KEY, "%d", (int)tape.status);
    free(tape.entries);
    free(message);
}

/* Writes a map of n keys of the given length, every second value a map of two others; returns its size. */
static size_t
map_of_names(uint8_t *message, uint32_t n, uint32_t length)
{
    uint8_t *p = mp_put_map_head(message, n);
    uint32_t i;

    for (i = 0; i < n; i++) {
        p = mp_put_str_head(p, length, false);
        memset(p, 'k', length);
        p[length - 1] = (uint8_t)(i * 37);
        if (length > 1) p[0] = (uint8_t)(i >> 8);
        p += length;
        if (i % 2) p = mp_put_nil(p);
        else memcpy(p, "\x82\xa1" "a\x01\xa1" "b\x02", 7), p += 7;
    }
    return (size_t)(p - message);
}

/* Maps of up to 256 names, without and with a name twice; also at a depth where keys are not noted. */
static void
notes_keys_while_it_walks(void)
{
    enum { MANY = 256, LONGEST = 31, DEEPEST = MP_CHECK_NOTED + 1 };
    static mp_noted_keys noted[MP_CHECK_NOTED];
    static uint8_t message[DEEPEST + 5 + MANY * (LONGEST + 8) + MP_AHEAD];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint32_t n, round, length, depth;

    for (n = 2; n <= MANY; n += 1 + n / 8) {
        for (round = 0; round < 8; round++) {
            uint8_t *map = message + (depth = round & 4 ? DEEPEST - 1 : 0);
            bool twice = round & 1;
            mp_tape tape;
            size_t size;

            length = round & 2 ? 1 : 1 + n % LONGEST;
            memset(message, 0x91, depth);
            size = map_of_names(map, n, length);
            if (twice) memcpy(map + size - 1 - (n % 2 ? 6 : 0) - length, map + mp_head_need(map, map + 1) + 1, length);
            memset(map + size, 0, MP_AHEAD);
            tape = fresh(message, depth + size + MP_AHEAD, 32, MP_TAPE_KEEP);
            tape.grow = grow_by_many;
            tape.checks = &checks;
            CHECK(mp_tape_finish(&tape) == (twice ? MP_E_DUPLICATE_KEY : MP_OK), "%" PRIu32 " %" PRIu32, n, round);
            free(tape.entries);
        }
    }
}

/* Keys that are read again would need room for entries. The deepest maps in the map are at the last noted depth. */
static void
notes_keys_once(void)
{
    static mp_noted_keys noted[MP_CHECK_NOTED];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    mp_tape_entry entries[MP_CHECK_NOTED + 1];
    uint32_t depth;

    for (depth = 0; depth + 2 <= MP_CHECK_NOTED; depth++) {
        uint8_t message[512] = {0};
        size_t size = depth + map_of_names(message + depth, 10, 8);
        mp_tape tape = fresh(message, size + MP_AHEAD, MP_CHECK_NOTED, MP_TAPE_KEEP);

        memset(message, 0x91, depth);
        tape.entries = entries;
        tape.capacity = depth + 3;
        tape.grow = refuse;
        tape.checks = &checks;
        CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32 ": %d", depth, (int)tape.status);
    }
}

/* Maps at every depth with keys enough for all bits of their notes. */
static void
notes_keys_in_its_memory(void)
{
    enum { BEHIND = 2, MANY = 64 };
    static mp_noted_keys noted[MP_CHECK_NOTED + BEHIND], behind[BEHIND];
    static uint8_t message[MP_CHECK_NOTED + 5 + MANY * 16 + MP_AHEAD];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint32_t depth, n;

    memset(noted, 0xee, sizeof(noted));
    memset(behind, 0xee, sizeof(behind));
    for (depth = 0; depth <= MP_CHECK_NOTED; depth++) {
        for (n = 2; n <= MANY; n *= 2) {
            size_t size = depth + map_of_names(message + depth, n, 8);
            mp_tape tape = fresh(message, size, 32, MP_TAPE_KEEP);

            memset(message, 0x91, depth);
            tape.grow = grow_by_many;
            tape.checks = &checks;
            CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32 ": %d", depth, (int)tape.status);
            free(tape.entries);
        }
    }
    CHECK(!memcmp(noted + MP_CHECK_NOTED, behind, sizeof(behind)), "what is behind the notes");
}

/* A str in one of its forms: 0 for the shortest. Returns the place after it. */
static uint8_t *
put_str_in_form(uint8_t *p, uint32_t n, uint32_t form)
{
    if (form == 0) p = mp_put_str_head(p, n, false);
    if (form == 1) p = mp_put_head8(p, 0xd9, (uint8_t)n);
    if (form == 2) p = mp_put_head16(p, 0xda, (uint16_t)n);
    if (form == 3) p = mp_put_head32(p, 0xdb, n);
    memset(p, 'k', n);
    return p + n;
}

/* The same key twice, in any two forms, with two values: neither they nor the heads make the keys differ. */
static void
notes_a_key_alike_in_all_its_forms(void)
{
    static mp_noted_keys noted[MP_CHECK_NOTED];
    mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint8_t message[256], *p;
    uint32_t n, forms, round;

    for (n = 0; n <= 40; n++) {
        for (forms = 0; forms < 16; forms++) {
            p = put_str_in_form(mp_put_map_head(message, 2), n, forms / 4);
            p = mp_put_str_head(p, 8, false);
            memset(p, 0, 8);
            p = put_str_in_form(p + 8, n, forms % 4);
            p = mp_put_str_head(p, 8, false);
            memset(p, 0xff, 8);
            memset(p + 8, 0, MP_AHEAD);
            for (round = 0; round < 2; round++) {
                mp_tape tape = fresh(message, (size_t)(p - message) + 8 + MP_AHEAD, 8, MP_TAPE_KEEP);

                checks.limits.string = round ? 40 : UINT32_MAX; /* with the limit it looks at each str */
                tape.grow = grow_by_many;
                tape.checks = &checks;
                CHECK(mp_tape_finish(&tape) == MP_E_DUPLICATE_KEY, "%" PRIu32 " bytes in forms %" PRIu32, n, forms);
                free(tape.entries);
            }
        }
    }
}

/* A byte in the middle of a longer key is read only if the key may be there twice. */
static void
notes_the_first_and_last_eight_bytes(void)
{
    enum { LONGEST = 20 };
    uint32_t n, i;

    for (n = 1; n <= LONGEST; n++) {
        for (i = 0; i < n; i++) {
            uint8_t key[LONGEST] = {0}, other[LONGEST] = {0};

            other[i] = 1;
            CHECK((mp_noted_key_hash(key, n) == mp_noted_key_hash(other, n)) == (i >= 8 && i + 8 < n),
                  "%" PRIu32 " of %" PRIu32, i, n);
        }
    }
}

/* unique.h promises one in 32, whatever was noted before. */
static void
notes_give_an_answer_for_most_maps(void)
{
    enum { MAPS = 5000 };
    mp_noted_keys noted;
    uint64_t state = 1;
    uint32_t n, i, map;

    for (n = 1; n <= 22; n++) {
        uint32_t unknown = 0;

        for (map = 0; map < MAPS; map++) {
            memset(noted.bits, 0xff, sizeof(noted.bits));
            mp_noted_keys_start(&noted, n);
            for (i = 0; i < n; i++) {
                uint8_t key[8];

                state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
                mp_store64(key, state);
                mp_noted_keys_add(&noted, key, sizeof(key));
            }
            unknown += noted.left != 0;
        }
        CHECK(unknown <= MAPS / 32, "%" PRIu32 " of %d maps of %" PRIu32, unknown, MAPS, n);
    }
}

void
mp_test_tape(void)
{
    has_an_entry_for_each_large_container();
    keeps_containers_from_a_size_on();
    goes_as_far_as_it_is_asked();
    reports_errors_on_the_way();
    tells_what_it_has_passed();
    finds_a_container_from_anywhere(0);
    finds_a_container_from_anywhere(MP_TAPE_KEEP);
    knows_two_floats_from_what_looks_like_them();
    refuses_what_is_not_well_formed();
    declared_sizes_do_not_wrap();
    depth_is_no_matter();
    knows_the_way_to_an_offset();
    may_have_no_room();
    needs_little_room();
    may_be_left_for_want_of_room();
    has_offsets_of_32_bits();
    checks_what_decoding_does();
    checks_timestamps();
    checks_keys_that_become_symbols();
    holds_heads_against_limits();
    strides_over_every_head();
    refuses_keys();
    finds_a_duplicate_among_many();
    sorts_keys_that_look_alike();
    notes_keys_while_it_walks();
    notes_keys_once();
    notes_keys_in_its_memory();
    notes_a_key_alike_in_all_its_forms();
    notes_the_first_and_last_eight_bytes();
    notes_give_an_answer_for_most_maps();
}
