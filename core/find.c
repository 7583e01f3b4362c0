/*
 * Cursors. A cursor skips scalars itself. It skips a container by its entry in the tape, an index of containers
 * (tape.h), or without a tape by walking over its contents. It keeps only its position in one container, so that
 * finding a key near the start of a large message costs next to nothing.
 */
#include "find.h"

mp_status
mp_cursor_open(mp_cursor *cursor, mp_look *look, size_t offset)
{
    mp_head head;
    mp_status status = mp_head_read(look->bytes + offset, look->bytes + look->size, &head);

    look->blame = offset;
    if (status != MP_OK) return status;
    cursor->look = look;
    cursor->head = offset;
    cursor->at = (size_t)(head.payload - look->bytes);
    cursor->left = mp_declared_objects(head.kind, head.n);
    cursor->near = 0;
    cursor->kind = head.kind;
    return MP_OK;
}

/* The offset of the object inside which the bytes end. All objects from `at` to it are well formed. */
static size_t
truncated_head(const mp_look *look, size_t at)
{
    const uint8_t *p = look->bytes + at, *end = look->bytes + look->size;
    mp_head head;

    while (mp_head_over(p, end, &head, &p) == MP_OK) continue;
    return (size_t)(p - look->bytes);
}

/*
 * Skips the next n objects by a walk from p. If `inner` is not 0, p is inside the first of them, in front of its last
 * `inner` objects, and max_depth is 2 or more.
 */
static mp_status
walk_on(mp_cursor *cursor, uint64_t n, const uint8_t *p, uint64_t inner)
{
    mp_look *look = cursor->look;
    mp_status status;

    if (!look->walk.max_depth) return MP_E_DEPTH;
    mp_walk_init(&look->walk, look->walk.left, look->walk.max_depth);
    look->walk.left[look->walk.depth++] = n;
    if (inner) look->walk.left[look->walk.depth++] = inner;
    status = mp_skip(&look->walk, &p, look->bytes + look->size);
    look->blame = (size_t)(p - look->bytes);
    if (status == MP_OK) cursor->at = look->blame;
    if (status == MP_E_TRUNCATED) look->blame = truncated_head(look, cursor->at);
    return status;
}

/* Skips the next n objects. */
static mp_status
skip_objects(mp_cursor *cursor, uint64_t n)
{
    return walk_on(cursor, n, cursor->look->bytes + cursor->at, 0);
}

/*
 * Skips the container at the cursor without reading its head, if the tape's next entry is the container's. It is if the
 * cursor has skipped the container of the previous entry.
 */
MP_INLINE bool
skip_by_entry(mp_cursor *cursor)
{
    const mp_tape *tape = cursor->look->tape;
    const mp_tape_entry *entry;

    if (!tape || cursor->near >= tape->count) return false;
    entry = &tape->entries[cursor->near];
    if (entry->offset != cursor->at || mp_tape_open_p(tape, cursor->near)) return false;
    cursor->at = entry->end;
    cursor->near = entry->next;
    cursor->left--;
    return true;
}

static mp_status
skip_container(mp_cursor *cursor)
{
    mp_look *look = cursor->look;
    mp_status status;

    if (!look->tape) return skip_objects(cursor, 1);
    status = mp_tape_over(look->tape, cursor->at, &cursor->near, &cursor->at);
    if (status != MP_OK) look->blame = mp_tape_blame(look->tape);
    return status;
}

/* Skips an object near the end of the bytes. Blames one that is incomplete or malformed. */
static mp_status
skip_by_head(mp_cursor *cursor)
{
    mp_look *look = cursor->look;
    const uint8_t *p = look->bytes + cursor->at;
    mp_head head;
    mp_status status = mp_head_over(p, look->bytes + look->size, &head, &p);

    if (status == MP_OK && mp_declared_objects(head.kind, head.n)) return skip_container(cursor);
    if (status == MP_OK) cursor->at = (size_t)(p - look->bytes);
    else look->blame = cursor->at;
    return status;
}

