/* What any serializer must at least do in Ruby, by the public C API and without a format. Floor::Walk is the least that
 * packing can cost: it goes over a graph of objects and copies what is in it. Floor::Plan (plan.c) is the least that
 * unpacking can cost. */
#include "floor.h"
#include "platform.h"

#include <stdlib.h>
#include <string.h>

/* What fits is collected on the C stack, so that the String is made at its final size. */
#define SMALL 4096
#define ROOM 8

struct walk {
    VALUE graph;
    long size; /* of what it copies, known beforehand */
};

static void walk_mark(void *pointer) {
    rb_gc_mark(((struct walk *)pointer)->graph);
}

static const rb_data_type_t walk_type = {
    .wrap_struct_name = "Floor::Walk",
    .function = {.dmark = walk_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE walk_allocate(VALUE klass) {
    struct walk *walk;
    VALUE self = TypedData_Make_Struct(klass, struct walk, &walk_type, walk);

    walk->graph = Qnil;
    return self;
}

/* Floor::Walk.new(graph, size): size is an upper bound of the bytes it copies */
static VALUE walk_initialize(VALUE self, VALUE graph, VALUE size) {
    struct walk *walk = rb_check_typeddata(self, &walk_type);

    walk->graph = graph;
    walk->size = NUM2LONG(size);
    return self;
}

/* By the quickest copy of short strings that we have, or this were no floor. */
static inline char *put(char *to, const void *bytes, size_t count) {
    mp_copy((uint8_t *)to, bytes, count);
    return to + count;
}

static inline char *put_head(char *to, long count) {
    *to = (char)count;
    return to + 1;
}

/* As many bytes as it has digits for; stores all eight, for which the window has room. */
static inline char *put_integer(char *to, unsigned long long bits) {
    memcpy(to, &bits, sizeof(bits));
    return to + (71 - __builtin_clzll(bits | 1)) / 8;
}

static inline char *put_float(char *to, VALUE value) {
    double number = RFLOAT_VALUE(value);

    memcpy(to, &number, sizeof(number));
    return to + sizeof(number);
}

static char *put_array(char *to, VALUE array);
static char *put_hash(char *to, VALUE hash);

static char *put_object(char *to, VALUE value) {
    switch (RB_BUILTIN_TYPE(value)) {
        case T_STRING: return put(put_head(to, RSTRING_LEN(value)), RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
        case T_ARRAY: return put_array(to, value);
        case T_HASH: return put_hash(to, value);
        case T_FLOAT: return put_float(to, value);
        case T_BIGNUM: return put_integer(to, rb_big2ull(value));
        default: rb_raise(rb_eTypeError, "no floor for %" PRIsVALUE, rb_obj_class(value));
    }
}

static inline char *put_value(char *to, VALUE value) {
    if (RB_FIXNUM_P(value)) {
        return put_integer(to, (unsigned long long)labs(FIX2LONG(value)));
    }
    if (RB_FLONUM_P(value)) {
        return put_float(to, value);
    }
    return RB_SPECIAL_CONST_P(value) ? put_head(to, (long)value) : put_object(to, value);
}

static char *put_array(char *to, VALUE array) {
    const VALUE *values = RARRAY_CONST_PTR(array);
    long count = RARRAY_LEN(array);

    to = put_head(to, count);
    for (long i = 0; i < count; i++) {
        to = put_value(to, values[i]);
    }
    return to;
}

static int put_pair(VALUE key, VALUE value, VALUE argument) {
    char **to = (char **)argument;

    *to = put_value(put_value(*to, key), value);
    return ST_CONTINUE;
}

static char *put_hash(char *to, VALUE hash) {
    to = put_head(to, (long)RHASH_SIZE(hash));
    rb_hash_foreach(hash, put_pair, (VALUE)&to);
    return to;
}

/* Floor::Walk#run: a String of what was copied */
static VALUE walk_run(VALUE self) {
    const struct walk *walk = rb_check_typeddata(self, &walk_type);

    if (walk->size <= SMALL) {
        char small[SMALL + ROOM];
        return rb_str_new(small, put_value(small, walk->graph) - small);
    }
    VALUE result = rb_str_buf_new(walk->size + ROOM);
    char *start = RSTRING_PTR(result);
    rb_str_set_len(result, put_value(start, walk->graph) - start);
    return result;
}

static void init_walk(VALUE module) {
    VALUE klass = rb_define_class_under(module, "Walk", rb_cObject);

    rb_define_alloc_func(klass, walk_allocate);
    rb_define_method(klass, "initialize", walk_initialize, 2);
    rb_define_method(klass, "run", walk_run, 0);
}

void Init_floor(void) {
    rb_ext_ractor_safe(true); /* each Ractor has a Plan of its own */

    VALUE module = rb_define_module("Floor");

    floor_init_plan(module);
    init_walk(module);
}
