/* Manypack::LazyRecord: the places of a Record's fields in a message, in one object. */
#include "record/lazy_record.h"

#include "codec/codec.h"

static void
lazy_mark(void *ptr)
{
    const mp_lazy_record *lazy = ptr;

    rb_gc_mark_movable(lazy->message);
    rb_gc_mark_movable(lazy->type);
    rb_gc_mark_movable(lazy->codec);
    rb_gc_mark_movable(lazy->view);
}

static void
lazy_compact(void *ptr)
{
    mp_lazy_record *lazy = ptr;

    lazy->message = rb_gc_location(lazy->message);
    lazy->type = rb_gc_location(lazy->type);
    lazy->codec = rb_gc_location(lazy->codec);
    lazy->view = rb_gc_location(lazy->view);
}

static size_t
lazy_size(uint32_t count)
{
    return sizeof(mp_lazy_record) + count * sizeof(uint32_t);
}

static size_t
lazy_memsize(const void *ptr)
{
    const mp_lazy_record *lazy = ptr;

    return mp_typed_memsize(lazy_size(lazy->count));
}

static const rb_data_type_t lazy_type = {
    .wrap_struct_name = "Manypack::LazyRecord",
    .function = {.dmark = lazy_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = lazy_memsize, .dcompact = lazy_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

const mp_lazy_record *
mp_lazy_record_get(VALUE self)
{
    const mp_lazy_record *lazy = rb_check_typeddata(self, &lazy_type);

    if (!RB_OBJ_FROZEN(self)) rb_raise(rb_eArgError, "uninitialized %" PRIsVALUE, rb_obj_class(self));
    return lazy;
}

VALUE
mp_lazy_record_new(const mp_record *record, const mp_lazy_record *part, const VALUE *offsets)
{
    VALUE self;
    mp_lazy_record *lazy;
    uint32_t i;

    self = rb_data_typed_object_zalloc(record->reader, lazy_size(record->count), &lazy_type);
    lazy = rb_check_typeddata(self, &lazy_type);
    RB_OBJ_WRITE(self, &lazy->message, part->message);
    RB_OBJ_WRITE(self, &lazy->type, part->type);
    RB_OBJ_WRITE(self, &lazy->codec, part->codec);
    if (part->view) RB_OBJ_WRITE(self, &lazy->view, part->view);
    lazy->record = record;
    lazy->start = part->start;
    lazy->end = part->end;
    lazy->count = record->count;
    for (i = 0; i < record->count; i++) {
        /* Not FIX2LONG: where a Fixnum has 31 bits, it would take the highest bit for the sign. */
        lazy->offsets[i] = offsets[i] == Qundef ? MP_LAZY_MISSING : (uint32_t)(offsets[i] >> 1);
    }
    RB_OBJ_FREEZE(self);
    return self;
}

bool
mp_lazy_record_of_p(VALUE object, const mp_record *record)
{
    if (record->form != MP_FORM_LAZY || !rb_typeddata_is_kind_of(object, &lazy_type)) return false;
    if (RBASIC_CLASS(object) == record->reader) return true;
    return RTEST(rb_equal(record->object, mp_lazy_record_get(object)->record->object));
}

/*
 * call-seq: lazy.record -> record
 *
 * Returns the Record that it was loaded with.
 *
 *   user.record #=> #<Manypack::Record User as lazy id: Integer, name: String>
 */
static VALUE
rb_lazy_record(VALUE self)
{
    return mp_lazy_record_get(self)->record->object;
}

/*
 * call-seq: lazy.bytes -> String
 *
 * Returns the bytes of its map in the message.
 *
 *   user.bytes #=> "\x82\xA2id\x01\xA4name\xA3Ada"
 */
VALUE
mp_lazy_record_bytes(VALUE self)
{
    const mp_lazy_record *lazy = mp_lazy_record_get(self);

    return rb_str_subseq(lazy->message, (long)lazy->start, (long)(lazy->end - lazy->start));
}

void
Init_manypack_lazy_record(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cLazyRecord;

    cLazyRecord = rb_define_class_under(mManypack, "LazyRecord", rb_cObject);
    rb_undef_alloc_func(cLazyRecord);
    rb_undef_method(cLazyRecord, "initialize_copy");
    rb_define_method(cLazyRecord, "record", rb_lazy_record, 0);
    rb_define_method(cLazyRecord, "bytes", mp_lazy_record_bytes, 0);
    /* for the class itself: members may be named record and bytes */
    rb_define_protected_method(cLazyRecord, "__record__", rb_lazy_record, 0);
    rb_define_protected_method(cLazyRecord, "__bytes__", mp_lazy_record_bytes, 0);
}
