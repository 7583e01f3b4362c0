/* Manypack::LazyRecord: reads a field, or all of them. */
#include "record/lazy_record.h"
#include "record/load.h"
#include "record/record_made.h"

/* Starts to load from the part of the message that has the LazyRecord. */
static void
start_part(mp_loader *l, mp_value_words *words, const mp_lazy_record *lazy)
{
    mp_loader_init(l, words, lazy->message, lazy->start, lazy->type, lazy->codec);
    l->view = lazy->view;
}

/* Loads the value of field i, which is not missing. */
static VALUE
load_field(mp_loader *l, const mp_lazy_record *lazy, uint32_t i)
{
    l->d.at = l->d.start + lazy->offsets[i];
    l->field = i;
    return mp_load_value(l, lazy->record->fields[i].shape);
}

/*
 * Loads all fields. The keys are not read again: unknown keys were skipped or refused when the LazyRecord was made.
 */
static VALUE
load_all(const mp_lazy_record *lazy)
{
    mp_value_words words;
    mp_record_walk walk;
    mp_loader l;
    VALUE object;
    uint32_t i;

    start_part(&l, &words, lazy);
    mp_record_open(&l, &walk, lazy->record);
    for (i = 0; i < lazy->count; i++) {
        if (lazy->offsets[i] == MP_LAZY_MISSING) continue;
        walk.place.key = lazy->record->fields[i].key;
        mp_record_set(&l, &walk, i, load_field(&l, lazy, i));
    }
    l.field = MP_FIELD_NONE;
    object = mp_record_made(&l, &walk);
    mp_record_close(&l, &walk);
    mp_loader_end(&l);
    return object;
}

/*
 * Fast path (records/1,000 rows) without a loader for the most frequent field, a str that becomes a new String. Qundef:
 * take the slow path. Loading lazily and reading three such fields takes 1.10 times as long without it.
 */
MP_INLINE VALUE
read_at_once(const mp_lazy_record *lazy, uint32_t i)
{
    const mp_options *options = &mp_codec_get(lazy->codec)->options;
    const uint8_t *start = (const uint8_t *)RSTRING_PTR(lazy->message);
    const uint8_t *p = start + lazy->offsets[i], *end = start + lazy->end;
    mp_wire_row row;
    uint32_t n;

    if (lazy->record->fields[i].shape->kind != MP_SHAPE_STRING || options->freeze || options->shareable) return Qundef;
    if (mp_row_read(p, end, &row) != MP_OK || row.kind != MP_STR) return Qundef;
    n = mp_row_count(p, row);
    if (!mp_payload_present_p(p + row.head, n, end)) return Qundef;
    return rb_enc_str_new((const char *)p + row.head, n, mp_utf8);
}

static VALUE
read_lazy_field(const mp_lazy_record *lazy, uint32_t i)
{
    mp_place place = {.key = lazy->record->fields[i].key};
    VALUE object = read_at_once(lazy, i);
    mp_value_words words;
    mp_loader l;

    if (MP_LIKELY(object != Qundef)) return object;
    start_part(&l, &words, lazy);
    l.place = &place;
    l.record = lazy->record;
    object = load_field(&l, lazy, i);
    mp_loader_end(&l);
    return object;
}

/* Finds the default that the class's own initialize gives a missing field. */
static VALUE
own_default(const mp_lazy_record *lazy, const mp_field *field)
{
    VALUE object = load_all(lazy), klass = lazy->record->klass;

    if (RTEST(rb_obj_is_kind_of(object, klass))) return mp_instance_get(lazy->record, object, field);
    rb_raise(rb_eTypeError, "%" PRIsVALUE ".new returned an instance of %" PRIsVALUE, klass, rb_obj_class(object));
}

/* Calls the default of field i. As in loading, its exceptions become RecordErrors. */
static VALUE
called_default(const mp_lazy_record *lazy, uint32_t i)
{
    mp_value_words words;
    mp_record_walk walk;
    mp_loader l;
    VALUE object;
    uint32_t other;

    start_part(&l, &words, lazy);
    mp_record_open(&l, &walk, lazy->record);
    for (other = 0; other < lazy->count; other++) {
        if (other != i) mp_record_set(&l, &walk, other, Qnil);
    }
    l.place = walk.place.up;
    mp_record_defaults(&l, &walk);
    object = mp_record_values(&l, &walk)[i];
    mp_record_close(&l, &walk);
    mp_loader_end(&l);
    return object;
}

/* call-seq: lazy.__field__(index) -> object: decodes the value of a field, or finds its default if it is missing */
static VALUE
rb_lazy_field(VALUE self, VALUE index)
{
    const mp_lazy_record *lazy = mp_lazy_record_get(self);
    VALUE message = lazy->message, codec = lazy->codec, object; /* on the stack, so that they do not move */
    const mp_field *field;
    uint32_t i = NUM2UINT(index);

    if (i >= lazy->count) rb_raise(rb_eIndexError, "index %" PRIu32 " outside of the fields", i);
    field = &lazy->record->fields[i];
    if (lazy->offsets[i] != MP_LAZY_MISSING) object = read_lazy_field(lazy, i);
    else if (field->default_value == Qundef) object = own_default(lazy, field);
    else object = field->called ? called_default(lazy, i) : field->default_value;
    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    RB_GC_GUARD(codec);
    return object;
}

/* call-seq: lazy.__load__ -> object: decodes all fields into an object */
static VALUE
rb_lazy_load(VALUE self)
{
    const mp_lazy_record *lazy = mp_lazy_record_get(self);
    VALUE codec = lazy->codec, object = load_all(lazy);

    RB_GC_GUARD(self);
    RB_GC_GUARD(codec);
    return object;
}

void
Init_manypack_lazy_read(void)
{
    VALUE cLazyRecord = mp_const("Manypack::LazyRecord");

    rb_define_private_method(cLazyRecord, "__field__", rb_lazy_field, 1);
    rb_define_private_method(cLazyRecord, "__load__", rb_lazy_load, 0);
}
