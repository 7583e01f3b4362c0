/* Manypack::Parallel::Stop: tells all workers of a run to end. */
#include <ruby/atomic.h>

#include "base/support.h"

/* A flag that is set at most once. The only mutable state that the Ractors of a run share. */
typedef struct {
    rb_atomic_t set;
} mp_stop;

static size_t
stop_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_stop));
}

/* Without a mark function, because it refers to no object. */
static const rb_data_type_t stop_type = {
    .wrap_struct_name = "Manypack::Parallel::Stop",
    .function = {.dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = stop_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* The pointer is valid while the caller has the object on its stack. */
static mp_stop *
stop_get(VALUE self)
{
    mp_stop *stop;

    TypedData_Get_Struct(self, mp_stop, &stop_type, stop);
    return stop;
}

/* A plain read, once for each message. A Ractor that sees the flag late works on one more message. */
static bool
stopped_p(VALUE self)
{
    return *(volatile rb_atomic_t *)&stop_get(self)->set != 0;
}

/* call-seq: Stop.new -> stop, not set; frozen and shareable */
static VALUE
rb_stop_s_new(VALUE klass)
{
    mp_stop *stop;

    return mp_obj_set_shareable(rb_obj_freeze(TypedData_Make_Struct(klass, mp_stop, &stop_type, stop)));
}

/* call-seq: stop.set -> true or false: false if it was set before */
static VALUE
rb_stop_set(VALUE self)
{
    return RUBY_ATOMIC_EXCHANGE(stop_get(self)->set, 1) ? Qfalse : Qtrue;
}

/* call-seq: stop.set? -> true or false */
static VALUE
rb_stop_set_p(VALUE self)
{
    return stopped_p(self) ? Qtrue : Qfalse;
}

void
Init_manypack_stop(void)
{
    VALUE cStop = rb_define_class_under(rb_define_module_under(mp_mManypack, "Parallel"), "Stop", rb_cObject);

    rb_undef_alloc_func(cStop);
    rb_define_singleton_method(cStop, "new", rb_stop_s_new, 0);
    rb_define_method(cStop, "set", rb_stop_set, 0);
    rb_define_method(cStop, "set?", rb_stop_set_p, 0);
}
