/* Makes the Ruby object of everything except an ext, frozen or shareable if the options say so. */
#ifndef MANYPACK_OBJECTS_H
#define MANYPACK_OBJECTS_H

#include "unpack/decoder.h"

/* Freezes a new object or makes it shareable if the options say so. Its children must be sealed already. */
MP_INLINE VALUE
mp_seal(const mp_options *options, VALUE obj)
{
    if (MP_UNLIKELY(options->shareable)) {
        RB_OBJ_FREEZE(obj);
        return mp_obj_set_shareable(obj);
    }
    if (MP_UNLIKELY(options->freeze)) RB_OBJ_FREEZE(obj);
    return obj;
}

/*
 * The flags that freezing gives a new Array; 0 if freezing also does something else. With them, freezing takes one
 * instruction instead of a hundred: since 3.2 a frozen object has a shape of its own, which is in its flags.
 */
extern VALUE mp_array_frozen_flags;

/* mp_seal for a new Array, which no other code has seen. */
MP_INLINE VALUE
mp_seal_array(const mp_options *options, VALUE array)
{
    if (MP_LIKELY(!options->freeze && !options->shareable)) return array;
    if (MP_UNLIKELY(!mp_array_frozen_flags)) return mp_seal(options, array);
    RB_FL_SET_RAW(array, mp_array_frozen_flags);
    return options->shareable ? mp_obj_set_shareable(array) : array;
}

/* mp_seal for an object of any class that user code or Ruby made. */
VALUE mp_seal_foreign(const mp_options *options, VALUE obj);

/* A frozen str. The same String may be returned for equal bytes. */
VALUE mp_frozen_str_new(mp_decoder *d, const uint8_t *p, uint32_t n);

/* A str. frozen: the options ask for frozen objects. */
MP_INLINE VALUE
mp_str_new(mp_decoder *d, bool frozen, const uint8_t *p, uint32_t n)
{
    return MP_UNLIKELY(frozen) ? mp_frozen_str_new(d, p, n) : rb_enc_str_new((const char *)p, n, mp_utf8);
}

VALUE mp_bin_new(const mp_options *options, const uint8_t *p, uint32_t n);

/* A bin that is a map key. Frozen, because a Hash would otherwise store a frozen copy. */
VALUE mp_bin_key_new(const mp_decoder *d, const uint8_t *p, uint32_t n);

/* The shortest payload for which sharing the source may be cheaper than copying. */
enum { MP_SHARE_MIN = 1024 };

/*
 * True if a payload of MP_SHARE_MIN bytes or more should share its bytes with the source. The payload must be the tail
 * of the source, because Ruby shares no other part, and at least half of it, so that a small piece does not keep a
 * large message alive. Ractors must not share the source: Ruby would mark it as shared, which only one Ractor at a time
 * may do.
 */
bool mp_payload_to_share_p(const mp_decoder *d, const uint8_t *p, uint32_t n);

/* A String that shares its payload with the source, which must never change. */
VALUE mp_payload_shared(const mp_decoder *d, const uint8_t *p, uint32_t n, rb_encoding *encoding);

/* Seals a number. Bignums and Floats are born frozen, but a Bignum is not born shareable. */
MP_INLINE VALUE
mp_number(const mp_options *options, VALUE obj)
{
    return MP_UNLIKELY(options->shareable) && !RB_SPECIAL_CONST_P(obj) ? mp_obj_set_shareable(obj) : obj;
}

MP_INLINE VALUE
mp_float_new(mp_decoder *d, double value)
{
    if (MP_UNLIKELY(value != value)) d->tree.keys_may_collide = true;
    return mp_number(&d->codec->options, DBL2NUM(value));
}

VALUE mp_array_new(const mp_options *options, size_t n, const VALUE *values);

/* A Hash of n objects, keys and values in turn. Runs user code if the class of a key has its own #hash. */
VALUE mp_hash_new(mp_decoder *d, size_t n, const VALUE *values);

#endif
