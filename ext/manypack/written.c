/* Walks over the bytes that user code has written, and jumps over objects in them that were checked before. */
#include "written.h"

#include "skip.h"

/* How many open containers fit on the C stack, and the factor by which their memory grows. */
enum { FIRST_DEPTH = 64, GROWTH = 8 };

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
    mp_walk walk;
    const uint8_t *start, *at, *end;
    size_t from;            /* the offset of start */
    mp_notes notes;
    size_t next;            /* the first note that has not been looked at */
    volatile VALUE memory;  /* of walk.left; 0 while that is on the C stack */
} check;

static void
grow(check *c)
{
    volatile VALUE before = c->memory, memory;
    size_t depth = c->walk.max_depth;
    uint64_t *left = rb_alloc_tmp_buffer2(&memory, (long)(depth * GROWTH), sizeof(uint64_t));

    memcpy(left, c->walk.left, depth * sizeof(uint64_t));
    c->walk.left = left;
    c->walk.max_depth = depth * GROWTH;
    c->memory = memory;
    if (before) rb_free_tmp_buffer(&before);
}

static mp_status
walk_to(check *c, const uint8_t *stop)
{
    mp_status status;

    while ((status = mp_skip(&c->walk, &c->at, stop)) == MP_E_DEPTH) grow(c);
    return status;
}

/* Finds the next note that starts at the current place or later; false if there is none. */
static bool
next_note(check *c, note *found)
{
    size_t at = c->from + (size_t)(c->at - c->start), to = c->from + (size_t)(c->end - c->start);

    for (; c->next < note_count(c->notes); c->next++) {
        *found = note_at(c->notes, c->next);
        if (found->from >= at && found->to <= to) return true;
    }
    return false;
}

/* Passes over one object. MP_E_TRUNCATED if it is not whole. */
static mp_status
pass_object(check *c)
{
    mp_status status;
    note noted;

    while (next_note(c, &noted)) {
        status = walk_to(c, c->start + (noted.from - c->from));
        if (status != MP_E_TRUNCATED) return status;
        c->next++;
        if (c->at != c->start + (noted.from - c->from) || c->walk.payload) continue; /* the note is in a payload */
        c->at = c->start + (noted.to - c->from);
        if (mp_walk_object_passed(&c->walk)) return MP_OK;
    }
    return walk_to(c, c->end);
}

static mp_written
pass_all(check *c, bool several)
{
    do {
        mp_status status = pass_object(c);

        if (status == MP_E_TRUNCATED) return MP_WROTE_PART;
        if (status != MP_OK) return MP_WROTE_MALFORMED;
    } while (several && c->at < c->end);
    return c->at == c->end ? MP_WROTE_WHOLE : MP_WROTE_MORE;
}

mp_written
mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several)
{
    uint64_t left[FIRST_DEPTH];
    check c = {.start = bytes, .at = bytes, .end = bytes + (to - from), .from = from, .notes = notes};
    mp_written written;

    if (from == to) return several ? MP_WROTE_WHOLE : MP_WROTE_NOTHING;
    mp_walk_init(&c.walk, left, FIRST_DEPTH);
    written = pass_all(&c, several);
    if (c.memory) rb_free_tmp_buffer(&c.memory);
    RB_GC_GUARD(notes);
    return written;
}
