/*
 * Walks over the bytes that user code has written, and skips objects in them that were checked before. Walks like
 * core/skip.c, but keeps one count for all open containers instead of a count for each, so that depth takes no memory:
 * it has to know only whether the bytes end with an object, not in which container it is.
 */
#include "pack/written.h"

#include "core/wire.h"

/* A shorter object gets no note: walking over it again costs less. */
enum { NOTE_MIN = 64 };

typedef struct {
    size_t from, to;
} note;

/* --- notes ------------------------------------------------------------------------------------------ */

mp_notes
mp_notes_add(mp_notes notes, size_t from, size_t to)
{
    note added = {.from = from, .to = to};

    if (to - from < NOTE_MIN) return notes;
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

/* --- the check -------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *start, *at, *end;
    size_t from;      /* the offset of start */
    mp_notes notes;
    size_t next;      /* the first note that was not used yet */
    uint64_t missing; /* objects that are still to come, the current one included */
} check;

/* Skips the next object if a note says that it was checked. */
static bool
noted_passed(check *c)
{
    size_t at = c->from + (size_t)(c->at - c->start), to = c->from + (size_t)(c->end - c->start);

    for (; c->next < note_count(c->notes); c->next++) {
        note found = note_at(c->notes, c->next);

        if (found.from < at || found.to > to) continue;
        if (found.from > at) return false;
        c->at = c->start + (found.to - c->from);
        c->next++;
        return true;
    }
    return false;
}

/*
 * Counts the objects that a container declares. Each takes at least a byte, so if more are missing than there are
 * bytes, the exact number does not matter: it is capped, so that no sum overflows.
 */
static void
declared(check *c, uint64_t objects)
{
    uint64_t most = (uint64_t)(c->end - c->at) + 2; /* the container itself still counts as missing */

    c->missing += objects;
    if (c->missing > most) c->missing = most;
}

/* Skips a head and its payload. */
static mp_status
head_passed(check *c)
{
    mp_head head;
    mp_status status = mp_head_over(c->at, c->end, &head, &c->at);

    if (status == MP_OK && (head.kind == MP_ARRAY || head.kind == MP_MAP)) {
        declared(c, mp_declared_objects(head.kind, head.n));
    }
    return status;
}

/* Skips one object. MP_E_TRUNCATED if it is incomplete. */
static mp_status
pass_object(check *c)
{
    for (c->missing = 1; c->missing; c->missing--) {
        mp_status status = c->notes && noted_passed(c) ? MP_OK : head_passed(c);

        if (MP_UNLIKELY(status != MP_OK)) return status;
    }
    return MP_OK;
}

mp_written
mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several)
{
    check c = {.start = bytes, .at = bytes, .end = bytes + (to - from), .from = from, .notes = notes};

    if (from == to) return several ? MP_WROTE_WHOLE : MP_WROTE_NOTHING;
    do {
        mp_status status = pass_object(&c);

        if (status == MP_E_TRUNCATED) return MP_WROTE_PART;
        if (status != MP_OK) return MP_WROTE_MALFORMED;
    } while (several && c.at < c.end);
    RB_GC_GUARD(notes);
    return c.at == c.end ? MP_WROTE_WHOLE : MP_WROTE_MORE;
}
