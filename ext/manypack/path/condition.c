/* The conditions of a Path: whether one is true of a value, and what its operands are. */
#include "path/condition.h"

#include "base/error.h"
#include "path/compare.h"

static mp_value operand(mp_search *s, const mp_condition *condition, size_t at);

static VALUE
path_const(const char *name)
{
    return rb_const_get(rb_const_get(mp_mManypack, rb_intern("Path")), rb_intern(name));
}

/* --- queries ---------------------------------------------------------------------------------------- */

/* A search for what a query in a condition finds. */
static mp_search
inner_search(const mp_search *s, const mp_query *query, mp_sink sink)
{
    mp_search inner = *s;

    inner.query = query;
    inner.sink = sink;
    inner.inner = true;
    inner.found = sink == MP_SINK_ARRAY ? rb_ary_new() : 0;
    inner.count = 0;
    inner.stopped = false;
    inner.row_known = false;
    inner.covered = 0;
    return inner;
}

static size_t
start_of(const mp_search *s, const mp_query *query, size_t at)
{
    return query->absolute ? s->start : at;
}

/* Follows a query that finds one value at most. Returns its offset; SIZE_MAX for none. */
static size_t
follow(mp_search *s, const mp_query *query, size_t at)
{
    bool known = s->row_known;
    long i;

    for (i = 0; i < query->count; i++) {
        mp_cursor cursor;
        bool found;

        if (!mp_container_p(mp_peek_kind(s->peek, at))) return SIZE_MAX;
        cursor = mp_peek_open(s->peek, at);
        s->row_known = known && !i && at == s->row;
        found = mp_search_find(s, &cursor, query->segments[i].selectors);
        s->row_known = known;
        if (!found) return SIZE_MAX;
        at = cursor.at;
    }
    return at;
}

/* How many values a query finds, at most one if only one is of interest. Sets *first to the offset of the first. */
static uint64_t
query_count(mp_search *s, mp_query *query, size_t at, mp_sink sink, size_t *first)
{
    mp_search inner;

    if (query->known) {
        *first = query->first;
        return query->found;
    }
    at = start_of(s, query, at);
    if (query->singular) {
        *first = follow(s, query, at);
        query->found = *first != SIZE_MAX;
    } else {
        inner = inner_search(s, query, query->absolute ? MP_SINK_COUNT : sink);
        inner.run(&inner, at);
        *first = inner.first;
        query->found = inner.count;
    }
    query->first = *first;
    query->known = query->absolute; /* the same for each value */
    return query->found;
}

static mp_value
query_value(mp_search *s, mp_query *query, size_t at)
{
    size_t first;
    uint64_t count;

    if (query->singular && !query->absolute) { /* the most frequent, and nothing to remember */
        first = follow(s, query, at);
        return first != SIZE_MAX ? mp_value_read(s->peek, first) : (mp_value){.kind = MP_VALUE_NOTHING};
    }
    count = query_count(s, query, at, MP_SINK_COUNT, &first);
    return count == 1 ? mp_value_read(s->peek, first) : (mp_value){.kind = MP_VALUE_NOTHING};
}

/* --- functions of the standard ---------------------------------------------------------------------- */

static mp_value
count_value(uint64_t n)
{
    return (mp_value){.kind = MP_VALUE_UINT, .bits = n};
}

/* The characters of a str, the bytes of a bin, the elements or pairs of a container; nothing of anything else. */
static mp_value
length_of(mp_search *s, const mp_value *value)
{
    const uint8_t *bytes = s->peek->look.bytes;
    mp_head head;

    switch (value->kind) {
      case MP_VALUE_STR: {
        const char *p = (const char *)mp_value_bytes(s->peek, value);

        mp_search_look_through(s, value->head, value->n);
        return count_value((uint64_t)rb_enc_strlen(p, p + value->n, mp_utf8));
      }
      case MP_VALUE_BIN:
        return count_value(value->n);
      case MP_VALUE_CONTAINER:
        mp_peek_check(s->peek, mp_head_read(bytes + value->head, bytes + s->peek->look.size, &head));
        return count_value(head.n);
      default:
        return (mp_value){.kind = MP_VALUE_NOTHING};
    }
}

