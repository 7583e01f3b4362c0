/* Manypack::Path: finds all values that match a path, in one pass over the bytes. */
#include "base/stack.h"
#include "view/view.h"

/* This many steps take half of the C stack that mp_stack_used_up_p keeps free. Few paths are longer. */
#define STACK_CHECK_STEPS 64

typedef struct {
    mp_peek *peek;
    VALUE root, steps; /* a frozen Array */
    long count;
    VALUE found; /* an Array that collects the values; 0 to yield them */
} search;

static size_t search_from(search *s, size_t offset, long step, bool wanted);

/* Searches each element or value of a container. If wanted, the cursor is at the end of the container afterwards. */
static void
search_all(search *s, mp_cursor *cursor, long step, bool wanted)
{
    while (cursor->left) {
        if (cursor->kind == MP_MAP) mp_peek_check(s->peek, mp_cursor_next(cursor));
        if (cursor->at >= s->peek->look.size) mp_peek_over(s->peek, cursor->at);
        cursor->at = search_from(s, cursor->at, step, wanted || cursor->left > 1);
        cursor->left--;
    }
}

/*
 * Finds a key or index. A binary key is looked up as a bin, then as a str with invalid UTF-8: error paths show both
 * alike.
 */
static bool
find_step(search *s, mp_cursor *cursor, VALUE key)
{
    mp_cursor start = *cursor;

    if (cursor->kind != MP_MAP) return RB_FIXNUM_P(key) && mp_peek_find(s->peek, cursor, key);
    if (mp_peek_find(s->peek, cursor, key)) return true;
    if (!RB_TYPE_P(key, T_STRING) || ENCODING_GET(key) != mp_binary_index) return false;
    *cursor = start;
    return mp_peek_find(s->peek, cursor, rb_enc_associate(rb_str_dup(key), mp_utf8));
}

/* Searches the value that a container has under a key or index. If wanted, the cursor is at the end afterwards. */
static void
search_one(search *s, mp_cursor *cursor, VALUE key, long step, bool wanted)
{
    bool found = find_step(s, cursor, key);

    if (found) {
        cursor->at = search_from(s, cursor->at, step, wanted);
        if (cursor->left) cursor->left--; /* it is 0 after a search for the last of equal keys */
    }
    if (wanted) mp_peek_check(s->peek, mp_cursor_pass(cursor, cursor->left));
}

/*
 * Searches the object at an offset for the steps from `step` on. If wanted, returns the offset after the object: the
 * search has already walked over a part of it, so this costs less than walking over it again.
 */
static size_t
search_from(search *s, size_t offset, long step, bool wanted)
{
    bool end = step == s->count;
    mp_cursor cursor;
    VALUE key;

    if (step % STACK_CHECK_STEPS == STACK_CHECK_STEPS - 1 && mp_stack_used_up_p()) mp_peek_raise(s->peek, MP_E_DEPTH);
    if (end) {
        VALUE value = mp_view_value_at(s->peek, s->root, offset, 0);

        mp_peek_leave(s->peek);
        if (s->found) rb_ary_push(s->found, value);
        else rb_yield(value);
        mp_peek_refresh(s->peek);
    }
    if (end || !mp_container_p(mp_peek_kind(s->peek, offset))) return wanted ? mp_peek_over(s->peek, offset) : 0;
    cursor = mp_peek_open(s->peek, offset);
    key = RARRAY_AREF(s->steps, step);
    if (RB_SYMBOL_P(key)) search_all(s, &cursor, step + 1, wanted);
    else search_one(s, &cursor, key, step + 1, wanted);
    /* A search for the last of equal keys reaches the end of the map before it enters the value. */
    return wanted && s->peek->codec->options.last_key ? mp_peek_over(s->peek, offset) : cursor.at;
}

/* A frozen copy of the steps. Usually Path has frozen them, but not if YAML made the Path. */
static VALUE
frozen_steps(VALUE steps)
{
    Check_Type(steps, T_ARRAY);
    return RB_OBJ_FROZEN(steps) ? steps : rb_obj_freeze(rb_ary_dup(steps));
}

/*
 * call-seq:
 *   Internal.search(view, steps) { |value| ... } -> view
 *   Internal.search(view, steps) -> Array
 *
 * Yields each value that the steps of a Path find, or returns all of them.
 */
static VALUE
rb_internal_search(VALUE self, VALUE view, VALUE steps)
{
    mp_peek peek;
    search s = {.peek = &peek, .root = mp_view_root(view), .steps = frozen_steps(steps)};
    size_t offset = mp_view_last_key_p(view) ? mp_view_peek_steps(view, &peek, RARRAY_LEN(s.steps))
                                             : mp_view_peek_once(view, &peek);

    s.count = RARRAY_LEN(s.steps);
    peek.in_turn = peek.text_keys = true;
    if (!rb_block_given_p()) s.found = rb_ary_new();
    mp_peek_refresh(&peek);
    search_from(&s, offset, 0, false);
    mp_peek_end(&peek);
    RB_GC_GUARD(s.steps);
    RB_GC_GUARD(s.found);
    return s.found ? s.found : view;
}

void
Init_manypack_path(void)
{
    MP_DEFINE_INTERNAL("search", rb_internal_search, 2);
}
