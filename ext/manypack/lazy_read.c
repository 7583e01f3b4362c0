/* Manypack::LazyRecord: reads a field. */
#include "lazy_record.h"
#include "load.h"

/* call-seq: lazy.__field__(index) -> object: decodes the value of a field */
static VALUE
rb_lazy_field(VALUE self, VALUE index)
{
    uint32_t i = NUM2UINT(index);
    mp_lazy_field field = mp_lazy_record_field(self, i);

    if (field.offset == MP_LAZY_NOT_THERE) return field.record->fields[i].missing;
    return mp_load_field(self, &field, i);
}

void
Init_manypack_lazy_read(void)
{
    rb_define_private_method(mp_const("Manypack::LazyRecord"), "__field__", rb_lazy_field, 1);
}
