/*
 * The segment `..` of a Path: one walk over everything in an object for each selector. Collects and sorts the matches:
 * the standard wants a container's matches before those inside its parts, unlike the order of the bytes.
 */
#include "path/descent.h"

#include <limits.h>
#include <stdlib.h>

#include "base/stack.h"
#include "path/condition.h"

enum { FIRST_MATCHES = 64 };

typedef struct {
    uint64_t rank; /* number of the container, by where containers start, and of the selector */
    int64_t order; /* order within a rank: the offset of the value, or its ~ in a backward slice */
    long way;      /* index in `ways` of the keys and indices that lead to it; -1 if not needed */
} match;

typedef struct {
    mp_search *search;
    const mp_selector *selector;
    bool unordered;       /* only the number of matches counts: nothing is collected */
    uint64_t rank, ranks; /* rank of the next container, and the distance to the one after it */
    VALUE memory, ways;   /* a String and an Array, hidden; 0 for none */
    size_t count, capacity;
    bool sorted;
} descent;

enum { NOWHERE = -1 };

static size_t walk_container(descent *d, size_t at, const mp_way *up, uint32_t depth);

/* --- matches ---------------------------------------------------------------------------------------- */

static match *
matches(const descent *d)
{
    return (match *)RSTRING_PTR(d->memory);
}

/* The memory is a String of more bytes than fit into its slot, so it does not move. */
static void
make_room(descent *d)
{
    size_t capacity = d->capacity ? d->capacity * 2 : FIRST_MATCHES;
    VALUE memory = rb_obj_hide(rb_str_buf_new((long)(capacity * sizeof(match))));

    if (d->count) memcpy(RSTRING_PTR(memory), matches(d), d->count * sizeof(match));
    if (d->memory) rb_str_resize(d->memory, 0);
    d->memory = memory;
    d->capacity = capacity;
}

static long
keep_way(descent *d, const mp_way *way)
{
    if (!d->ways) d->ways = rb_obj_hide(rb_ary_new());
    rb_ary_push(d->ways, mp_way_keys(d->search, way));
    return RARRAY_LEN(d->ways) - 1;
}