/* The Pattern of a value; nil if it is none. The last one is kept: often it is the same for each value. */
static VALUE
pattern_of(mp_search *s, VALUE text, bool whole)
{
    mp_search_shared *shared = s->shared;

    if (shared->pattern_text && shared->pattern_whole == whole && rb_equal(shared->pattern_text, text)) {
        return shared->pattern;
    }
    shared->pattern_text = 0;
    shared->pattern = rb_funcall(path_const("Pattern"), rb_intern("of"), 2, text, whole ? Qtrue : Qfalse);
    shared->pattern_text = text;
    shared->pattern_whole = whole;
    return shared->pattern;
}

static bool
match_p(mp_search *s, const mp_condition *condition, size_t at)
{
    mp_value value = operand(s, condition->parts[0], at), pattern;
    VALUE text, compiled, result;

    if (condition->object < 0 && condition->parts[1]->kind == MP_LITERAL) return false;
    if (condition->object < 0) pattern = operand(s, condition->parts[1], at);
    if (value.kind != MP_VALUE_STR || (condition->object < 0 && pattern.kind != MP_VALUE_STR)) return false;
    mp_search_look_through(s, at, value.n);
    mp_peek_leave(s->peek);
    compiled = condition->object >= 0
        ? mp_program_object(s->program, condition->object)
        : pattern_of(s, mp_value_object(s->peek, s->root, &pattern, Qnil), condition->kind == MP_CALL_MATCH);
    if (NIL_P(compiled)) {
        mp_peek_refresh(s->peek);
        return false;
    }
    text = mp_value_object(s->peek, s->root, &value, Qnil);
    result = RB_SYMBOL_P(compiled) ? Qnil : rb_funcall(compiled, rb_intern("match?"), 1, text);
    mp_peek_refresh(s->peek);
    if (!NIL_P(result)) return RTEST(result);
    mp_raise_max_looks(s->shared->max_looks, "a text that takes longer to match", at,
                       mp_message_whole(s->peek->message));
}

/* --- functions of users ----------------------------------------------------------------------------- */

static VALUE
argument(mp_search *s, const mp_condition *condition, uint32_t i, size_t at, VALUE nothing)
{
    const mp_condition *part = condition->parts[i];
    mp_search inner;
    mp_value value;

    switch (condition->takes[i]) {
      case MP_TAKES_LOGICAL:
        return mp_condition_true_p(s, part, at) ? Qtrue : Qfalse;
      case MP_TAKES_NODES:
        inner = inner_search(s, part->query, MP_SINK_ARRAY);
        inner.run(&inner, start_of(s, part->query, at));
        return inner.found;
      default:
        value = operand(s, part, at);
        mp_peek_leave(s->peek);
        return mp_value_object(s->peek, s->root, &value, nothing);
    }
}

static VALUE
call(mp_search *s, const mp_condition *condition, size_t at, VALUE nothing)
{
    VALUE arguments = rb_ary_new(), result;
    uint32_t i;

    for (i = 0; i < condition->count; i++) rb_ary_push(arguments, argument(s, condition, i, at, nothing));
    mp_peek_leave(s->peek);
    result = rb_apply(mp_program_object(s->program, condition->object), rb_intern("call"), arguments);
    mp_peek_refresh(s->peek);
    return result;
}

/* --- operands and conditions ------------------------------------------------------------------------ */

