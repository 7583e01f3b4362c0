/* Manypack::LazyRecord: a Record whose fields are decoded when they are read. */
#ifndef MANYPACK_LAZY_RECORD_H
#define MANYPACK_LAZY_RECORD_H

#include "record/shape.h"

/* The part of a message that holds a LazyRecord. The message is frozen. */
typedef struct {
    VALUE message, type, codec;
    VALUE view; /* a View of the whole message, whose Index its Views share; 0 if the type has no Views */
    size_t start, end;
} mp_lazy_part;

/*
 * Makes a frozen LazyRecord. For each field, offsets has the offset of its value in the message, as a Fixnum, or Qundef
 * if the field is missing. RangeError beyond 4 GiB, because offsets are kept in 32 bits.
 */
VALUE mp_lazy_record_new(const mp_record *record, const mp_lazy_part *part, const VALUE *offsets);

/* The offset of a missing field. No value is at 0, because the Record's own head comes first. */
enum { MP_LAZY_MISSING = 0 };

typedef struct {
    mp_lazy_part part; /* the Record */
    const mp_record *record;
    size_t offset;     /* offset of the value, or MP_LAZY_MISSING */
} mp_lazy_field;

/* The Record that it was loaded with. The Type owns it, and the LazyRecord keeps the Type alive. */
const mp_record *mp_lazy_record_get(VALUE lazy);

/* A field, with everything needed to load it. IndexError if the Record has no such field. */
mp_lazy_field mp_lazy_record_field(VALUE lazy, uint32_t field);

/* True for a LazyRecord of this Record or of an equal one. */
bool mp_lazy_record_of_p(VALUE object, const mp_record *record);

/* The part of the message that holds it, and the bytes of that part. */
mp_lazy_part mp_lazy_record_part(VALUE lazy);
VALUE mp_lazy_record_bytes(VALUE lazy);

#endif
