/* Manypack::Path: the functions by which its Ruby half searches a message. */
#include "path/search.h"
#include "path/several.h"
#include "view/view.h"

/*
 * If the last of equal keys counts, each key in a path may read its map to the end. With up to this many keys, walking
 * over the inner maps again costs less than an Index: $.performances[*].prices[*].amount takes 0.7 of the time.
 */
enum { FEW_KEYS = 4 };

/* Counts the segments of a path that choose among the values of a container, unlike [*]. */
static long
choosing_steps(const mp_query *query)
{
    long i, count = 0;

    for (i = 0; i < query->count; i++) {
        const mp_segment *segment = query->segments + i;

        count += segment->count > 1 || segment->selectors->kind != MP_SELECT_ALL;
    }
    return count;
}

/*
 * Starts a peek for a search by n programs. One that descends may take as many walks as the message is deep.
 * Returns the offset of the View's object.
 */
MP_INLINE size_t
start_peek(mp_peek *peek, VALUE view, const mp_program *programs, int n)
{
    bool many = false;
    size_t at;
    int i;

    for (i = 0; i < n && !many; i++) {
        many = programs[i].descends || (choosing_steps(&programs[i].query) > FEW_KEYS && mp_view_last_key_p(view));
    }
    at = mp_view_peek(view, peek, many ? MP_LOOK_FOR_MANY : MP_LOOK_ONCE);
    peek->in_turn = true;
    mp_peek_refresh(peek);
    return at;
}

/* The names of sinks for Internal.search. The terminal uses further sinks. */
static const char *const sinks[] = {
    [MP_SINK_YIELD] = "each", [MP_SINK_PLACES] = "places", [MP_SINK_WAYS] = "ways", [MP_SINK_ARRAY] = "array",
    [MP_SINK_FIRST] = "first", [MP_SINK_COUNT] = "count", [MP_SINK_ANY] = "any",
};

static VALUE sink_names[sizeof(sinks) / sizeof(*sinks)];

static mp_sink
sink_by_name(VALUE name)
{
    mp_sink sink;

    for (sink = MP_SINK_YIELD; sink <= MP_SINK_ANY; sink++) {
        if (sink_names[sink] == name) return sink;
    }
    rb_raise(rb_eArgError, "not a sink of a search: %+" PRIsVALUE, name);
}

static VALUE
result_of(mp_search *s, VALUE view)
{
    switch (s->sink) {
      case MP_SINK_ARRAY: return s->found;
      case MP_SINK_FIRST: return s->count ? mp_view_value_at(s->peek, s->root, s->first, 0) : Qnil;
      case MP_SINK_COUNT: return ULL2NUM(s->count);
      case MP_SINK_ANY: return s->count ? Qtrue : Qfalse;
      default: return view;
    }
}

/*
 * call-seq:
 *   Internal.search(view, steps, max_looks, :each) { |value| ... } -> view
 *   Internal.search(view, steps, max_looks, :places) { |value, keys| ... } -> view
 *   Internal.search(view, steps, max_looks, :ways) { |keys| ... } -> view
 *   Internal.search(view, steps, max_looks, :array) -> Array
 *   Internal.search(view, steps, max_looks, :first) -> object or nil
 *   Internal.search(view, steps, max_looks, :count) -> Integer
 *   Internal.search(view, steps, max_looks, :any) -> true or false
 *
 * Searches for what the steps of a Path find. The keys are the keys and indices that lead to a value.
 */
static VALUE
rb_internal_search(VALUE self, VALUE view, VALUE steps, VALUE max_looks, VALUE name)
{
    mp_search_shared shared = {.looks = mp_large(max_looks, "max_looks")};
    mp_sink sink = sink_by_name(name);
    mp_program program;
    mp_search search;
    mp_peek peek;
    VALUE result;
    size_t at;

    shared.max_looks = shared.looks;
    mp_program_init(&program, steps);
    at = start_peek(&peek, view, &program, 1);
    search = mp_search_new(&peek, mp_view_root(view), at, &program, &shared);
    search.sink = sink;
    if (sink == MP_SINK_ARRAY) search.found = rb_ary_new();
    mp_search_run(&search);
    result = result_of(&search, view);
    mp_peek_end(&peek);
    mp_program_end(&program);
    return result;
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
    mp_program programs[MP_SEVERAL_MAX];
    mp_search_shared shared[MP_SEVERAL_MAX];
    mp_search searches[MP_SEVERAL_MAX];
    mp_peek peek;
    size_t at;
    int n, i;

    Check_Type(paths, T_ARRAY);
    if (!RARRAY_LEN(paths) || RARRAY_LEN(paths) > MP_SEVERAL_MAX) rb_raise(rb_eArgError, "not so many paths");
    n = (int)RARRAY_LEN(paths);
    for (i = 0; i < n; i++) {
        VALUE pair = rb_check_array_type(rb_ary_entry(paths, i));
        uint64_t looks;

        if (NIL_P(pair)) rb_raise(rb_eTypeError, "these are not the steps of a path");
        mp_program_init(&programs[i], rb_ary_entry(pair, 0));
        looks = mp_large(rb_ary_entry(pair, 1), "max_looks");
        shared[i] = (mp_search_shared){.looks = looks, .max_looks = looks};
    }
    at = start_peek(&peek, view, programs, n);
    for (i = 0; i < n; i++) {
        searches[i] = mp_search_new(&peek, root, at, &programs[i], &shared[i]);
        searches[i].sink = MP_SINK_ARRAY;
        searches[i].found = rb_ary_new();
        rb_ary_push(results, searches[i].found);
    }
    mp_search_several(searches, n);
    mp_peek_end(&peek);
    for (i = 0; i < n; i++) mp_program_end(&programs[i]);
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
    mp_sink sink;

    for (sink = MP_SINK_YIELD; sink <= MP_SINK_ANY; sink++) {
        if (sinks[sink]) sink_names[sink] = ID2SYM(rb_intern(sinks[sink]));
    }
    MP_DEFINE_INTERNAL("search", rb_internal_search, 4);
    MP_DEFINE_INTERNAL("search_several", rb_internal_search_several, 2);
    MP_DEFINE_INTERNAL("several_max", rb_internal_several_max, 0);
}
