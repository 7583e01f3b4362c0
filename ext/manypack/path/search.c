/* Searches a message for a Path, in one walk over the bytes that builds only the values found. */
#include "path/search.h"

#include "base/stack.h"
#include "path/condition.h"
#include "path/descent.h"
#include "view/view.h"

/* This many steps take half of the C stack that mp_stack_used_up_p keeps free. Few paths are longer. */
#define STACK_CHECK_STEPS 32

/* --- results ---------------------------------------------------------------------------------------- */

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

/* Yields the value to the block. */
static void
yield_found(mp_search *s, size_t at, size_t end, const mp_way *up)
{
    VALUE value = s->sink == MP_SINK_WAYS ? Qundef : mp_view_value_at(s->peek, s->root, at, end);
    VALUE keys = mp_search_ways_p(s) ? mp_way_keys(s, up) : Qundef;

    if (s->sink == MP_SINK_PLACES) rb_yield_values(2, value, keys);
    else rb_yield(keys == Qundef ? value : keys);
    mp_peek_refresh(s->peek);
}

/* Passes a value to the sink. Returns the offset after the value, or 0 if it is not known. */
static size_t
found(mp_search *s, size_t at, size_t end, const mp_way *up)
{
    mp_search_inside(s, at);
    if (!s->count++) s->first = at;
    if (s->sink == MP_SINK_ANY || s->sink == MP_SINK_FIRST) s->stopped = true;
    else if (s->sink == MP_SINK_ARRAY) push_found(s, at, end);
    else if (s->sink == MP_SINK_BYTES) return append_found(s, at, end);
    else if (s->sink == MP_SINK_WANTED) s->stopped = wanted_p(s, at, end);
    else if (s->sink <= MP_SINK_WAYS) yield_found(s, at, end, up);
    return end;
}

/* --- one selector ----------------------------------------------------------------------------------- */

/*
 * Makes the way to the object at the cursor: the keys and indices that lead to it. key is the offset of its key in a
 * map.
 */
static mp_way
way_to(const mp_way *up, const mp_cursor *cursor, size_t key, uint64_t index)
{
    bool map = cursor->kind == MP_MAP;

    return (mp_way){.up = up, .map = map, .at = map ? key : index};
}

/* Finds the offset of the key whose value is at `value`. The cursor has just opened the map. */
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

/*
 * True if the last of equal keys counts, keys are compared by bytes, and values found for earlier keys can be dropped:
 * nothing was yielded, and no function of the user was called.
 */
static bool
last_in_passing_p(const mp_search *s, const mp_selector *selector)
{
    mp_sink sink = s->sink;

    return (sink == MP_SINK_ARRAY || sink == MP_SINK_BYTES || sink == MP_SINK_ROWS || sink == MP_SINK_COUNT) &&
           !s->program->calls && mp_search_which(s) == MP_FIND_LAST && mp_search_by_bytes_p(s, selector);
}

/* The length of the Array or String that a search has filled. */
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
 * Searches each value of a key in a map, and drops the results of all but the last. So it reads the map once: looking
 * for the last key first would read the value a second time, and $.statuses[*].user.screen_name of tweets would take
 * 1.85 times the instructions. Returns the offset after the map.
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
        cursor->at = mp_search_from(s, value, step, true, NULL);
        cursor->left--;
    }
    if (outermost) mp_peek_ended(s->peek, cursor->at);
    return cursor->at;
}

/*
 * Searches the value of a key or index. If wanted, returns the offset after the container: a search for the last of
 * equal keys has reached it already, any other skips the rest.
 */
static size_t
search_one(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, bool wanted, const mp_way *up)
{
    mp_cursor opened = *cursor;
    uint64_t n = cursor->left;
    size_t passed;

    if (opened.kind == MP_MAP && last_in_passing_p(s, selector)) {
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
        cursor->at = mp_search_from(s, cursor->at, step, wanted && !passed, &way);
        if (passed) return passed;
        if (s->peek->codec->options.last_key && opened.kind == MP_MAP) *cursor = opened; /* compared as an object */
        else cursor->left--;
    }
    if (wanted && !s->stopped) mp_peek_check(s->peek, mp_cursor_skip(cursor, cursor->left));
    return cursor->at;
}

