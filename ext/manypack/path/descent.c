/* The segment `..` of a Path with one selector: one walk over everything in an object. */
#include "path/descent.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/stack.h"
#include "path/condition.h"

enum { FIRST_MATCHES = 64 };

static size_t walk_container(mp_descent *d, size_t at, const mp_way *up, uint32_t depth);

/* --- matches ---------------------------------------------------------------------------------------- */

/* What a step other than a str takes in a normalized path, and a str besides its bytes. */
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
    if (before && !RARRAY_LEN(keys)) return before; /* it was counted when `..` found the value */
    keys = rb_ary_reverse(keys);
    if (before) keys = rb_ary_plus(before, keys);
    count_path(s, keys);
    return keys;
}

static mp_match *
matches(const mp_descent *d)
{
    return (mp_match *)RSTRING_PTR(d->memory);
}

/* The memory is a String of more bytes than fit into its slot, so it does not move. */
static void
make_room(mp_descent *d)
{
    size_t capacity = d->capacity ? d->capacity * 2 : FIRST_MATCHES;
    VALUE memory = rb_obj_hide(rb_str_buf_new((long)(capacity * sizeof(mp_match))));

    if (d->count) memcpy(RSTRING_PTR(memory), matches(d), d->count * sizeof(mp_match));
    if (d->memory) rb_str_resize(d->memory, 0);
    d->memory = memory;
    d->capacity = capacity;
}

static long
keep_way(mp_descent *d, const mp_way *way)
{
    if (!d->ways) d->ways = rb_obj_hide(rb_ary_new());
    rb_ary_push(d->ways, mp_way_keys(d->search, way));
    return RARRAY_LEN(d->ways) - 1;
}

/* Returns the place of the match among the matches, for a later one that replaces it. */
static size_t
keep_match(mp_descent *d, uint64_t container, size_t at, const mp_way *way)
{
    mp_match match = {.container = container, .at = at, .way = -1};

    mp_search_inside(d->search, at);
    if (d->unordered) {
        if (!d->search->count++) d->search->first = at;
        if (d->search->sink == MP_SINK_ANY) d->search->stopped = true;
        return 0;
    }
    if (way) match.way = keep_way(d, way);
    if (d->count == d->capacity) make_room(d);
    if (d->count && matches(d)[d->count - 1].container > container) d->sorted = false;
    matches(d)[d->count] = match;
    return d->count++;
}

/* Of equal keys of a map the last counts. */
static void
replace_match(mp_descent *d, size_t i, size_t at, const mp_way *way)
{
    if (d->unordered) {
        d->search->first = at;
        return;
    }
    matches(d)[i].at = at;
    if (way) matches(d)[i].way = keep_way(d, way);
}