static mp_value
operand(mp_search *s, const mp_condition *condition, size_t at)
{
    mp_value value;
    size_t first;

    switch (condition->kind) {
      case MP_LITERAL:
        return condition->literal;
      case MP_QUERY:
      case MP_EXISTS:
        return query_value(s, condition->query, at);
      case MP_CALL_LENGTH:
        value = operand(s, condition->parts[0], at);
        return length_of(s, &value);
      case MP_CALL_COUNT:
        return count_value(query_count(s, condition->parts[0]->query, at, MP_SINK_COUNT, &first));
      case MP_CALL_VALUE:
        return query_value(s, condition->parts[0]->query, at);
      case MP_CALL_USER: {
        VALUE nothing = path_const("NOTHING");

        return mp_value_of(call(s, condition, at, nothing), nothing);
      }
      default:
        rb_raise(rb_eTypeError, "these are not the steps of a path");
    }
}

/* Counts looks at a container, which is unpacked for a comparison. */
static void
look_into(mp_search *s, const mp_value *value)
{
    mp_search_look_through(s, value->head, mp_peek_over(s->peek, value->head) - value->head);
}

static bool
compare(mp_search *s, const mp_condition *condition, size_t at)
{
    mp_value a = operand(s, condition->parts[0], at), b = operand(s, condition->parts[1], at);

    if (a.kind == MP_VALUE_CONTAINER && b.kind == MP_VALUE_CONTAINER) {
        look_into(s, &a);
        look_into(s, &b);
    }
    switch (condition->operator) {
      case MP_EQUAL: return mp_value_equal_p(s->peek, &a, &b);
      case MP_UNEQUAL: return !mp_value_equal_p(s->peek, &a, &b);
      case MP_LESS: return mp_value_less_p(s->peek, &a, &b);
      case MP_GREATER: return mp_value_less_p(s->peek, &b, &a);
      case MP_LESS_EQUAL: return mp_value_less_p(s->peek, &a, &b) || mp_value_equal_p(s->peek, &a, &b);
      default: return mp_value_less_p(s->peek, &b, &a) || mp_value_equal_p(s->peek, &a, &b);
    }
}

bool
mp_condition_true_p(mp_search *s, const mp_condition *condition, size_t at)
{
    uint32_t i;
    size_t first;

    switch (condition->kind) {
      case MP_OR:
        for (i = 0; i < condition->count; i++) {
            if (mp_condition_true_p(s, condition->parts[i], at)) return true;
        }
        return false;
      case MP_AND:
        for (i = 0; i < condition->count; i++) {
            if (!mp_condition_true_p(s, condition->parts[i], at)) return false;
        }
        return true;
      case MP_NOT:
        return !mp_condition_true_p(s, condition->parts[0], at);
      case MP_EXISTS:
        return query_count(s, condition->query, at, MP_SINK_ANY, &first) > 0;
      case MP_COMPARE:
        return compare(s, condition, at);
      case MP_CALL_MATCH:
      case MP_CALL_SEARCH:
        return match_p(s, condition, at);
      case MP_CALL_USER:
        return RTEST(call(s, condition, at, path_const("NOTHING")));
      default:
        rb_raise(rb_eTypeError, "these are not the steps of a path");
    }
}

/* The end of the container that a cursor is in. */
static size_t
rest_over(mp_peek *peek, mp_cursor *cursor)
{
    if (cursor->left == 1) mp_peek_check(peek, mp_cursor_next(cursor)); /* costs less than starting a walk */
    else mp_peek_check(peek, mp_cursor_pass(cursor, cursor->left));
    return cursor->at;
}

bool
mp_condition_true_over_p(mp_search *s, const mp_condition *condition, size_t at, size_t *end)
{
    bool container = mp_container_p(mp_peek_kind(s->peek, at)), result;
    bool outer_known = s->row_known;
    mp_cursor outer = s->row_cursor;
    size_t outer_row = s->row;

    s->row = at;
    s->row_known = s->bytes_only && container;
    if (s->row_known) s->row_cursor = mp_peek_open(s->peek, at);
    result = mp_condition_true_p(s, condition, at);
    if (s->row_known) {
        *end = rest_over(s->peek, &s->row_cursor);
    } else {
        *end = mp_peek_over(s->peek, at);
    }
    s->row = outer_row;
    s->row_cursor = outer;
    s->row_known = outer_known;
    return result;
}
