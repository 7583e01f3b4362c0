/* Several Paths in one walk over a message. */
#include "path/several.h"

#include "base/stack.h"
#include "path/search.h"

/* A search, and the step that it is at. */
typedef struct {
    mp_search *search;
    long step;
    bool done; /* has found its key or index in this container */
} state;

static size_t visit(mp_peek *peek, size_t at, const state *states, int n, bool wanted, uint32_t depth);

static const mp_selector *
selector_of(const state *state)
{
    return state->search->query->segments[state->step].selectors;
}

/* True if the next segment can share a walk: one selector, whose key the bytes tell. */
static bool
shared_p(const state *state)
{
    const mp_search *s = state->search;
    const mp_segment *segment = s->query->segments + state->step;
    const mp_selector *selector = segment->selectors;

    return !segment->descendant && segment->count == 1 && selector->kind <= MP_SELECT_ALL && s->bytes_only
        && selector->key.kind != MP_BIN;
}

/* The key at the cursor, which moves to its value. */
static mp_key
key_at(mp_peek *peek, mp_cursor *cursor)
{
    const uint8_t *p = peek->look.bytes + cursor->at;
    uint32_t n;

    if (mp_ahead_p(p, peek->look.bytes + peek->look.size) && mp_fixstr_ahead_p(p, &n)) {
        cursor->at += 1 + n;
        cursor->left--;
        return mp_key_str(p + 1, n);
    }
    mp_peek_check(peek, mp_cursor_next(cursor));
    return mp_key_read(p, peek->look.bytes + cursor->at);
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

/* The states that go on into a value; *waiting counts those that may find something in a later one. */
static int
go_on(state *states, int n, const mp_key *key, int64_t index, int64_t size, state *next, int *waiting)
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

/* Where the values of the states' keys are, the last of equal keys; 0 for none. Returns the offset after the map. */
static size_t
find_last(mp_peek *peek, size_t at, const state *states, int n, size_t *values)
{
    mp_cursor cursor = mp_peek_open(peek, at);
    mp_wanted_key keys[MP_SEVERAL_MAX];
    mp_wanted wanted = {.keys = keys};
    int i;

    for (i = 0; i < n; i++) mp_wanted_add(&wanted, &selector_of(states + i)->key);
    mp_peek_check(peek, mp_find_wanted(&cursor, &wanted, true, values));
    return cursor.at;
}

/* The states that go on into the value of the state i; they have no value afterwards. */
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

/* A map of which the last of equal keys counts, for states that select one key. Returns the offset after it. */
static size_t
visit_last(mp_peek *peek, size_t at, const state *states, int n, uint32_t depth)
{
    size_t values[MP_SEVERAL_MAX], end = find_last(peek, at, states, n, values);
    int i;

    for (i = 0; i < n; i++) {
        state next[MP_SEVERAL_MAX];
        size_t value = values[i];

        if (value) visit(peek, value, next, go_on_together(states, i, n, values, next), false, depth);
    }
    return end;
}

/* An array, or a map of which the first of equal keys counts. If wanted, returns the offset after it. */
static size_t
visit_parts(mp_peek *peek, size_t at, state *states, int n, bool wanted, uint32_t depth)
{
    mp_cursor cursor = mp_peek_open(peek, at);
    int64_t size = (int64_t)cursor.left, index;
    bool map = cursor.kind == MP_MAP;
    int waiting = n;

    for (index = 0; cursor.left && waiting; index++) {
        state next[MP_SEVERAL_MAX];
        mp_key key;
        int count;

        if (map) key = key_at(peek, &cursor);
        count = go_on(states, n, map ? &key : NULL, index, size, next, &waiting);
        if (cursor.at >= peek->look.size) mp_peek_over(peek, cursor.at);
        if (!count) {
            mp_peek_check(peek, mp_cursor_next(&cursor));
            continue;
        }
        cursor.at = visit(peek, cursor.at, next, count, wanted || (waiting && cursor.left > 1), depth);
        cursor.left--;
    }
    if (wanted) mp_peek_check(peek, mp_cursor_pass(&cursor, cursor.left));
    return cursor.at;
}

static void
search_alone(mp_search *s, size_t at, long step)
{
    if (s->peek->alone && !step) mp_search_message(s);
    else mp_search_step(s, at, step);
}

static size_t
visit(mp_peek *peek, size_t at, const state *states, int n, bool wanted, uint32_t depth)
{
    mp_kind kind = mp_peek_kind(peek, at);
    bool last = kind == MP_MAP && mp_search_which(states->search) == MP_FIND_LAST;
    state shared[MP_SEVERAL_MAX], keys[MP_SEVERAL_MAX];
    int i, count = 0, key_count = 0;
    size_t end = 0;

    if (mp_stack_too_deep_p(depth + 1)) mp_peek_raise(peek, MP_E_DEPTH);
    for (i = 0; i < n; i++) {
        mp_search *s = states[i].search;

        if (states[i].step >= s->query->count || !shared_p(states + i)) search_alone(s, at, states[i].step);
        else if (last && selector_of(states + i)->kind != MP_SELECT_ALL) keys[key_count++] = states[i];
        else shared[count++] = states[i];
    }
    if (key_count) end = visit_last(peek, at, keys, key_count, depth + 1);
    if (count && mp_container_p(kind)) return visit_parts(peek, at, shared, count, wanted, depth + 1);
    return !end && wanted ? mp_peek_over(peek, at) : end;
}

/* True if the walk for a state ends where the object does. */
static bool
to_the_end_p(const mp_peek *peek, size_t at, const state *state)
{
    mp_kind kind = mp_peek_kind(peek, at);

    if (kind == MP_MAP) return mp_search_which(state->search) == MP_FIND_LAST;
    return kind != MP_ARRAY || selector_of(state)->kind == MP_SELECT_ALL;
}

void
mp_search_several(mp_search *searches, int n, size_t at)
{
    mp_peek *peek = searches->peek;
    state states[MP_SEVERAL_MAX];
    bool whole = false;
    size_t end;
    int i;

    for (i = 0; i < n; i++) {
        states[i] = (state){.search = searches + i};
        whole = whole || (searches[i].query->count && shared_p(states + i) && to_the_end_p(peek, at, states + i));
    }
    end = visit(peek, at, states, n, whole && peek->alone, 0);
    if (whole && peek->alone) mp_peek_ended(peek, end);
}
