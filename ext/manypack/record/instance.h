/* Objects of the classes of Records. */
#ifndef MANYPACK_INSTANCE_H
#define MANYPACK_INSTANCE_H

#include "record/shape.h"

/*
 * A new object of a Record's class with those values, one for each field. Qundef is a value that is missing, which only
 * a class that makes its own objects may have. Raises what that class raises.
 */
VALUE mp_instance_new(const mp_record *record, const VALUE *values);

/* The value that an object of the class has for a field. */
MP_INLINE VALUE
mp_instance_get(const mp_record *record, VALUE object, const mp_field *field)
{
    if (MP_UNLIKELY(record->build == MP_BUILD_IVARS)) return rb_ivar_get(object, field->ivar);
    return RSTRUCT_GET(object, field->slot);
}

#endif
