/*
 * A tape that ends at the offset has the containers; a cursor over what comes before it in a map has the key. This file
 * has no walk of its own.
 */
#include "trail.h"

#include "find.h"

void
mp_trail_init(mp_trail *trail, const uint8_t *bytes, size_t offset)
{
    trail->depth = 0;
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
    while (trail->depth < tape->depth) {
        bool key = map_p(tape, trail->depth) && mp_tape_place(tape, trail->depth) % 2 == 0;

        if (key) break;
        trail->depth++;
    }
    return true;
}

mp_trail_step
mp_trail_step_at(const mp_trail *trail, uint32_t i, uint64_t *left)
{
    const mp_tape *tape = &trail->tape;
    uint32_t place = mp_tape_place(tape, i);
    mp_look look;
    mp_cursor cursor;

    if (!map_p(tape, i)) return (mp_trail_step){.kind = MP_ARRAY, .index = place};
    mp_look_init(&look, tape->bytes, tape->at, left, mp_trail_places(trail));
    mp_cursor_open(&cursor, &look, tape->entries[i].offset);
    mp_cursor_pass(&cursor, place - 1);
    return (mp_trail_step){
        .kind = MP_MAP,
        .key = cursor.at,
        .key_end = i + 1 < tape->depth ? tape->entries[i + 1].offset : tape->at,
    };
}