mp_status
mp_cursor_next(mp_cursor *cursor)
{
    const mp_look *look = cursor->look;
    const uint8_t *p = look->bytes + cursor->at, *end = look->bytes + look->size;
    mp_step step = MP_STEP_NONE;
    mp_status status = MP_OK;
    uint64_t held;

    if (mp_ahead_p(p, end)) step = mp_step_over(&p, end, &held);
    else if (mp_skip_leaf(&p, end)) step = MP_STEP_LEAF;
    if (step == MP_STEP_LEAF) cursor->at = (size_t)(p - look->bytes);
    else status = step == MP_STEP_CONTAINER ? skip_container(cursor) : skip_by_head(cursor);
    if (MP_LIKELY(status == MP_OK)) cursor->left--;
    return status;
}

/* With a tape, the objects of a longer container are not skipped one by one. */
#define FEW_OBJECTS 8

/*
 * Skips a container. If it holds only leaves, needs neither a walk nor the tape; otherwise the walk begins after its
 * first leaves.
 */
static mp_status
skip_value(mp_cursor *cursor)
{
    const mp_look *look = cursor->look;
    const uint8_t *p = look->bytes + cursor->at, *end = look->bytes + look->size;
    mp_status status;
    uint64_t left;
    mp_head head;

    if (skip_by_entry(cursor)) return MP_OK;
    if (!look->tape && look->walk.max_depth < 2) return mp_cursor_next(cursor);
    if (mp_head_over(p, end, &head, &p) != MP_OK) return mp_cursor_next(cursor);
    left = mp_declared_objects(head.kind, head.n);
    if (look->tape && left > FEW_OBJECTS) return mp_cursor_next(cursor);
    left = mp_skip_leaves(&p, end, left);
    if (look->tape && (left || p > look->bytes + look->tape->at)) return mp_cursor_next(cursor);
    if (left) {
        status = walk_on(cursor, 1, p, left);
        if (MP_UNLIKELY(status != MP_OK)) return status;
    } else {
        cursor->at = (size_t)(p - look->bytes);
    }
    cursor->left--;
    return MP_OK;
}

mp_status
mp_cursor_skip(mp_cursor *cursor, uint64_t n)
{
    mp_status status = MP_OK;

    if (n > cursor->left) n = cursor->left;
    if (!cursor->look->tape && n) {
        status = skip_objects(cursor, n);
        cursor->left -= n;
        return status;
    }
    while (status == MP_OK && (n = mp_cursor_skip_leaves(cursor, n)) > 0) {
        status = skip_value(cursor);
        n--;
    }
    return status;
}

/* True if a whole fixstr is at p. Sets *n to its length. */
MP_INLINE bool
fixstr_p(const uint8_t *p, const uint8_t *end, uint32_t *n)
{
    if (mp_ahead_p(p, end)) return mp_fixstr_ahead_p(p, n);
    return p < end && mp_fixstr_ahead_p(p, n) && *n < (size_t)(end - p);
}

/* True if the fixstr of n bytes at p is the key. Most others differ in their length or in the first byte. */
MP_INLINE bool
same_fixstr_p(const mp_key *key, const uint8_t *p, uint32_t n)
{
    return n == key->n && (!n || (p[1] == *key->bytes && !memcmp(p + 1, key->bytes, n)));
}

/*
 * Fast path (looks/a scalar near the end): skips a fixstr if the wanted key is a str, an Integer if it is one. Sets
 * *same if it is that key. Returns false for any other key, and near the end of the bytes.
 */
MP_INLINE bool
skip_short_key(const uint8_t **p, const uint8_t *end, const mp_key *key, bool *same)
{
    mp_wire_row row;
    uint32_t n = 0;

    if (MP_LIKELY(key->kind == MP_STR)) {
        if (!fixstr_p(*p, end, &n)) return false;
        *same = same_fixstr_p(key, *p, n);
        *p += 1 + n;
        return true;
    }
    if (!mp_key_integer_p(key) || !mp_ahead_p(*p, end)) return false;
    row = mp_row_ahead(*p);
    if (!mp_row_integer_p(row)) return false;
    *same = mp_key_same_integer_p(key, *p, row);
    *p += row.head;
    return true;
}

/* Skips any key at a cursor. Sets *same if it is the wanted key. */
static mp_status
skip_any_key(mp_cursor *cursor, const mp_key *key, bool *same)
{
    mp_key found;
    mp_status status = mp_cursor_key(cursor, &found);

    if (MP_LIKELY(status == MP_OK)) *same = !mp_key_compare(&found, key);
    return status;
}