static int
match_compare(const void *a, const void *b)
{
    const match *x = a, *y = b;

    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Stores a match: at `place` to replace that of an equal key, or at the end if NOWHERE. Returns its place. */
static long
keep_match(descent *d, long place, match new, size_t at, const mp_way *way)
{
    mp_search *s = d->search;

    mp_search_inside(s, at);
    if (d->unordered) {
        s->count += place == NOWHERE;
        s->first = at; /* only used if it is the only match */
        s->stopped = s->sink == MP_SINK_ANY;
        return 0;
    }
    if (way) new.way = keep_way(d, way);
    if (d->count == d->capacity) make_room(d);
    if (place == NOWHERE) place = (long)d->count++;
    matches(d)[place] = new;
    if (place && match_compare(matches(d) + place - 1, &new) > 0) d->sorted = false;
    return place;
}

/* --- the walk --------------------------------------------------------------------------------------- */

/* Walks over an object, and into it if it is a container. Returns the offset after it. */
MP_INLINE size_t
walk_object(descent *d, size_t at, const mp_way *up, uint32_t depth)
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

/* Moves past a key. Sets *same if the selector has it. */
MP_INLINE size_t
key_over(descent *d, size_t at, bool *same)
{
    mp_peek *peek = d->search->peek;
    const uint8_t *p = peek->look.bytes + at;
    const mp_key *wanted = &d->selector->key;
    mp_key key;
    size_t end;
    uint32_t n;

    if (mp_ahead_p(p, peek->look.bytes + peek->look.size) && mp_fixstr_ahead_p(p, &n)) {
        *same = n == wanted->n && wanted->kind == MP_STR && !memcmp(p + 1, wanted->bytes, n);
        return at + 1 + n;
    }
    end = mp_peek_over(peek, at);
    key = mp_key_read(peek->look.bytes + at, peek->look.bytes + end);
    *same = !mp_key_compare(&key, wanted);
    return end;
}

/* The range of elements or pairs that the selector selects by position. */
static mp_slice_range
range_of(const descent *d, const mp_head *head)
{
    const mp_selector *selector = d->selector;
    bool array = head->kind == MP_ARRAY;

    switch (selector->kind) {
      case MP_SELECT_ALL:
      case MP_SELECT_FILTER: return (mp_slice_range){.high = head->n, .step = 1};
      case MP_SELECT_SLICE: return array ? mp_slice_of(selector, (int64_t)head->n) : (mp_slice_range){.step = 1};
      case MP_SELECT_INDEX: {
        int64_t i = array ? mp_selector_index(selector, head->n) : -1;

        return (mp_slice_range){.low = (uint64_t)i, .high = (uint64_t)i + 1, .step = 1};
      }
      default: return (mp_slice_range){.step = 1};
    }
}

/*
 * Finds the value of a key that must be compared as an object. Returns its offset; 0 if there is none, or if comparing
 * bytes is enough.
 */
static size_t
value_by_object(descent *d, const mp_head *head, size_t at)
{
    bool key = head->kind == MP_MAP && d->selector->kind <= MP_SELECT_INDEX;
    mp_cursor cursor;

    if (!key || mp_search_by_bytes_p(d->search, d->selector)) return 0;
    mp_peek_open(d->search->peek, &cursor, at);
    return mp_search_find(d->search, &cursor, d->selector) ? cursor.at : 0;
}

static void
check_descent(const descent *d, size_t at, uint32_t depth)
{
    mp_peek *peek = d->search->peek;

    if (MP_LIKELY(depth < mp_unpack_max_depth(&peek->codec->options) && !mp_stack_too_deep_p(depth + 1))) return;
    peek->look.blame = at;
    mp_peek_raise(peek, MP_E_DEPTH);
}

/* The state of a selector in one container during the walk. */
typedef struct {
    mp_slice_range range; /* of elements or, in a map without a key to look for, of pairs */
    uint64_t rank, next;  /* rank of the container; the next element of the range */
    bool by_key, last;    /* the key is compared by bytes; the last of equal keys counts */
    long place;           /* by_key: index of the match so far */
} selection;

/* Stores the value at an offset, the next one selected, as a match, unless the condition of a filter is false. */
static MP_NOINLINE void
select_value(descent *d, selection *chosen, size_t at, const mp_way *way)
{
    bool reverse = chosen->range.reverse;
    match new = {.rank = chosen->rank, .order = reverse ? ~(int64_t)at : (int64_t)at, .way = -1};

    chosen->next += chosen->range.step;
    if (chosen->next >= chosen->range.high) chosen->next = UINT64_MAX;
    if (d->selector->kind == MP_SELECT_FILTER) {
        mp_search_inside(d->search, at);
        if (!mp_condition_true_p(d->search, d->selector->condition, at)) return;
    }
    if (chosen->place != NOWHERE && !chosen->last) return;
    at = (size_t)keep_match(d, chosen->place, new, at, way);
    if (chosen->by_key) chosen->place = (long)at;
}

/* Walks over the parts of a container, from `at`, the offset after its head. by_object: see value_by_object. */
static size_t
walk_parts(descent *d, const mp_head *head, size_t at, size_t by_object, const mp_way *up, uint32_t depth)
{
    mp_search *s = d->search;
    selection chosen = {.range = range_of(d, head), .rank = d->rank, .next = UINT64_MAX, .place = NOWHERE};
    bool map = head->kind == MP_MAP;
    mp_way here = {.up = up, .map = map}, *way = mp_search_ways_p(s) ? &here : NULL;
    uint64_t i;

    d->rank += d->ranks;
    if (chosen.range.low < chosen.range.high) chosen.next = chosen.range.low;
    chosen.by_key = map && d->selector->kind <= MP_SELECT_INDEX && mp_search_by_bytes_p(s, d->selector);
    chosen.last = mp_search_which(s) == MP_FIND_LAST;
    for (i = 0; i < head->n; i++) {
        bool same = false;

        here.at = map ? at : i;
        if (map) at = key_over(d, at, &same);
        if (!chosen.by_key) same = i == chosen.next || at == by_object;
        if (MP_UNLIKELY(same)) select_value(d, &chosen, at, way);
        mp_search_look(s, at);
        if (MP_LIKELY(!s->stopped)) at = walk_object(d, at, way, depth);
        if (MP_UNLIKELY(s->stopped)) return at;
    }
    return at;
}

static size_t
walk_container(descent *d, size_t at, const mp_way *up, uint32_t depth)
{
    const mp_look *look = &d->search->peek->look;
    size_t first;
    mp_head head;

    check_descent(d, at, depth);
    mp_peek_check(d->search->peek, mp_head_read(look->bytes + at, look->bytes + look->size, &head));
    first = (size_t)(head.payload - look->bytes);
    return walk_parts(d, &head, first, value_by_object(d, &head, at), up, depth + 1);
}

/* --- several segments `..` ---------------------------------------------------------------------------- */

/* True if an earlier segment of the query is a `..`, too. */
static bool
descended_p(const mp_query *query, long step)
{
    while (step--) {
        if (query->segments[step].descendant) return true;
    }
    return false;
}

static void
set_bits(uint8_t *bits, size_t from, size_t to)
{
    size_t bytes;

    for (; from < to && from % CHAR_BIT; from++) bits[from / CHAR_BIT] |= (uint8_t)(1u << from % CHAR_BIT);
    bytes = (to - from) / CHAR_BIT;
    memset(bits + from / CHAR_BIT, UINT8_MAX, bytes);
    for (from += bytes * CHAR_BIT; from < to; from++) bits[from / CHAR_BIT] |= (uint8_t)(1u << from % CHAR_BIT);
}

/*
 * Returns a hidden String for the segment `step`, with a bit for each byte that the first segment `..` has walked over.
 */
static VALUE
covered_by(mp_search *s, long step)
{
    size_t bytes = s->covered_size / CHAR_BIT + 1;
    VALUE covered;

    if (!s->covered) s->covered = rb_obj_hide(rb_ary_new());
    covered = rb_ary_entry(s->covered, step);
    if (!NIL_P(covered)) return covered;
    covered = rb_obj_hide(rb_str_new(NULL, (long)bytes));
    memset(RSTRING_PTR(covered), 0, bytes);
    rb_ary_store(s->covered, step, covered);
    mp_peek_refresh(s->peek);
    return covered;
}

/*
 * True if a segment `..` after another one has not searched the object at an offset yet. Marks it as searched: a value
 * that is reached in several ways counts once. Otherwise two such segments would take quadratic time, and three cubic
 * time.
 */
static bool
uncovered_p(mp_search *s, size_t at, long step)
{
    VALUE covered = covered_by(s, step);
    uint8_t *bits = (uint8_t *)RSTRING_PTR(covered);
    size_t from = at - s->covered_from;

    if (bits[from / CHAR_BIT] >> from % CHAR_BIT & 1) return false;
    set_bits(bits, from, mp_peek_over(s->peek, at) - s->covered_from);
    RB_GC_GUARD(covered);
    return true;
}

/* Continues with the segments from `step` on in each match of a walk from `at` to `end`. */
static void
search_matches(descent *d, size_t at, size_t end, long step)
{
    mp_search *s = d->search;
    size_t i;

    if (!descended_p(s->query, step - 1)) {
        s->covered = 0;
        s->covered_from = at;
        s->covered_size = end - at;
    }
    if (!d->sorted) qsort(matches(d), d->count, sizeof(match), match_compare);
    for (i = 0; i < d->count && !s->stopped; i++) {
        match found = matches(d)[i];
        mp_way way = {.before = found.way < 0 ? 0 : RARRAY_AREF(d->ways, found.way)};

        s->from(s, (size_t)(found.order < 0 ? ~found.order : found.order), step, false, &way);
    }
}

size_t
mp_search_descend(mp_search *s, size_t at, long step, bool wanted, const mp_way *up)
{
    const mp_segment *segment = s->query->segments + step;
    descent d = {.search = s, .ranks = segment->count, .sorted = true};
    size_t end = at;
    uint32_t i;

    if (descended_p(s->query, step) && !uncovered_p(s, at, step)) return wanted ? mp_peek_over(s->peek, at) : 0;
    d.unordered = step + 1 == s->query->count && s->sink >= MP_SINK_COUNT;
    for (i = 0; i < segment->count && !s->stopped; i++) {
        d.selector = segment->selectors + i;
        d.rank = i;
        end = walk_object(&d, at, up, 0);
    }
    if (!s->stopped) search_matches(&d, at, end, step + 1);
    RB_GC_GUARD(d.memory);
    RB_GC_GUARD(d.ways);
    return end;
}
