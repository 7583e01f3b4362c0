/* Unpackers for the bodies of exts: how they start, end and are reused. */
#include "stream/body_unpacker.h"

#include "base/error.h"
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

/* Takes a spare Unpacker for a body, or makes one. */
static VALUE
take_spare(mp_spares *spares, VALUE klass)
{
    VALUE self = spares->body;
    mp_stream_more *more;

    if (MP_UNLIKELY(!self)) return body_unpacker_new(klass);
    more = ((const mp_stream *)mp_typed_data(self))->more;
    spares->body = more->next;
    spares->bodies--;
    more->next = 0;
    return MP_LIKELY(body_reusable_p(self, klass)) ? self : body_unpacker_new(klass);
}

/* How many Unpackers for bodies are kept. They may be nested in each other. */
enum { SPARE_BODIES = 8 };

/* Keeps an Unpacker whose body has ended. */
static void
keep_spare(mp_spares *spares, VALUE self, mp_stream *u)
{
    u->piece.str = 0;
    if (spares->bodies == SPARE_BODIES) return;
    mp_stream_set_aside(u);
    if (spares->body) RB_OBJ_WRITE(self, &u->more->next, spares->body);
    spares->body = self;
    spares->bodies++;
}

VALUE
mp_unpacker_for_body(mp_decoder *d, const mp_type *type, VALUE source, size_t at, size_t n, size_t offset,
                     const mp_outer *outer)
{
    VALUE self = take_spare(&mp_decoder_ractor(d)->spares, mp_class_of(&mp_cUnpacker, d->codec->options.of_gem));
    mp_stream *u = mp_typed_data(self);

    mp_unpacker_set_codec(self, d->codec);
    mp_stream_restart(u);
    u->body = u->keeps_piece = true;
    u->more->bodies++;
    u->body_type = type->type;
    u->more->outer = *outer;
    u->origin = offset;
    u->piece.at = at;
    u->piece.len = n;
    RB_OBJ_WRITE(self, &u->piece.str, source);
    u->open = true;
    return self;
}

uint64_t
mp_unpacker_end_body(VALUE self, mp_decoder *outer)
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
    keep_spare(&mp_decoder_ractor(outer)->spares, self, u);
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
