/* Names of Ruby things, and small helpers. */
#include "support.h"

VALUE mp_mManypack;
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

size_t
mp_size(VALUE integer, const char *what)
{
    if (!RB_INTEGER_TYPE_P(integer)) {
        rb_raise(rb_eTypeError, "%s is an Integer, not %" PRIsVALUE, what, rb_obj_class(integer));
    }
    if (RB_FIXNUM_P(integer) ? FIX2LONG(integer) < 0 : RBIGNUM_NEGATIVE_P(integer)) {
        rb_raise(rb_eRangeError, "%s is 0 or more, not %" PRIsVALUE, what, integer);
    }
    return NUM2SIZET(integer);
}

void
Init_manypack_support(void)
{
    mp_mManypack = mp_const("Manypack");
    mp_cExtensionValue = mp_const("Manypack::ExtensionValue");
    mp_cTimestamp = mp_const("Manypack::Timestamp");
    if (MP_CANARIES) rb_define_const(mp_mManypack, "CANARIES", Qtrue); /* for the tests of such a build */
    mp_utf8 = rb_utf8_encoding();
    mp_utf8_index = rb_utf8_encindex();
    mp_usascii_index = rb_usascii_encindex();
    mp_binary_index = rb_ascii8bit_encindex();
}