mp_status
mp_find(mp_cursor *cursor, const mp_key *key, mp_find_which which, size_t *value)
{
    const uint8_t *const bytes = cursor->look->bytes, *const end = bytes + cursor->look->size;
    const uint8_t *p = bytes + cursor->at;
    uint64_t left = cursor->left; /* a copy: a store to the cursor would make the compiler reload the key */
    mp_status status;

    *value = 0;
    while (left) {
        bool same = false;

        if (!skip_short_key(&p, end, key, &same)) {
            cursor->at = (size_t)(p - bytes);
            status = skip_any_key(cursor, key, &same);
            if (MP_UNLIKELY(status != MP_OK)) return status;
            p = bytes + cursor->at;
        }
        left--;
        if (MP_UNLIKELY(same)) {
            *value = (size_t)(p - bytes);
            if (which == MP_FIND_FIRST) break;
        }
        left--;
        if (MP_LIKELY(mp_skip_leaf(&p, end))) continue;
        cursor->at = (size_t)(p - bytes);
        status = skip_value(cursor);
        if (MP_UNLIKELY(status != MP_OK)) return status;
        p = bytes + cursor->at;
    }
    cursor->at = (size_t)(p - bytes);
    cursor->left = left;
    return MP_OK;
}

/* --- several keys at once --------------------------------------------------------------------------- */

void
mp_wanted_add(mp_wanted *wanted, const mp_key *key)
{
    mp_wanted_key *added = &wanted->keys[wanted->count++];
    size_t n = key->n < sizeof(added->start) ? key->n : sizeof(added->start);

    *added = (mp_wanted_key){.key = *key, .n = UINT32_MAX};
    if (key->kind != MP_STR || key->n > UINT32_MAX - 1) return;
    added->n = (uint32_t)key->n;
    if (n) memcpy(&added->start, key->bytes, n);
    memset(&added->mask, 0xff, n);
    if (key->n <= MP_FIXSTR_MAX) wanted->lengths |= UINT32_C(1) << key->n;
}

MP_INLINE void
note_value(size_t *place, bool last, size_t value)
{
    if (last || !*place) *place = value;
}

/* Notes the value of a fixstr of n bytes at p, where at least MP_AHEAD - 1 bytes are ahead. */
MP_INLINE void
note_fixstr(const mp_wanted *wanted, const uint8_t *p, uint32_t n, bool last, size_t value, size_t *values)
{
    const mp_wanted_key *key = wanted->keys, *end = key + wanted->count;

    for (; key < end; key++) {
        if (key->n != n || (mp_word64(p) ^ key->start) & key->mask) continue;
        if (n <= sizeof(key->start) || !memcmp(p + sizeof(key->start), key->key.bytes + sizeof(key->start),
                                               n - sizeof(key->start))) {
            note_value(&values[key - wanted->keys], last, value);
        }
    }
}

/* Skips any key, and notes where its value is. */
static mp_status
skip_other_key(mp_cursor *cursor, const mp_wanted *wanted, bool last, size_t *values)
{
    mp_key found;
    mp_status status = mp_cursor_key(cursor, &found);
    uint32_t i;

    for (i = 0; status == MP_OK && i < wanted->count; i++) {
        if (!mp_key_compare(&found, &wanted->keys[i].key)) note_value(&values[i], last, cursor->at);
    }
    return status;
}

static bool
all_found_p(const size_t *values, uint32_t n)
{
    while (n && values[n - 1]) n--;
    return !n;
}

mp_status
mp_find_wanted(mp_cursor *cursor, const mp_wanted *wanted, bool last, size_t *values)
{
    const uint8_t *const bytes = cursor->look->bytes, *const end = bytes + cursor->look->size;
    mp_status status = MP_OK;
    uint32_t n;

    memset(values, 0, wanted->count * sizeof(*values));
    while (cursor->left && status == MP_OK) {
        const uint8_t *p = bytes + cursor->at;

        if (mp_ahead_p(p, end) && mp_fixstr_ahead_p(p, &n)) {
            cursor->at += 1 + n;
            cursor->left--;
            if (wanted->lengths >> n & 1) note_fixstr(wanted, p + 1, n, last, cursor->at, values);
        } else {
            status = skip_other_key(cursor, wanted, last, values);
            if (MP_UNLIKELY(status != MP_OK)) break;
        }
        if (!last && all_found_p(values, wanted->count)) break;
        if (!mp_cursor_skip_leaves(cursor, 1)) continue;
        status = skip_value(cursor);
    }
    return status;
}
