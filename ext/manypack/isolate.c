/* Manypack::Parallel::Work.isolated: what Ractor.new does to its block, for one that is called more than once. */
#include "manypack.h"

/*
 * call-seq: Work.isolated(proc) -> proc
 *
 * A shareable copy, cut off from outer variables but not from its self, with which it must not be called in another
 * Ractor. ArgumentError for one that uses outer variables, TypeError for what is no Proc.
 */
static VALUE
rb_work_s_isolated(VALUE klass, VALUE proc)
{
    if (!rb_obj_is_proc(proc)) rb_raise(rb_eTypeError, "Proc expected, not %" PRIsVALUE, rb_obj_class(proc));
    return mp_proc_isolate(proc);
}

void
Init_manypack_isolate(void)
{
    VALUE mWork = rb_define_module_under(rb_define_module_under(mp_mManypack, "Parallel"), "Work");

    rb_define_singleton_method(mWork, "isolated", rb_work_s_isolated, 1);
}
