/* Manypack::Parallel::Isolation: prepares Procs and Codecs for other Ractors. Ruby has no methods for this. */
#include "codec/codec.h"

/*
 * call-seq: Isolation.isolate(proc) -> proc
 *
 * Returns a shareable copy of a Proc, isolated as Ractor.new isolates its block. It can be called more than once. It
 * keeps its self, which another Ractor must replace. Raises ArgumentError for a Proc that uses outer variables, and
 * TypeError for anything that is not a Proc.
 */
static VALUE
rb_isolation_s_isolate(VALUE klass, VALUE proc)
{
    if (!rb_obj_is_proc(proc)) rb_raise(rb_eTypeError, "expected a Proc, got %" PRIsVALUE, rb_obj_class(proc));
    return mp_proc_isolate(proc);
}

/* call-seq: Isolation.check_codec(codec) -> nil; Ractor::IsolationError names a handler that is not shareable */
static VALUE
rb_isolation_s_check_codec(VALUE klass, VALUE codec)
{
    mp_codec_check_shareable(codec);
    return Qnil;
}

void
Init_manypack_isolate(void)
{
    VALUE mParallel = rb_define_module_under(mp_mManypack, "Parallel");
    VALUE mIsolation = rb_define_module_under(mParallel, "Isolation");

    rb_define_singleton_method(mIsolation, "isolate", rb_isolation_s_isolate, 1);
    rb_define_singleton_method(mIsolation, "check_codec", rb_isolation_s_check_codec, 1);
}
