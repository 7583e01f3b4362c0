/*
 * Walks over the bytes that user code has written, and jumps over objects in them that were checked before. Walks like
 * core/skip.c, but keeps one count for all open containers instead of one for each, so that depth costs no memory. That
 * is enough to tell whether an object is complete.
 */
#include "pack/written.h"

#include "core/wire.h"

/* Walking over a shorter object again costs less than a note. */
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
    size_t next;      /* the first note that was not looked at */
    uint64_t missing; /* objects that were begun or declared and have not come */
} check;

/* Passes over the object at the place if it is noted. */
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
 * Counts what a container holds. An object takes a byte at least, so that more objects than bytes will be missing at
 * the end, however many they are: no sum of them can be too large for the counter.
 */
static void
declared(check *c, uint64_t objects)
{
    uint64_t most = (uint64_t)(c->end - c->at) + 2; /* the container itself is still missing */

    c->missing += objects;
    if (c->missing > most) c->missing = most;
}

/* Passes over a head and its payload. */
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

/* Passes over one object. MP_E_TRUNCATED if it is not whole. */
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
