/* Objects of the classes of Records. */
#ifndef MANYPACK_INSTANCE_H
#define MANYPACK_INSTANCE_H

#include "record/shape.h"

/* How an object of a Record's class is made at the moment. */
typedef struct {
    mp_build build;
    VALUE optional; /* an Array of the members for which the class's own constructor has a default; 0 without one */
} mp_constructor;

/*
 * True if a Record's objects need no constructor of the class, so that it need not be looked for. Costs two look-ups of
 * methods.
 */
bool mp_instance_filled_p(const mp_record *record);

/*
 * Looks how to make a Record's objects. Must be called as user code is. ArgumentError if the class has got a
 * constructor that cannot take the members.
 */
mp_constructor mp_instance_constructor(const mp_record *record);

/*
 * Makes an object of a Record's class with one value for each field. Values may be Qundef, for missing, only if the
 * object is made by klass.new. Raises what the class raises.
 */
VALUE mp_instance_new(const mp_record *record, mp_build build, const VALUE *values);

/* Returns an object's value of a field. */
MP_INLINE VALUE
mp_instance_get(const mp_record *record, VALUE object, const mp_field *field)
{
    if (MP_UNLIKELY(record->build == MP_BUILD_IVARS)) return rb_ivar_get(object, field->ivar);
    return RSTRUCT_GET(object, field->slot);
}

#endif
