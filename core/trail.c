/*
 * A tape that ends at the offset has the containers around it. To find a key, a cursor skips the objects of its map
 * that are before the offset. There is no other walk.
 */
#include "trail.h"

#include "find.h"

void
mp_trail_init(mp_trail *trail, const uint8_t *bytes, size_t offset)
{
    trail->depth = 0;
    trail->marks = NULL;
    mp_tape_init(&trail->tape, bytes, offset, UINT32_MAX, MP_TAPE_KEEP_NONE);
}

static bool
map_p(const mp_tape *tape, uint32_t i)
{
    return MP_WIRE[tape->bytes[tape->entries[i].offset]].kind == MP_MAP;
}

bool
mp_trail_walk(mp_trail *trail)
{
    const mp_tape *tape = &trail->tape;

    if (mp_tape_finish(&trail->tape) != MP_E_TRUNCATED) return false;
    trail->depth = 0;
    while (trail->depth < tape->depth) {
        bool key = map_p(tape, trail->depth) && mp_tape_place(tape, trail->depth) % 2 == 0;

        if (key) break;
        trail->depth++;
    }
    return true;
}

bool
mp_trail_go_on(mp_trail *trail, size_t offset)
{
    mp_tape *tape = &trail->tape;

    if (tape->status != MP_E_TRUNCATED || offset < tape->at || offset > UINT32_MAX) return false;
    tape->size = (uint32_t)offset;
    tape->status = MP_OK;
    return mp_trail_walk(trail);
}

/* Moves a cursor, which has just opened the ith container, to the object at a given position. */
static void
skip_to(mp_trail *trail, uint32_t i, mp_cursor *cursor, uint32_t place)
{
    mp_trail_mark none = {.map = 0}, *mark = trail->marks ? &trail->marks[i] : &none;
    uint32_t map = trail->tape.entries[i].offset;

    if (mark->at && mark->map == map && mark->place <= place) {
        cursor->at = mark->at;
        cursor->left -= mark->place;
        mp_cursor_skip(cursor, place - mark->place);
    } else {
        mp_cursor_skip(cursor, place);
    }
    *mark = (mp_trail_mark){.map = map, .place = place, .at = (uint32_t)cursor->at};
}

mp_trail_step
mp_trail_step_at(mp_trail *trail, uint32_t i, uint64_t *left)
{
    const mp_tape *tape = &trail->tape;
    uint32_t place = mp_tape_place(tape, i);
    mp_look look;
    mp_cursor cursor;

    if (!map_p(tape, i)) return (mp_trail_step){.kind = MP_ARRAY, .index = place};
    mp_look_init(&look, tape->bytes, tape->at, left, mp_trail_places(trail));
    mp_cursor_open(&cursor, &look, tape->entries[i].offset);
    skip_to(trail, i, &cursor, place - 1);
    return (mp_trail_step){
        .kind = MP_MAP,
        .key = cursor.at,
        .key_end = i + 1 < tape->depth ? tape->entries[i + 1].offset : tape->at,
    };
}
