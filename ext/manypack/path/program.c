/* Makes the program of a Path from its steps. */
#include "path/program.h"

#include "view/peek.h"

enum { BLOCK_BYTES = 16 << 10, MAX_NESTING = 512 };

static void query_read(mp_program *program, mp_query *query, VALUE steps);
static mp_condition *condition_read(mp_program *program, VALUE node);

/* --- memory ----------------------------------------------------------------------------------------- */

static void
arena_grow(mp_arena *arena, size_t size)
{
    VALUE block;

    if (size < BLOCK_BYTES) size = BLOCK_BYTES;
    if (!arena->blocks) arena->blocks = rb_obj_hide(rb_ary_new());
    block = rb_obj_hide(rb_str_buf_new((long)size));
    rb_ary_push(arena->blocks, block);
    arena->at = RSTRING_PTR(block); /* too long to be embedded, so it does not move */
    arena->end = arena->at + size;
}

static void *
arena_take(mp_program *program, size_t size)
{
    mp_arena *arena = &program->arena;
    void *taken;

    size = (size + 7) & ~(size_t)7;
    if ((size_t)(arena->end - arena->at) < size) arena_grow(arena, size);
    taken = arena->at;
    arena->at += size;
    return memset(taken, 0, size);
}

static const uint8_t *
bytes_copy(mp_program *program, VALUE string)
{
    size_t n = (size_t)RSTRING_LEN(string);

    return memcpy(arena_take(program, n + 1), RSTRING_PTR(string), n);
}

static long
object_keep(mp_program *program, VALUE obj)
{
    rb_ary_push(program->objects, obj);
    return RARRAY_LEN(program->objects) - 1;
}

/* --- reading the Arrays of the parser --------------------------------------------------------------- */

NORETURN(static void not_a_path(void));

static void
not_a_path(void)
{
    rb_raise(rb_eTypeError, "these are not the steps of a path");
}

static VALUE
node_part(VALUE node, long i)
{
    if (!RB_TYPE_P(node, T_ARRAY) || i >= RARRAY_LEN(node)) not_a_path();
    return RARRAY_AREF(node, i);
}

static bool
named_p(VALUE node, const char *name)
{
    return RB_SYMBOL_P(node) && rb_sym2id(node) == rb_intern(name);
}

static void
deeper(mp_program *program)
{
    if (++program->nesting > MAX_NESTING) not_a_path();
}

/* --- selectors -------------------------------------------------------------------------------------- */

/* A key, with a copy of its bytes; MP_NEVER for an Integer that no message can have. */
static mp_key
selector_key(mp_program *program, VALUE object)
{
    mp_key key;

    if (!mp_simple_key(object, &key)) {
        if (!RB_INTEGER_TYPE_P(object)) not_a_path();
        return mp_key_special(MP_NEVER);
    }
    if (RB_TYPE_P(object, T_STRING)) key.bytes = bytes_copy(program, object);
    return key;
}

static void
slice_read(mp_selector *selector, VALUE node)
{
    VALUE first = node_part(node, 1), last = node_part(node, 2);

    selector->kind = MP_SELECT_SLICE;
    selector->from_end = NIL_P(first);
    selector->to_end = NIL_P(last);
    selector->first = NIL_P(first) ? 0 : NUM2LL(first);
    selector->last = NIL_P(last) ? 0 : NUM2LL(last);
    selector->step = NUM2LL(node_part(node, 3));
}

/* The slot of a key among those of the filter that is being read; MP_NO_SLOT if it gets none. */
static int
slot_of(mp_wanted *wanted, const mp_segment *segment)
{
    const mp_selector *selector = segment->selectors;
    uint32_t i;

    if (segment->descendant || segment->count > 1 || selector->kind > MP_SELECT_INDEX) return MP_NO_SLOT;
    if (!wanted || selector->key.kind == MP_BIN) return MP_NO_SLOT;
    for (i = 0; i < wanted->count; i++) {
        if (!mp_key_compare(&wanted->keys[i].key, &selector->key)) return (int)i;
    }
    if (i == MP_ROW_KEYS) return MP_NO_SLOT;
    mp_wanted_add(wanted, &selector->key);
    return (int)i;
}

static void
filter_read(mp_program *program, mp_selector *selector, VALUE condition)
{
    mp_wanted *outer = program->wanted;

    selector->kind = MP_SELECT_FILTER;
    selector->next_slot = MP_NO_SLOT;
    selector->wanted = program->wanted = arena_take(program, sizeof(mp_wanted));
    program->wanted->keys = arena_take(program, MP_ROW_KEYS * sizeof(mp_wanted_key));
    selector->condition = condition_read(program, condition);
    program->wanted = outer;
}

