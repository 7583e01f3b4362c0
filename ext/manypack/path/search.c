/* Searches a message for what a Path finds, in one walk over the bytes that builds nothing else. */
#include "path/search.h"

#include "base/stack.h"
#include "codec/types.h"
#include "path/condition.h"
#include "path/descent.h"
#include "view/view.h"

/* This many steps take half of the C stack that mp_stack_used_up_p keeps free. Few paths are longer. */
#define STACK_CHECK_STEPS 32

static size_t search_from(mp_search *s, size_t at, long step, bool wanted, const mp_way *up);

/* --- what is found ---------------------------------------------------------------------------------- */

static size_t
append_found(mp_search *s, size_t at, size_t end)
{
    if (!end) end = mp_peek_over(s->peek, at);
    rb_str_cat(s->found, (const char *)s->peek->look.bytes + at, (long)(end - at));
    mp_peek_refresh(s->peek);
    return end;
}

static bool
wanted_p(mp_search *s, size_t at, size_t end)
{
    mp_kind kind = mp_peek_kind(s->peek, at);
    mp_key key;

    if (!s->scalar) return kind != MP_NIL && kind != MP_FALSE;
    if (mp_container_p(kind)) return false;
    if (!end) end = mp_peek_over(s->peek, at);
    key = mp_key_read(s->peek->look.bytes + at, s->peek->look.bytes + end);
    return !mp_key_compare(&key, s->scalar);
}

/* Appends the value to an Array. end is the offset after it, or 0 if that is not known. */
static void
push_found(mp_search *s, size_t at, size_t end)
{
    VALUE value = mp_peek_fixnum(s->peek, at);

    if (value == Qundef) value = mp_view_value_at(s->peek, s->root, at, end);
    rb_ary_push(s->found, value);
    mp_peek_refresh(s->peek);
}

/* The same for a block. */
static void
yield_found(mp_search *s, size_t at, size_t end, const mp_way *up)
{
    VALUE value = s->sink == MP_SINK_WAYS ? Qundef : mp_view_value_at(s->peek, s->root, at, end);
    VALUE keys = mp_search_ways_p(s) ? mp_way_keys(s, up) : Qundef;

    mp_peek_leave(s->peek);
    if (s->sink == MP_SINK_PLACES) rb_yield_values(2, value, keys);
    else rb_yield(keys == Qundef ? value : keys);
    mp_peek_refresh(s->peek);
}

/* Returns the offset after the value, or 0 if it is not known. */
static size_t
found(mp_search *s, size_t at, size_t end, const mp_way *up)
{
    mp_search_inside(s, at);
    if (!s->count++) s->first = at;
    if (s->sink == MP_SINK_ANY || s->sink == MP_SINK_FIRST) s->stopped = true;
    else if (s->sink == MP_SINK_ARRAY) push_found(s, at, end);
    else if (s->sink == MP_SINK_BYTES) return append_found(s, at, end);
    else if (s->sink == MP_SINK_WANTED) s->stopped = wanted_p(s, at, end);
    else if (s->sink < MP_SINK_COUNT) yield_found(s, at, end, up);
    return end;
}

/* --- one selector ----------------------------------------------------------------------------------- */

/* The way to the object at the cursor. key is the offset of its key in a map. */
static mp_way
way_to(const mp_way *up, const mp_cursor *cursor, size_t key, uint64_t index)
{
    bool map = cursor->kind == MP_MAP;

    return (mp_way){.up = up, .map = map, .at = map ? key : index};
}

/* The offset of the key whose value is at an offset. The cursor has just opened the map. Only for the way. */
static size_t
key_before(mp_search *s, mp_cursor cursor, size_t value)
{
    size_t key;

    do {
        key = cursor.at;
        mp_peek_check(s->peek, mp_cursor_next(&cursor));
        if (cursor.at == value) return key;
        mp_peek_check(s->peek, mp_cursor_next(&cursor));
    } while (true);
}

/* True if what was found can be forgotten again: nobody has seen it, and no function of the user was called. */
static bool
forgets_p(const mp_search *s)
{
    mp_sink sink = s->sink;

    return (sink == MP_SINK_ARRAY || sink == MP_SINK_BYTES || sink == MP_SINK_ROWS || sink == MP_SINK_COUNT) &&
           !s->program->calls;
}

