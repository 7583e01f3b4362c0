/* Manypack::LazyRecord: reads a field, or all of them. */
#include "record/lazy_record.h"
#include "record/load.h"

/* call-seq: lazy.__field__(index) -> object: decodes the value of a field */
static VALUE
rb_lazy_field(VALUE self, VALUE index)
{
    uint32_t i = NUM2UINT(index);
    mp_lazy_field field = mp_lazy_record_field(self, i);

    if (field.offset == MP_LAZY_MISSING) return mp_load_default(self, &field, i);
    return mp_load_field(self, &field, i);
}

/* call-seq: lazy.__load__ -> object: decodes all fields into an object */
static VALUE
rb_lazy_load(VALUE self)
{
    return mp_load_lazy(self);
}

void
Init_manypack_lazy_read(void)
{
    VALUE cLazyRecord = mp_const("Manypack::LazyRecord");

    rb_define_private_method(cLazyRecord, "__field__", rb_lazy_field, 1);
    rb_define_private_method(cLazyRecord, "__load__", rb_lazy_load, 0);
}
