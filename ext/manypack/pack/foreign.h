/*
 * Packs objects for which MessagePack has no type of its own: as an ext, by copying bytes that are packed already, or
 * by calling their to_msgpack with a Packer.
 */
#ifndef MANYPACK_FOREIGN_H
#define MANYPACK_FOREIGN_H

#include "pack/encoder.h"

/* Appends an ext of one type with the bytes of payload. */
void mp_encode_ext(mp_encoder *e, int type, VALUE payload);

/* The ext type of an object whose class is not itself a core class; NULL without one. */
const mp_type *mp_foreign_type(mp_encoder *e, VALUE obj);

/*
 * Write an object at p and return the place after it. mp_encode_typed writes an ext of that type. mp_encode_foreign
 * finds out how the object is packed; NULL if it cannot be.
 */
uint8_t *mp_encode_typed(mp_encoder *e, uint8_t *p, VALUE obj, const mp_type *type);
uint8_t *mp_encode_foreign(mp_encoder *e, uint8_t *p, VALUE obj);

/*
 * Calls the option `default` for an object that cannot be packed, and returns its result; Qundef if the option is not
 * set, or if it returns the object itself.
 */
VALUE mp_foreign_default(mp_encoder *e, VALUE obj);

/* The NoMethodError of an object without to_msgpack. */
NORETURN(void mp_raise_unpackable(mp_encoder *e, VALUE obj));

/* The bytes of an object that is packed already, in a String that nobody can change. */
typedef struct {
    VALUE source;
    size_t offset, size;
} mp_slice;

/*
 * From now on, objects of a data type are packed as the slice that `of` returns, without a call of to_msgpack. `of` may
 * allocate and raise, but must not run user code. Used for Views.
 */
void mp_foreign_set_slices(const rb_data_type_t *type, mp_slice (*of)(VALUE obj));

/*
 * From now on, objects of classes that include `module` are packed by `dump` if their to_msgpack is the module's.
 * type_of returns the Type of such an object, or Qfalse if it has another to_msgpack; it may run user code. dump
 * returns the object packed inside of `depth` containers and, unless notes is NULL, sets the notes on it. Used for
 * objects with an attached Record.
 */
void mp_foreign_set_attached(VALUE module, VALUE (*type_of)(VALUE obj),
                             VALUE (*dump)(VALUE type, VALUE obj, const mp_codec *codec, uint32_t depth,
                                           mp_notes *notes));

/*
 * Closes the Packer that an encoder made for user code. Called when the encoder has its result: user code may not write
 * to it any more.
 */
void mp_foreign_end(mp_encoder *e);

#endif
