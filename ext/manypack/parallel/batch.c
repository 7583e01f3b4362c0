/* Manypack::Parallel::Batch: unpacks the messages of a batch one by one, until a Stop is set. */
#include <ruby/atomic.h>

#include "base/error.h"
#include "unpack/decode.h"

/* --- Manypack::Parallel::Stop ------------------------------------------------------------------------ */

/* A flag that is set at most once. The only mutable state that the Ractors of a run share. */
typedef struct {
    rb_atomic_t set;
} mp_stop;

static size_t
stop_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_stop));
}

/* Without a mark function, because it refers to no object. */
static const rb_data_type_t stop_type = {
    .wrap_struct_name = "Manypack::Parallel::Stop",
    .function = {.dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = stop_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* The pointer is valid while the caller has the object on its stack. */
static mp_stop *
stop_get(VALUE self)
{
    mp_stop *stop;

    TypedData_Get_Struct(self, mp_stop, &stop_type, stop);
    return stop;
}

/* A plain read, once for each message. A Ractor that sees the flag late unpacks one more message. */
static bool
stopped_p(VALUE self)
{
    return *(volatile rb_atomic_t *)&stop_get(self)->set != 0;
}

/* call-seq: Stop.new -> stop, not set; frozen and shareable */
static VALUE
rb_stop_s_new(VALUE klass)
{
    mp_stop *stop;

    return mp_obj_set_shareable(rb_obj_freeze(TypedData_Make_Struct(klass, mp_stop, &stop_type, stop)));
}

/* call-seq: stop.set -> true or false: false if it was set before */
static VALUE
rb_stop_set(VALUE self)
{
    return RUBY_ATOMIC_EXCHANGE(stop_get(self)->set, 1) ? Qfalse : Qtrue;
}

/* call-seq: stop.set? -> true or false */
static VALUE
rb_stop_set_p(VALUE self)
{
    return stopped_p(self) ? Qtrue : Qfalse;
}

/* --- Manypack::Parallel::Batch ----------------------------------------------------------------------- */

typedef struct {
    VALUE bytes;        /* a frozen String */
    size_t start, size; /* the messages in bytes; the last one may be incomplete */
    VALUE codec, stop;
    size_t origin; /* offset of the first byte in the whole input */
    size_t offset; /* offset of the current message in the whole input */
    size_t length; /* size of the current message */
    size_t passed; /* messages before the current one */
} mp_batch;

static void
batch_mark(void *ptr)
{
    const mp_batch *batch = ptr;

    rb_gc_mark_movable(batch->bytes);
    rb_gc_mark_movable(batch->codec);
    rb_gc_mark_movable(batch->stop);
}

static void
batch_compact(void *ptr)
{
    mp_batch *batch = ptr;

    batch->bytes = rb_gc_location(batch->bytes);
    batch->codec = rb_gc_location(batch->codec);
    batch->stop = rb_gc_location(batch->stop);
}

static size_t
batch_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_batch));
}

