/* Cursors: the objects that they find in a message, and how they end in malformed messages. */
#include "tapes.h"

#include "find.h"

enum { PLACES = 64 };

static uint64_t left[PLACES];
static mp_tape_entry entries[PLACES];

/* With a tape, or without one. */
static mp_look
look_at(const uint8_t *bytes, size_t n, mp_tape *tape)
{
    mp_look look;

    mp_look_init(&look, bytes, n, left, PLACES);
    look.tape = tape;
    if (!tape) return look;
    mp_tape_init(tape, bytes, n, PLACES, MP_TAPE_KEEP);
    tape->entries = entries;
    tape->capacity = PLACES;
    tape->grow = mp_refuse_to_grow;
    mp_tape_finish(tape);
    return look;
}

/* Makes the tape again, with room for fewer entries or less depth. */
static void
make_again(mp_tape *tape, uint32_t capacity, uint32_t max_depth)
{
    mp_tape_init(tape, tape->bytes, tape->size, max_depth, MP_TAPE_KEEP);
    tape->entries = entries;
    tape->capacity = capacity;
    tape->grow = mp_refuse_to_grow;
    mp_tape_finish(tape);
}

/* {"a" => 1, 1 => "one", nil => [70 integers], "e" => {"x" => true}, 1 => "uno", 1.5 => -1, "\xC3\xA9" => "str"} */
static size_t
sample(uint8_t *p)
{
    static const char head[] = "\x87\xa1" "a\x01\x01\xa3" "one\xc0\xdc\x00\x46";
    static const char tail[] = "\xa1" "e\x81\xa1" "x\xc3\xd1\x00\x01\xa3" "uno\xca\x3f\xc0\x00\x00\xff"
                               "\xa2\xc3\xa9\xa3str";
    size_t n = sizeof(head) - 1;

    memcpy(p, head, n);
    memset(p + n, 7, 70);
    memcpy(p + n + 70, tail, sizeof(tail) - 1);
    return n + 70 + sizeof(tail) - 1;
}

/* The first byte of the value in the sample's map; 0xc1 without such a key. */
static uint8_t
value_of(mp_look *look, mp_key key, mp_find_which which)
{
    mp_cursor cursor;
    size_t value;

    CHECK(mp_cursor_open(&cursor, look, 0) == MP_OK && cursor.kind == MP_MAP && cursor.left == 14, "open");
    CHECK(mp_find(&cursor, &key, which, &value) == MP_OK, "kind %d", (int)key.kind);
    return value ? look->bytes[value] : 0xc1;
}

static void
finds_keys_of_every_kind(bool with_tape)
{
    uint8_t message[256], *bytes;
    size_t n = sample(message);
    mp_tape tape;
    mp_look look;

    bytes = mp_exact(message, n);
    look = look_at(bytes, n, with_tape ? &tape : NULL);
    CHECK(value_of(&look, mp_key_str("a", 1), MP_FIND_LAST) == 0x01, "str");
    CHECK(value_of(&look, mp_key_bin("a", 1), MP_FIND_LAST) == 0x01, "ASCII");
    CHECK(value_of(&look, mp_key_str("ab", 2), MP_FIND_LAST) == 0xc1, "longer");
    CHECK(value_of(&look, mp_key_str("", 0), MP_FIND_LAST) == 0xc1, "shorter");
    CHECK(value_of(&look, mp_key_str("\xc3\xa9", 2), MP_FIND_LAST) == 0xa3, "str");
    CHECK(value_of(&look, mp_key_bin("\xc3\xa9", 2), MP_FIND_LAST) == 0xc1, "bin");
    CHECK(value_of(&look, mp_key_str("x", 1), MP_FIND_LAST) == 0xc1, "deeper");
    CHECK(value_of(&look, mp_key_special(MP_NIL), MP_FIND_LAST) == 0xdc, "nil");
    CHECK(value_of(&look, mp_key_real(1.5), MP_FIND_LAST) == 0xff, "float");
    CHECK(value_of(&look, mp_key_uint(1), MP_FIND_FIRST) == 0xa3, "first");
    free(bytes);
}

