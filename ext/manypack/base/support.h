/* Used by every file: classes and encodings, set once at load, and small helpers. */
#ifndef MANYPACK_SUPPORT_H
#define MANYPACK_SUPPORT_H

#include "base/compat.h"
#include "core/platform.h"
#include "core/wire_table.h"

extern VALUE mp_mManypack, mp_mInternal, mp_mArguments;
extern VALUE mp_cExtensionValue, mp_cTimestamp;

extern rb_encoding *mp_utf8;
extern int mp_utf8_index, mp_usascii_index, mp_binary_index;

/* Defines a function of Manypack::Internal: `function` receives the module and then `arity` arguments. */
#define MP_DEFINE_INTERNAL(name, function, arity) rb_define_singleton_method(mp_mInternal, name, function, arity)

/* True for an encoding whose bytes are also UTF-8. */
MP_INLINE bool
mp_utf8_index_p(int index)
{
    return index == mp_utf8_index || index == mp_usascii_index;
}

/* A number of up to 64 bits from a user. RangeError below 0 or above UINT64_MAX, TypeError unless it is an Integer. */
uint64_t mp_large(VALUE integer, const char *what);

/* The same for a size; a larger number becomes SIZE_MAX. */
size_t mp_size(VALUE integer, const char *what);

/* True for an Integer from -2^63 to 2^63 - 1. */
MP_INLINE bool
mp_int64_p(VALUE integer)
{
    int zeros; /* leading zero bits in the highest byte of its magnitude */
    size_t bytes;

    if (RB_FIXNUM_P(integer)) return true;
    bytes = rb_absint_size(integer, &zeros);
    if (bytes != sizeof(int64_t)) return bytes < sizeof(int64_t);
    return zeros > 0 || (RBIGNUM_NEGATIVE_P(integer) && rb_absint_singlebit_p(integer));
}

/* The name of a kind in error messages: "map", "float64". */
const char *mp_kind_name(mp_kind kind);

void mp_block_refused(VALUE self);

/* Raises ArgumentError for the block of a method that would never call it, but not in MessagePack's classes. */
MP_INLINE void
mp_refuse_block(VALUE self)
{
    if (MP_UNLIKELY(rb_block_given_p())) mp_block_refused(self);
}

/* Leaves a class without dup and clone. Ruby cannot copy its objects for another Ractor either: TypeError. */
void mp_undef_copies(VALUE klass);

/* A class or module that lib/manypack defined before it loaded the extension. Never freed: only Init may call it. */
VALUE mp_const(const char *name);

#endif
