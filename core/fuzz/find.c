/*
 * Cursors: must find every object of every container, the n-th element, and each key of a map, by every policy, where
 * the reference finds it, with a tape and without.
 */
#include "target.h"

#include "key_table.h"

enum { PLACES = 1024 };

static mp_tape_entry entries[PLACES];

static bool
refuse(mp_tape *tape)
{
    (void)tape;
    return false;
}

static size_t
end_of(const mp_look *look, size_t at)
{
    return (size_t)(mp_reference_walk(look->bytes + at, look->bytes + look->size, PLACES, false).at - look->bytes);
}

static mp_cursor
opened(mp_look *look, size_t at)
{
    mp_cursor cursor;

    ENSURE(mp_cursor_open(&cursor, look, at) == MP_OK, "%zu", at);
    return cursor;
}

/* If the next object is a container, skips n of its objects, then the rest. */
static void
descends(mp_look *look, const mp_cursor *cursor, uint64_t n)
{
    mp_cursor inner = opened(look, cursor->at);

    if (inner.kind != MP_ARRAY && inner.kind != MP_MAP) return;
    ENSURE(mp_cursor_skip(&inner, n) == MP_OK, "%" PRIu64, n);
    ENSURE(mp_cursor_skip(&inner, inner.left) == MP_OK && inner.at == end_of(look, cursor->at), "%zu", inner.at);
}

/* Checks the objects of the container at a place. */
static void
passes_each(mp_look *look, size_t at)
{
    mp_cursor each = opened(look, at);
    uint64_t n = 0;

    for (; each.left; n++) {
        size_t from = each.at;
        mp_cursor nth = opened(look, at);

        ENSURE(mp_cursor_skip(&nth, n) == MP_OK && nth.at == from && nth.left == each.left, "%" PRIu64, n);
        descends(look, &each, n % 3);
        ENSURE(mp_cursor_next(&each) == MP_OK && each.at == end_of(look, from), "%zu", from);
    }
    ENSURE(each.at == end_of(look, at), "%zu", at);
}

/* A table of the map finds what the reference found. A seed of 0 makes keys collide. */
static void
finds_in_table(mp_look *look, size_t map, const mp_key *key, size_t expected, mp_find_which which, uint64_t seed)
{
    uint32_t slots[PLACES] = {0};
    mp_cursor cursor = opened(look, map);
    mp_key_table table = {.slots = slots, .seed = {seed, seed}, .which = which};

    table.capacity = (uint32_t)(cursor.left / 2 + 1 + seed % 3);
    table.most = (uint32_t)(cursor.left / 2);
    ENSURE(mp_key_table_fill(&table, &cursor) == MP_OK && cursor.at == end_of(look, map), "%zu", cursor.at);
    if (key->kind == MP_EXT || key->kind == MP_ARRAY || key->kind == MP_MAP) ENSURE(table.others, "%d", (int)key->kind);
    else if (!mp_key_nan_p(key)) {
        ENSURE(mp_key_table_find(&table, look->bytes, look->size, key) == expected, "%zu", expected);
    }
}

/* One walk for the key and for another one finds what a walk for each does. */
static void
finds_together(mp_look *look, size_t map, const mp_key *key, size_t expected, bool last)
{
    mp_key other = mp_key_str("a", 1);
    mp_wanted_key keys[2];
    mp_wanted wanted = {.keys = keys};
    mp_cursor cursor = opened(look, map);
    size_t values[2], value;

    if (key->kind == MP_BIN) return;
    mp_find(&cursor, &other, last ? MP_FIND_LAST : MP_FIND_FIRST, &value);
    mp_wanted_add(&wanted, &other);
    mp_wanted_add(&wanted, key);
    cursor = opened(look, map);
    ENSURE(mp_find_wanted(&cursor, &wanted, last, values) == MP_OK, "%zu", cursor.at);
    ENSURE(mp_cursor_skip(&cursor, cursor.left) == MP_OK && cursor.at == end_of(look, map), "%zu", cursor.at);
    ENSURE(values[0] == value && values[1] == expected, "%zu", values[1]);
}

