/* Manypack::Path: the functions by which its Ruby half searches a message. */
#include "path/search.h"
#include "path/several.h"
#include "view/view.h"

/* One search from start to end. */
typedef struct {
    mp_peek peek;
    mp_program program;
    mp_search_shared shared;
    mp_search search;
} whole_search;

/*
 * If the last of equal keys counts, each step of a path reads its map to the end. For so many steps, walking over the
 * inner maps again costs less than an Index.
 */
enum { FEW_STEPS = 4 };

/*
 * Starts to look for something. descends: there may be as many walks as the message is deep. steps: how many the
 * longest path has. Returns the offset of the value that the View shows.
 */
static size_t
start_peek(mp_peek *peek, VALUE view, bool descends, long steps)
{
    size_t at;

    if (descends || (steps > FEW_STEPS && mp_view_last_key_p(view))) at = mp_view_peek_often(view, peek);
    else at = mp_view_peek_once(view, peek);
    peek->in_turn = true;
    mp_peek_refresh(peek);
    return at;
}

/* Searches a View for what the steps of a Path find. The caller ends the search. */
static void
start_search(whole_search *whole, VALUE view, VALUE steps, VALUE max_looks, mp_sink sink)
{
    uint64_t looks = mp_large(max_looks, "max_looks");
    mp_program *program = &whole->program;
    mp_search *s = &whole->search;
    size_t at;

    mp_program_init(program, steps);
    whole->shared = (mp_search_shared){.looks = looks, .max_looks = looks};
    at = start_peek(&whole->peek, view, program->descends, program->query.count);
    *s = mp_search_new(&whole->peek, mp_view_root(view), at, program, &whole->shared);
    s->sink = sink;
    if (sink == MP_SINK_ARRAY) s->found = rb_ary_new();
    if (whole->peek.alone) mp_search_message(s);
    else mp_search_run(s, at);
}

static void
end_search(whole_search *whole)
{
    mp_peek_end(&whole->peek);
    mp_program_end(&whole->program);
    RB_GC_GUARD(whole->search.found);
}

static void
search_view(whole_search *whole, VALUE view, VALUE steps, VALUE max_looks, mp_sink sink)
{
    start_search(whole, view, steps, max_looks, sink);
    end_search(whole);
}

/*
 * call-seq:
 *   Internal.search(view, steps, max_looks) { |value| ... } -> view
 *   Internal.search(view, steps, max_looks) -> Array
 *
 * Yields each value that the steps of a Path find, or returns all of them.
 */
static VALUE
rb_internal_search(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    whole_search whole;

    search_view(&whole, view, steps, max_looks, rb_block_given_p() ? MP_SINK_YIELD : MP_SINK_ARRAY);
    return whole.search.found ? whole.search.found : view;
}

/*
 * call-seq: Internal.search_places(view, steps, max_looks) { |value, keys| ... } -> view
 *
 * Yields each value together with the keys and indices that lead to it.
 */
static VALUE
rb_internal_search_places(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    whole_search whole;

    search_view(&whole, view, steps, max_looks, MP_SINK_PLACES);
    return view;
}

/* call-seq: Internal.search_first(view, steps, max_looks) -> object or nil: the first value that is found */
static VALUE
rb_internal_search_first(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    VALUE value = Qnil;
    whole_search whole;

    start_search(&whole, view, steps, max_looks, MP_SINK_FIRST);
    if (whole.search.count) value = mp_view_value_at(&whole.peek, mp_view_root(view), whole.search.first, 0);
    end_search(&whole);
    return value;
}

/* call-seq: Internal.search_ways(view, steps, max_looks) { |keys| ... } -> view: the same without the values */
static VALUE
rb_internal_search_ways(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    whole_search whole;

    search_view(&whole, view, steps, max_looks, MP_SINK_WAYS);
    return view;
}

/* call-seq: Internal.search_count(view, steps, max_looks) -> Integer: how many values are found */
static VALUE
rb_internal_search_count(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    whole_search whole;

    search_view(&whole, view, steps, max_looks, MP_SINK_COUNT);
    return ULL2NUM(whole.search.count);
}

