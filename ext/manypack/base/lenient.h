/*
 * The classes that the msgpack gem has, too. Each is two: MessagePack's, which is lenient, and a subclass of it, which
 * is Manypack's and strict. See lib/manypack/codec/lenient.rb.
 */
#ifndef MANYPACK_LENIENT_H
#define MANYPACK_LENIENT_H

#include "base/options.h"

/* Says that *klass is such a class. As soon as its methods are defined, its subclass takes its place in *klass. */
void mp_is_lenient(VALUE *klass);

/* The flags of a method that was called on an object of such a class: `strict` is the one of Manypack. */
MP_INLINE int
mp_api_of_object(VALUE self, VALUE strict)
{
    if (MP_LIKELY(RBASIC_CLASS(self) == strict)) return MP_OWN;
    return RTEST(rb_obj_is_kind_of(self, strict)) ? MP_OWN : MP_LENIENT;
}

#endif
