/* The Ruby object of an Unpacker: its GC functions, and the references that it holds. */
#include "stream/unpacker_object.h"

static void
unpacker_mark(void *ptr)
{
    const mp_stream *u = ptr;

    if (u->buffer) rb_gc_mark_movable(u->buffer);
    if (u->codec.object) rb_gc_mark_movable(u->codec.object);
    if (u->sticky_error) rb_gc_mark_movable(u->sticky_error);
    if (u->piece.str) rb_gc_mark_movable(u->piece.str);
    if (u->d.inner) rb_gc_mark_movable(u->d.inner);
    if (u->as) rb_gc_mark_movable(u->as);
    if (u->slice) rb_gc_mark_movable(u->slice);
    if (u->d.stack.owner) rb_gc_mark(u->d.stack.owner);
}

static void
unpacker_compact(void *ptr)
{
    mp_stream *u = ptr;

    if (u->buffer) u->buffer = rb_gc_location(u->buffer);
    if (u->codec.object) u->codec.object = rb_gc_location(u->codec.object);
    if (u->sticky_error) u->sticky_error = rb_gc_location(u->sticky_error);
    if (u->piece.str) u->piece.str = rb_gc_location(u->piece.str);
    if (u->d.inner) u->d.inner = rb_gc_location(u->d.inner);
    if (u->as) u->as = rb_gc_location(u->as);
    if (u->slice) u->slice = rb_gc_location(u->slice);
}

static void
unpacker_free(void *ptr)
{
    mp_stream *u = ptr;

    mp_poison(u->left, u->places * sizeof(uint64_t));
    xfree(u->left);
    mp_typed_free(ptr);
}

static size_t
unpacker_memsize(const void *ptr)
{
    const mp_stream *u = ptr;

    return mp_typed_memsize(sizeof(mp_stream)) + u->places * sizeof(uint64_t) + mp_value_stack_memsize(&u->d.stack);
}

/* Never shareable: it changes with every call. */
static const rb_data_type_t unpacker_type = {
    .wrap_struct_name = "Manypack::Unpacker",
    .function =
        {.dmark = unpacker_mark, .dfree = unpacker_free, .dsize = unpacker_memsize, .dcompact = unpacker_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

VALUE mp_cUnpacker;

VALUE
mp_unpacker_allocate(VALUE klass)
{
    mp_stream *u;
    VALUE self = TypedData_Make_Struct(klass, mp_stream, &unpacker_type, u);

    u->flags = mp_flags(self);
    return self;
}

mp_stream *
mp_unpacker_checked(VALUE object)
{
    return rb_check_typeddata(object, &unpacker_type);
}

void
mp_unpacker_set_codec(VALUE self, const mp_codec *codec)
{
    mp_stream *u = mp_typed_data(self);
    bool same = u->codec.object == codec->object; /* true for a spare that is used again */

    u->codec = *codec;
    if (!same) RB_OBJ_WRITTEN(self, Qundef, codec->object);
}

void
mp_unpacker_set_buffer(VALUE self, VALUE buffer)
{
    mp_stream *u = mp_typed_data(self);

    if (u->buffer != buffer) RB_OBJ_WRITE(self, &u->buffer, buffer);
    mp_buffer_set_unpacker(buffer, self);
}
