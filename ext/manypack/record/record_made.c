/* Makes the object of a Record whose values are loaded: gives missing fields their defaults, and applies rules. */
#include "record/record_made.h"

#include "record/lazy_record.h"
#include "record/load_scalar.h"
#include "record/record_error.h"
#include "unpack/key_flood.h"
#include "unpack/objects.h"

/* --- unknown pairs ---------------------------------------------------------------------------------- */

/* Makes the Hash of unknown pairs for its field. Keys other than Strings, Symbols and Integers may run user code. */
static void
take_rest(mp_loader *l, mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    size_t first = walk->first + record->count, n = l->count - first;
    int exceeded;

    if (mp_record_values(l, walk)[record->into] != Qundef) return;
    exceeded = walk->keys_may_collide ? mp_same_hash_exceeded(n, l->d.stack.values + first) : 0;
    if (exceeded) mp_raise_same_hash((size_t)exceeded, mp_decoder_offset(&l->d, l->d.at));
    mp_record_set(l, walk, record->into, mp_hash_new(&l->d, n, l->d.stack.values + first));
    l->count = first;
}

/* Checks the Hash of unknown pairs by the rules of its member. */
static void
check_rest(mp_loader *l, mp_record_walk *walk)
{
    uint32_t i, into = walk->record->into;
    const mp_shape *shape = walk->record->fields[into].shape;
    VALUE rest;

    if (l->kept != walk->errors) return;
    for (i = 0; shape->kind == MP_SHAPE_ANY_OF && i < shape->count; i++) {
        if (shape->parts[i]->kind == MP_SHAPE_RULED) shape = shape->parts[i];
    }
    if (shape->kind != MP_SHAPE_RULED) return;
    l->field = into;
    rest = mp_load_ruled(l, &shape->rules, mp_record_values(l, walk)[into], walk->at);
    if (rest != Qundef) mp_record_set(l, walk, into, rest);
    else mp_record_broken(l, l->broken, l->broken_error, walk->at);
    l->field = MP_FIELD_NONE;
}

/* --- missing fields --------------------------------------------------------------------------------- */

/*
 * True if the class's own constructor has a default for a missing field, and the Record has none. A positional default
 * counts only if all arguments after it are missing, too.
 */
static bool
own_default_p(const mp_record *record, mp_constructor constructor, const VALUE *values, uint32_t field)
{
    const mp_field *one = &record->fields[field], *other = record->fields;
    uint32_t i;

    if (!constructor.optional || one->default_value != Qundef) return false;
    if (!RTEST(rb_ary_includes(constructor.optional, one->name))) return false;
    for (i = 0; constructor.build == MP_BUILD_NEW && i < record->count; i++, other++) {
        if (other->slot > one->slot && (values[i] != Qundef || other->default_value != Qundef)) return false;
    }
    return true;
}

/* Reports missing fields without a default. */
static MP_NOINLINE void
check_missing(mp_loader *l, const mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    mp_constructor constructor = mp_instance_constructor(record);
    const VALUE *values = mp_record_values(l, walk);
    uint32_t i, tag = walk->tag_keys != NULL; /* of an array, its first element */

    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef || record->fields[i].default_value != Qundef) continue;
        if (l->eager && record->fields[i].load_only) continue;
        if (!own_default_p(record, constructor, values, i)) mp_record_missing(l, i, i + tag, walk->at);
    }
    RB_GC_GUARD(constructor.optional);
}

typedef struct {
    mp_loader *l;
    const mp_record_walk *walk;
    mp_build build; /* for new_instance */
} instance_call;

/* Reports a StandardError that the class raised as a RecordError: the class refuses the values. */
static VALUE
refused(VALUE arg, VALUE error)
{
    const instance_call *call = (const instance_call *)arg;

    mp_record_refused(call->l, "constructor", error, call->walk->at);
    return Qnil;
}

static VALUE
call_defaults(VALUE arg)
{
    const instance_call *call = (const instance_call *)arg;
    const mp_record *record = call->walk->record;
    uint32_t i;

    for (i = 0; i < record->count; i++) {
        VALUE value;

        if (!record->fields[i].called || mp_record_values(call->l, call->walk)[i] != Qundef) continue;
        value = rb_funcall(record->fields[i].default_value, rb_intern("call"), 0);
        value = mp_seal_foreign(mp_loader_options(call->l), value);
        mp_record_values(call->l, call->walk)[i] = value;
    }
    return Qnil;
}

