/* Notices methods of MessagePack's classes that a program has redefined, and calls them as the msgpack gem does. */
#include "redefined.h"

#include "base/io.h"
#include "stream/unpack_io.h"

/* MessagePack, and its DefaultFactory and Factory as the drop-in made them; 0 without the drop-in. */
static VALUE front, default_factory, factory_class;

static uintptr_t redefined;        /* a method of one of the classes is not ours; never false again */
static uintptr_t default_replaced; /* DefaultFactory was replaced, or could be without notice; never false again */

bool
mp_redefined_p(VALUE factory)
{
    return front && (MP_LOAD_ACQUIRE(&redefined) || RBASIC_CLASS(factory) != factory_class);
}

VALUE
mp_redefined_default(void)
{
    VALUE factory = default_factory;

    if (MP_UNLIKELY(!front)) return 0;
    if (MP_UNLIKELY(MP_LOAD_ACQUIRE(&default_replaced))) factory = rb_const_get(front, rb_intern("DefaultFactory"));
    return MP_LIKELY(factory == default_factory && !mp_redefined_p(factory)) ? 0 : factory;
}

bool
mp_called_by_methods_p(int argc, const VALUE *argv)
{
    static const char *const own_options[] = {"as", "canonical", "codec"};
    size_t i;

    if (argc < 1 || !RB_TYPE_P(argv[argc - 1], T_HASH)) return true;
    for (i = 0; i < sizeof(own_options) / sizeof(*own_options); i++) {
        if (rb_hash_lookup2(argv[argc - 1], ID2SYM(rb_intern(own_options[i])), Qundef) != Qundef) return false;
    }
    return true;
}

VALUE
mp_pack_by_methods(VALUE factory, VALUE obj, int argc, const VALUE *argv)
{
    VALUE packer = rb_funcallv(factory, rb_intern("packer"), argc, argv);

    rb_funcallv_public(packer, rb_intern("write"), 1, &obj);
    return rb_funcallv_public(packer, rb_intern("full_pack"), 0, NULL);
}

VALUE
mp_unpack_by_methods(VALUE factory, VALUE source, VALUE options, const char *feed)
{
    VALUE argv[2], unpacker, string = Qnil;

    if (RB_TYPE_P(source, T_STRING) || !mp_io_p(source)) string = rb_check_string_type(source);
    argv[0] = source;
    argv[1] = options;
    if (NIL_P(string)) {
        unpacker = rb_funcallv(factory, rb_intern("unpacker"), 2, argv);
        mp_unpacker_leave_rest(unpacker);
    } else {
        unpacker = rb_funcallv(factory, rb_intern("unpacker"), 1, &options);
        rb_funcallv_public(unpacker, rb_intern(feed), 1, &string);
    }
    return rb_funcallv_public(unpacker, rb_intern("full_unpack"), 0, NULL);
}

void
mp_redefined_watch(VALUE module, VALUE factory)
{
    VALUE klass = rb_obj_class(factory);

    Check_Type(module, T_MODULE);
    rb_gc_register_mark_object(module);
    rb_gc_register_mark_object(factory);
    rb_gc_register_mark_object(klass);
    default_factory = factory;
    factory_class = klass;
    front = module;
    if (!rb_method_boundp(rb_cModule, rb_intern("const_added"), 0)) default_replaced = 1; /* before Ruby 3.2 */
}

/* call-seq: Internal.redefined -> nil: from now on mp_redefined_p is true */
static VALUE
rb_internal_redefined(VALUE self)
{
    MP_STORE_RELEASE(&redefined, 1);
    return Qnil;
}

/* call-seq: Internal.default_replaced -> nil: from now on MessagePack::DefaultFactory is looked up for each call */
static VALUE
rb_internal_default_replaced(VALUE self)
{
    MP_STORE_RELEASE(&default_replaced, 1);
    return Qnil;
}

void
Init_manypack_redefined(void)
{
    MP_DEFINE_INTERNAL("default_replaced", rb_internal_default_replaced, 0);
    MP_DEFINE_INTERNAL("redefined", rb_internal_redefined, 0);
}
