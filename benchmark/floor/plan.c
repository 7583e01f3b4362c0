/* Floor::Plan: a graph of objects as a list of steps, and running them: the least that unpacking can cost. */
#include "floor.h"

#include <ruby/encoding.h>
#include <stdbool.h>
#include <string.h>

/* A string from here on is not copied: whoever has the bytes can share them. */
#define SHARED_FROM 4096

/* A Hash of fewer pairs has no table that could be copied. */
#define ROW_FROM 9

enum kind { READY, INTEGER, UNSIGNED, FLOAT, STRING, SHARED, ARRAY, HASH, ROW };

/* So many values of one kind in a row, or one container of so many elements. */
struct step {
    enum kind kind;
    long count;
};

struct string {
    long length;
    rb_encoding *encoding;
};

/* What the steps use up, each list from its start to its end. */
struct plan {
    struct list steps, ready, integers, floats, strings, bytes, rows;
    long pushed, deepest;
    VALUE kept;      /* keeps what is in ready and rows alive, and in its place */
    VALUE templates; /* a Hash for each list of keys, to be copied for all but the first that have these */
};

static void plan_mark(void *pointer) {
    rb_gc_mark(((struct plan *)pointer)->kept);
    rb_gc_mark(((struct plan *)pointer)->templates);
}

static void plan_free(void *pointer) {
    struct plan *plan = pointer;

    ruby_xfree(plan->steps.items);
    ruby_xfree(plan->ready.items);
    ruby_xfree(plan->integers.items);
    ruby_xfree(plan->floats.items);
    ruby_xfree(plan->strings.items);
    ruby_xfree(plan->bytes.items);
    ruby_xfree(plan->rows.items);
    ruby_xfree(plan);
}