/* Searches for the key at a place by comparing it with all keys of the map. */
static void
finds_key(mp_look *look, size_t map, size_t at)
{
    mp_cursor cursor = opened(look, map);
    mp_key key = mp_key_read(look->bytes + at, look->bytes + end_of(look, at));
    size_t first = 0, last = 0, value, count = 0;

    while (cursor.left) {
        size_t from = cursor.at;
        mp_key found;

        mp_cursor_next(&cursor);
        found = mp_key_read(look->bytes + from, look->bytes + cursor.at);
        if (!mp_key_compare(&found, &key)) {
            last = cursor.at;
            if (!count++) first = last;
        }
        mp_cursor_next(&cursor);
    }
    cursor = opened(look, map);
    ENSURE(mp_find(&cursor, &key, MP_FIND_FIRST, &value) == MP_OK && value == first, "%zu", value);
    ENSURE(count && cursor.at == value, "%zu", cursor.at);
    cursor = opened(look, map);
    ENSURE(mp_find(&cursor, &key, MP_FIND_LAST, &value) == MP_OK && value == last, "%zu", value);
    finds_together(look, map, &key, first, false);
    finds_together(look, map, &key, last, true);
    finds_in_table(look, map, &key, first, MP_FIND_FIRST, 0);
    finds_in_table(look, map, &key, last, MP_FIND_LAST, UINT64_C(0x9e3779b97f4a7c15));
}

static void
finds_each(mp_look *look, size_t map)
{
    mp_cursor cursor = opened(look, map);

    while (cursor.left) {
        finds_key(look, map, cursor.at);
        mp_cursor_skip(&cursor, 2);
    }
}

static void
looks_everywhere(mp_look *look, size_t end)
{
    size_t at = 0;

    while (at < end) {
        mp_plain_head head = mp_reference_head(look->bytes + at, look->bytes + look->size);

        if (head.kind == MP_ARRAY || head.kind == MP_MAP) passes_each(look, at);
        if (head.kind == MP_MAP) finds_each(look, at);
        at += head.size;
        if (head.kind == MP_STR || head.kind == MP_BIN || head.kind == MP_EXT) at += (size_t)head.n;
    }
}

/* A walk for several keys ends as a walk for one does. */
static void
stumbles_together(mp_look *look, const mp_key *key, mp_status status)
{
    mp_wanted_key keys[1];
    mp_wanted wanted = {.keys = keys};
    size_t blame = look->blame, values[1];
    mp_cursor cursor = opened(look, 0);

    mp_wanted_add(&wanted, key);
    ENSURE(mp_find_wanted(&cursor, &wanted, true, values) == status, "%d", (int)status);
    ENSURE(status == MP_OK || look->blame == blame, "%zu", look->blame);
}

/* A malformed message: the cursor ends with some status. */
static void
stumbles(mp_look *look)
{
    mp_key key = mp_key_str("a", 1);
    mp_cursor cursor;
    size_t value;

    if (mp_cursor_open(&cursor, look, 0) != MP_OK || !cursor.left) return;
    if (cursor.kind == MP_MAP) stumbles_together(look, &key, mp_find(&cursor, &key, MP_FIND_LAST, &value));
    else mp_cursor_skip(&cursor, UINT64_MAX);
    ENSURE(look->blame <= look->size && cursor.at <= look->size, "%zu", look->blame);
}

void
mp_fuzz_find(const uint8_t *input, size_t n)
{
    uint64_t left[PLACES];
    const uint8_t *bytes;
    mp_reference whole;
    mp_look look;
    mp_tape tape;

    if (n == 0 || n > PLACES / 2) return;
    bytes = mp_at_the_edge(input, n);
    whole = mp_reference_walk(bytes, bytes + n, PLACES, false);
    mp_look_init(&look, bytes, n, left, PLACES);
    mp_tape_init(&tape, bytes, n, PLACES, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = PLACES;
    tape.grow = refuse;
    mp_tape_finish(&tape);
    for (;;) {
        if (whole.status == MP_OK) looks_everywhere(&look, (size_t)(whole.at - bytes));
        else stumbles(&look);
        if (look.tape) break;
        look.tape = &tape;
    }
}
