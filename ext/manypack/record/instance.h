/* Objects of the classes of Records. */
#ifndef MANYPACK_INSTANCE_H
#define MANYPACK_INSTANCE_H

#include "record/shape.h"

/* How an object of a Record's class is made, as the class is defined now. */
typedef struct {
    mp_build build;
    VALUE optional; /* an Array of the members with a default in the class's own constructor; 0 without a constructor */
} mp_constructor;

/*
 * Finds out how to make a Record's objects. May run user code. ArgumentError if the class now has a constructor that
 * cannot take the members.
 */
mp_constructor mp_instance_constructor(const mp_record *record);

/*
 * Makes an object of a Record's class with one value for each field. A value may be Qundef (missing) only if klass.new
 * makes the object. Raises what the class raises.
 */
VALUE mp_instance_new(const mp_record *record, mp_build build, const VALUE *values);

/* True if field values are read by methods of the object: its class is neither a Struct nor a Data. */
MP_INLINE bool
mp_instance_read_p(const mp_record *record)
{
    return record->build > MP_BUILD_IVARS;
}

/* Returns an object's value of a field. Runs user code, which may raise, if mp_instance_read_p. */
MP_INLINE VALUE
mp_instance_get(const mp_record *record, VALUE object, const mp_field *field)
{
    if (MP_LIKELY(record->build < MP_BUILD_IVARS)) return RSTRUCT_GET(object, field->slot);
    if (record->build == MP_BUILD_IVARS) return rb_ivar_get(object, field->reader);
    return rb_funcallv_public(object, field->reader, 0, NULL);
}

#endif