static int
match_compare(const void *a, const void *b)
{
    const mp_match *x = a, *y = b;

    if (x->container != y->container) return x->container < y->container ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

bool
mp_descent_next(mp_descent *d, mp_match *match)
{
    if (!d->sorted) qsort(matches(d), d->count, sizeof(mp_match), match_compare);
    d->sorted = true;
    if (d->next == d->count) return false;
    *match = matches(d)[d->next++];
    return true;
}

/* --- the walk --------------------------------------------------------------------------------------- */

/* Moves past an object, into it if it is a container. */
MP_INLINE size_t
walk_object(mp_descent *d, size_t at, const mp_way *up, uint32_t depth)
{
    mp_look *look = &d->search->peek->look;
    const uint8_t *p = look->bytes + at, *end = look->bytes + look->size;
    mp_head head;
    uint64_t held;

    if (mp_ahead_p(p, end)) {
        mp_step step = mp_step_over(&p, end, &held);

        if (step == MP_STEP_LEAF) return (size_t)(p - look->bytes);
        if (step == MP_STEP_CONTAINER) return walk_container(d, at, up, depth);
    }
    look->blame = at;
    mp_peek_check(d->search->peek, mp_head_over(p, end, &head, &p));
    if (mp_declared_objects(head.kind, head.n)) return walk_container(d, at, up, depth);
    return (size_t)(p - look->bytes);
}

/* Moves past a key that is no fixstr, or near the end. Sets *same if it is the wanted key. */
static size_t
other_key_over(mp_descent *d, size_t at, bool *same)
{
    mp_peek *peek = d->search->peek;
    size_t end = mp_peek_over(peek, at);

    if (d->selector->kind <= MP_SELECT_INDEX) {
        mp_key key = mp_key_read(peek->look.bytes + at, peek->look.bytes + end);

        *same = !mp_key_compare(&key, &d->selector->key);
    }
    return end;
}

MP_INLINE size_t
key_over(mp_descent *d, size_t at, bool *same)
{
    const mp_look *look = &d->search->peek->look;
    const uint8_t *p = look->bytes + at;
    const mp_key *key = &d->selector->key;
    uint32_t n;

    *same = false;
    if (!mp_ahead_p(p, look->bytes + look->size) || !mp_fixstr_ahead_p(p, &n)) return other_key_over(d, at, same);
    *same = n == key->n && key->kind == MP_STR && !memcmp(p + 1, key->bytes, n);
    return at + 1 + n;
}

/* The element that an index means in an array of n; n if there is none. */
static uint64_t
element_of(const mp_selector *selector, uint64_t n)
{
    int64_t i = mp_selector_index(selector, n);

    return selector->kind != MP_SELECT_INDEX || i < 0 || (uint64_t)i >= n ? n : (uint64_t)i;
}

static void
check_depth(const mp_descent *d, size_t at, uint32_t depth)
{
    const mp_peek *peek = d->search->peek;

    if (MP_LIKELY(depth < mp_unpack_max_depth(&peek->codec->options) && !mp_stack_too_deep_p(depth + 1))) return;
    d->search->peek->look.blame = at;
    mp_peek_raise(peek, MP_E_DEPTH);
}

/* True if the selector selects any value, or any for which its condition is true. */
static bool
any_wanted_p(mp_descent *d, size_t at)
{
    if (d->selector->kind == MP_SELECT_FILTER) return mp_condition_true_p(d->search, d->selector->condition, at);
    return d->selector->kind == MP_SELECT_ALL;
}

/* The pairs or elements of a container, from the offset after its head on. */
static size_t
walk_parts(mp_descent *d, const mp_head *head, size_t at, const mp_way *up, uint32_t depth)
{
    uint64_t container = d->containers++, wanted = element_of(d->selector, head->n), i;
    bool map = head->kind == MP_MAP, any = d->selector->kind > MP_SELECT_INDEX, found = false;
    bool last = mp_search_which(d->search) == MP_FIND_LAST;
    bool ways = mp_search_ways_p(d->search);
    mp_way way = {.up = up, .map = map};
    size_t match = 0;

    for (i = 0; i < head->n; i++) {
        bool same = i == wanted && !map;

        way.at = map ? at : i;
        if (map) at = key_over(d, at, &same);
        if (any) {
            mp_search_inside(d->search, at);
            same = any_wanted_p(d, at);
        }
        mp_search_look(d->search, at);
        if (MP_UNLIKELY(same)) {
            if (any || !found) match = keep_match(d, container, at, ways ? &way : NULL);
            else if (last) replace_match(d, match, at, ways ? &way : NULL);
            found = true;
            if (d->search->stopped) return at;
        }
        at = walk_object(d, at, ways ? &way : NULL, depth);
        if (d->search->stopped) return at;
    }
    return at;
}

static size_t
walk_container(mp_descent *d, size_t at, const mp_way *up, uint32_t depth)
{
    const mp_look *look = &d->search->peek->look;
    mp_head head;

    check_depth(d, at, depth);
    mp_peek_check(d->search->peek, mp_head_read(look->bytes + at, look->bytes + look->size, &head));
    return walk_parts(d, &head, (size_t)(head.payload - look->bytes), up, depth + 1);
}

size_t
mp_descent_walk(mp_descent *d, size_t at, const mp_way *up)
{
    d->sorted = true;
    return walk_object(d, at, up, 0);
}
