/* Makes objects of the classes of Records. initialize runs only if the class defines its own. */
#include "record/instance.h"

#include "unpack/decoder.h"

static ID id_new, id_initialize;

/* --- how they are made ------------------------------------------------------------------------------ */

/* The arity of Class#new and BasicObject#initialize. */
enum { ANY_ARGUMENTS = -1 };

/*
 * True if objects are made without a constructor of the class. Costs two method look-ups.
 * A class can get a constructor at any time. Ruby tells quickly whether initialize is its own, but not whether new is:
 * so new is looked up when the first object is made, and later only its arity is compared.
 */
static bool
filled_p(const mp_record *record)
{
    if (record->build >= MP_BUILD_IVARS) return record->build == MP_BUILD_IVARS;
    return rb_method_basic_definition_p(record->klass, id_initialize) && record->new_seen &&
           rb_obj_method_arity(record->klass, id_new) == ANY_ARGUMENTS;
}

/* How many classes with their own constructors a Ractor remembers. */
enum { CONSTRUCTORS_MAX = 256 };

/* The indices of the Array in which a class is remembered. */
enum { BUILD, OPTIONAL, ARITY_OF_NEW, ARITY_OF_INITIALIZE };

static VALUE
constructors(void)
{
    VALUE all = mp_ractor_seldom()->constructors;

    if (all) return all;
    all = rb_obj_hide(rb_funcall(rb_hash_new(), rb_intern("compare_by_identity"), 0));
    return mp_ractor_seldom()->constructors = all;
}

/*
 * A Struct or a Data is remembered by its class, for all its Records; any other class by the Record, for its members.
 */
static VALUE
instance_key(const mp_record *record)
{
    return mp_instance_read_p(record) ? record->object : record->klass;
}

/* Asks Ruby code how to make an object of the class, and remembers it if the class has a constructor of its own. */
static VALUE
find_constructor(const mp_record *record, VALUE new_arity, VALUE initialize_arity)
{
    VALUE found = rb_funcall(record->object, rb_intern("constructor"), 0), all = constructors();
    mp_build build = mp_build_of(rb_ary_entry(found, BUILD));

    found = rb_ary_new_from_args(4, INT2FIX(build), rb_ary_entry(found, OPTIONAL), new_arity, initialize_arity);
    if (build < MP_BUILD_IVARS) {
        *(bool *)&record->new_seen = true;
    } else {
        if (RHASH_SIZE(all) >= CONSTRUCTORS_MAX) rb_hash_clear(all);
        rb_hash_aset(all, instance_key(record), found);
    }
    return found;
}

mp_constructor
mp_instance_constructor(const mp_record *record)
{
    VALUE found, new_arity, initialize_arity;

    if (MP_LIKELY(filled_p(record))) return (mp_constructor){.build = record->build};
    new_arity = INT2NUM(rb_obj_method_arity(record->klass, id_new));
    initialize_arity = INT2NUM(rb_mod_method_arity(record->klass, id_initialize));
    found = rb_hash_lookup(constructors(), instance_key(record));
    if (NIL_P(found) || RARRAY_AREF(found, ARITY_OF_NEW) != new_arity ||
        RARRAY_AREF(found, ARITY_OF_INITIALIZE) != initialize_arity) {
        found = find_constructor(record, new_arity, initialize_arity);
    }
    return (mp_constructor){.build = (mp_build)FIX2INT(RARRAY_AREF(found, BUILD)),
                            .optional = RARRAY_AREF(found, OPTIONAL)};
}

/* --- making them ------------------------------------------------------------------------------------ */

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

    for (i = 0; i < record->count; i++) rb_ivar_set(object, record->fields[i].reader, values[i]);
    return object;
}

/* Calls klass.new; without a method call, if that is Class#new. */
static VALUE
construct(VALUE klass, int argc, const VALUE *argv, int keywords)
{
    if (rb_method_basic_definition_p(CLASS_OF(klass), id_new)) {
        return rb_class_new_instance_kw(argc, argv, klass, keywords);
    }
    return rb_funcallv_kw(klass, id_new, argc, argv, keywords);
}

/* Calls klass.new with the values in the order of the class's members, up to the last value that is present. */
static VALUE
call_new(const mp_record *record, const VALUE *values)
{
    VALUE arguments = rb_obj_hide(rb_ary_new_capa(record->count)), object;
    uint32_t i;

    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef) rb_ary_store(arguments, record->fields[i].slot, values[i]);
    }
    object = construct(record->klass, RARRAY_LENINT(arguments), RARRAY_CONST_PTR(arguments), RB_NO_KEYWORDS);
    RB_GC_GUARD(arguments);
    return object;
}

/* Calls klass.new with keywords. Needs no Hash if no value is missing and the Record has a maker. */
static VALUE
call_new_with_keywords(const mp_record *record, const VALUE *values)
{
    VALUE keywords;
    uint32_t i = 0;

    while (i < record->count && values[i] != Qundef) i++;
    if (i == record->count && RTEST(record->maker)) {
        return rb_funcallv(record->maker, rb_intern("make"), (int)i, values);
    }
    keywords = rb_hash_new();
    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef) rb_hash_aset(keywords, record->fields[i].name, values[i]);
    }
    return construct(record->klass, 1, &keywords, RB_PASS_KEYWORDS);
}

VALUE
mp_instance_new(const mp_record *record, mp_build build, const VALUE *values)
{
    switch (build) {
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
    id_initialize = rb_intern("initialize");
}
