/* Manypack::LazyRecord: a Record whose fields are decoded when they are read. */
#ifndef MANYPACK_LAZY_RECORD_H
#define MANYPACK_LAZY_RECORD_H

#include "record/shape.h"

/* The part of a message that a LazyRecord stands for. The message is frozen. */
typedef struct {
    VALUE message, type, codec;
    VALUE view; /* a View of the whole message, whose Index the Views in it share; 0 if there can be none */
    size_t start, end;
} mp_lazy_part;

/*
 * A frozen one. offsets has a Fixnum for each field, where its value is in the message, or Qundef. RangeError beyond 4
 * GiB, because it keeps 32 bits of each.
 */
VALUE mp_lazy_record_new(const mp_record *record, const mp_lazy_part *part, const VALUE *offsets);

/* Where fields are that are not in the message. No value is at 0: the Record's own head comes before. */
enum { MP_LAZY_NOT_THERE = 0 };

typedef struct {
    mp_lazy_part part; /* the Record */
    const mp_record *record;
    size_t offset;     /* of the value, or MP_LAZY_NOT_THERE */
} mp_lazy_field;

/* The Record of which it is. Its Type, which the LazyRecord keeps, owns it. */
const mp_record *mp_lazy_record_get(VALUE lazy);

/* A field and what it takes to load it. IndexError for one that the Record has not got. */
mp_lazy_field mp_lazy_record_field(VALUE lazy, uint32_t field);

/* True for a LazyRecord of that lazy Record or of an equal one. */
bool mp_lazy_record_of_p(VALUE object, const mp_record *record);

/* The part of a message that it stands for, and the bytes of that. */
mp_lazy_part mp_lazy_record_part(VALUE lazy);
VALUE mp_lazy_record_bytes(VALUE lazy);

#endif
