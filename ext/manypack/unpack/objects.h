/* The Ruby objects that a decoder makes of everything except an ext, as the options want them. */
#ifndef MANYPACK_OBJECTS_H
#define MANYPACK_OBJECTS_H

#include "unpack/decoder.h"

/* Freezes a new object or makes it shareable if the options say so; its children have been through here before. */
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

/* The same for an object that user code or Ruby made, which may be anything. */
VALUE mp_seal_foreign(const mp_options *options, VALUE obj);

/* A frozen str: the same String may appear in several places. */
VALUE mp_frozen_str_new(mp_decoder *d, const uint8_t *p, uint32_t n);

/* frozen says that the options want frozen objects. */
MP_INLINE VALUE
mp_str_new(mp_decoder *d, bool frozen, const uint8_t *p, uint32_t n)
{
    return MP_UNLIKELY(frozen) ? mp_frozen_str_new(d, p, n) : rb_enc_str_new((const char *)p, n, mp_utf8);
}

VALUE mp_bin_new(const mp_options *options, const uint8_t *p, uint32_t n);

/* A bin that is a map key. It is frozen because a Hash would otherwise store a frozen copy. */
VALUE mp_bin_key_new(const mp_decoder *d, const uint8_t *p, uint32_t n);

/* The shortest payload for which sharing the source may be cheaper than copying. */
enum { MP_SHARE_MIN = 1024 };

/*
 * True if a payload of MP_SHARE_MIN bytes or more should be shared with the source. It must be the tail of the source,
 * because Ruby shares no other part; at least half of it, so that a small piece does not keep a large message alive.
 * And Ractors must not share the source: Ruby would mark it, which only one Ractor at a time may do.
 */
bool mp_payload_to_share_p(const mp_decoder *d, const uint8_t *p, uint32_t n);

/* A String that shares its payload with the source, which must never change. */
VALUE mp_payload_shared(const mp_decoder *d, const uint8_t *p, uint32_t n, rb_encoding *encoding);

/* A Bignum or a Float is born frozen, but a Bignum is not born shareable. */
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

/* values holds n objects, keys and values in turn. Runs user code if the class of a key has its own #hash. */
VALUE mp_hash_new(mp_decoder *d, size_t n, const VALUE *values);

#endif