static void
selector_read(mp_program *program, mp_selector *selector, VALUE node)
{
    if (RB_SYMBOL_P(node)) {
        selector->kind = MP_SELECT_ALL;
    } else if (!RB_TYPE_P(node, T_ARRAY)) {
        selector->kind = RB_FIXNUM_P(node) ? MP_SELECT_INDEX : MP_SELECT_KEY;
        if (RB_FIXNUM_P(node)) selector->first = FIX2LONG(node);
        selector->key = selector_key(program, node);
        selector->object = object_keep(program, node);
    } else if (named_p(node_part(node, 0), "slice")) {
        slice_read(selector, node);
    } else if (named_p(node_part(node, 0), "filter")) {
        filter_read(program, selector, node_part(node, 1));
    } else {
        not_a_path();
    }
}

static void
segment_read(mp_program *program, mp_segment *segment, VALUE step)
{
    bool several = RB_TYPE_P(step, T_ARRAY);
    mp_selector *selectors;
    uint32_t i;

    segment->count = several ? (uint32_t)RARRAY_LEN(step) - 1 : 1;
    if (several && (RARRAY_LEN(step) < 2 || !RB_SYMBOL_P(node_part(step, 0)))) not_a_path();
    segment->descendant = several && named_p(node_part(step, 0), "descendant");
    segment->selectors = selectors = arena_take(program, segment->count * sizeof(mp_selector));
    for (i = 0; i < segment->count; i++) selector_read(program, selectors + i, several ? node_part(step, i + 1) : step);
}

/* --- conditions ------------------------------------------------------------------------------------- */

static void
literal_read(mp_program *program, mp_value *value, VALUE obj)
{
    mp_key key;

    if (RB_TYPE_P(obj, T_STRING)) {
        value->kind = MP_VALUE_STR;
        value->bytes = bytes_copy(program, obj);
        value->n = (size_t)RSTRING_LEN(obj);
    } else if (RB_INTEGER_TYPE_P(obj) && mp_simple_key(obj, &key)) {
        value->kind = key.kind == MP_INT ? MP_VALUE_INT : MP_VALUE_UINT;
        value->bits = key.bits;
    } else if (RB_INTEGER_TYPE_P(obj) || RB_FLOAT_TYPE_P(obj)) {
        value->kind = MP_VALUE_REAL;
        value->bits = mp_bits_of_double(NUM2DBL(obj));
    } else {
        value->kind = NIL_P(obj) ? MP_VALUE_NIL : obj == Qtrue ? MP_VALUE_TRUE : MP_VALUE_FALSE;
    }
}

static mp_operator
operator_read(VALUE name)
{
    static const char *const names[] = {"==", "!=", "<", "<=", ">", ">="};
    int i;

    for (i = 0; i < 6; i++) {
        if (named_p(name, names[i])) return (mp_operator)i;
    }
    not_a_path();
}

static mp_query *
inner_query_read(mp_program *program, VALUE node)
{
    mp_query *query = arena_take(program, sizeof(mp_query));

    if (!named_p(node_part(node, 0), "query")) not_a_path();
    query->absolute = named_p(node_part(node, 1), "root");
    program->remembers |= query->absolute;
    query_read(program, query, node_part(node, 2));
    query->slot = query->absolute || !query->count ? MP_NO_SLOT : slot_of(program->wanted, query->segments);
    return query;
}

/* Reads the parts of a node, which start at index `from`. */
static void
parts_read(mp_program *program, mp_condition *condition, VALUE node, long from)
{
    uint32_t i;

    if (!RB_TYPE_P(node, T_ARRAY)) not_a_path();
    condition->count = (uint32_t)(RARRAY_LEN(node) - from);
    condition->parts = arena_take(program, condition->count * sizeof(mp_condition *));
    for (i = 0; i < condition->count; i++) condition->parts[i] = condition_read(program, node_part(node, from + i));
}

static void
user_call_read(mp_program *program, mp_condition *condition, VALUE function)
{
    VALUE takes = rb_funcallv(function, rb_intern("takes"), 0, NULL);
    uint8_t *types;
    uint32_t i;

    program->calls = true;
    condition->kind = MP_CALL_USER;
    condition->logical = named_p(rb_funcallv(function, rb_intern("returns"), 0, NULL), "logical");
    condition->takes = types = arena_take(program, condition->count);
    for (i = 0; i < condition->count; i++) {
        VALUE type = node_part(takes, i);
        mp_argument other = named_p(type, "logical") ? MP_TAKES_LOGICAL : MP_TAKES_VALUE;

        types[i] = named_p(type, "nodes") ? MP_TAKES_NODES : other;
    }
}

