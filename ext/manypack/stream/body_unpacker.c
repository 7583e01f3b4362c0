/* Unpackers for the bodies of exts: how they start, end and are reused. */
#include "stream/body_unpacker.h"

#include "base/error.h"
#include "caches/ractor.h"
#include "stream/unpacker_object.h"

/* True if an Unpacker whose body has ended is idle, and user code has left no trace on the object. */
static bool
body_reusable_p(VALUE self, VALUE klass)
{
    const mp_stream *u = mp_typed_data(self);

    return !u->running && RBASIC_CLASS(self) == klass && u->more->flags == mp_flags(self);
}

static VALUE
body_unpacker_new(VALUE klass)
{
    VALUE self = mp_unpacker_allocate(klass);

    mp_stream_grow(mp_typed_data(self))->flags = mp_flags(self);
    return self;
}

VALUE
mp_unpacker_for_body(VALUE used, const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n,
                     size_t offset, const mp_outer *outer)
{
    VALUE klass = mp_class_of(&mp_cUnpacker, codec->options.of_gem);
    VALUE self = used && body_reusable_p(used, klass) ? used : body_unpacker_new(klass);
    mp_stream *u = mp_typed_data(self);

    mp_unpacker_set_codec(self, codec);
    mp_stream_restart(u);
    u->body = true;
    u->more->bodies++;
    u->body_type = type->type;
    u->more->outer = *outer;
    u->origin = offset;
    u->piece.at = at;
    u->piece.len = n;
    if (u->piece.str != source) RB_OBJ_WRITE(self, &u->piece.str, source);
    u->open = true;
    return self;
}

uint64_t
mp_unpacker_end_body(VALUE self, const mp_decoder *outer)
{
    mp_stream *u = mp_stream_get(self);
    mp_stream_more *more = u->more;
    size_t left = u->piece.len;
    bool whole = u->position == MP_AT_OBJECT && left == 0;

    u->open = false;
    if (more->refusing) {
        mp_buffer_close(more->refusing);
        more->refusing = 0;
    }
    if (!whole && left == 0) mp_raise_past_body(u->body_type, u->origin, mp_decoder_message(outer));
    if (!whole) mp_raise_unread_body(u->body_type, left, u->origin, mp_decoder_message(outer));
    return more->outer.objects;
}

/* Calls skip as a Ruby method: an error attributes its offset to the receiver of the running method. */
mp_body
mp_unpacker_take_body(VALUE self)
{
    const mp_stream *u = mp_unpacker_checked(self);
    VALUE source;
    mp_body body;

    mp_stream_get(self);
    if (!u->body) rb_raise(rb_eArgError, "expected an Unpacker of the body of an ext");
    source = u->piece.str;
    body = (mp_body){.codec = u->codec, .outer = u->more->outer, .number = u->more->bodies};
    body.bytes = rb_obj_freeze(rb_str_new(RSTRING_PTR(source) + u->piece.at, (long)u->piece.len));
    rb_funcall(self, rb_intern("skip"), 0);
    RB_GC_GUARD(source);
    return body;
}

void
mp_unpacker_count_in_body(VALUE self, uint64_t number, uint64_t objects)
{
    mp_stream_more *more = mp_unpacker_checked(self)->more;

    if (more->bodies == number) more->outer.objects += objects;
}

/* How many Unpackers for bodies nested in each other are kept. */
enum { SPARE_BODIES = 8 };

void
mp_unpacker_keep_for_bodies(VALUE self)
{
    VALUE one = self;
    int count;

    for (count = 1; one; count++) {
        mp_stream *u = mp_typed_data(one);
        u->piece.str = 0;
        mp_stream_set_aside(u);
        if (count == SPARE_BODIES) u->more->d.inner = 0;
        one = u->more->d.inner;
    }
    mp_ractor_current()->spares.body = self;
}
