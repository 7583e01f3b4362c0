/*
 * Map keys, compared like the objects that they become, not as bytes: 1 is the same key in each of its encodings, and a
 * float32 is the same key as the float64 of the same value.
 */
#ifndef MP_KEY_H
#define MP_KEY_H

#include "wire.h"

typedef struct {
    mp_kind kind;         /* UINT for integers from 0 on, INT for negative integers, FLOAT64 for every float */
    uint64_t bits;        /* of a number; -0.0 has the bits of 0.0, because the two are eql? */
    const uint8_t *bytes; /* the payload of a STR or BIN; all of an EXT, ARRAY or MAP */
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

/* True for the key of an Integer. */
MP_INLINE bool
mp_key_integer_p(const mp_key *key)
{
    return key->kind == MP_UINT || key->kind == MP_INT;
}

/* True if the object at p, which has the row, is the same Integer as the key. mp_ahead_p must be true. */
MP_INLINE bool
mp_key_same_integer_p(const mp_key *key, const uint8_t *p, mp_wire_row row)
{
    int64_t n = mp_int_ahead(p, row);

    return mp_row_integer_p(row) && (uint64_t)n == key->bits &&
           (n >= 0 || row.kind == MP_UINT) == (key->kind == MP_UINT);
}

/* Reads the object from p to end, which must be complete, as a key. */
mp_key mp_key_read(const uint8_t *p, const uint8_t *end);

/*
 * Orders keys; 0 if they are the same key in a Ruby Hash. A str and a bin are the same key if they have the same ASCII
 * bytes, because Ruby's Strings are. Two exts, arrays or maps are the same only if their encodings are equal: any other
 * equality shows only when they are built. NaNs with the same bits are the same, although in a Hash they are not.
 */
int mp_key_compare(const mp_key *a, const mp_key *b);

/* A hash: equal keys have the same signature. */
uint32_t mp_key_signature(const mp_key *key);

MP_INLINE bool
mp_key_nan_p(const mp_key *key)
{
    return key->kind == MP_FLOAT64 && (key->bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

#endif
