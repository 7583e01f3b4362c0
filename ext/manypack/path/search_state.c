/* The state of a search: its budget, how it finds a key, and the way to what it finds. */
#include "path/search_state.h"

#include "base/error.h"

void
mp_search_spent(const mp_search *s, size_t at)
{
    mp_raise_max_looks(s->shared->max_looks, "conditions that look at more objects", at,
                       mp_message_whole(s->peek->message));
}

/*
 * Finds a key that is compared as an object. Looks for a binary key as a bin and then as a str with invalid UTF-8,
 * because error paths show both alike.
 */
static bool
find_object_key(mp_search *s, mp_cursor *cursor, const mp_selector *selector)
{
    VALUE key = mp_program_object(s->program, selector->object);
    mp_cursor start = *cursor;

    if (mp_peek_find(s->peek, cursor, key)) return true;
    if (selector->key.kind != MP_BIN) return false;
    *cursor = start;
    return mp_peek_find(s->peek, cursor, rb_enc_associate(rb_str_dup(key), mp_utf8));
}

bool
mp_search_find(mp_search *s, mp_cursor *cursor, const mp_selector *selector)
{
    bool outermost = cursor->at == s->outermost;
    size_t value;

    s->passed = 0;
    if (cursor->kind != MP_MAP) {
        if (selector->kind != MP_SELECT_INDEX) return false;
        return mp_peek_find(s->peek, cursor, mp_program_object(s->program, selector->object));
    }
    if (!mp_search_by_bytes_p(s, selector)) return find_object_key(s, cursor, selector);
    mp_peek_check(s->peek, mp_find(cursor, &selector->key, mp_search_which(s), &value));
    if (outermost && !cursor->left) mp_peek_ended(s->peek, cursor->at);
    if (!value) return false;
    mp_search_inside(s, value);
    if (!cursor->left) s->passed = cursor->at;
    cursor->at = value;
    return true;
}

/* --- slices ----------------------------------------------------------------------------------------- */

static int64_t
clamp(int64_t i, int64_t n, int64_t least, int64_t most)
{
    if (i < 0) i += n;
    return i < least ? least : i > most ? most : i;
}

mp_slice_range
mp_slice_of(const mp_selector *selector, int64_t n)
{
    int64_t step = selector->step, first, last, count;

    if (step > 0) {
        first = selector->from_end ? 0 : clamp(selector->first, n, 0, n);
        last = selector->to_end ? n : clamp(selector->last, n, 0, n);
        return (mp_slice_range){.low = (uint64_t)first, .high = (uint64_t)last, .step = (uint64_t)step};
    }
    first = selector->from_end ? n - 1 : clamp(selector->first, n, -1, n - 1);
    last = selector->to_end ? -1 : clamp(selector->last, n, -1, n - 1);
    if (!step || first <= last) return (mp_slice_range){.step = 1};
    count = (first - last - 1) / -step; /* elements besides the first */
    return (mp_slice_range){.low = (uint64_t)(first + count * step), .high = (uint64_t)first + 1,
                            .step = (uint64_t)-step, .reverse = true};
}

/* --- ways ------------------------------------------------------------------------------------------- */

/* The bytes that a step takes in a normalized path; a str takes its own bytes in addition. */
enum { STEP_BYTES = 8 };

/*
 * Counts the bytes of a path. LimitError if max_bytes is set and the paths of a message take far more: the path of each
 * of many small values has all the long keys above it.
 */
static void
count_path(mp_search *s, VALUE keys)
{
    size_t most = s->peek->codec->options.max_bytes;
    long i;

    if (most == SIZE_MAX) return;
    for (i = 0; i < RARRAY_LEN(keys); i++) {
        VALUE key = RARRAY_AREF(keys, i);

        s->shared->path_bytes += STEP_BYTES;
        if (RB_TYPE_P(key, T_STRING)) s->shared->path_bytes += (uint64_t)RSTRING_LEN(key);
    }
    if (s->shared->path_bytes / MP_PATHS_PER_BYTE > most) {
        mp_raise_max_path_bytes(most, s->shared->path_bytes, mp_message_whole(s->peek->message));
    }
}

VALUE
mp_way_keys(mp_search *s, const mp_way *way)
{
    VALUE keys = rb_ary_new(), before = 0;

    for (; way && !way->before; way = way->up) {
        rb_ary_push(keys, way->map ? mp_peek_key(s->peek, (size_t)way->at) : ULL2NUM(way->at));
    }
    if (way) before = way->before;
    if (before && !RARRAY_LEN(keys)) return before; /* `..` counted the path when it found the value */
    keys = rb_ary_reverse(keys);
    if (before) keys = rb_ary_plus(before, keys);
    count_path(s, keys);
    return keys;
}