static void
takes_the_first_or_the_last(void)
{
    uint8_t message[256];
    size_t n = sample(message), value;
    mp_look look = look_at(message, n, NULL);
    mp_key one = mp_key_sint(1);
    mp_cursor cursor;

    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find(&cursor, &one, MP_FIND_FIRST, &value) == MP_OK && message[value + 1] == 'o', "first");
    CHECK(cursor.at == value && cursor.left == 11, "at the value");
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find(&cursor, &one, MP_FIND_LAST, &value) == MP_OK && message[value + 1] == 'u', "last");
    CHECK(cursor.at == n && !cursor.left, "at the end");
}

static void
finds_several_at_once(bool with_tape)
{
    static const uint8_t long_names[] = "\x82\xaa" "long names\x81\xc0\x91\x01\xaa" "long name!\x02\0\0\0\0\0\0\0\0\0\0"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    mp_key all[] = {mp_key_str("a", 1), mp_key_str("none", 4), mp_key_sint(1), mp_key_special(MP_NIL),
                    mp_key_str("", 0), mp_key_str("e", 1), mp_key_str("\xc3\xa9", 2), mp_key_real(1.5)};
    mp_key names[] = {mp_key_str("long name!", 10), mp_key_str("long names", 10), mp_key_str("long nam", 8)};
    mp_wanted_key keys[8];
    mp_wanted wanted = {.keys = keys};
    uint8_t message[256];
    size_t n = sample(message), values[8], i;
    mp_tape tape;
    mp_look look = look_at(message, n, with_tape ? &tape : NULL);
    mp_cursor cursor;

    for (i = 0; i < 8; i++) mp_wanted_add(&wanted, &all[i]);
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, true, values) == MP_OK && cursor.at == n && !cursor.left, "%zu", cursor.at);
    CHECK(message[values[0]] == 0x01 && !values[1] && message[values[2] + 1] == 'u', "a, none, 1");
    CHECK(message[values[3]] == 0xdc && !values[4] && message[values[5]] == 0x81, "nil, empty, e");
    CHECK(message[values[6]] == 0xa3 && message[values[7]] == 0xff, "more");
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, false, values) == MP_OK && message[values[2] + 1] == 'o', "the first");
    look = look_at(long_names, sizeof(long_names), with_tape ? &tape : NULL);
    wanted = (mp_wanted){.keys = keys};
    for (i = 0; i < 3; i++) mp_wanted_add(&wanted, &names[i]);
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, true, values) == MP_OK && long_names[values[0]] == 0x02, "the second");
    CHECK(long_names[values[1]] == 0x81 && !values[2], "the first of two that start alike");
    if (with_tape) return;
    look.walk.max_depth = 2;
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, true, values) == MP_E_DEPTH, "an array in a map in the map");
}

/* {"" => 0, "k" => 1, "kk" => 2, ...}: fixstrs of every length, and longer strs. */
static void
finds_a_wanted_key_of_every_length(bool with_tape)
{
    enum { LENGTHS = 41 };
    uint8_t message[LENGTHS * (LENGTHS + 3) + MP_AHEAD] = {0}, *p = mp_put_map_head(message, LENGTHS), text[LENGTHS];
    uint32_t n;

    memset(text, 'k', sizeof(text));
    for (n = 0; n < LENGTHS; n++) {
        p = mp_put_str_head(p, n, false);
        memset(p, 'k', n);
        p = mp_put_uint(p + n, n);
    }
    for (n = 0; n < LENGTHS; n++) {
        mp_wanted_key place;
        mp_wanted wanted = {.keys = &place};
        mp_key key = mp_key_str(text, n);
        mp_tape tape;
        mp_look look = look_at(message, sizeof(message), with_tape ? &tape : NULL);
        mp_cursor cursor;
        size_t value;

        mp_wanted_add(&wanted, &key);
        mp_cursor_open(&cursor, &look, 0);
        CHECK(mp_find_wanted(&cursor, &wanted, false, &value) == MP_OK && value, "%" PRIu32, n);
        CHECK(message[value] == n, "%" PRIu32 ": %zu", n, value);
    }
}

