/* Loading: bytes in, objects of given types out. */
#ifndef MANYPACK_LOAD_H
#define MANYPACK_LOAD_H

#include "codec/codec.h"
#include "record/lazy_record.h"

/* A part of a message, a frozen binary String. Errors have their place in the whole message. */
typedef struct {
    VALUE message;
    size_t start, end;
    VALUE root; /* a View of the message, whose Index the Views in the object share; 0 if bytes are loaded */
    bool eager; /* as in mp_loader */
} mp_load_part;

/*
 * Loads the one object in a part of a message as shapes[0] of the Type. collect: look for all errors. Raises
 * RecordError for another type, the errors of error.h, and what the classes of Records raise.
 */
VALUE mp_load_whole(mp_load_part part, VALUE type, const mp_shapes *shapes, VALUE codec, bool collect);

/*
 * Loads the object that a LazyRecord stands for, as the Type that made it would have. No key is looked at again: those
 * that it does not know were taken or refused when they were passed over.
 */
VALUE mp_load_lazy(VALUE lazy);

/* The value of a field that is missing in the message of a LazyRecord. */
VALUE mp_load_absent_field(VALUE lazy, const mp_lazy_field *field, uint32_t number);

/* Loads the value of a field of a LazyRecord. */
VALUE mp_load_field(VALUE lazy, const mp_lazy_field *field, uint32_t number);

#endif