static const rb_data_type_t plan_type = {
    .wrap_struct_name = "Floor::Plan",
    .function = {.dmark = plan_mark, .dfree = plan_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE plan_allocate(VALUE klass) {
    struct plan *plan;
    VALUE self = TypedData_Make_Struct(klass, struct plan, &plan_type, plan);

    plan->kept = rb_ary_new();
    plan->templates = rb_hash_new();
    return self;
}

static void add_step(struct plan *plan, enum kind kind, long count, long taken) {
    struct step step = {kind, count};

    list_add(&plan->steps, &step, sizeof(step));
    plan->pushed += 1 - taken;
    plan->deepest = plan->deepest > plan->pushed ? plan->deepest : plan->pushed;
}

static void add_scalar(struct plan *plan, enum kind kind) {
    struct step *last = list_last(&plan->steps, sizeof(*last));

    if (last && last->kind == kind) {
        last->count++;
        plan->pushed++;
        plan->deepest = plan->deepest > plan->pushed ? plan->deepest : plan->pushed;
    } else {
        add_step(plan, kind, 1, 0);
    }
}

static void add_ready(struct plan *plan, enum kind kind, VALUE value) {
    rb_ary_push(plan->kept, value);
    list_add(&plan->ready, &value, sizeof(value));
    add_scalar(plan, kind);
}

static void add_string(struct plan *plan, VALUE value) {
    struct string string = {RSTRING_LEN(value), rb_enc_get(value)};

    if (string.length >= SHARED_FROM) {
        add_ready(plan, SHARED, rb_str_new_frozen(value));
        return;
    }
    list_add(&plan->strings, &string, sizeof(string));
    list_add(&plan->bytes, RSTRING_PTR(value), (size_t)string.length);
    add_scalar(plan, STRING);
}

static void add_integer(struct plan *plan, VALUE integer) {
    unsigned long long bits;

    if (FIXNUM_P(integer)) {
        add_ready(plan, READY, integer);
        return;
    }
    bool negative = rb_big_cmp(integer, INT2FIX(0)) == INT2FIX(-1);
    bits = negative ? (unsigned long long)NUM2LL(integer) : NUM2ULL(integer);
    list_add(&plan->integers, &bits, sizeof(bits));
    add_scalar(plan, negative ? INTEGER : UNSIGNED);
}

static void add_float(struct plan *plan, VALUE value) {
    double number = RFLOAT_VALUE(value);

    list_add(&plan->floats, &number, sizeof(number));
    add_scalar(plan, FLOAT);
}

static void add_value(struct plan *plan, VALUE value);

static int add_pair(VALUE key, VALUE value, VALUE argument) {
    struct plan *plan = (struct plan *)argument;

    if (RB_TYPE_P(key, T_STRING)) {
        add_ready(plan, READY, rb_str_to_interned_str(key));
    } else {
        add_value(plan, key);
    }
    add_value(plan, value);
    return ST_CONTINUE;
}

static void add_array(struct plan *plan, VALUE array) {
    for (long i = 0; i < RARRAY_LEN(array); i++) {
        add_value(plan, RARRAY_AREF(array, i));
    }
    add_step(plan, ARRAY, RARRAY_LEN(array), RARRAY_LEN(array));
}

static int add_row_value(VALUE key, VALUE value, VALUE argument) {
    add_value((struct plan *)argument, value);
    return ST_CONTINUE;
}

/* Of a Hash with the same keys as one before it, which was hashed; nil when it is the first. */
static VALUE template_of(struct plan *plan, VALUE hash) {
    VALUE keys = rb_funcall(hash, rb_intern("keys"), 0);
    VALUE template = rb_hash_aref(plan->templates, keys);

    if (NIL_P(template)) {
        rb_hash_aset(plan->templates, keys, rb_hash_dup(hash));
    }
    return template;
}

static void add_hash(struct plan *plan, VALUE hash) {
    long size = (long)RHASH_SIZE(hash);
    VALUE template = size < ROW_FROM ? Qnil : template_of(plan, hash);

    if (NIL_P(template)) {
        rb_hash_foreach(hash, add_pair, (VALUE)plan);
        add_step(plan, HASH, size, 2 * size);
    } else {
        rb_ary_push(plan->kept, template);
        rb_hash_foreach(hash, add_row_value, (VALUE)plan);
        list_add(&plan->rows, &template, sizeof(template));
        add_step(plan, ROW, size, size);
    }
}

static void add_value(struct plan *plan, VALUE value) {
    switch (rb_type(value)) {
        case T_NIL:
        case T_TRUE:
        case T_FALSE: add_ready(plan, READY, value); break;
        case T_FIXNUM:
        case T_BIGNUM: add_integer(plan, value); break;
        case T_FLOAT: add_float(plan, value); break;
        case T_STRING: add_string(plan, value); break;
        case T_ARRAY: add_array(plan, value); break;
        case T_HASH: add_hash(plan, value); break;
        default: rb_raise(rb_eTypeError, "no floor for %" PRIsVALUE, rb_obj_class(value));
    }
}

/* Floor::Plan.new(graph) */
static VALUE plan_initialize(VALUE self, VALUE graph) {
    struct plan *plan = rb_check_typeddata(self, &plan_type);

    add_value(plan, graph);
    return self;
}

/* Where a run of the plan is: the next of each list, and the values that no container has taken yet. */
struct run {
    const VALUE *ready;
    const unsigned long long *integers;
    const double *floats;
    const struct string *strings;
    const char *bytes;
    const VALUE *rows;
    VALUE *top;
};

static inline void push_ready(struct run *run, long count) {
    memcpy(run->top, run->ready, (size_t)count * sizeof(VALUE));
    run->top += count;
    run->ready += count;
}

static inline void push_strings(struct run *run, long count) {
    for (; count > 0; count--, run->strings++) {
        *run->top++ = rb_enc_str_new(run->bytes, run->strings->length, run->strings->encoding);
        run->bytes += run->strings->length;
    }
}

static inline void push_array(struct run *run, long count) {
    VALUE array = rb_ary_new_from_values(count, run->top - count);

    run->top -= count;
    *run->top++ = array;
}

static inline void push_hash(struct run *run, long count) {
    VALUE hash = rb_hash_new_capa(count);

    run->top -= 2 * count;
    rb_hash_bulk_insert(2 * count, run->top, hash);
    *run->top++ = hash;
}

static int replace_value(st_data_t key, st_data_t value, st_data_t argument, int error) {
    return ST_REPLACE;
}

static int put_value(st_data_t *key, st_data_t *value, st_data_t argument, int existing) {
    *value = *(*(VALUE **)argument)++;
    return ST_CONTINUE;
}

/* Fills the template and copies it: its own table has no write barrier, the copy's has. */
static inline void push_row(struct run *run, long count) {
    VALUE template = *run->rows++, *values = run->top -= count;

    st_foreach_with_replace(RHASH_TBL(template), replace_value, put_value, (st_data_t)&values);
    *run->top++ = rb_hash_dup(template);
}

static inline void push_floats(struct run *run, long count) {
    for (; count > 0; count--) {
        *run->top++ = DBL2NUM(*run->floats++);
    }
}

static inline void push_integers(struct run *run, long count, enum kind kind) {
    for (; count > 0; count--, run->integers++) {
        *run->top++ = kind == UNSIGNED ? ULL2NUM(*run->integers) : LL2NUM((long long)*run->integers);
    }
}

static inline void push_shared(struct run *run, long count) {
    for (; count > 0; count--) {
        *run->top++ = rb_str_dup(*run->ready++);
    }
}

static void take_step(struct run *run, const struct step *step) {
    switch (step->kind) {
        case READY: push_ready(run, step->count); break;
        case STRING: push_strings(run, step->count); break;
        case ARRAY: push_array(run, step->count); break;
        case HASH: push_hash(run, step->count); break;
        case ROW: push_row(run, step->count); break;
        case FLOAT: push_floats(run, step->count); break;
        case SHARED: push_shared(run, step->count); break;
        case INTEGER:
        case UNSIGNED: push_integers(run, step->count, step->kind); break;
    }
}

/* Floor::Plan#run: the graph, made anew */
static VALUE plan_run(VALUE self) {
    const struct plan *plan = rb_check_typeddata(self, &plan_type);
    const struct step *step = plan->steps.items, *end = list_end(&plan->steps);
    VALUE buffer;
    VALUE *stack = ALLOCV_N(VALUE, buffer, plan->deepest);
    struct run run = {
        .ready = plan->ready.items,
        .integers = plan->integers.items,
        .floats = plan->floats.items,
        .strings = plan->strings.items,
        .bytes = plan->bytes.items,
        .rows = plan->rows.items,
        .top = stack,
    };

    for (; step < end; step++) {
        take_step(&run, step);
    }
    VALUE result = stack[0];
    ALLOCV_END(buffer);
    RB_GC_GUARD(self);
    return result;
}

void floor_init_plan(VALUE module) {
    VALUE klass = rb_define_class_under(module, "Plan", rb_cObject);

    rb_define_alloc_func(klass, plan_allocate);
    rb_define_method(klass, "initialize", plan_initialize, 1);
    rb_define_method(klass, "run", plan_run, 0);
}