/* A container of leaves in the map is one too many. */
static void
holds_values_of_wanted_keys_against_depth(bool with_tape)
{
    static const uint8_t message[5 + MP_AHEAD] = "\x81\xa1" "a\x91\x01";
    mp_tape tape;
    mp_look look = look_at(message, sizeof(message), with_tape ? &tape : NULL);
    mp_key none = mp_key_str("none", 4);
    mp_wanted_key place;
    mp_wanted wanted = {.keys = &place};
    mp_cursor cursor;
    size_t value;

    if (with_tape) make_again(&tape, PLACES, 1);
    look.walk.max_depth = 1;
    mp_wanted_add(&wanted, &none);
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, false, &value) == MP_E_DEPTH, "%zu", cursor.at);
    CHECK(look.blame == 3, "%zu", look.blame);
}

/* The memory behind the wanted keys may hold keys, too, and that behind the values is not written. */
static void
finds_only_keys_that_are_wanted(void)
{
    uint8_t message[256];
    mp_look look = look_at(message, sample(message), NULL);
    mp_key a = mp_key_str("a", 1), one = mp_key_uint(1);
    mp_wanted_key keys[3];
    mp_wanted wanted = {.keys = keys};
    size_t values[] = {7, 7, 7};
    mp_cursor cursor;

    mp_wanted_add(&wanted, &a);
    mp_wanted_add(&wanted, &a);
    mp_wanted_add(&wanted, &one);
    wanted.count = 1;
    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_find_wanted(&cursor, &wanted, true, values) == MP_OK && message[values[0]] == 0x01, "a");
    CHECK(values[1] == 7 && values[2] == 7, "%zu, %zu", values[1], values[2]);
}

/* Near the end, too: the tape, which could not have an entry, is not asked. */
static void
passes_leaves_without_the_tape(void)
{
    static const uint8_t leaves[] = "\x99\x01\xa1\xff\xc4\x01" "b\xd4\x05\x01\xc0\x90\xd9\x00\xcd\x00\x00\x80";
    mp_tape tape;
    mp_look look = look_at(leaves, sizeof(leaves) - 1, &tape);
    mp_cursor cursor;

    tape.at = 0; /* it would know of nothing */
    mp_cursor_open(&cursor, &look, 0);
    while (cursor.left && mp_cursor_next(&cursor) == MP_OK) continue;
    CHECK(!cursor.left && cursor.at == sizeof(leaves) - 1, "%zu", cursor.at);
}

/* {[1] => 2}, with room for the outer container, but none for more. */
static void
ends_at_a_key_for_want_of_room(void)
{
    static const uint8_t bytes[] = "\x81\x91\x01\x02";
    mp_key key = mp_key_str("none", 4);
    int which;

    for (which = MP_FIND_FIRST; which <= MP_FIND_LAST; which++) {
        mp_tape tape;
        mp_look look = look_at(bytes, sizeof(bytes) - 1, &tape);
        mp_cursor cursor;
        size_t value;

        make_again(&tape, 1, PLACES);
        mp_cursor_open(&cursor, &look, 0);
        CHECK(mp_find(&cursor, &key, (mp_find_which)which, &value) == MP_E_NO_ROOM, "%d", which);
    }
}

static void
counts_elements(bool with_tape)
{
    uint8_t message[256];
    mp_tape tape;
    mp_look look = look_at(message, sample(message), with_tape ? &tape : NULL);
    mp_cursor cursor;

    mp_cursor_open(&cursor, &look, 0);
    CHECK(mp_cursor_skip(&cursor, 5) == MP_OK && message[cursor.at] == 0xdc && cursor.left == 9, "%zu", cursor.at);
    CHECK(mp_cursor_next(&cursor) == MP_OK && message[cursor.at] == 0xa1, "%zu", cursor.at);
    CHECK(mp_cursor_skip(&cursor, UINT64_MAX) == MP_OK && !cursor.left && cursor.at == look.size, "%zu", cursor.at);
    CHECK(mp_cursor_open(&cursor, &look, 1) == MP_OK && cursor.kind == MP_STR && !cursor.left, "no container");
}

/* The value of "x" in that of "e". */
static void
descends(bool with_tape)
{
    uint8_t message[256];
    mp_tape tape;
    mp_look look = look_at(message, sample(message), with_tape ? &tape : NULL);
    mp_key e = mp_key_str("e", 1), x = mp_key_str("x", 1);
    mp_cursor outer, inner;
    size_t value;

    mp_cursor_open(&outer, &look, 0);
    CHECK(mp_find(&outer, &e, MP_FIND_FIRST, &value) == MP_OK && value, "e");
    mp_cursor_open(&inner, &look, value);
    CHECK(mp_find(&inner, &x, MP_FIND_FIRST, &value) == MP_OK && message[value] == 0xc3, "x");
}

