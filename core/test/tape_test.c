/* Tapes: their entries, how far they walk, how they end in malformed messages, and what their checks refuse. */
#include "tapes.h"

#include <setjmp.h>

#include "skip.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

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
    mp_tape tape = mp_fresh_tape(message, n, 8, MP_TAPE_KEEP);

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
        tape = mp_fresh_tape(message, sizeof(message), 8, MP_TAPE_KEEP);
        tape.grow = mp_grow_by_many;
        CHECK(mp_tape_finish(&tape) == MP_OK && tape.count == 1 + (n + 3u >= MP_TAPE_KEEP), "%" PRIu32, tape.count);
        free(tape.entries);
    }
}

/* Containers that the walk has not come to the end of have none. */
static void
has_the_ends_that_come_before_a_fault(void)
{
    uint8_t message[256];
    uint32_t near = 0;
    size_t n = sample(message), end = 0;
    mp_tape tape;

    message[148] = 0xc1;
    tape = mp_fresh_tape(message, n, 8, MP_TAPE_KEEP);
    CHECK(mp_tape_finish(&tape) == MP_E_BAD_HEAD && mp_tape_blame(&tape) == 148, "%zu", mp_tape_blame(&tape));
    CHECK(mp_tape_over(&tape, 2, &near, &end) == MP_OK && end == 75 && near == 2, "%" PRIu32, near);
    CHECK(mp_tape_over(&tape, 78, &near, &end) == MP_OK && end == 148, "%zu", end);
    CHECK(mp_tape_over(&tape, 75, &near, &end) == MP_E_BAD_HEAD, "one that is open");
    CHECK(mp_tape_over(&tape, 0, &near, &end) == MP_E_BAD_HEAD, "one around it");
    CHECK(mp_tape_over(&tape, 148, &near, &end) == MP_E_BAD_HEAD && tape.at == 148, "after the walk");
    free(tape.entries);
}

