/*
 * Manypack::Parallel::Outbox, for Ruby 3: a lock-free ring buffer from one Ractor to another, with one writer and one
 * reader. It never wakes the reader, which must be notified in another way.
 */
#include "base/support.h"

#include <ruby/atomic.h>

/*
 * At least 2, because a Ractor has two batches at most; 4 leaves room. A power of two, so that the counters may wrap.
 */
enum { OUTBOX_MAX = 4 };
MP_STATIC_ASSERT(counters_wrap_where_the_ring_does, (OUTBOX_MAX & (OUTBOX_MAX - 1)) == 0);

/* Only the writing Ractor changes put, and only the reading Ractor changes taken. Both count up and wrap. */
typedef struct {
    VALUE objects[OUTBOX_MAX];
    rb_atomic_t put, taken;
} mp_outbox;

/* Needs no atomics: in every Ruby that has an Outbox, a collection stops all Ractors. */
static void
outbox_mark(void *ptr)
{
    const mp_outbox *outbox = ptr;
    size_t i;

    for (i = 0; i < OUTBOX_MAX; i++) rb_gc_mark_movable(outbox->objects[i]);
}

static void
outbox_compact(void *ptr)
{
    mp_outbox *outbox = ptr;
    size_t i;

    for (i = 0; i < OUTBOX_MAX; i++) outbox->objects[i] = rb_gc_location(outbox->objects[i]);
}

static size_t
outbox_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_outbox));
}

static const rb_data_type_t outbox_type = {
    .wrap_struct_name = "Manypack::Parallel::Outbox",
    .function =
        {.dmark = outbox_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = outbox_memsize, .dcompact = outbox_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* The pointer is valid while the caller has the object on its stack. */
static mp_outbox *
outbox_get(VALUE self)
{
    mp_outbox *outbox;

    TypedData_Get_Struct(self, mp_outbox, &outbox_type, outbox);
    return outbox;
}

/* Reads the other Ractor's count, with a barrier: everything that it did before counting is visible afterwards. */
static rb_atomic_t
count_of_other(rb_atomic_t *count)
{
    return RUBY_ATOMIC_FETCH_ADD(*count, 0);
}

/* call-seq: Outbox.new -> outbox: frozen and shareable, even if it holds objects that are not */
static VALUE
rb_outbox_s_new(VALUE klass)
{
    mp_outbox *outbox;

    return mp_obj_set_shareable(rb_obj_freeze(TypedData_Make_Struct(klass, mp_outbox, &outbox_type, outbox)));
}

/*
 * call-seq: outbox.put(object) -> outbox
 *
 * Puts an object into the Outbox. For the writing Ractor, which must not use the object any more. Raises ThreadError if
 * the Outbox is full.
 */
static VALUE
rb_outbox_put(VALUE self, VALUE obj)
{
    mp_outbox *outbox = outbox_get(self);
    rb_atomic_t put = outbox->put;

    if (put - count_of_other(&outbox->taken) == OUTBOX_MAX) rb_raise(rb_eThreadError, "the Outbox is full");
    RB_OBJ_WRITE(self, &outbox->objects[put % OUTBOX_MAX], obj);
    RUBY_ATOMIC_SET(outbox->put, put + 1);
    return self;
}

/* call-seq: outbox.take -> object or nil: removes the oldest object; for the reading Ractor */
static VALUE
rb_outbox_take(VALUE self)
{
    mp_outbox *outbox = outbox_get(self);
    rb_atomic_t taken = outbox->taken;
    VALUE obj;

    if (taken == count_of_other(&outbox->put)) return Qnil;
    obj = outbox->objects[taken % OUTBOX_MAX];
    outbox->objects[taken % OUTBOX_MAX] = Qnil;
    RUBY_ATOMIC_SET(outbox->taken, taken + 1);
    return obj;
}

/* Rubies with Ractor::Port need no Outbox. */
void
Init_manypack_outbox(void)
{
    VALUE cOutbox;

    if (rb_const_defined_at(rb_cRactor, rb_intern("Port"))) return;
    cOutbox = rb_define_class_under(rb_define_module_under(mp_mManypack, "Parallel"), "Outbox", rb_cObject);
    rb_undef_alloc_func(cOutbox);
    rb_define_singleton_method(cOutbox, "new", rb_outbox_s_new, 0);
    rb_define_method(cOutbox, "put", rb_outbox_put, 1);
    rb_define_method(cOutbox, "take", rb_outbox_take, 0);
}
