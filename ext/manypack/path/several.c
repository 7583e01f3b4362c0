/* Several Paths in one walk over a message: three keys of each of 2,000 rows take 0.46 of three walks. */
#include "path/several.h"

#include "base/stack.h"
#include "path/search.h"

/* One level of this walk takes as much C stack as this many levels of other walks. */
enum { LEVEL = 4 };

/* A search, and the step that it is at. */
typedef struct {
    mp_search *search;
    long step;
    bool done; /* has found its key or index in this container */
} state;

/* How to visit an object with some states. All elements of an array that all states visit share one plan. */
typedef struct {
    state alone[MP_SEVERAL_MAX];  /* states that search on their own */
    state shared[MP_SEVERAL_MAX];
    state keys[MP_SEVERAL_MAX];   /* states that select a key, if the last of equal keys counts */
    int alone_count, shared_count, key_count;
    mp_wanted wanted;             /* the keys of `keys` */
    mp_wanted_key wanted_keys[MP_SEVERAL_MAX];
} plan;

static size_t visit(mp_peek *peek, size_t at, const plan *plan, bool wanted, uint32_t depth);

static const mp_selector *
selector_of(const state *state)
{
    return state->search->query->segments[state->step].selectors;
}

/* True if the next segment can share a walk: it has one selector, and its key can be compared by bytes. */
static bool
shared_p(const state *state)
{
    const mp_segment *segment = state->search->query->segments + state->step;

    return !segment->descendant && segment->count == 1 && segment->selectors->kind <= MP_SELECT_ALL
        && mp_search_by_bytes_p(state->search, segment->selectors);
}

/* True if a selector selects the element at an index of an array of n, or the value of a key of a map. */
static bool
selected_p(const mp_selector *selector, const mp_key *key, int64_t index, int64_t n)
{
    if (selector->kind == MP_SELECT_ALL) return true;
    if (key) {
        if (key->kind == MP_STR && selector->key.kind == MP_STR) {
            return key->n == selector->key.n && !memcmp(key->bytes, selector->key.bytes, key->n);
        }
        return !mp_key_compare(key, &selector->key);
    }
    return selector->kind == MP_SELECT_INDEX && index == mp_selector_index(selector, (uint64_t)n);
}

/* Sets next to the states that continue in a value; *waiting counts those that may find something in a later one. */
static int
continue_states(state *states, int n, const mp_key *key, int64_t index, int64_t size, state *next, int *waiting)
{
    int i, count = 0;

    for (i = 0; i < n; i++) {
        const mp_selector *selector = selector_of(states + i);

        if (states[i].done || !selected_p(selector, key, index, size)) continue;
        next[count++] = (state){.search = states[i].search, .step = states[i].step + 1};
        if (selector->kind == MP_SELECT_ALL) continue;
        states[i].done = true;
        --*waiting;
    }
    return count;
}

static void
plan_make(plan *plan, const state *states, int n)
{
    int i;

    plan->alone_count = plan->shared_count = plan->key_count = 0;
    plan->wanted = (mp_wanted){.keys = plan->wanted_keys};
    for (i = 0; i < n; i++) {
        const mp_search *s = states[i].search;

        if (states[i].step >= s->query->count || !shared_p(states + i)) {
            plan->alone[plan->alone_count++] = states[i];
        } else if (selector_of(states + i)->kind == MP_SELECT_ALL || mp_search_which(s) == MP_FIND_FIRST) {
            plan->shared[plan->shared_count++] = states[i];
        } else {
            plan->keys[plan->key_count++] = states[i];
            mp_wanted_add(&plan->wanted, &selector_of(states + i)->key);
        }
    }
}

/* Visits the object at an offset with all n states. */
static size_t
visit_with(mp_peek *peek, size_t at, const state *states, int n, bool wanted, uint32_t depth)
{
    plan plan;

    if (n == 1 && !wanted) { /* a single search needs no shared walk */
        mp_search_from(states->search, at, states->step, false, NULL);
        return 0;
    }
    plan_make(&plan, states, n);
    return visit(peek, at, &plan, wanted, depth);
}

/* Sets next to the states that continue in the value of state i, and clears their values. */
static int
go_on_together(const state *states, int i, int n, size_t *values, state *next)
{
    size_t value = values[i];
    int count = 0;

    for (; i < n; i++) {
        if (values[i] != value) continue;
        next[count++] = (state){.search = states[i].search, .step = states[i].step + 1};
        values[i] = 0;
    }
    return count;
}

/* Opens a container. With it, `depth` levels of the stack are in use. */
static mp_cursor
open_level(mp_peek *peek, size_t at, uint32_t depth)
{
    mp_cursor cursor;

    mp_peek_open(peek, &cursor, at);
    if (MP_UNLIKELY(depth / LEVEL > peek->look.walk.max_depth) && cursor.left) mp_peek_raise(peek, MP_E_DEPTH);
    return cursor;
}

