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
} state;

/* How to visit an object with some states. All parts of a container that all states visit share one plan. */
typedef struct {
    state alone[MP_SEVERAL_MAX]; /* states that search on their own */
    state all[MP_SEVERAL_MAX];   /* states that select every part */
    state keys[MP_SEVERAL_MAX];  /* states that select a key */
    int alone_count, all_count, key_count;
    mp_wanted wanted;            /* the keys of `keys` */
    mp_key wanted_keys[MP_SEVERAL_MAX];
} plan;

static size_t visit(mp_peek *peek, size_t at, const plan *plan, bool wanted, uint32_t depth);

static const mp_selector *
selector_of(const state *state)
{
    return state->search->query->segments[state->step].selectors;
}

/* True if the next segment is * or a key that a walk to the end of a map can find by its bytes. */
static bool
shared_p(const state *state)
{
    const mp_segment *segment = state->search->query->segments + state->step;

    if (segment->descendant || segment->count > 1 || segment->selectors->kind > MP_SELECT_ALL) return false;
    return segment->selectors->kind == MP_SELECT_ALL
        || (mp_search_which(state->search) == MP_FIND_LAST && mp_search_by_bytes_p(state->search, segment->selectors));
}

static void
plan_make(plan *plan, const state *states, int n)
{
    int i;

    plan->alone_count = plan->all_count = plan->key_count = 0;
    plan->wanted = (mp_wanted){.keys = plan->wanted_keys};
    for (i = 0; i < n; i++) {
        if (states[i].step >= states[i].search->query->count || !shared_p(states + i)) {
            plan->alone[plan->alone_count++] = states[i];
        } else if (selector_of(states + i)->kind == MP_SELECT_ALL) {
            plan->all[plan->all_count++] = states[i];
        } else {
            plan->keys[plan->key_count++] = states[i];
            mp_wanted_add(&plan->wanted, &selector_of(states + i)->key);
        }
    }
}

static state
next_of(const state *before)
{
    return (state){.search = before->search, .step = before->step + 1};
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

/* Visits the value of state i with all states that have found the same value, and clears their values. */
static void
visit_value(mp_peek *peek, const plan *from, int i, size_t *values, uint32_t depth)
{
    size_t value = values[i];
    state next[MP_SEVERAL_MAX];
    plan plan;
    int n = 0;

    for (; i < from->key_count; i++) {
        if (values[i] != value) continue;
        next[n++] = next_of(from->keys + i);
        values[i] = 0;
    }
    if (n == 1) { /* a single search needs no shared walk */
        mp_search_from(next->search, value, next->step, false, NULL);
        return;
    }
    plan_make(&plan, next, n);
    visit(peek, value, &plan, false, depth);
}

/* Visits the values of a map that states select by keys. Returns the offset after the map. */
static size_t
visit_keys(mp_peek *peek, size_t at, const plan *plan, uint32_t depth)
{
    mp_cursor cursor = open_level(peek, at, depth);
    size_t values[MP_SEVERAL_MAX];
    int i;

    mp_peek_check(peek, mp_find_wanted(&cursor, &plan->wanted, true, values));
    for (i = 0; i < plan->key_count; i++) {
        if (values[i]) visit_value(peek, plan, i, values, depth);
    }
    return cursor.at;
}

/* Visits each element of an array, or each value of a map, with the states that select all. The same. */
static size_t
visit_all(mp_peek *peek, size_t at, const plan *from, bool wanted, uint32_t depth)
{
    mp_cursor cursor = open_level(peek, at, depth);
    state next[MP_SEVERAL_MAX];
    plan plan;
    int i;

    for (i = 0; i < from->all_count; i++) next[i] = next_of(from->all + i);
    plan_make(&plan, next, from->all_count);
    for (; cursor.left; cursor.left--) {
        if (cursor.kind == MP_MAP) mp_peek_check(peek, mp_cursor_next(&cursor));
        if (cursor.at >= peek->look.size) mp_peek_over(peek, cursor.at);
        cursor.at = visit(peek, cursor.at, &plan, wanted || cursor.left > 1, depth);
    }
    return cursor.at;
}

static void
search_alone(const state *states, int n, size_t at)
{
    for (; n; n--, states++) {
        if (states->step) mp_search_from(states->search, at, states->step, false, NULL);
        else mp_search_run(states->search);
    }
}

/* Visits the object at an offset. If wanted, returns the offset after it. */
static size_t
visit(mp_peek *peek, size_t at, const plan *plan, bool wanted, uint32_t depth)
{
    mp_kind kind = mp_peek_kind(peek, at);
    size_t end = 0;

    depth += LEVEL;
    if (mp_stack_too_deep_p(depth)) mp_peek_raise(peek, MP_E_DEPTH);
    search_alone(plan->alone, plan->alone_count, at);
    if (kind == MP_MAP && plan->key_count) end = visit_keys(peek, at, plan, depth);
    if (kind == MP_ARRAY) search_alone(plan->keys, plan->key_count, at);
    if (mp_container_p(kind) && plan->all_count) end = visit_all(peek, at, plan, wanted, depth);
    return !end && wanted ? mp_peek_over(peek, at) : end;
}

void
mp_search_several(mp_search *searches, int n)
{
    mp_peek *peek = searches->peek;
    size_t at = searches->start, end = 0;
    state states[MP_SEVERAL_MAX] = {{.search = NULL}}; /* n is never 0, but a compiler cannot know */
    bool array = mp_peek_kind(peek, at) == MP_ARRAY, whole = false;
    plan plan;
    int i;

    for (i = 0; i < n; i++) {
        states[i] = (state){.search = searches + i};
        if (!searches[i].query->count || !shared_p(states + i)) continue;
        whole = whole || !array || selector_of(states + i)->kind == MP_SELECT_ALL; /* walks to the end of the object */
    }
    plan_make(&plan, states, n);
    end = visit(peek, at, &plan, whole && peek->alone, 0);
    if (whole && peek->alone) mp_peek_ended(peek, end);
}
