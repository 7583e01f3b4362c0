/* Keeps the pairs of a lenient and a strict class, and names MessagePack's. */
#include "base/lenient.h"

static mp_classes *pairs[4];
static size_t count;

void
mp_two_classes(mp_classes *classes, VALUE klass)
{
    classes->own = classes->gem = klass;
    rb_gc_register_mark_object(klass);
    pairs[count++] = classes;
}

bool
mp_receiver_of_gem_p(void)
{
    VALUE receiver = rb_current_receiver();
    size_t i;

    for (i = 0; i < count; i++) {
        if (!RTEST(rb_obj_is_kind_of(receiver, pairs[i]->gem))) continue;
        return !RTEST(rb_obj_is_kind_of(receiver, pairs[i]->own));
    }
    return false;
}

bool
mp_named_of_gem_p(VALUE klass)
{
    return strncmp(rb_class2name(klass), "MessagePack::", 13) == 0;
}

/* call-seq: Internal.stand_in(gem, own): from now on Manypack makes objects of the subclass `own` */
static VALUE
rb_internal_stand_in(VALUE self, VALUE gem, VALUE own)
{
    size_t i;

    Check_Type(own, T_CLASS);
    for (i = 0; i < count; i++) {
        if (pairs[i]->own != gem || rb_class_superclass(own) != gem) continue;
        rb_gc_register_mark_object(own);
        return pairs[i]->own = own;
    }
    rb_raise(rb_eTypeError, "%+" PRIsVALUE " has no lenient class", own);
}

/*
 * call-seq: Internal.rename(klass, under, name): Ruby names a class or module when it is first assigned to a constant,
 * and MessagePack's were Manypack's then
 */
static VALUE
rb_internal_rename(VALUE self, VALUE klass, VALUE under, VALUE name)
{
    if (!RB_TYPE_P(klass, T_MODULE)) Check_Type(klass, T_CLASS);
    if (strncmp(rb_class2name(klass), "Manypack::", 10) != 0) {
        rb_raise(rb_eTypeError, "%+" PRIsVALUE " is no class of Manypack", klass);
    }
    rb_set_class_path(klass, under, StringValueCStr(name));
    return klass;
}

void
Init_manypack_lenient(void)
{
    MP_DEFINE_INTERNAL("stand_in", rb_internal_stand_in, 2);
    MP_DEFINE_INTERNAL("rename", rb_internal_rename, 3);
}
