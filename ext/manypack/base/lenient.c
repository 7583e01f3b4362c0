/* Puts the strict classes in the places of the lenient ones. */
#include "base/lenient.h"

static VALUE *classes[4];
static size_t count;

void
mp_is_lenient(VALUE *klass)
{
    classes[count++] = klass;
}

/* call-seq: Internal.stand_in(lenient, strict): the subclass `strict` is from now on the class of new objects */
static VALUE
rb_internal_stand_in(VALUE self, VALUE lenient, VALUE strict)
{
    size_t i;

    Check_Type(strict, T_CLASS);
    for (i = 0; i < count; i++) {
        if (*classes[i] != lenient || rb_class_superclass(strict) != lenient) continue;
        rb_gc_register_mark_object(strict);
        *classes[i] = strict;
        return strict;
    }
    rb_raise(rb_eTypeError, "%+" PRIsVALUE " has no lenient class", strict);
}

void
Init_manypack_lenient(void)
{
    MP_DEFINE_INTERNAL("stand_in", rb_internal_stand_in, 2);
}