/* Searches the value of a key. step is the number of the segment after the key's. */
static void
search_value(mp_search *s, size_t at, long step, const mp_way *way)
{
    mp_search_look(s, at);
    mp_search_from(s, at, step, false, way);
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
    else if (slot == MP_NO_SLOT) mp_search_from(s, at, step, false, way);
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
        else cursor->at = mp_search_from(s, cursor->at, step, wanted || cursor->left > 1, &way);
        cursor->left--;
    }
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* Appends a row: an array with the value, or nil, that each selector finds in the container. See MP_SINK_ROWS. */
static void
append_row(mp_search *s, const mp_cursor *opened, const mp_segment *segment)
{
    uint8_t head[MP_HEAD_MAX], *end = mp_put_array_head(head, segment->count);
    uint32_t i;

    s->count++; /* for forget */
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

/* Moves the cursor to an element and sets *index to it. */
static void
skip_to(mp_search *s, mp_cursor *cursor, uint64_t *index, uint64_t element)
{
    mp_peek_check(s->peek, mp_cursor_skip(cursor, element - *index));
    *index = element;
    mp_search_inside(s, cursor->at);
}

static void
search_forwards(mp_search *s, mp_cursor *cursor, mp_slice_range slice, long step, const mp_way *up)
{
    uint64_t index = 0, i;

    for (i = slice.low; i < slice.high && !s->stopped; i += slice.step) {
        bool more = slice.high - i > slice.step;
        mp_way way;

        skip_to(s, cursor, &index, i);
        way = way_to(up, cursor, 0, i);
        mp_search_look(s, cursor->at);
        cursor->at = mp_search_from(s, cursor->at, step, more, &way);
        if (!more) return;
        cursor->left--;
        index++;
    }
}

/* Searches elements from the last to the first. First notes all offsets, because only a forward walk finds them. */
static void
search_backwards(mp_search *s, mp_cursor *cursor, mp_slice_range slice, long step, const mp_way *up)
{
    uint64_t count = (slice.high - slice.low + slice.step - 1) / slice.step, index = 0, i;
    VALUE memory;
    size_t *places;

    /* The head declares more elements than there are bytes: skipping them raises before memory is allocated. */
    if (count > cursor->look->size) mp_peek_check(s->peek, mp_cursor_skip(cursor, cursor->left));
    places = ALLOCV_N(size_t, memory, (size_t)count);
    for (i = 0; i < count; i++) {
        skip_to(s, cursor, &index, slice.low + i * slice.step);
        places[i] = cursor->at;
    }
    while (i-- && !s->stopped) {
        mp_way way = way_to(up, cursor, 0, slice.low + i * slice.step);

        mp_search_look(s, places[i]);
        mp_search_from(s, places[i], step, false, &way);
    }
    RB_GC_GUARD(memory);
}

static void
search_slice(mp_search *s, mp_cursor *cursor, const mp_selector *selector, long step, const mp_way *up)
{
    mp_slice_range slice;

    if (cursor->kind != MP_ARRAY) return;
    slice = mp_slice_of(selector, (int64_t)cursor->left);
    if (slice.low >= slice.high) return;
    if (slice.reverse) search_backwards(s, cursor, slice, step, up);
    else search_forwards(s, cursor, slice, step, up);
}

/* --- segments --------------------------------------------------------------------------------------- */

/* Searches by each selector in turn. The cursor has just opened the container. step is the next segment's number. */
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

/* --- the search ------------------------------------------------------------------------------------- */

size_t
mp_search_from(mp_search *s, size_t at, long step, bool wanted, const mp_way *up)
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
    if (segment->descendant) return mp_search_descend(s, at, step, wanted, up);
    mp_search_open(s->peek, &cursor, at, step);
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

/* True if the walk for a segment always reaches the end of the container. */
static bool
to_the_end_p(const mp_segment *segment)
{
    mp_selector_kind kind = segment->selectors->kind;

    return segment->descendant || (segment->count == 1 && (kind == MP_SELECT_ALL || kind == MP_SELECT_FILTER));
}

void
mp_search_run(mp_search *s)
{
    bool alone = s->peek->alone, whole = alone && s->query->count && to_the_end_p(s->query->segments);
    size_t at = s->start, end;
    mp_cursor cursor;

    if (alone && mp_container_p(mp_peek_kind(s->peek, at))) {
        mp_peek_open(s->peek, &cursor, at);
        s->outermost = cursor.at;
    } else if (alone) {
        mp_peek_ended(s->peek, mp_peek_over(s->peek, at));
    }
    end = mp_search_from(s, at, 0, whole, NULL);
    if (whole && !s->stopped) mp_peek_ended(s->peek, end);
}

mp_search
mp_search_new(mp_peek *peek, VALUE root, size_t start, mp_program *program, mp_search_shared *shared)
{
    return (mp_search){.peek = peek, .root = root, .program = program, .query = &program->query, .shared = shared,
                       .start = start, .bytes_only = !mp_ext_keys_p(peek->codec), .from = mp_search_from};
}