MP_NOINLINE void
mp_record_defaults(mp_loader *l, const mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    instance_call arg = {.l = l, .walk = walk};
    VALUE *values;
    uint32_t i;

    check_missing(l, walk);
    values = mp_record_values(l, walk);
    for (i = 0; i < record->count; i++) {
        if (values[i] == Qundef && !record->fields[i].called) values[i] = record->fields[i].default_value;
    }
    if (!record->calls || l->kept != walk->errors) return;
    rb_rescue2(call_defaults, (VALUE)&arg, refused, (VALUE)&arg, rb_eStandardError, (VALUE)0);
}

/* --- objects ---------------------------------------------------------------------------------------- */

/* How objects of the Record are made, looked up once for each message if the class has no constructor of its own. */
MP_INLINE mp_build
build_of(mp_loader *l, const mp_record *record)
{
    const mp_record **filled = &l->filled[(uintptr_t)record / sizeof(*record) % MP_LOADER_FILLED];
    mp_build build;

    if (MP_LIKELY(*filled == record)) return record->build;
    build = mp_instance_constructor(record).build;
    if (build == record->build) *filled = record;
    return build;
}

/* True if a load_only field is missing, as when dump checks its bytes. Other fields have values or defaults. */
static bool
lacks_value_p(const mp_loader *l, const mp_record_walk *walk)
{
    uint32_t i;

    for (i = 0; i < walk->record->count; i++) {
        if (walk->record->fields[i].load_only && mp_record_values(l, walk)[i] == Qundef) return true;
    }
    return false;
}

static VALUE
new_instance(VALUE arg)
{
    const instance_call *call = (const instance_call *)arg;

    return mp_instance_new(call->walk->record, call->build, mp_record_values(call->l, call->walk));
}

static VALUE
call_for_instance(mp_loader *l, const mp_record_walk *walk, mp_build build)
{
    const mp_options *options = mp_loader_options(l);
    instance_call call = {l, walk, build};

    if (MP_UNLIKELY(l->kept != walk->errors)) return Qnil; /* keep wrong values from user code */
    if (MP_UNLIKELY(l->eager) && walk->missing && lacks_value_p(l, walk)) {
        l->kept++;
        return Qnil;
    }
    if (build == MP_BUILD_STRUCT || build == MP_BUILD_DATA) return mp_seal(options, new_instance((VALUE)&call));
    if (build == MP_BUILD_IVARS) return mp_seal_foreign(options, new_instance((VALUE)&call));
    return mp_seal_foreign(options, rb_rescue2(new_instance, (VALUE)&call, refused, (VALUE)&call, rb_eStandardError,
                                               (VALUE)0));
}

VALUE
mp_record_made(mp_loader *l, mp_record_walk *walk)
{
    VALUE object;

    l->place = walk->place.up; /* errors from here on have the path of the Record as a whole */
    if (MP_UNLIKELY(walk->record->into != MP_FIELD_NONE)) {
        take_rest(l, walk);
        check_rest(l, walk);
    }
    if (MP_UNLIKELY(walk->missing)) mp_record_defaults(l, walk);
    object = call_for_instance(l, walk, build_of(l, walk->record));
    if (MP_LIKELY(!walk->record->rules) || l->kept != walk->errors) return object;
    object = mp_load_ruled(l, walk->record->rules, object, walk->at);
    if (MP_LIKELY(object != Qundef)) return object;
    mp_record_broken(l, l->broken, l->broken_error, walk->at);
    return Qnil;
}

/* Makes the message and the Type shareable, too. That calls freeze on defaults in the Type, which may be user code. */
static VALUE
seal_lazy(mp_loader *l, VALUE lazy)
{
    if (MP_UNLIKELY(mp_loader_options(l)->shareable)) mp_seal_foreign(mp_loader_options(l), lazy);
    return lazy; /* it is frozen already */
}

VALUE
mp_record_made_lazy(mp_loader *l, const mp_record_walk *walk)
{
    size_t end = (size_t)(l->d.at - l->d.start);
    mp_lazy_record part = {.message = l->d.source, .type = l->type, .codec = l->d.codec->object,
                           .start = (uint32_t)(walk->at - l->d.start), .end = (uint32_t)end};

    l->place = walk->place.up;
    if (MP_UNLIKELY(walk->missing)) check_missing(l, walk);
    if (MP_UNLIKELY(l->kept != walk->errors)) return Qnil;
    if (end > UINT32_MAX) rb_raise(rb_eRangeError, "a lazy Record must be in the first 4 GiB of its message");
    if (walk->record->views) part.view = mp_load_view_root(l);
    return seal_lazy(l, mp_lazy_record_new(walk->record, &part, mp_record_values(l, walk)));
}