/* Not shareable: it holds the position of one Ractor. */
static const rb_data_type_t batch_type = {
    .wrap_struct_name = "Manypack::Parallel::Batch",
    .function =
        {.dmark = batch_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = batch_memsize, .dcompact = batch_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static mp_batch *
batch_get(VALUE self)
{
    mp_batch *batch;

    TypedData_Get_Struct(self, mp_batch, &batch_type, batch);
    return batch;
}

/*
 * call-seq: Batch.new(bytes, start, size, offset, codec, stop) -> batch
 *
 * Creates a Batch of the `size` bytes from `start` on of a String. offset is that of the first byte in the whole input.
 * RangeError if the String has fewer bytes.
 */
static VALUE
rb_batch_s_new(VALUE klass, VALUE bytes, VALUE first, VALUE length, VALUE offset, VALUE codec, VALUE stop)
{
    mp_batch *batch;
    VALUE self;
    size_t start = NUM2SIZET(first), size = NUM2SIZET(length), origin = NUM2SIZET(offset);

    Check_Type(bytes, T_STRING);
    if (start > (size_t)RSTRING_LEN(bytes) || size > (size_t)RSTRING_LEN(bytes) - start) {
        rb_raise(rb_eRangeError, "%" PRIuSIZE " bytes from byte %" PRIuSIZE " on expected, the String has %ld",
                 size, start, RSTRING_LEN(bytes));
    }
    mp_codec_get(codec);
    stop_get(stop);
    self = TypedData_Make_Struct(klass, mp_batch, &batch_type, batch);
    RB_OBJ_WRITE(self, &batch->bytes, rb_str_new_frozen(bytes));
    RB_OBJ_WRITE(self, &batch->codec, codec);
    RB_OBJ_WRITE(self, &batch->stop, stop);
    batch->start = start;
    batch->size = size;
    batch->origin = batch->offset = origin;
    return self;
}

/* Unpacks the next message. Raises what unpacking it alone would raise. */
static VALUE
message_read(mp_decoder *d, size_t max_bytes)
{
    const uint8_t *start = d->at;
    size_t offset = d->origin + (size_t)(d->at - d->start), size;
    VALUE obj = mp_decode_on(d);

    size = (size_t)((obj == Qundef ? d->end : d->at) - start);
    if (MP_UNLIKELY(size > max_bytes)) mp_raise_max_bytes(max_bytes, size, offset + max_bytes, mp_decoder_message(d));
    if (MP_UNLIKELY(obj == Qundef)) {
        mp_blame blame = mp_decoder_blame(d, d->at);
        blame.complete = offset;
        mp_raise_status(MP_E_TRUNCATED, blame);
    }
    return obj;
}

/* call-seq: batch.each { |object| ... } -> nil; yields each message until stop is set */
static VALUE
rb_batch_each(VALUE self)
{
    mp_batch *batch = batch_get(self);
    const mp_codec *codec = mp_codec_get(batch->codec);
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    mp_decoder_init(&d, codec, &words);
    d.origin = batch->origin;
    batch->passed = 0;
    mp_decoder_source(&d, batch->bytes, (const uint8_t *)RSTRING_PTR(batch->bytes) + batch->start, batch->size);
    while (d.at != d.end && !stopped_p(batch->stop)) {
        batch->offset = d.origin + (size_t)(d.at - d.start);
        mp_decoder_restart(&d, batch->offset);
        obj = message_read(&d, codec->options.max_bytes);
        batch->length = d.origin + (size_t)(d.at - d.start) - batch->offset;
        rb_yield(obj);
        batch->passed++;
    }
    mp_decoder_cleanup(&d);
    RB_GC_GUARD(self);
    return Qnil;
}

/* call-seq: batch.offset -> Integer: where the current or last message of `each` starts in the whole input */
static VALUE
rb_batch_offset(VALUE self)
{
    return SIZET2NUM(batch_get(self)->offset);
}

/* call-seq: batch.message -> String: the bytes of the message that `each` has yielded last */
static VALUE
rb_batch_message(VALUE self)
{
    const mp_batch *batch = batch_get(self);
    size_t start = batch->start + batch->offset - batch->origin;

    return rb_str_substr(batch->bytes, (long)start, (long)batch->length);
}

/* call-seq: batch.passed -> Integer: how many messages of the batch come before that message */
static VALUE
rb_batch_passed(VALUE self)
{
    return SIZET2NUM(batch_get(self)->passed);
}

void
Init_manypack_batch(void)
{
    VALUE mParallel = rb_define_module_under(mp_mManypack, "Parallel");
    VALUE cStop = rb_define_class_under(mParallel, "Stop", rb_cObject);
    VALUE cBatch = rb_define_class_under(mParallel, "Batch", rb_cObject);

    rb_undef_alloc_func(cStop);
    rb_define_singleton_method(cStop, "new", rb_stop_s_new, 0);
    rb_define_method(cStop, "set", rb_stop_set, 0);
    rb_define_method(cStop, "set?", rb_stop_set_p, 0);

    rb_undef_alloc_func(cBatch);
    rb_define_singleton_method(cBatch, "new", rb_batch_s_new, 6);
    rb_define_method(cBatch, "each", rb_batch_each, 0);
    rb_define_method(cBatch, "offset", rb_batch_offset, 0);
    rb_define_method(cBatch, "passed", rb_batch_passed, 0);
    rb_define_method(cBatch, "message", rb_batch_message, 0);
}