/* Searches for a missing key. An error must have the offset that a tape over the whole message has. */
static mp_status
status_of(const uint8_t *bytes, size_t n, bool with_tape)
{
    mp_tape whole;
    mp_tape tape;
    mp_look look = look_at(bytes, n, with_tape ? &tape : NULL);
    mp_key key = mp_key_str("none", 4);
    mp_cursor cursor;
    size_t value;
    mp_status status = mp_cursor_open(&cursor, &look, 0);

    if (status == MP_OK) status = mp_find(&cursor, &key, MP_FIND_LAST, &value);
    if (status == MP_OK) return status;
    look_at(bytes, n, &whole);
    CHECK(mp_tape_finish(&whole) == status, "%d and %d", (int)status, (int)whole.status);
    CHECK(mp_tape_blame(&whole) == look.blame, "%zu and %zu", look.blame, mp_tape_blame(&whole));
    return status;
}

static mp_status
status_of_exact(const uint8_t *bytes, size_t n, bool with_tape)
{
    uint8_t *block = mp_exact(bytes, n);
    mp_status status = status_of(block, n, with_tape);

    free(block);
    return status;
}

static mp_status
status_of_skip(const uint8_t *bytes, size_t n)
{
    uint64_t places[PLACES];
    mp_walk walk;

    mp_walk_init(&walk, places, PLACES);
    return mp_skip(&walk, &bytes, bytes + n);
}

static void
refuses_what_is_not_well_formed(bool with_tape)
{
    uint8_t message[256];
    size_t n = sample(message), i;

    CHECK(status_of_exact(message, n, with_tape) == MP_OK, "whole");
    for (i = 0; i < n; i++) CHECK(status_of_exact(message, i, with_tape) == MP_E_TRUNCATED, "cut at %zu", i);
    for (i = 0; i < n; i++) {
        uint8_t was = message[i];

        message[i] = 0xc1;
        CHECK(status_of_exact(message, n, with_tape) == status_of_skip(message, n), "0xc1 at %zu", i);
        message[i] = was;
    }
}

/* After each head byte, with every size: ends as mp_skip does. */
static void
passes_every_head(bool with_tape)
{
    unsigned head, next;

    for (head = 0; head < 256; head++) {
        for (next = 0; next < 256; next++) {
            uint8_t bytes[3 + 2 * MP_AHEAD] = {0xde, 0, 12, 0, 0};

            bytes[3] = (uint8_t)head;
            bytes[4] = (uint8_t)next;
            CHECK(status_of(bytes, sizeof(bytes), with_tape) == status_of_skip(bytes, sizeof(bytes)), "%02x %02x",
                  head, next);
        }
    }
}

static void
holds_depth_against_its_limit(void)
{
    const uint8_t bytes[] = {0x91, 0x91, 0x91, 0x01};
    mp_look look = look_at(bytes, sizeof(bytes), NULL);
    mp_cursor cursor;
    size_t depth;

    for (depth = 0; depth < 5; depth++) {
        mp_look_init(&look, bytes, sizeof(bytes), left, depth);
        mp_cursor_open(&cursor, &look, 0);
        CHECK(mp_cursor_next(&cursor) == (depth < 3 ? MP_E_DEPTH : MP_OK), "%zu", depth);
    }
}

void
mp_test_find(void)
{
    int with_tape;

    for (with_tape = 0; with_tape < 2; with_tape++) {
        finds_keys_of_every_kind(with_tape);
        finds_several_at_once(with_tape);
        finds_a_wanted_key_of_every_length(with_tape);
        holds_values_of_wanted_keys_against_depth(with_tape);
        counts_elements(with_tape);
        descends(with_tape);
        refuses_what_is_not_well_formed(with_tape);
        passes_every_head(with_tape);
    }
    finds_only_keys_that_are_wanted();
    passes_leaves_without_the_tape();
    ends_at_a_key_for_want_of_room();
    takes_the_first_or_the_last();
    holds_depth_against_its_limit();
}