/* Of the containers in the sample. */
static void
finds_entries(void)
{
    uint8_t message[256];
    size_t n = sample(message), at;
    mp_tape tape = mp_fresh_tape(message, n, 8, MP_TAPE_KEEP);

    CHECK(mp_tape_entry_of(&tape, 0) == tape.count, "an empty tape");
    mp_tape_finish(&tape);
    for (at = 0; at <= n; at++) {
        uint32_t entry = mp_tape_entry_of(&tape, at), i = 0;

        while (i < tape.count && tape.entries[i].offset != at) i++;
        CHECK(entry == i, "%zu: %u and %u", at, entry, i);
        CHECK(entry == tape.count || !mp_tape_open_p(&tape, entry), "%zu", at);
    }
    free(tape.entries);
    tape = mp_fresh_tape(message, n - 2, 8, MP_TAPE_KEEP);
    CHECK(mp_tape_finish(&tape) == MP_E_TRUNCATED && mp_tape_open_p(&tape, mp_tape_entry_of(&tape, 0)), "cut");
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
    tape = mp_fresh_tape(message, n, DEPTH, MP_TAPE_KEEP);
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
    CHECK(mp_status_of_tape(bytes, n, NULL, &blame[0]) == expected, "%zu bytes", n);
    CHECK(mp_status_of_tape(bytes, n, &none, &blame[1]) == expected, "%zu bytes", n);
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
        CHECK(mp_status_of_tape(message, sizeof(message), NULL, &blame) == MP_OK, "pair %zu", i);
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

/* 0x91 a hundred thousand times and more. */
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
    tape = mp_fresh_tape(bytes, DEPTH + 1, DEPTH, MP_TAPE_KEEP);
    tape.grow = mp_grow_by_many;
    CHECK(mp_tape_finish(&tape) == MP_OK && tape.count == DEPTH + 2 - MP_TAPE_KEEP, "%" PRIu32, tape.count);
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
    tape = mp_fresh_tape(message, 150, 8, MP_TAPE_KEEP_NONE);
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
        tape = mp_fresh_tape(map, sizeof(map) - 1, 8, MP_TAPE_KEEP);
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
    mp_tape tape = mp_fresh_tape(message, sample(message), 8, MP_TAPE_KEEP);

    tape.grow = mp_refuse_to_grow;
    CHECK(mp_tape_finish(&tape) == MP_E_NO_ROOM && mp_tape_finish(&tape) == MP_E_NO_ROOM, "none");
    tape = mp_fresh_tape(map, sizeof(map) - 1, 8, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = 2;
    tape.grow = mp_refuse_to_grow;
    tape.checks = &checks;
    CHECK(mp_tape_finish(&tape) == MP_E_NO_ROOM, "for keys");
}

static uint32_t most_entries;

static bool
grow_to_the_most(mp_tape *tape)
{
    return tape->capacity < most_entries && mp_grow_by_one(tape);
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
            mp_tape tape = mp_fresh_tape(message, depth + 1 + behind, DEPTH, MP_TAPE_KEEP);

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
        mp_status status = mp_status_of_tape(BYTES(message), &cases[i].checks, &blame);
        CHECK(status == cases[i].expected, "case %zu: %d", i, (int)status);
        if (status != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
        if (i >= LIMITED) continue; /* the array would be beyond the limits */
        status = mp_status_of_tape(longer, sizeof(longer) - 1, &cases[i].checks, &blame);
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
        CHECK(mp_status_of_tape(message, n, &checks, &blame) == expected, "%zu of %" PRIu32, i % 5, most);
        CHECK(blame == (size_t)(p - message), "%zu of %" PRIu32 ": at %zu", i % 5, most, blame);
    }
}

/* Small arrays and maps of every size, with bytes behind them, into which it could stride without a look. */
static void
holds_small_containers_against_limits(void)
{
    enum { MOST = 15, BEHIND = 2 * MP_AHEAD };
    uint32_t n, limit, map;

    for (map = 0; map < 2; map++) {
        for (n = 0; n <= MOST; n++) {
            uint8_t message[5 + 2 * MOST + BEHIND] = {0}, *p = message;
            size_t size, blame;

            /* {0 => [n integers], 0 => 0, ...} or [{n pairs}, 0, ...] */
            p = map ? mp_put_array_head(p, 1 + BEHIND) : mp_put_map_head(p, 1 + BEHIND / 2);
            if (!map) *p++ = 0;
            p = map ? mp_put_map_head(p, n) : mp_put_array_head(p, n);
            size = (size_t)(p - message) + (map ? 2 * n : n) + BEHIND;
            for (limit = 0; limit <= MOST; limit++) {
                mp_check checks = MP_CHECK_NONE;
                mp_status status;

                if (map) checks.limits.map = limit;
                else checks.limits.array = limit;
                status = mp_status_of_tape(message, size, &checks, &blame);
                CHECK(status == (n <= limit ? MP_OK : map ? MP_E_MAX_MAP : MP_E_MAX_ARRAY),
                      "%" PRIu32 " of %" PRIu32 ": %d", n, limit, (int)status);
            }
        }
    }
}

/* After every head byte, with every size, in an array and as a key: the same with checks and without. */
static void
strides_over_every_head(void)
{
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8 = true, .timestamps = true};
    unsigned head, next, map;

    mp_seedless = true;
    for (head = 0; head < 256; head++) {
        for (next = 0; next < 512; next++) {
            uint8_t bytes[3 + 2 * MP_AHEAD] = {0xdc, 0, 24};
            mp_status plain, checked;
            size_t blame, end;

            map = next / 256;
            bytes[0] = map ? 0xde : 0xdc;
            bytes[3] = (uint8_t)head;
            bytes[4] = (uint8_t)next;
            plain = mp_status_of_tape(bytes, sizeof(bytes), NULL, &end);
            checked = mp_status_of_tape(bytes, sizeof(bytes), &checks, &blame);
            if (plain != MP_OK) CHECK(checked != MP_OK, "%02x %02x", head, next);
            if (checked == plain) CHECK(blame == end, "%02x %02x: at %zu, not %zu", head, next, blame, end);
        }
    }
    mp_seedless = false;
}

/* utf8_keys does not check other strs, with any number of bytes after them. */
static void
checks_keys_that_become_symbols(void)
{
    static const uint8_t bytes[64] = "\x92\x81\xa1k\xa1\xff\xa1\xff";
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8_keys = true};
    size_t blame;

    CHECK(mp_status_of_tape(bytes, 8, &checks, &blame) == MP_OK, "%zu", blame);
    CHECK(mp_status_of_tape(bytes, sizeof(bytes), &checks, &blame) == MP_OK, "%zu", blame);
}

static void
checks_timestamps(void)
{
    static const char far[] = "\xc7\x0c\xff\x00\x00\x00\x00\x7f\x00\x00\x00\x00\x00\x00\x00";
    mp_check checks = {.limits = MP_LIMITS_NONE, .timestamps = true};
    size_t blame;

    CHECK(mp_status_of_tape(BYTES(far), &checks, &blame) == MP_OK, "any year");
    checks.timestamp_range = true;
    CHECK(mp_status_of_tape(BYTES(far), &checks, &blame) == MP_E_TIMESTAMP_RANGE, "%zu", blame);
}

void
mp_test_tape(void)
{
    has_an_entry_for_each_large_container();
    keeps_containers_from_a_size_on();
    has_the_ends_that_come_before_a_fault();
    finds_entries();
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
    holds_small_containers_against_limits();
    strides_over_every_head();
}
