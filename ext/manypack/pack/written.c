/* Walks over the bytes that user code has written, and jumps over objects in them that were checked before. */
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

/* Passes over a payload. MP_E_TRUNCATED if it is not there as a whole. */
static mp_status
payload_passed(check *c, uint32_t n)
{
    if (!mp_payload_present_p(c->at, n, c->end)) return MP_E_TRUNCATED;
    c->at += n;
    return MP_OK;
}

/* Passes over a head, and over the payload behind it. */
static mp_status
head_passed(check *c)
{
    const uint8_t *head = c->at;
    mp_wire_row row;

    if (MP_UNLIKELY(mp_row_read(head, c->end, &row) != MP_OK)) return MP_E_TRUNCATED;
    c->at += row.head;
    switch ((mp_kind)row.kind) {
      case MP_STR:
      case MP_BIN: return payload_passed(c, mp_row_count(head, row));
      case MP_EXT: return payload_passed(c, mp_row_ext_count(head, row));
      case MP_ARRAY: declared(c, mp_row_count(head, row)); return MP_OK;
      case MP_MAP: declared(c, (uint64_t)mp_row_count(head, row) * 2); return MP_OK;
      case MP_NEVER: return MP_E_BAD_HEAD;
      default: return MP_OK;
    }
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
