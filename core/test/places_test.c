/* Places: every element in every order, how many they are, and arrays that end too early. */
#include "tapes.h"

#include "places.h"

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

/* Owns the memory of its places, which fit exactly. */
static mp_places
places_of(mp_look *look)
{
    mp_places places;
    uint32_t count;

    mp_tape_finish(look->tape);
    places.first = malloc((look->tape->count + 1) * sizeof(uint32_t));
    if (!places.first) abort();
    count = mp_places_count(&places, look->tape);
    places.at = malloc((count ? count : 1) * sizeof(uint32_t));
    if (!places.at) abort();
    mp_places_fill(&places, look);
    return places;
}

static void
places_free(mp_places *places)
{
    free(places->first);
    free(places->at);
}

static mp_status
go(mp_look *look, const mp_places *places, uint32_t n, mp_cursor *cursor)
{
    mp_cursor_open(cursor, look, 0);
    return mp_places_go(places, mp_tape_entry_of(look->tape, 0), cursor, n);
}

static void
finds_each_element(const uint8_t *bytes, size_t size)
{
    mp_tape tape;
    mp_look look = look_at(bytes, size, &tape);
    mp_places places = places_of(&look);
    uint32_t n;

    CHECK(places.first[1] - places.first[0] == (ELEMENTS - 1) / MP_PLACES_STEP, "%u", places.first[1]);
    for (n = 0; n < ELEMENTS; n++) {
        mp_cursor cursor;

        CHECK(go(&look, &places, n, &cursor) == MP_OK && cursor.at == offsets[n], "%u", n);
        CHECK(cursor.left == ELEMENTS - n, "%u", n);
        CHECK(mp_cursor_next(&cursor) == MP_OK && cursor.at == offsets[n + 1], "%u", n);
    }
    places_free(&places);
}

/* Short arrays and maps have no places, and each of two long arrays has its own. */
static void
keeps_arrays_apart(void)
{
    uint8_t message[2048], *at = mp_put_array_head(message, 4);
    size_t second;
    mp_places places;
    mp_tape tape;
    mp_look look;
    mp_cursor cursor;

    at = mp_put_array_head(at, MP_PLACES_MIN + 1);
    memset(at, 0xc0, MP_PLACES_MIN + 1);
    at = mp_put_array_head(at + MP_PLACES_MIN + 1, MP_PLACES_MIN);
    memset(at, 0xc0, MP_PLACES_MIN);
    at += MP_PLACES_MIN;
    *at++ = 0xde;
    *at++ = 0;
    *at++ = 50;
    memset(at, 0xc0, 100);
    second = (size_t)(at + 100 - message);
    at = mp_put_array_head(at + 100, 100);
    memset(at, 0xc0, 100);
    look = look_at(message, (size_t)(at + 100 - message), &tape);
    places = places_of(&look);
    CHECK(tape.status == MP_OK && places.first[tape.count] == 99 / MP_PLACES_STEP, "%u", places.first[tape.count]);
    mp_cursor_open(&cursor, &look, second);
    CHECK(mp_places_go(&places, mp_tape_entry_of(&tape, second), &cursor, 99) == MP_OK, "the last");
    CHECK(cursor.at == second + 3 + 99, "%zu", cursor.at);
    places_free(&places);
}

/* An array that ends early: each element that is there is found, and each other is an error. */
static void
ends_in_a_short_array(const uint8_t *bytes, size_t size)
{
    mp_tape tape;
    mp_look look = look_at(bytes, size, &tape);
    mp_places places = places_of(&look);
    uint32_t i;

    for (i = 0; i < ELEMENTS; i++) {
        uint32_t n = i * 389 % ELEMENTS;
        mp_cursor cursor;
        mp_status status = go(&look, &places, n, &cursor);

        if (offsets[n] <= size) CHECK(status == MP_OK && cursor.at == offsets[n], "%u", n);
        else CHECK(status == MP_E_TRUNCATED, "%u", n);
    }
    places_free(&places);
}

void
mp_test_places(void)
{
    uint8_t *message = malloc(100 * ELEMENTS), *bytes;
    size_t size, n;

    if (!message) abort();
    size = write_array(message);
    bytes = mp_exact(message, size);
    finds_each_element(bytes, size);
    free(bytes);
    keeps_arrays_apart();
    for (n = size - 1; n > 3; n = n * 2 / 3) {
        bytes = mp_exact(message, n);
        ends_in_a_short_array(bytes, n);
        free(bytes);
    }
    for (n = 64; n < ELEMENTS; n += 331) { /* where an element begins that can have a place */
        bytes = mp_exact(message, offsets[n - n % 8]);
        ends_in_a_short_array(bytes, offsets[n - n % 8]);
        free(bytes);
    }
    free(message);
}