/* Visits a map in which the last of equal keys counts, for states that select one key. Returns the offset after it. */
static size_t
visit_last(mp_peek *peek, size_t at, const plan *plan, uint32_t depth)
{
    mp_cursor cursor = open_level(peek, at, depth);
    size_t values[MP_SEVERAL_MAX];
    int i;

    mp_peek_check(peek, mp_find_wanted(&cursor, &plan->wanted, true, values));
    for (i = 0; i < plan->key_count; i++) {
        state next[MP_SEVERAL_MAX];
        size_t value = values[i];
        int count;

        if (!value) continue;
        count = go_on_together(plan->keys, i, plan->key_count, values, next);
        visit_with(peek, value, next, count, false, depth);
    }
    return cursor.at;
}

/* True if all elements of an array are visited with the same states. */
static bool
all_wanted_p(const state *states, int n)
{
    while (n && selector_of(states + n - 1)->kind == MP_SELECT_ALL) n--;
    return !n;
}

/* Visits an array if all states want each element. If wanted, returns the offset after it. */
static size_t
visit_elements(mp_peek *peek, size_t at, state *states, int n, bool wanted, uint32_t depth)
{
    mp_cursor cursor = open_level(peek, at, depth);
    state next[MP_SEVERAL_MAX];
    plan plan;
    int waiting = n;

    plan_make(&plan, next, continue_states(states, n, NULL, 0, 0, next, &waiting));
    for (; cursor.left; cursor.left--) {
        if (cursor.at >= peek->look.size) mp_peek_over(peek, cursor.at);
        cursor.at = visit(peek, cursor.at, &plan, wanted || cursor.left > 1, depth);
    }
    return cursor.at;
}

/* Visits an array, or a map in which the first of equal keys counts. If wanted, returns the offset after it. */
static size_t
visit_parts(mp_peek *peek, size_t at, state *states, int n, bool wanted, uint32_t depth)
{
    mp_cursor cursor = open_level(peek, at, depth);
    int64_t size = (int64_t)cursor.left, index;
    bool map = cursor.kind == MP_MAP;
    int waiting = n;

    for (index = 0; cursor.left && waiting; index++) {
        state next[MP_SEVERAL_MAX];
        mp_key key;
        int count;

        if (map) mp_peek_check(peek, mp_cursor_key(&cursor, &key));
        count = continue_states(states, n, map ? &key : NULL, index, size, next, &waiting);
        if (cursor.at >= peek->look.size) mp_peek_over(peek, cursor.at);
        if (!count) {
            mp_peek_check(peek, mp_cursor_next(&cursor));
            continue;
        }
        cursor.at = visit_with(peek, cursor.at, next, count, wanted || (waiting && cursor.left > 1), depth);
        cursor.left--;
    }
    if (wanted) mp_peek_check(peek, mp_cursor_skip(&cursor, cursor.left));
    return cursor.at;
}

static void
search_alone(mp_search *s, size_t at, long step)
{
    if (step) mp_search_from(s, at, step, false, NULL);
    else mp_search_run(s);
}

static size_t
visit(mp_peek *peek, size_t at, const plan *plan, bool wanted, uint32_t depth)
{
    mp_kind kind = mp_peek_kind(peek, at);
    state parts[MP_SEVERAL_MAX];
    int i, count = plan->shared_count;
    size_t end = 0;

    if (mp_stack_too_deep_p(depth + LEVEL)) mp_peek_raise(peek, MP_E_DEPTH);
    for (i = 0; i < plan->alone_count; i++) search_alone(plan->alone[i].search, at, plan->alone[i].step);
    if (kind == MP_MAP && plan->key_count) end = visit_last(peek, at, plan, depth + LEVEL);
    if (!mp_container_p(kind)) count = 0;
    memcpy(parts, plan->shared, (size_t)count * sizeof(state));
    if (kind == MP_ARRAY) {
        memcpy(parts + count, plan->keys, (size_t)plan->key_count * sizeof(state));
        count += plan->key_count;
    }
    if (!count) return !end && wanted ? mp_peek_over(peek, at) : end;
    depth += LEVEL;
    if (kind == MP_ARRAY && all_wanted_p(parts, count)) return visit_elements(peek, at, parts, count, wanted, depth);
    return visit_parts(peek, at, parts, count, wanted, depth);
}

/* True if the walk for a state always reaches the end of the object. */
static bool
state_to_the_end_p(const mp_peek *peek, size_t at, const state *state)
{
    mp_kind kind = mp_peek_kind(peek, at);

    if (kind == MP_MAP && mp_search_which(state->search) == MP_FIND_LAST) return true;
    return !mp_container_p(kind) || selector_of(state)->kind == MP_SELECT_ALL;
}

void
mp_search_several(mp_search *searches, int n)
{
    mp_peek *peek = searches->peek;
    size_t at = searches->start, end = 0;
    state states[MP_SEVERAL_MAX] = {{.search = NULL}}; /* n is never 0, but a compiler cannot know */
    bool whole = false;
    plan plan;
    int i;

    for (i = 0; i < n; i++) {
        states[i] = (state){.search = searches + i};
        whole = whole || (searches[i].query->count && shared_p(states + i) && state_to_the_end_p(peek, at, states + i));
    }
    plan_make(&plan, states, n);
    end = visit(peek, at, &plan, whole && peek->alone, 0);
    if (whole && peek->alone) mp_peek_ended(peek, end);
}
