/* Trails: the steps to each place of a message, where trails end, and deep and long messages. */
#include "tapes.h"

#include "trail.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

static bool
grow_by_half(mp_tape *tape)
{
    uint32_t capacity = tape->capacity + tape->capacity / 2 + 2;
    mp_tape_entry *entries = realloc(tape->entries, capacity * sizeof(mp_tape_entry));

    if (!entries) abort();
    tape->entries = entries;
    tape->capacity = capacity;
    return true;
}

/* The trail as text: "[3]" for an index, "<1-4>" for a key from 1 to 4; "?" without a trail. */
static const char *
trail_to(const uint8_t *bytes, size_t offset)
{
    static char text[512];
    uint8_t *block = mp_exact(bytes, offset); /* nothing after the offset is read */
    uint64_t *left;
    mp_trail trail;
    size_t n = 0;
    uint32_t i;

    strcpy(text, "?");
    mp_trail_init(&trail, block, offset);
    trail.tape.grow = mp_grow_by_one;
    if (mp_trail_walk(&trail)) {
        left = malloc(mp_trail_places(&trail) * sizeof(*left));
        text[0] = 0;
        for (i = 0; i < trail.depth; i++) {
            mp_trail_step step = mp_trail_step_at(&trail, i, left);

            if (step.kind == MP_ARRAY) n += (size_t)sprintf(text + n, "[%" PRIu32 "]", step.index);
            else n += (size_t)sprintf(text + n, "<%zu-%zu>", step.key, step.key_end);
        }
        free(left);
    }
    free(trail.tape.entries);
    free(block);
    return text;
}

static void
leads_to_every_byte(void)
{
    /* {"a" => [1, {5 => nil}], [2, 3] => {"b" => "text"}, "c" => true} */
    static const char message[] = "\x83\xa1" "a\x92\x01\x81\x05\xc0" "\x92\x02\x03\x81\xa1" "b\xa4text" "\xa1" "c\xc3";
    static const char *const expected[] = {
        "", "", "", "<1-3>", "<1-3>[0]", "<1-3>[1]", "<1-3>[1]", "<1-3>[1]<6-7>",
        "", "", "", "<8-11>", "<8-11>", "<8-11>", "<8-11><12-14>", "<8-11><12-14>", "<8-11><12-14>", "<8-11><12-14>",
        "<8-11><12-14>", "", "", "<19-21>",
    };
    size_t i;

    for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        const char *found = trail_to((const uint8_t *)message, i);

        CHECK(!strcmp(found, expected[i]), "%zu: %s", i, found);
    }
    CHECK(!strcmp(trail_to(BYTES(message)), "?"), "after the message");
}

/* Long enough for the walk to stride, with siblings that are deeper than the trail. */
static void
passes_deep_siblings(void)
{
    uint8_t message[400] = {0xdc, 0, 3, 0x82, 0x01};
    const uint8_t *map = message + 3;
    size_t n = 5;

    memset(message + n, 0x91, 150);
    n += 150;
    message[n++] = 0x01;
    message[n++] = 0x02;
    message[n++] = 0xd9;
    message[n++] = 100;
    memset(message + n, 'x', 100);
    n += 100;
    CHECK(!strcmp(trail_to(message, n), "[1]"), "%s", trail_to(message, n));
    CHECK(!strcmp(trail_to(message, n - 1), "[0]<156-157>"), "%s", trail_to(message, n - 1));
    CHECK(!strcmp(trail_to(message, 157), "[0]<156-157>"), "%s", trail_to(message, 157));
    CHECK(!strcmp(trail_to(map, n - 4), "<153-154>"), "the map alone: %s", trail_to(map, n - 4));
}

static void
ends_where_bytes_are_broken(void)
{
    CHECK(!strcmp(trail_to(BYTES("\x93\x01\xc1\x01")), "?"), "behind 0xc1");
    CHECK(!strcmp(trail_to(BYTES("\x93\x01")), "[1]"), "at it");
    CHECK(!strcmp(trail_to(BYTES("\xc1")), "?"), "0xc1 alone");
    CHECK(!strcmp(trail_to(BYTES("\x92\xdd\xff\xff\xff\xff\x01\x01")), "[0][2]"), "more than there can be");
    CHECK(!strcmp(trail_to(BYTES("\x92\xdf\xff\xff\xff\xff\x01\x01\x02")), "[0]<8-9>"), "and in a map");
}