/* How long the Array or String of what a search has found is. */
static long
found_length(const mp_search *s)
{
    if (s->sink == MP_SINK_COUNT) return 0;
    return s->sink == MP_SINK_ARRAY ? RARRAY_LEN(s->found) : RSTRING_LEN(s->found);
}

static void
forget(mp_search *s, uint64_t count, long length)
{
    if (s->count == count) return;
    s->count = count;
    if (s->sink == MP_SINK_ARRAY) rb_ary_resize(s->found, length);
    else if (s->sink != MP_SINK_COUNT) rb_str_set_len(s->found, length);
    mp_peek_refresh(s->peek);
}

/*
 * Searches each value that a map has under a key, and forgets what it has found in all but the last. So it reads the
 * map once, while a search that came to the end of the map first would read the value again. Returns the offset after
 * the map.
 */
static size_t
search_last(mp_search *s, mp_cursor *cursor, const mp_key *key, long step)
{
    bool outermost = cursor->at == s->outermost;
    uint64_t count = s->count;
    long length = found_length(s);
    size_t value;

    while (mp_peek_next_value(s->peek, cursor, key, &value)) {
        forget(s, count, length);
        mp_search_inside(s, value);
        mp_search_look(s, value);
        cursor->at = search_from(s, value, step, true, NULL);
        cursor->left--;
    }
    if (outermost) mp_peek_ended(s->peek, cursor->at);
    return cursor->at;
}

/*
 * Searches the value that a container has under a key or index. If wanted, returns the offset after the container. A
 * search for the last of equal keys has come there before it enters the value.
 */
static size_t
search_one(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, bool wanted, const mp_way *up)
{
    mp_cursor opened = *cursor;
    uint64_t n = cursor->left;
    size_t passed;

    if (opened.kind == MP_MAP && forgets_p(s) && mp_search_last_p(s, selector)) {
        return search_last(s, cursor, &selector->key, step);
    }
    if (mp_search_find(s, cursor, selector)) {
        mp_way way = {.up = up};

        if (mp_search_ways_p(s)) {
            size_t key = opened.kind == MP_MAP ? key_before(s, opened, cursor->at) : 0;

            way = way_to(up, &opened, key, (uint64_t)mp_selector_index(selector, n));
        }
        mp_search_look(s, cursor->at);
        passed = s->passed;
        cursor->at = search_from(s, cursor->at, step, wanted && !passed, &way);
        if (passed) return passed;
        if (s->peek->codec->options.last_key && opened.kind == MP_MAP) *cursor = opened; /* a key that is an object */
        else cursor->left--;
    }
    if (wanted && !s->stopped) mp_peek_check(s->peek, mp_cursor_pass(cursor, cursor->left));
    return cursor->at;
}

/* Searches the value of a key. step is that of the segment after the key's. */
static void
search_value(mp_search *s, size_t at, long step, const mp_way *way)
{
    mp_search_look(s, at);
    search_from(s, at, step, false, way);
}

/* Searches the value at the cursor if a condition is true of it. Moves the cursor past the value. */
static void
search_if(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, const mp_way *way)
{
    size_t at = cursor->at;
    mp_row row;
    bool wanted = mp_condition_true_over_p(s, selector, at, &row);
    int slot;

    cursor->at = row.end;
    if (!wanted) return;
    slot = row.read && !mp_search_ways_p(s) ? selector->next_slot : MP_NO_SLOT;
    if (step == s->query->count) found(s, at, row.end, way);
    else if (slot == MP_NO_SLOT) search_from(s, at, step, false, way);
    else if (row.values[slot]) search_value(s, row.values[slot], step + 1, way);
}

