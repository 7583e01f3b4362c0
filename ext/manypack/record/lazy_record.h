/* Manypack::LazyRecord: a Record whose fields are decoded when they are read. */
#ifndef MANYPACK_LAZY_RECORD_H
#define MANYPACK_LAZY_RECORD_H

#include "record/shape.h"

/* The offset of a missing field. No value is at 0, because the Record's own head comes first. */
enum { MP_LAZY_MISSING = 0 };

/* Where the values of a Record are in a message. */
typedef struct {
    VALUE message; /* frozen */
    VALUE type;    /* owns record */
    VALUE codec;
    VALUE view;    /* a View of the whole message, whose Index its Views share; 0 if the type has no Views */
    const mp_record *record; /* the Record that it was loaded with */
    uint32_t start, end; /* of the Record in the message */
    uint32_t count;
    uint32_t offsets[];  /* of the values in the message, one for each field */
} mp_lazy_record;

/*
 * Makes a frozen LazyRecord with the objects, start and end of `part`. For each field, offsets has the offset of its
 * value in the message, as a Fixnum, or Qundef if the field is missing.
 */
VALUE mp_lazy_record_new(const mp_record *record, const mp_lazy_record *part, const VALUE *offsets);

/*
 * The pointer is valid while the caller has the object on its stack. TypeError for an object that no Record made,
 * ArgumentError for one that is not complete yet: only ObjectSpace can find one.
 */
const mp_lazy_record *mp_lazy_record_get(VALUE lazy);

/* True for a LazyRecord of this Record or of an equal one. */
bool mp_lazy_record_of_p(VALUE object, const mp_record *record);

/* The bytes of its map in the message. */
VALUE mp_lazy_record_bytes(VALUE lazy);

#endif
