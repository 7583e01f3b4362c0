/* Walks over the bytes that user code has written, and skips objects in them that were checked before. */
#include "pack/written.h"

#include "core/wire.h"

/* Walking over a shorter object again takes less time than noting it. */
enum { NOTE_MIN = 64 };

typedef struct {
    size_t from, to;
    uint32_t levels;
} note;

/* --- notes ------------------------------------------------------------------------------------------ */

mp_notes
mp_notes_add(mp_notes notes, size_t from, size_t to, uint32_t levels, bool always)
{
    note added = {.from = from, .to = to, .levels = levels};

    if (to - from < NOTE_MIN && !always) return notes;
    if (!notes) notes = rb_obj_hide(rb_str_buf_new(4 * (long)sizeof(note)));
    rb_str_cat(notes, (const char *)&added, sizeof(added));
    return notes;
}

mp_notes
mp_notes_join(mp_notes notes, mp_notes more)
{
    if (!notes) return more;
    rb_str_cat(notes, RSTRING_PTR(more), RSTRING_LEN(more));
    RB_GC_GUARD(more);
    return notes;
}

static size_t
note_count(mp_notes notes)
{
    return notes ? (size_t)RSTRING_LEN(notes) / sizeof(note) : 0;
}

static note
note_at(mp_notes notes, size_t i)
{
    note found;

    memcpy(&found, RSTRING_PTR(notes) + i * sizeof(note), sizeof(found));
    return found;
}

void
mp_notes_move(mp_notes notes, size_t offset)
{
    size_t i;

    for (i = 0; i < note_count(notes); i++) {
        note moved = note_at(notes, i);

        moved.from += offset;
        moved.to += offset;
        memcpy(RSTRING_PTR(notes) + i * sizeof(note), &moved, sizeof(moved));
    }
}

/* --- the check -------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *start, *at, *end;
    size_t from;      /* the offset of start */
    mp_notes notes;
    size_t next;      /* the first note that was not used yet */
    mp_levels levels;
    uint32_t open;    /* containers */
} check;

/* Remembers the most levels. MP_E_DEPTH if there is no room for them. */
static mp_status
reached(check *c, uint32_t levels)
{
    if (levels > c->levels.room) return MP_E_DEPTH;
    if (levels > c->levels.most) c->levels.most = levels;
    return MP_OK;
}

/* Skips the next object if a note says that it was checked. */
static bool
noted_passed(check *c, uint32_t *levels)
{
    size_t at = c->from + (size_t)(c->at - c->start), to = c->from + (size_t)(c->end - c->start);

    for (; c->next < note_count(c->notes); c->next++) {
        note found = note_at(c->notes, c->next);

        if (found.from < at || found.to > to) continue;
        if (found.from > at) return false;
        c->at = c->start + (found.to - c->from);
        c->next++;
        *levels = found.levels;
        return true;
    }
    return false;
}

/* Skips a head and its payload, and opens a container that is not empty. */
static mp_status
head_passed(check *c, bool *opened)
{
    mp_head head;
    mp_status status = mp_head_over(c->at, c->end, &head, &c->at);

    *opened = false;
    if (status != MP_OK || (head.kind != MP_ARRAY && head.kind != MP_MAP) || !head.n) return status;
    status = reached(c, c->open + 1);
    if (status != MP_OK) return status;
    c->levels.left[c->open++] = mp_declared_objects(head.kind, head.n);
    *opened = true;
    return MP_OK;
}

/* Skips one object. MP_E_TRUNCATED if it is incomplete. */
static mp_status
skip_object(check *c)
{
    c->open = 0;
    do {
        uint32_t levels;
        bool opened = false;
        mp_status status = c->notes && noted_passed(c, &levels) ? reached(c, c->open + levels)
            : head_passed(c, &opened);

        if (MP_UNLIKELY(status != MP_OK)) return status;
        if (opened) continue;
        while (c->open && --c->levels.left[c->open - 1] == 0) c->open--;
    } while (c->open);
    return MP_OK;
}

/* Moves *p over one leaf or, if there may be several, over all leaves in front of a container. */
MP_INLINE void
skip_leaves(const uint8_t **p, const uint8_t *end, bool several)
{
    while (mp_skip_leaf(p, end) && several) continue;
}

mp_written
mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several, mp_levels *levels)
{
    check c = {.start = bytes, .at = bytes, .end = bytes + (to - from), .from = from, .notes = notes,
               .levels = *levels};

    if (from == to) return several ? MP_WROTE_WHOLE : MP_WROTE_NOTHING;
    if (!notes) skip_leaves(&c.at, c.end, several);
    if (c.at == c.end) return MP_WROTE_WHOLE;
    if (c.at > bytes && !several) return MP_WROTE_MORE;
    do {
        mp_status status = skip_object(&c);

        if (status == MP_E_TRUNCATED) return MP_WROTE_PART;
        if (status == MP_E_DEPTH) return MP_WROTE_TOO_DEEP;
        if (status != MP_OK) return MP_WROTE_MALFORMED;
    } while (several && c.at < c.end);
    levels->most = c.levels.most;
    RB_GC_GUARD(notes);
    return c.at == c.end ? MP_WROTE_WHOLE : MP_WROTE_MORE;
}
