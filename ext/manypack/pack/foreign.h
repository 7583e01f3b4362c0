/*
 * Objects for which MessagePack has no type of its own: as an ext, as bytes that are packed already, or as what their
 * to_msgpack writes to a Packer.
 */
#ifndef MANYPACK_FOREIGN_H
#define MANYPACK_FOREIGN_H

#include "pack/encoder.h"

/* Appends an ext of one type with the bytes of payload. */
void mp_encode_ext(mp_encoder *e, int type, VALUE payload);

/* The ext type of an object that is of no exact core class, or NULL. */
const mp_type *mp_foreign_type(mp_encoder *e, VALUE obj);

/* Writes an object at p and returns the place after it: as an ext of that type, or as whatever it is packed. */
uint8_t *mp_encode_typed(mp_encoder *e, uint8_t *p, VALUE obj, const mp_type *type);
uint8_t *mp_encode_foreign(mp_encoder *e, uint8_t *p, VALUE obj);

/* Where the bytes of an object that is packed already are: in a String that nobody can change. */
typedef struct {
    VALUE source;
    size_t offset, size;
} mp_slice;

/*
 * Has each object of a type packed as the slice that a function returns for it, without a call of to_msgpack. The
 * function may allocate and raise, and runs no user code.
 */
void mp_foreign_set_slices(const rb_data_type_t *type, mp_slice (*of)(VALUE obj));

/* When an encoder that made a Packer for user code has its result: user code must not write any more. */
void mp_foreign_end(mp_encoder *e);

#endif
