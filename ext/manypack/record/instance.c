/* Makes objects of the classes of Records. initialize runs only if the class defines its own. */
#include "record/instance.h"

static ID id_new;

static VALUE
struct_new(const mp_record *record, const VALUE *values)
{
    VALUE object = rb_struct_alloc_noinit(record->klass);
    uint32_t i;

    for (i = 0; i < record->count; i++) RSTRUCT_SET(object, record->fields[i].slot, values[i]);
    return object;
}

static VALUE
with_ivars(const mp_record *record, const VALUE *values)
{
    VALUE object = rb_obj_alloc(record->klass);
    uint32_t i;

    for (i = 0; i < record->count; i++) rb_ivar_set(object, record->fields[i].ivar, values[i]);
    return object;
}

/* Calls klass.new with the values in the order of the class's members, up to the last value that is present. */
static VALUE
call_new(const mp_record *record, const VALUE *values)
{
    VALUE arguments = rb_ary_new_capa(record->count);
    uint32_t i;

    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef) rb_ary_store(arguments, record->fields[i].slot, values[i]);
    }
    return rb_apply(record->klass, id_new, arguments);
}

static VALUE
call_new_with_keywords(const mp_record *record, const VALUE *values)
{
    VALUE keywords = rb_hash_new();
    uint32_t i;

    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef) rb_hash_aset(keywords, record->fields[i].name, values[i]);
    }
    return rb_funcallv_kw(record->klass, id_new, 1, &keywords, RB_PASS_KEYWORDS);
}

VALUE
mp_instance_new(const mp_record *record, const VALUE *values)
{
    switch (record->build) {
      case MP_BUILD_STRUCT: return struct_new(record, values);
      case MP_BUILD_DATA: return rb_obj_freeze(struct_new(record, values));
      case MP_BUILD_IVARS: return with_ivars(record, values);
      case MP_BUILD_NEW: return call_new(record, values);
      default: return call_new_with_keywords(record, values);
    }
}

void
Init_manypack_instance(void)
{
    id_new = rb_intern("new");
}