/* call-seq: Internal.search_any(view, steps, max_looks) -> true or false: true if a value is found */
static VALUE
rb_internal_search_any(VALUE self, VALUE view, VALUE steps, VALUE max_looks)
{
    whole_search whole;

    search_view(&whole, view, steps, max_looks, MP_SINK_ANY);
    return whole.search.count ? Qtrue : Qfalse;
}

/* Several searches in one message. */
typedef struct {
    mp_peek peek;
    mp_program programs[MP_SEVERAL_MAX];
    mp_search_shared shared[MP_SEVERAL_MAX];
    mp_search searches[MP_SEVERAL_MAX];
} whole_searches;

/* Starts to look for what n programs find. */
static size_t
start_peek_for_all(whole_searches *whole, VALUE view, int n)
{
    bool descends = false;
    long steps = 0;
    int i;

    for (i = 0; i < n; i++) {
        descends = descends || whole->programs[i].descends;
        if (steps < whole->programs[i].query.count) steps = whole->programs[i].query.count;
    }
    return start_peek(&whole->peek, view, descends, steps);
}

/*
 * call-seq: Internal.search_several(view, paths) -> Array
 *
 * Returns for each pair of steps and max_looks, at most Internal.several_max of them, what Internal.search does.
 */
static VALUE
rb_internal_search_several(VALUE self, VALUE view, VALUE paths)
{
    VALUE results = rb_ary_new(), root = mp_view_root(view);
    whole_searches whole;
    size_t at;
    int n, i;

    Check_Type(paths, T_ARRAY);
    if (!RARRAY_LEN(paths) || RARRAY_LEN(paths) > MP_SEVERAL_MAX) rb_raise(rb_eArgError, "not so many paths");
    n = (int)RARRAY_LEN(paths);
    for (i = 0; i < n; i++) {
        VALUE pair = rb_check_array_type(rb_ary_entry(paths, i));
        uint64_t looks;

        if (NIL_P(pair)) rb_raise(rb_eTypeError, "these are not the steps of a path");
        mp_program_init(&whole.programs[i], rb_ary_entry(pair, 0));
        looks = mp_large(rb_ary_entry(pair, 1), "max_looks");
        whole.shared[i] = (mp_search_shared){.looks = looks, .max_looks = looks};
        rb_ary_push(results, rb_ary_new());
    }
    at = start_peek_for_all(&whole, view, n);
    for (i = 0; i < n; i++) {
        whole.searches[i] = mp_search_new(&whole.peek, root, at, &whole.programs[i], &whole.shared[i]);
        whole.searches[i].sink = MP_SINK_ARRAY;
        whole.searches[i].found = RARRAY_AREF(results, i);
    }
    mp_search_several(whole.searches, n, at);
    mp_peek_end(&whole.peek);
    for (i = 0; i < n; i++) mp_program_end(&whole.programs[i]);
    return results;
}

/* call-seq: Internal.several_max -> Integer: how many paths Internal.search_several takes */
static VALUE
rb_internal_several_max(VALUE self)
{
    return INT2FIX(MP_SEVERAL_MAX);
}

void
Init_manypack_path(void)
{
    MP_DEFINE_INTERNAL("search", rb_internal_search, 3);
    MP_DEFINE_INTERNAL("search_places", rb_internal_search_places, 3);
    MP_DEFINE_INTERNAL("search_first", rb_internal_search_first, 3);
    MP_DEFINE_INTERNAL("search_ways", rb_internal_search_ways, 3);
    MP_DEFINE_INTERNAL("search_count", rb_internal_search_count, 3);
    MP_DEFINE_INTERNAL("search_any", rb_internal_search_any, 3);
    MP_DEFINE_INTERNAL("search_several", rb_internal_search_several, 2);
    MP_DEFINE_INTERNAL("several_max", rb_internal_several_max, 0);
}
