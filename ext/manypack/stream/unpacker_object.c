/* The Ruby object of an Unpacker: its GC functions, and the references that it holds. */
#include "stream/unpacker_object.h"

static void
more_mark(const mp_stream_more *more)
{
    if (more->sticky_error) rb_gc_mark_movable(more->sticky_error);
    if (more->as) rb_gc_mark_movable(more->as);
    if (more->slice) rb_gc_mark_movable(more->slice);
    if (more->eof) rb_gc_mark_movable(more->eof);
    if (more->refusing) rb_gc_mark_movable(more->refusing);
    if (more->next) rb_gc_mark_movable(more->next);
    if (more->d.stack.owner) rb_gc_mark(more->d.stack.owner);
}

static void
unpacker_mark(void *ptr)
{
    const mp_stream *u = ptr;

    if (u->buffer) rb_gc_mark_movable(u->buffer);
    if (u->codec.object) rb_gc_mark_movable(u->codec.object);
    if (u->piece.str) rb_gc_mark_movable(u->piece.str);
    if (u->more) more_mark(u->more);
}

static void
more_compact(mp_stream_more *more)
{
    if (more->sticky_error) more->sticky_error = rb_gc_location(more->sticky_error);
    if (more->as) more->as = rb_gc_location(more->as);
    if (more->slice) more->slice = rb_gc_location(more->slice);
    if (more->eof) more->eof = rb_gc_location(more->eof);
    if (more->refusing) more->refusing = rb_gc_location(more->refusing);
    if (more->next) more->next = rb_gc_location(more->next);
}

static void
unpacker_compact(void *ptr)
{
    mp_stream *u = ptr;

    if (u->buffer) u->buffer = rb_gc_location(u->buffer);
    if (u->codec.object) u->codec.object = rb_gc_location(u->codec.object);
    if (u->piece.str) u->piece.str = rb_gc_location(u->piece.str);
    if (u->more) more_compact(u->more);
}

static void
more_free(mp_stream_more *more)
{
    mp_poison(more->left, more->places * sizeof(uint64_t));
    xfree(more->left);
    xfree(more);
}

static void
unpacker_free(void *ptr)
{
    mp_stream *u = ptr;

    if (u->more) more_free(u->more);
    mp_typed_free(ptr);
}

static size_t
more_memsize(const mp_stream_more *more)
{
    return sizeof(mp_stream_more) + more->places * sizeof(uint64_t) + mp_value_stack_memsize(&more->d.stack);
}

static size_t
unpacker_memsize(const void *ptr)
{
    const mp_stream *u = ptr;

    return mp_typed_memsize(sizeof(mp_stream)) + (u->more ? more_memsize(u->more) : 0);
}

/* Never shareable: it changes with every call. */
static const rb_data_type_t unpacker_type = {
    .wrap_struct_name = "Manypack::Unpacker",
    .function =
        {.dmark = unpacker_mark, .dfree = unpacker_free, .dsize = unpacker_memsize, .dcompact = unpacker_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

mp_classes mp_cUnpacker;

VALUE
mp_unpacker_allocate(VALUE klass)
{
    mp_stream *u;

    return TypedData_Make_Struct(klass, mp_stream, &unpacker_type, u);
}

bool
mp_unpacker_p(VALUE object)
{
    return rb_typeddata_is_kind_of(object, &unpacker_type);
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

VALUE
mp_unpacker_buffer(VALUE self)
{
    mp_stream *u = mp_typed_data(self);
    mp_buffer *buffer;
    VALUE made;

    if (MP_LIKELY(u->buffer != 0)) return u->buffer;
    made = mp_buffer_new(Qnil, Qnil, u->codec.options.of_gem);
    buffer = mp_buffer_get(made);
    mp_bytes_refer(made, &buffer->bytes, u->piece.str, u->piece.at, u->piece.len);
    if (u->running) mp_loan_take(&buffer->loan);
    u->piece = (mp_piece){.str = 0};
    mp_unpacker_set_buffer(self, made);
    return made;
}

bool
mp_unpacker_take_first(VALUE self, VALUE string)
{
    mp_stream *u = mp_typed_data(self);
    VALUE str;

    if (u->buffer || u->fed || RB_FL_TEST_RAW(string, RSTRING_NOEMBED)) return false;
    str = rb_str_new_frozen(string);
    u->fed = true;
    u->piece = (mp_piece){.str = 0, .at = 0, .len = (size_t)RSTRING_LEN(str)};
    if (u->piece.len) RB_OBJ_WRITE(self, &u->piece.str, str);
    return true;
}
