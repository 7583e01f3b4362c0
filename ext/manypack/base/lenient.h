/*
 * Each class that the msgpack gem also has exists twice: MessagePack's is lenient; Manypack's, its subclass, is strict.
 * See lib/manypack/codec/lenient.rb.
 */
#ifndef MANYPACK_LENIENT_H
#define MANYPACK_LENIENT_H

#include "base/options.h"

typedef struct {
    VALUE own; /* Manypack's */
    VALUE gem; /* MessagePack's */
} mp_classes;

/* Makes klass, which has all methods, the class for both names. Internal.stand_in later makes a subclass Manypack's. */
void mp_two_classes(mp_classes *classes, VALUE klass);

/* The class for new objects: MessagePack's if of_gem (see mp_options), otherwise Manypack's. */
MP_INLINE VALUE
mp_class_of(const mp_classes *classes, bool of_gem)
{
    return of_gem ? classes->gem : classes->own;
}

/* True if the running method is one of an object of MessagePack's classes. */
bool mp_receiver_of_gem_p(void);

/* True if the drop-in has renamed klass, a class that both modules share, to MessagePack's. */
bool mp_named_of_gem_p(VALUE klass);

/* The flags of a method that was called on an object of one of the two classes, or of a subclass. */
MP_INLINE int
mp_api_of_object(VALUE self, const mp_classes *classes)
{
    if (MP_LIKELY(RBASIC_CLASS(self) == classes->own)) return MP_OWN;
    return RTEST(rb_obj_is_kind_of(self, classes->own)) ? MP_OWN : MP_LENIENT;
}

#endif
