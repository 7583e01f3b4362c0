/* Classes, encodings and small helpers. */
#include "base/support.h"

VALUE mp_mManypack, mp_mInternal, mp_mArguments;
VALUE mp_cExtensionValue, mp_cTimestamp;

rb_encoding *mp_utf8;
int mp_utf8_index, mp_usascii_index, mp_binary_index;

VALUE
mp_const(const char *name)
{
    VALUE constant = rb_path2class(name);

    rb_gc_register_mark_object(constant);
    return constant;
}

static VALUE
refuse_copy(VALUE self, VALUE other)
{
    rb_raise(rb_eTypeError, "a %" PRIsVALUE " cannot be copied, also not for another Ractor: create one there",
             rb_obj_class(self));
}

void
mp_undef_copies(VALUE klass)
{
    rb_define_private_method(klass, "initialize_copy", refuse_copy, 1);
    rb_undef_method(klass, "dup");
    rb_undef_method(klass, "clone");
}

/* Arguments.refuse_block knows which classes are MessagePack's, and which methods take a block instead. */
MP_NOINLINE void
mp_block_refused(VALUE self)
{
    rb_funcall(mp_mArguments, rb_intern("refuse_block"), 2, self, ID2SYM(rb_frame_this_func()));
}

const char *
mp_kind_name(mp_kind kind)
{
    switch (kind) {
      case MP_STR: return "str";
      case MP_BIN: return "bin";
      case MP_EXT: return "ext";
      case MP_ARRAY: return "array";
      case MP_MAP: return "map";
      case MP_FLOAT32: return "float32";
      case MP_FLOAT64: return "float64";
      case MP_UINT: return "uint";
      case MP_INT: return "int";
      case MP_NIL: return "nil";
      case MP_TRUE: return "true";
      case MP_FALSE: return "false";
      case MP_FIXINT: return "fixint";
      default: return "object";
    }
}

uint64_t
mp_large(VALUE integer, const char *what)
{
    if (!RB_INTEGER_TYPE_P(integer)) {
        rb_raise(rb_eTypeError, "%s must be an Integer, got %" PRIsVALUE, what, rb_obj_class(integer));
    }
    if (RB_FIXNUM_P(integer) ? FIX2LONG(integer) < 0 : RBIGNUM_NEGATIVE_P(integer)) {
        rb_raise(rb_eRangeError, "%s must be 0 or more, got %" PRIsVALUE, what, integer);
    }
    return NUM2ULL(integer);
}

size_t
mp_size(VALUE integer, const char *what)
{
    uint64_t n = mp_large(integer, what);

    return n < SIZE_MAX ? (size_t)n : SIZE_MAX; /* with 32 bits, no size can be larger */
}

void
Init_manypack_support(void)
{
    mp_mManypack = mp_const("Manypack");
    mp_mInternal = mp_const("Manypack::Internal");
    mp_mArguments = mp_const("Manypack::Arguments");
    mp_cExtensionValue = mp_const("Manypack::ExtensionValue");
    mp_cTimestamp = mp_const("Manypack::Timestamp");
    if (MP_CANARIES) rb_define_const(mp_mManypack, "CANARIES", Qtrue); /* for the tests of such a build */
    mp_utf8 = rb_utf8_encoding();
    mp_utf8_index = rb_utf8_encindex();
    mp_usascii_index = rb_usascii_encindex();
    mp_binary_index = rb_ascii8bit_encindex();
}