static void
function_read(mp_program *program, mp_condition *condition, VALUE node)
{
    static const struct { const char *name; mp_condition_kind kind; uint32_t count; } calls[] = {
        {"length", MP_CALL_LENGTH, 1}, {"count", MP_CALL_COUNT, 1}, {"value", MP_CALL_VALUE, 1},
        {"match", MP_CALL_MATCH, 2}, {"search", MP_CALL_SEARCH, 2},
    };
    VALUE object = node_part(node, 3);
    size_t i;

    parts_read(program, condition, node_part(node, 2), 0);
    condition->object = NIL_P(object) ? -1 : object_keep(program, object);
    for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (!named_p(node_part(node, 1), calls[i].name)) continue;
        if (condition->count != calls[i].count) not_a_path();
        condition->kind = calls[i].kind;
        return;
    }
    if (NIL_P(object)) not_a_path();
    user_call_read(program, condition, object);
}

static bool
quick_p(const mp_condition *left, const mp_condition *right)
{
    return left->kind == MP_QUERY && left->query->slot != MP_NO_SLOT && left->query->count == 1
        && right->kind == MP_LITERAL;
}

static mp_condition *
condition_read(mp_program *program, VALUE node)
{
    mp_condition *condition = arena_take(program, sizeof(mp_condition));
    VALUE name = node_part(node, 0);

    deeper(program);
    condition->object = -1;
    if (named_p(name, "compare")) {
        condition->kind = MP_COMPARE;
        condition->operator = operator_read(node_part(node, 1));
        parts_read(program, condition, node, 2);
        if (condition->count != 2) not_a_path();
        condition->quick = quick_p(condition->parts[0], condition->parts[1]);
    } else if (named_p(name, "exists")) {
        condition->kind = MP_EXISTS;
        condition->query = inner_query_read(program, node_part(node, 1));
    } else if (named_p(name, "value")) {
        condition->kind = MP_LITERAL;
        literal_read(program, &condition->literal, node_part(node, 1));
    } else if (named_p(name, "query")) {
        condition->kind = MP_QUERY;
        condition->query = inner_query_read(program, node);
    } else if (named_p(name, "call")) {
        function_read(program, condition, node);
    } else {
        condition->kind = named_p(name, "or") ? MP_OR : named_p(name, "and") ? MP_AND : MP_NOT;
        parts_read(program, condition, node, 1);
        if (!condition->count || (condition->kind == MP_NOT && !named_p(name, "not"))) not_a_path();
    }
    program->nesting--;
    return condition;
}

/* --- the whole -------------------------------------------------------------------------------------- */

static bool
singular_p(const mp_query *query)
{
    long i;

    for (i = 0; i < query->count; i++) {
        const mp_segment *segment = query->segments + i;

        if (segment->descendant || segment->count > 1 || segment->selectors->kind > MP_SELECT_INDEX) return false;
    }
    return true;
}

/* Makes the walk over a filter's value also find the key of the next segment. */
static void
read_ahead(const mp_segment *segment)
{
    mp_selector *selector = segment->selectors;

    if (segment->descendant || segment->count > 1 || selector->kind != MP_SELECT_FILTER) return;
    selector->next_slot = slot_of(selector->wanted, segment + 1);
}

static void
query_read(mp_program *program, mp_query *query, VALUE steps)
{
    mp_segment *segments;
    long i;

    Check_Type(steps, T_ARRAY);
    deeper(program);
    query->count = RARRAY_LEN(steps);
    query->segments = segments = arena_take(program, (size_t)query->count * sizeof(mp_segment));
    for (i = 0; i < query->count; i++) {
        segment_read(program, segments + i, node_part(steps, i));
        if (segments[i].descendant) {
            bool simple = segments[i].count == 1 && segments[i].selectors->kind < MP_SELECT_SLICE;

            program->descends |= !simple || i + 1 < query->count || program->nesting > 1;
        }
        if (i) read_ahead(segments + i - 1);
    }
    query->singular = singular_p(query);
    program->nesting--;
}

void
mp_program_init(mp_program *program, VALUE steps)
{
    program->steps = steps;
    program->objects = rb_obj_hide(rb_ary_new());
    program->descends = program->remembers = program->calls = false;
    program->nesting = 0;
    program->wanted = NULL;
    program->arena.blocks = 0;
    program->arena.at = (char *)program->arena.first;
    program->arena.end = program->arena.at + sizeof(program->arena.first);
    program->query = (mp_query){.absolute = true};
    query_read(program, &program->query, steps);
}
