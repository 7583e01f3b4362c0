/* Reads one object from an io and leaves the bytes after it there. The Ractor keeps a spare Unpacker for that. */
#include "stream/unpack_io.h"

#include "base/io.h"
#include "base/user_code.h"
#include "caches/ractor.h"
#include "stream/unpacker_object.h"
#include "stream/unpacker_read.h"

/* Frozen, so that a block cannot add ext types or instance variables. */
static VALUE
spare_new(VALUE klass, VALUE io, bool of_gem)
{
    VALUE self = mp_unpacker_allocate(klass);

    mp_unpacker_set_buffer(self, mp_buffer_new(io, Qnil, of_gem));
    mp_stream_grow(mp_typed_data(self)); /* now, because the spare must not grow later */
    return rb_obj_freeze(self);
}

/* The spare Unpacker of the Ractor, or a new one, with an io or without. */
static VALUE
borrow(const mp_codec *codec, VALUE io)
{
    VALUE self = mp_spare_take(&mp_ractor_current()->spares.unpacker);
    VALUE klass = mp_class_of(&mp_cUnpacker, codec->options.of_gem);
    mp_stream *u;

    if (MP_LIKELY(self && RBASIC_CLASS(self) == klass)) mp_buffer_reopen(mp_unpacker_buffer(self), io);
    else self = spare_new(klass, io, codec->options.of_gem);
    u = mp_typed_data(self);
    mp_unpacker_set_codec(self, codec);
    u->open = true;
    return self;
}

/* For Pool#unpacker. */
static VALUE
rb_pool_borrow_unpacker(VALUE pool, VALUE codec)
{
    return borrow(mp_codec_get(codec), Qnil);
}

/* Makes an Unpacker the spare one, unless user code is still inside one of its methods. */
static void
give_back(VALUE self)
{
    mp_stream *u = mp_unpacker_checked(self);
    bool kept;

    if (!u->buffer || u->running || (u->more && u->more->yields)) return;
    if (!mp_loan_free_p(&mp_buffer_get(u->buffer)->loan)) return;
    kept = mp_buffer_set_aside(u->buffer);
    mp_stream_restart(u);
    mp_stream_set_aside(u);
    if (MP_LIKELY(kept)) mp_ractor_current()->spares.unpacker = self;
}

static VALUE
rb_pool_give_back_unpacker(VALUE pool, VALUE unpacker)
{
    give_back(unpacker);
    return Qnil;
}

/* One call of mp_unpacker_read_one. */
typedef struct {
    VALUE self, io;
    bool takes_back;
    bool done;
} one_read;

static VALUE
read_the_one(VALUE arg)
{
    one_read *one = (one_read *)arg;
    VALUE obj = mp_unpacker_read(one->self, mp_stream_get(one->self));

    one->done = true;
    return obj;
}

/* Gives the bytes after the object back to the io. */
static void
give_back_rest(const one_read *one)
{
    VALUE buffer = mp_unpacker_buffer(one->self);

    if (!one->takes_back || !mp_buffer_get(buffer)->bytes.size) return;
    mp_io_take_back(one->io, mp_buffer_take_all(buffer));
}

/* Skips the rest of the failed object, if its end can be found, and gives the bytes after it back to the io. */
static VALUE
skip_failed(VALUE arg)
{
    const one_read *one = (const one_read *)arg;
    const mp_stream *u = mp_stream_get(one->self);

    if (mp_stream_sticky_error(u)) return Qnil;
    mp_unpacker_skip_failed(one->self);
    if (u->position == MP_AT_OBJECT && !mp_stream_pending_p(u)) give_back_rest(one);
    return Qnil;
}

/*
 * Called when the read has ended. If it failed, skips the rest of the object; an error of the skip is dropped, but an
 * interrupt is not. If the read was interrupted, skips only bytes that have arrived: it does not wait for the io again.
 */
static VALUE
read_the_one_ended(VALUE arg)
{
    const one_read *one = (const one_read *)arg;
    const mp_stream *u = mp_typed_data(one->self);
    int state;

    if (MP_LIKELY(one->done) || u->running) return Qnil;
    if (!rb_obj_is_kind_of(mp_user_error(), rb_eStandardError)) mp_buffer_get(u->buffer)->io = Qnil;
    rb_protect(skip_failed, arg, &state);
    if (state && !rb_obj_is_kind_of(mp_user_error(), rb_eStandardError)) rb_jump_tag(state);
    return Qnil; /* rb_ensure restores the first error */
}

VALUE
mp_unpacker_read_one(VALUE self, VALUE io)
{
    one_read one = {.self = self, .io = io, .takes_back = mp_io_takes_back_p(io)};
    mp_stream *u = mp_stream_get(self);
    VALUE buffer = mp_unpacker_buffer(self), obj;

    if (!one.takes_back) mp_buffer_get(buffer)->reads_exactly = true;
    if (!mp_stream_read_more(u, 1)) mp_stream_raise_truncated(u);
    obj = rb_ensure(read_the_one, (VALUE)&one, read_the_one_ended, (VALUE)&one);
    give_back_rest(&one);
    return obj;
}

VALUE
mp_unpack_io(VALUE io, const mp_codec *codec)
{
    VALUE self = borrow(codec, io), obj = mp_unpacker_read_one(self, io);

    give_back(self); /* after an error it is left to the collector */
    return obj;
}

/* True if the Unpacker has an io, and holds no bytes or unfinished object from it. */
static bool
io_untouched_p(const mp_stream *u)
{
    return u->buffer && !NIL_P(mp_buffer_get(u->buffer)->io) && !mp_stream_size(u) && !mp_stream_pending_p(u);
}

void
mp_unpacker_leave_rest(VALUE unpacker)
{
    mp_stream *u = mp_unpacker_p(unpacker) ? mp_unpacker_checked(unpacker) : NULL;

    if (u && io_untouched_p(u)) mp_stream_grown(u)->leaves_rest = true;
}

bool
mp_unpacker_leaves_rest(mp_stream *u)
{
    if (MP_LIKELY(!u->more || !u->more->leaves_rest)) return false;
    u->more->leaves_rest = false;
    return io_untouched_p(u); /* user code may have read */
}

/* call-seq: Internal.read_one(unpacker, io) -> object: reads a new Unpacker's io as Manypack.unpack does */
static VALUE
rb_internal_read_one(VALUE self, VALUE unpacker, VALUE io)
{
    mp_unpacker_checked(unpacker);
    mp_stream_for_change(unpacker);
    return mp_unpacker_read_one(unpacker, io);
}

void
Init_manypack_unpack_io(void)
{
    VALUE cFactory = rb_define_class_under(mp_mManypack, "Factory", rb_cObject);
    VALUE cPool = rb_define_class_under(cFactory, "Pool", rb_cObject);

    rb_define_private_method(cPool, "borrow_unpacker", rb_pool_borrow_unpacker, 1);
    rb_define_private_method(cPool, "give_back_unpacker", rb_pool_give_back_unpacker, 1);
    MP_DEFINE_INTERNAL("read_one", rb_internal_read_one, 2);
}