/* Searches each value for which a condition is true, or simply each. If wanted, the cursor is at the end afterwards. */
static void
search_all(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, bool wanted, const mp_way *up)
{
    uint64_t index;

    for (index = 0; cursor->left && !s->stopped; index++) {
        size_t key = cursor->at;
        mp_way way;

        if (cursor->kind == MP_MAP) mp_peek_check(s->peek, mp_cursor_next(cursor));
        way = way_to(up, cursor, key, index);
        mp_search_inside(s, cursor->at);
        mp_search_look(s, cursor->at);
        if (selector->kind == MP_SELECT_FILTER) search_if(s, cursor, selector, step, &way);
        else cursor->at = search_from(s, cursor->at, step, wanted || cursor->left > 1, &way);
        cursor->left--;
    }
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* Appends an array of what each selector finds in the container that was just opened, or nil: see MP_SINK_ROWS. */
static void
append_row(mp_search *s, const mp_cursor *opened, const mp_segment *segment)
{
    uint8_t head[MP_HEAD_MAX], *end = mp_put_array_head(head, segment->count);
    uint32_t i;

    s->count++; /* forget looks at it */
    rb_str_cat(s->found, (const char *)head, (long)(end - head));
    mp_peek_refresh(s->peek);
    for (i = 0; i < segment->count; i++) {
        mp_cursor cursor = *opened;

        if (mp_search_find(s, &cursor, segment->selectors + i)) append_found(s, cursor.at, 0);
        else rb_str_cat(s->found, "\xc0", 1);
        mp_peek_refresh(s->peek);
    }
}

/* --- slices ----------------------------------------------------------------------------------------- */

/* The elements of a slice: from `low` on, each step, below `high`; in reverse if the slice's step is negative. */
typedef struct {
    uint64_t low, high, step;
    bool reverse;
} slice;

static int64_t
clamp(int64_t i, int64_t n, int64_t least, int64_t most)
{
    if (i < 0) i += n;
    return i < least ? least : i > most ? most : i;
}

static slice
slice_of(const mp_selector *selector, int64_t n)
{
    int64_t step = selector->step, first, last, count;

    if (step > 0) {
        first = selector->from_end ? 0 : clamp(selector->first, n, 0, n);
        last = selector->to_end ? n : clamp(selector->last, n, 0, n);
        return (slice){.low = (uint64_t)first, .high = (uint64_t)last, .step = (uint64_t)step};
    }
    first = selector->from_end ? n - 1 : clamp(selector->first, n, -1, n - 1);
    last = selector->to_end ? -1 : clamp(selector->last, n, -1, n - 1);
    if (!step || first <= last) return (slice){.step = 1};
    count = (first - last - 1) / -step; /* elements besides the first */
    return (slice){.low = (uint64_t)(first + count * step), .high = (uint64_t)first + 1, .step = (uint64_t)-step,
                   .reverse = true};
}

/* Moves the cursor to an element and sets *index to it. */
static void
pass_to(mp_search *s, mp_cursor *cursor, uint64_t *index, uint64_t element)
{
    mp_peek_check(s->peek, mp_cursor_pass(cursor, element - *index));
    *index = element;
    mp_search_inside(s, cursor->at);
}

static void
search_forwards(mp_search *s, mp_cursor *cursor, slice slice, long step, const mp_way *up)
{
    uint64_t index = 0, i;

    for (i = slice.low; i < slice.high && !s->stopped; i += slice.step) {
        bool more = slice.high - i > slice.step;
        mp_way way;

        pass_to(s, cursor, &index, i);
        way = way_to(up, cursor, 0, i);
        mp_search_look(s, cursor->at);
        cursor->at = search_from(s, cursor->at, step, more, &way);
        if (!more) return;
        cursor->left--;
        index++;
    }
}

/* The places of all elements come first, because only walking forwards finds them. */
static void
search_backwards(mp_search *s, mp_cursor *cursor, slice slice, long step, const mp_way *up)
{
    uint64_t count = (slice.high - slice.low + slice.step - 1) / slice.step, index = 0, i;
    VALUE memory;
    size_t *places;

    /* A head that declares more elements than there are bytes: passing over them raises, before it takes memory. */
    if (count > cursor->look->size) mp_peek_check(s->peek, mp_cursor_pass(cursor, cursor->left));
    places = ALLOCV_N(size_t, memory, (size_t)count);
    for (i = 0; i < count; i++) {
        pass_to(s, cursor, &index, slice.low + i * slice.step);
        places[i] = cursor->at;
    }
    while (i-- && !s->stopped) {
        mp_way way = way_to(up, cursor, 0, slice.low + i * slice.step);

        mp_search_look(s, places[i]);
        search_from(s, places[i], step, false, &way);
    }
    RB_GC_GUARD(memory);
}

static void
search_slice(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, const mp_way *up)
{
    slice slice;

    if (cursor->kind != MP_ARRAY) return;
    slice = slice_of(selector, (int64_t)cursor->left);
    if (slice.low >= slice.high) return;
    if (slice.reverse) search_backwards(s, cursor, slice, step, up);
    else search_forwards(s, cursor, slice, step, up);
}

/* --- segments --------------------------------------------------------------------------------------- */

/* Searches by each selector in turn. The cursor has just opened the container, and step is that of the next segment. */
static void
search_each(mp_search *s, mp_cursor opened, const mp_segment *segment, long step, const mp_way *up)
{
    uint32_t i;

    for (i = 0; i < segment->count && !s->stopped; i++) {
        const mp_selector *selector = segment->selectors + i;
        mp_cursor cursor = opened;

        if (selector->kind <= MP_SELECT_INDEX) search_one(s, &cursor, selector, step, false, up);
        else if (selector->kind == MP_SELECT_SLICE) search_slice(s, &cursor, selector, step, up);
        else search_all(s, &cursor, selector, step, false, up);
    }
}

/*
 * The same for a container and all in it, one after the other: for selectors that mp_descent cannot search at once.
 * Returns the offset after the container, unless it is stopped.
 */
static size_t
search_below(mp_search *s, size_t at, long step, const mp_way *up, uint32_t depth)
{
    mp_cursor cursor;
    uint64_t index;

    if (!mp_container_p(mp_peek_kind(s->peek, at))) return 0;
    if (mp_stack_too_deep_p(depth + 1)) mp_peek_raise(s->peek, MP_E_DEPTH);
    cursor = mp_peek_open(s->peek, at);
    search_each(s, cursor, s->query->segments + step, step + 1, up);
    for (index = 0; cursor.left && !s->stopped; index++) {
        size_t key = cursor.at, value;
        mp_way way;

        if (cursor.kind == MP_MAP) mp_peek_check(s->peek, mp_cursor_next(&cursor));
        way = way_to(up, &cursor, key, index);
        value = cursor.at;
        mp_search_inside(s, value);
        mp_search_look(s, value);
        mp_peek_check(s->peek, mp_cursor_next(&cursor));
        search_below(s, value, step, &way, depth + 1);
    }
    return cursor.at;
}

/* Returns the offset after the object. */
static size_t
descend(mp_search *s, size_t at, long step, const mp_way *up)
{
    mp_descent descent = {.search = s, .selector = s->query->segments[step].selectors};
    bool ends = step + 1 == s->query->count;
    mp_match match;
    size_t end;

    descent.unordered = ends && s->sink >= MP_SINK_COUNT;
    end = mp_descent_walk(&descent, at, up);
    while (!s->stopped && mp_descent_next(&descent, &match)) {
        mp_way way = {.before = mp_descent_keys(&descent, &match)};

        search_from(s, match.at, step + 1, false, &way);
    }
    RB_GC_GUARD(descent.memory);
    RB_GC_GUARD(descent.ways);
    return end;
}

/* --- what `..` has searched ------------------------------------------------------------------------- */

typedef struct {
    size_t start, end;
} span;

/* The number of spans of a String that start at or before an offset. */
static size_t
spans_up_to(VALUE spans, size_t at)
{
    const span *all = (const span *)RSTRING_PTR(spans);
    size_t low = 0, high = (size_t)RSTRING_LEN(spans) / sizeof(span);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all[middle].start <= at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* A hidden String of the spans that a segment has searched. */
static VALUE
spans_of(mp_search *s, long step)
{
    VALUE spans;

    if (!s->covered) s->covered = rb_obj_hide(rb_ary_new());
    spans = rb_ary_entry(s->covered, step);
    if (!NIL_P(spans)) return spans;
    spans = rb_obj_hide(rb_str_buf_new(64 * sizeof(span)));
    rb_ary_store(s->covered, step, spans);
    return spans;
}

/*
 * True if a segment `..` has not yet searched the object at an offset; from now on it has. A value that is found by
 * several ways through `..` counts once: otherwise two such segments would take quadratic time, and three cubic time.
 */
static bool
uncovered_p(mp_search *s, size_t at, long step)
{
    VALUE spans = spans_of(s, step);
    size_t i = spans_up_to(spans, at), n = (size_t)RSTRING_LEN(spans) / sizeof(span);
    span *all = (span *)RSTRING_PTR(spans), new;

    if (i && at < all[i - 1].end) return false;
    new = (span){.start = at, .end = mp_peek_over(s->peek, at)};
    rb_str_cat(spans, (const char *)&new, sizeof(new));
    all = (span *)RSTRING_PTR(spans);
    memmove(all + i + 1, all + i, (n - i) * sizeof(span));
    all[i] = new;
    return true;
}

/* True if an earlier segment of the query is a `..`, too. */
static bool
descended_p(const mp_query *query, long step)
{
    while (step--) {
        if (query->segments[step].descendant) return true;
    }
    return false;
}

static size_t
search_descendants(mp_search *s, size_t at, long step, bool wanted, const mp_way *up)
{
    const mp_segment *segment = s->query->segments + step;

    if (descended_p(s->query, step) && !uncovered_p(s, at, step)) return wanted ? mp_peek_over(s->peek, at) : 0;
    if (mp_descent_possible_p(s, segment)) return descend(s, at, step, up);
    return search_below(s, at, step, up, 0);
}

/* --- the search ------------------------------------------------------------------------------------- */

/*
 * Searches the object at an offset for the segments from `step` on. If wanted, returns the offset after the object: the
 * search has already walked over a part of it, so this costs less than walking over it again.
 */
static size_t
search_from(mp_search *s, size_t at, long step, bool wanted, const mp_way *up)
{
    bool end = step == s->query->count;
    const mp_segment *segment = s->query->segments + step;
    size_t after = 0;
    mp_cursor cursor;

    if (step % STACK_CHECK_STEPS == STACK_CHECK_STEPS - 1 && mp_stack_used_up_p()) mp_peek_raise(s->peek, MP_E_DEPTH);
    if (end) after = found(s, at, 0, up);
    if (end || !mp_container_p(mp_peek_kind(s->peek, at))) {
        if (!wanted || s->stopped) return 0;
        return after ? after : mp_peek_over(s->peek, at);
    }
    if (segment->descendant) return search_descendants(s, at, step, wanted, up);
    cursor = mp_peek_open(s->peek, at);
    if (MP_UNLIKELY((size_t)step >= s->peek->look.walk.max_depth) && cursor.left) mp_peek_raise(s->peek, MP_E_DEPTH);
    if (segment->count > 1 || segment->selectors->kind == MP_SELECT_SLICE || s->sink == MP_SINK_ROWS) {
        if (s->sink == MP_SINK_ROWS && step + 1 == s->query->count) append_row(s, &cursor, segment);
        else search_each(s, cursor, segment, step + 1, up);
        return wanted && !s->stopped ? mp_peek_over(s->peek, at) : 0;
    }
    if (segment->selectors->kind > MP_SELECT_INDEX) {
        search_all(s, &cursor, segment->selectors, step + 1, wanted, up);
        return cursor.at;
    }
    return search_one(s, &cursor, segment->selectors, step + 1, wanted, up);
}

void
mp_search_run(mp_search *s, size_t at)
{
    search_from(s, at, 0, false, NULL);
}

size_t
mp_search_over(mp_search *s, size_t at)
{
    size_t end = search_from(s, at, 0, true, NULL);

    return s->stopped ? 0 : end;
}

/* True if the walk for a segment ends where the container does. */
static bool
to_the_end_p(const mp_segment *segment)
{
    mp_selector_kind kind = segment->selectors->kind;

    return segment->descendant || (segment->count == 1 && (kind == MP_SELECT_ALL || kind == MP_SELECT_FILTER));
}

void
mp_search_message(mp_search *s)
{
    bool whole = s->query->count && to_the_end_p(s->query->segments);
    size_t at = s->start, end;

    if (!mp_container_p(mp_peek_kind(s->peek, at))) mp_peek_ended(s->peek, mp_peek_over(s->peek, at));
    else s->outermost = mp_peek_open(s->peek, at).at;
    end = search_from(s, at, 0, whole, NULL);
    if (whole && !s->stopped) mp_peek_ended(s->peek, end);
}

void
mp_search_step(mp_search *s, size_t at, long step)
{
    search_from(s, at, step, false, NULL);
}

/* True if an ext may become a String, a number or another key that bytes do not tell. */
static bool
bytes_only_p(const mp_codec *codec)
{
    return !codec->types || !codec->types->unpacker_count;
}

mp_search
mp_search_new(mp_peek *peek, VALUE root, size_t start, mp_program *program, mp_search_shared *shared)
{
    return (mp_search){.peek = peek, .root = root, .program = program, .query = &program->query, .shared = shared,
                       .run = mp_search_step, .start = start, .bytes_only = bytes_only_p(peek->codec)};
}
