/* Objects of the classes of Records. */
#ifndef MANYPACK_INSTANCE_H
#define MANYPACK_INSTANCE_H

#include "record/shape.h"

/*
 * Makes an object of a Record's class with one value for each field. Values may be Qundef, for missing, only if the
 * object is made by klass.new. Raises what the class raises.
 */
VALUE mp_instance_new(const mp_record *record, const VALUE *values);

/* Returns an object's value of a field. */
MP_INLINE VALUE
mp_instance_get(const mp_record *record, VALUE object, const mp_field *field)
{
    if (MP_UNLIKELY(record->build == MP_BUILD_IVARS)) return rb_ivar_get(object, field->ivar);
    return RSTRUCT_GET(object, field->slot);
}

#endif
