/* Marks: every element in every order, what they cost, and arrays that end too early. */
#include "tapes.h"

#include "marks.h"

enum { ELEMENTS = 1000, ENTRIES = 2048 };

static mp_tape_entry entries[ENTRIES];
static size_t offsets[ELEMENTS + 1];

/* Writes an array of numbers, strs, and containers of all sizes, and sets offsets. Returns its size. */
static size_t
write_array(uint8_t *p)
{
    uint8_t *at = mp_put_array_head(p, ELEMENTS);
    uint32_t i, n;

    for (i = 0; i < ELEMENTS; i++) {
        offsets[i] = (size_t)(at - p);
        n = i % 7 ? 0 : i % 100;
        if (i % 7 == 3) at = mp_put_uint(at, i * i);
        else if (i % 7) *at++ = (uint8_t)(i % 128);
        else at = mp_put_array_head(at, n);
        memset(at, 0xc0, n);
        at += n;
    }
    offsets[ELEMENTS] = (size_t)(at - p);
    return offsets[ELEMENTS];
}

static mp_look
look_at(const uint8_t *bytes, size_t n, mp_tape *tape)
{
    mp_look look;

    mp_look_init(&look, bytes, n, NULL, 0);
    mp_tape_init(tape, bytes, n, 8, MP_TAPE_KEEP);
    tape->entries = entries;
    tape->capacity = ENTRIES;
    tape->grow = mp_refuse_to_grow;
    look.tape = tape;
    return look;
}

static mp_status
go(mp_look *look, mp_marks *marks, uint32_t n, mp_cursor *cursor)
{
    mp_cursor_open(cursor, look, 0);
    return mp_marks_go(marks, cursor, n);
}

static void
finds_each_element(const uint8_t *bytes, size_t size, uint32_t step, uint32_t shift)
{
    mp_mark memory[ELEMENTS], before[ELEMENTS];
    mp_marks marks = {.at = memory, .shift = shift};
    mp_tape tape;
    mp_look look = look_at(bytes, size, &tape);
    uint32_t i, n, most = 0, found = 0;

    for (i = 0, n = step / 2; i < ELEMENTS; i++, n = (n + step) % ELEMENTS) {
        mp_cursor cursor;
        uint32_t count = marks.count;
        bool made = mp_marks_made_p(&marks, n);

        memcpy(before, memory, count * sizeof(mp_mark));
        CHECK(go(&look, &marks, n, &cursor) == MP_OK && cursor.at == offsets[n], "%u", n);
        CHECK((marks.count == count) == made, "%u: %u marks, then %u", n, count, marks.count);
        if (made) CHECK(!memcmp(before, memory, count * sizeof(mp_mark)), "%u: a mark was written again", n);
        CHECK(cursor.left == ELEMENTS - n, "%u", n);
        CHECK(mp_cursor_next(&cursor) == MP_OK && cursor.at == offsets[n + 1], "%u", n);
        if (n > most) most = n;
        CHECK(marks.count == (most >> shift) + 1, "marks as far as %u: %u", most, marks.count);
    }
    CHECK(marks.count == mp_marks_needed(ELEMENTS, shift), "%u", marks.count);
    for (n = 0; n < ELEMENTS; n++) {
        const uint8_t *at = mp_marks_find(&marks, bytes, bytes + size, n);

        CHECK(!at || at == bytes + offsets[n], "%u", n);
        if (at) found++;
    }
    CHECK(found >= (uint32_t)ELEMENTS >> shift, "%u", found);
}

/* Writes an array of runs of objects, each run of one head byte, and sets offsets. Returns its size. */
static size_t
write_runs(uint8_t *p, uint32_t run)
{
    static const uint8_t heads[] = {0x07, 0xc0, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xca, 0xcb, 0xa0,
                                    0xa9, 0xbf, 0x90, 0x80, 0xd4, 0xd8, 0xc4, 0xd9, 0xc7};
    uint8_t *at = mp_put_array_head(p, ELEMENTS);
    uint32_t i;

    for (i = 0; i < ELEMENTS; i++) {
        uint8_t head = heads[i / run % sizeof(heads)];
        uint32_t size = mp_row_size(MP_WIRE[head]);

        offsets[i] = (size_t)(at - p);
        *at = head;
        memset(at + 1, 0, MP_AHEAD);
        at += size ? size : MP_WIRE[head].head;
    }
    offsets[ELEMENTS] = (size_t)(at - p);
    return offsets[ELEMENTS];
}

static void
finds_elements_of_one_size(uint8_t *message, uint32_t run)
{
    size_t size = write_runs(message, run);
    uint8_t *bytes = mp_exact(message, size);
    uint32_t shift;

    for (shift = 0; shift <= MP_MARKS_SHIFT_MAX; shift++) finds_each_element(bytes, size, 389, shift);
    free(bytes);
}

/* An array that ends early: each element that is there is found, and each other is an error, now and the next time. */
static void
ends_in_a_short_array(const uint8_t *bytes, size_t size)
{
    mp_mark memory[ELEMENTS];
    mp_marks marks = {.at = memory, .shift = (uint32_t)size % 4};
    mp_tape tape;
    mp_look look = look_at(bytes, size, &tape);
    uint32_t i;

    for (i = 0; i < ELEMENTS; i++) {
        uint32_t n = i * 389 % ELEMENTS;
        mp_cursor cursor;
        mp_status status = go(&look, &marks, n, &cursor);

        if (offsets[n] <= size) CHECK(status == MP_OK && cursor.at == offsets[n], "%u", n);
        else CHECK(status == MP_E_TRUNCATED, "%u", n);
        if (offsets[n] >= size) CHECK(!mp_marks_find(&marks, bytes, bytes + size, n), "%u", n);
    }
}

void
mp_test_marks(void)
{
    uint8_t *message = malloc(100 * ELEMENTS), *bytes;
    size_t size, n;

    if (!message) abort();
    size = write_array(message);
    bytes = mp_exact(message, size);
    for (n = 0; n < 4; n++) {
        finds_each_element(bytes, size, 1, (uint32_t)n);
        finds_each_element(bytes, size, ELEMENTS - 1, (uint32_t)n);
        finds_each_element(bytes, size, 389, (uint32_t)n);
    }
    free(bytes);
    for (n = 1; n < 40; n += 3) finds_elements_of_one_size(message, (uint32_t)n);
    size = write_array(message);
    for (n = size - 1; n > 3; n = n * 2 / 3) {
        bytes = mp_exact(message, n);
        ends_in_a_short_array(bytes, n);
        free(bytes);
    }
    for (n = 64; n < ELEMENTS; n += 331) { /* where an element begins that can have a mark */
        bytes = mp_exact(message, offsets[n - n % 8]);
        ends_in_a_short_array(bytes, offsets[n - n % 8]);
        free(bytes);
    }
    CHECK(!mp_marks_needed(0, 3) && mp_marks_needed(8, 3) == 1 && mp_marks_needed(9, 3) == 2, "needed");
    CHECK(mp_marks_needed(UINT32_MAX, 0) == UINT32_MAX && mp_marks_needed(1, 3) == 1, "needed");
    for (n = 1; n < 12; n++) {
        uint32_t shift = mp_marks_shift(n);

        CHECK(sizeof(mp_mark) >> shift <= n, "memory for elements of %zu", n);
        CHECK(!shift || sizeof(mp_mark) >> (shift - 1) > n, "more marks for elements of %zu", n);
    }
    free(message);
}
