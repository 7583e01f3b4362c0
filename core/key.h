/*
 * Map keys, compared as the objects that they become and not as bytes: 1 is 1 in each of its encodings, and a float32
 * is the float64 of the same value.
 */
#ifndef MP_KEY_H
#define MP_KEY_H

#include "wire.h"

typedef struct {
    mp_kind kind;         /* UINT for an integer from 0 on, INT below 0, FLOAT64 for every float */
    uint64_t bits;        /* of a number; those of 0.0 for -0.0 too, because they are eql? */
    const uint8_t *bytes; /* of a STR or BIN the payload, of an EXT, ARRAY or MAP the whole object */
    size_t n;
} mp_key;

MP_INLINE mp_key
mp_key_str(const void *bytes, size_t n)
{
    return (mp_key){.kind = MP_STR, .bytes = (const uint8_t *)bytes, .n = n};
}

MP_INLINE mp_key
mp_key_bin(const void *bytes, size_t n)
{
    return (mp_key){.kind = MP_BIN, .bytes = (const uint8_t *)bytes, .n = n};
}

MP_INLINE mp_key
mp_key_uint(uint64_t value)
{
    return (mp_key){.kind = MP_UINT, .bits = value};
}

MP_INLINE mp_key
mp_key_sint(int64_t value)
{
    return (mp_key){.kind = value < 0 ? MP_INT : MP_UINT, .bits = (uint64_t)value};
}

MP_INLINE mp_key
mp_key_real(double value)
{
    return (mp_key){.kind = MP_FLOAT64, .bits = value == 0 ? 0 : mp_bits_of_double(value)};
}

/* MP_NIL, MP_FALSE or MP_TRUE */
MP_INLINE mp_key
mp_key_special(mp_kind kind)
{
    return (mp_key){.kind = kind};
}

/* Reads the object from p to end, which must be whole, as a key. */
mp_key mp_key_read(const uint8_t *p, const uint8_t *end);

/*
 * An order of keys; 0 if they are the same key to a Ruby Hash. A str and a bin are the same if they have the same ASCII
 * bytes, because Ruby's Strings are. An ext, array or map is the same only as one with the same encoding: only building
 * them tells more. A NaN is the same as one of the same bits; to a Hash it is not.
 */
int mp_key_compare(const mp_key *a, const mp_key *b);

/* A hash: equal keys have the same signature. */
uint32_t mp_key_signature(const mp_key *key);

/* True for a NaN. */
MP_INLINE bool
mp_key_nan_p(const mp_key *key)
{
    return key->kind == MP_FLOAT64 && (key->bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

#endif