static void
depth_is_no_matter(void)
{
    enum { DEPTH = 100000 };
    uint8_t *bytes = malloc(DEPTH);
    uint64_t *left;
    mp_trail trail;
    uint32_t i;

    if (!bytes) abort();
    memset(bytes, 0x92, DEPTH);
    mp_trail_init(&trail, bytes, DEPTH);
    trail.tape.grow = grow_by_half;
    CHECK(mp_trail_walk(&trail) && trail.depth == DEPTH, "%" PRIu32, trail.depth);
    left = malloc(mp_trail_places(&trail) * sizeof(*left));
    for (i = 0; i < DEPTH; i += 999) CHECK(mp_trail_step_at(&trail, i, left).index == 0, "%" PRIu32, i);
    free(left);
    free(trail.tape.entries);
    free(bytes);
}

static bool
grow_with_marks(mp_tape *tape)
{
    mp_trail *trail = (mp_trail *)(void *)tape;

    if (!mp_grow_by_one(tape)) return false;
    trail->marks = realloc(trail->marks, tape->capacity * sizeof(mp_trail_mark));
    if (!trail->marks) abort();
    memset(trail->marks + tape->capacity - 1, 0, sizeof(mp_trail_mark));
    return true;
}

#define MAP "\x83\x01\xa4text\x02\x81\x03\x04\x05\x06"

/* {1 => "text", 2 => {3 => 4}, 5 => 6} twice, in an array */
static void
goes_on_to_later_places(void)
{
    static const char message[] = "\x92" MAP MAP;
    enum { SIZE = sizeof(message) - 1 };
    size_t from, to;

    for (from = 0; from < SIZE; from++) {
        for (to = from; to < SIZE; to++) {
            uint64_t left[8];
            mp_trail_step step, expected;
            mp_trail trail, fresh;
            uint32_t i;

            mp_trail_init(&trail, (const uint8_t *)message, from);
            trail.tape.grow = grow_with_marks;
            CHECK(mp_trail_walk(&trail), "%zu", from);
            for (i = 0; i < trail.depth; i++) mp_trail_step_at(&trail, i, left);
            mp_trail_init(&fresh, (const uint8_t *)message, to);
            fresh.tape.grow = mp_grow_by_one;
            CHECK(mp_trail_walk(&fresh) && mp_trail_go_on(&trail, to), "%zu to %zu", from, to);
            CHECK(trail.depth == fresh.depth, "%zu to %zu: %" PRIu32, from, to, trail.depth);
            for (i = 0; i < fresh.depth; i++) {
                step = mp_trail_step_at(&trail, i, left);
                expected = mp_trail_step_at(&fresh, i, left);
                CHECK(step.index == expected.index && step.key == expected.key, "%zu to %zu: %zu", from, to, step.key);
                CHECK(step.kind == expected.kind && step.key_end == expected.key_end, "%zu to %zu", from, to);
            }
            free(trail.tape.entries);
            free(trail.marks);
            free(fresh.tape.entries);
        }
    }
}

static void
goes_on_from_no_fault_and_not_back(void)
{
    mp_trail trail;

    mp_trail_init(&trail, BYTES("\x93\x01\x02"));
    trail.tape.grow = mp_grow_by_one;
    CHECK(mp_trail_walk(&trail) && !mp_trail_go_on(&trail, 2), "back");
    CHECK(mp_trail_go_on(&trail, 3), "the same place");
    free(trail.tape.entries);
    mp_trail_init(&trail, BYTES("\x93\x01\xc1"));
    trail.tape.grow = mp_grow_by_one;
    CHECK(!mp_trail_walk(&trail) && !mp_trail_go_on(&trail, 3), "behind 0xc1");
    free(trail.tape.entries);
}

static void
may_have_no_room_and_no_range(void)
{
    mp_trail trail;

    mp_trail_init(&trail, BYTES("\x91"));
    trail.tape.grow = mp_refuse_to_grow;
    CHECK(!mp_trail_walk(&trail), "no room");
    if (sizeof(size_t) < 8) return;
    mp_trail_init(&trail, NULL, (size_t)(UINT64_C(1) << 32));
    CHECK(!mp_trail_walk(&trail), "4 GiB");
}

void
mp_test_trail(void)
{
    leads_to_every_byte();
    passes_deep_siblings();
    ends_where_bytes_are_broken();
    depth_is_no_matter();
    goes_on_to_later_places();
    goes_on_from_no_fault_and_not_back();
    may_have_no_room_and_no_range();
}
