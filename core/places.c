/* Places in arrays: a second walk, over the elements of long arrays only, with the tape from the first walk. */
#include "places.h"

/* How many elements of an array the tape has passed; 0 for a map or a fixarray, which is short. */
static uint32_t
elements_of(const mp_tape *tape, uint32_t entry)
{
    const uint8_t *p = tape->bytes + tape->entries[entry].offset;
    mp_head head = {.kind = MP_NEVER};

    if (MP_WIRE[*p].kind != MP_ARRAY || MP_WIRE[*p].head == 1) return 0;
    mp_head_read(p, tape->bytes + tape->size, &head);
    return mp_tape_open_p(tape, entry) ? mp_tape_place(tape, entry) : head.n;
}

uint32_t
mp_places_count(mp_places *places, const mp_tape *tape)
{
    uint32_t count = 0, entry;

    for (entry = 0; entry < tape->count; entry++) {
        uint32_t n = elements_of(tape, entry);

        places->first[entry] = count;
        if (n > MP_PLACES_MIN) count += (n - 1) / MP_PLACES_STEP;
    }
    places->first[entry] = count;
    return count;
}

void
mp_places_fill(const mp_places *places, mp_look *look)
{
    const mp_tape *tape = look->tape;
    uint32_t entry, place = 0;

    for (entry = 0; entry < tape->count; entry++) {
        mp_cursor cursor;

        if (places->first[entry] == places->first[entry + 1]) continue;
        mp_cursor_open(&cursor, look, tape->entries[entry].offset);
        cursor.near = entry + 1;
        while (place < places->first[entry + 1]) {
            mp_cursor_skip(&cursor, MP_PLACES_STEP);
            places->at[place++] = (uint32_t)cursor.at;
        }
    }
}

mp_status
mp_places_go(const mp_places *places, uint32_t entry, mp_cursor *cursor, uint32_t n)
{
    uint32_t first = places->first[entry], count = places->first[entry + 1] - first, place = n / MP_PLACES_STEP;

    if (place > count) place = count; /* for the last elements, and for missing elements of a malformed message */
    if (place) {
        cursor->at = places->at[first + place - 1];
        cursor->left -= (uint64_t)place * MP_PLACES_STEP;
    }
    return mp_cursor_skip(cursor, n - place * MP_PLACES_STEP);
}
