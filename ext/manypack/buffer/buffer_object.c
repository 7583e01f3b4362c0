/* The Ruby object of a Buffer: its GC functions, who may use it now, and its bytes. */
#include "buffer/buffer_object.h"

#include "base/error.h"

mp_classes mp_cBuffer;

/* Set once, when the extension is loaded. */
static void (*check_unpacker_idle)(VALUE unpacker);
static void (*forget_object)(VALUE unpacker, size_t n);

/* --- the object ------------------------------------------------------------------------------------- */

static void
buffer_mark(void *ptr)
{
    mp_buffer *buffer = ptr;

    if (buffer->io) rb_gc_mark_movable(buffer->io);
    if (buffer->unpacker) rb_gc_mark_movable(buffer->unpacker);
    mp_bytes_mark(&buffer->bytes);
}

static void
buffer_compact(void *ptr)
{
    mp_buffer *buffer = ptr;

    if (buffer->io) buffer->io = rb_gc_location(buffer->io);
    if (buffer->unpacker) buffer->unpacker = rb_gc_location(buffer->unpacker);
    mp_bytes_compact(&buffer->bytes);
}

static void
buffer_free(void *ptr)
{
    mp_buffer *buffer = ptr;

    mp_bytes_drop(&buffer->bytes);
    mp_typed_free(ptr);
}

static size_t
buffer_memsize(const void *ptr)
{
    mp_buffer *buffer = (mp_buffer *)ptr;

    return mp_typed_memsize(sizeof(mp_buffer)) + mp_bytes_memsize(&buffer->bytes);
}

MP_STATIC_ASSERT(buffer_fits_a_slot_of_160, sizeof(mp_buffer) <= 128);

/* Never shareable: it changes with every call. */
static const rb_data_type_t buffer_type = {
    .wrap_struct_name = "Manypack::Buffer",
    .function = {.dmark = buffer_mark, .dfree = buffer_free, .dsize = buffer_memsize, .dcompact = buffer_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

const char *
mp_buffer_name(const mp_buffer *buffer)
{
    static const char *const names[] = {
        [MP_OF_USER] = "Buffer", [MP_OF_PACKER] = "Packer", [MP_OF_UNPACKER] = "Unpacker",
    };

    return names[buffer->owner];
}

void
mp_buffer_check(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    rb_check_frozen(self);
    if (!buffer->io) {
        rb_raise(rb_eRuntimeError, "Buffer cannot be used: its owner is done with it, or it is not initialized");
    }
    if (mp_loan_torn_p(&buffer->loan)) mp_raise_torn(mp_buffer_name(buffer));
    if (mp_loan_taken_p(&buffer->loan)) mp_raise_in_use(mp_buffer_name(buffer));
    mp_loan_settle(&buffer->loan, &buffer->bytes);
}

mp_buffer *
mp_buffer_to_look_at(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    return buffer->io && mp_loan_torn_p(&buffer->loan) ? buffer : mp_buffer_checked(self);
}

void
mp_buffer_check_for_change(VALUE self)
{
    const mp_buffer *buffer = mp_buffer_checked(self);

    if (MP_UNLIKELY(!mp_loan_idle_p(&buffer->loan))) mp_raise_in_use(mp_buffer_name(buffer));
}

void
mp_buffer_set_unpacker(VALUE self, VALUE unpacker)
{
    mp_buffer *buffer = mp_buffer_get(self);

    buffer->owner = MP_OF_UNPACKER;
    if (buffer->unpacker != unpacker) RB_OBJ_WRITE(self, &buffer->unpacker, unpacker);
}

void
mp_buffer_on_removal(void (*check_idle)(VALUE unpacker), void (*forget)(VALUE unpacker, size_t n))
{
    check_unpacker_idle = check_idle;
    forget_object = forget;
}

mp_buffer *
mp_buffer_for_removal(VALUE self)
{
    mp_buffer *buffer = mp_buffer_for_change(self);

    if (buffer->unpacker) check_unpacker_idle(buffer->unpacker);
    return buffer;
}

void
mp_buffer_before_removal(VALUE self, size_t n)
{
    VALUE unpacker = mp_buffer_get(self)->unpacker;

    if (unpacker) forget_object(unpacker, n);
}

VALUE
mp_buffer_allocate(VALUE klass)
{
    mp_buffer *buffer;

    return TypedData_Make_Struct(klass, mp_buffer, &buffer_type, buffer);
}

static uint32_t
bounded_size(size_t size)
{
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* `way` is the result of way_of for this io. */
static void
set_io(VALUE self, VALUE io, mp_io_way way)
{
    mp_buffer *buffer = mp_buffer_get(self);

    buffer->way = way;
    buffer->reads_exactly = way == MP_BY_READ;
    buffer->end_near = false;
    buffer->writable = false;
    buffer->flush_due = false;
    RB_OBJ_WRITE(self, &buffer->io, io);
}

/* How to read an io, which may be nil. May run user code. */
static mp_io_way
way_of(VALUE io)
{
    return NIL_P(io) ? MP_BY_READPARTIAL : mp_io_way_of(io);
}

void
mp_buffer_init(VALUE self, VALUE io, VALUE options)
{
    mp_buffer *buffer = mp_buffer_get(self);
    mp_buffer_options sizes = mp_buffer_options_of(options);
    mp_io_way way = way_of(io);

    /* Check this last: asking the io what it responds to may run user code, which may initialize the Buffer. */
    if (buffer->io || buffer->owner != MP_OF_USER) rb_raise(rb_eRuntimeError, "Buffer is already initialized");
    buffer->io_buffer_size = bounded_size(sizes.io_buffer_size);
    buffer->read_reference_threshold = bounded_size(sizes.read_reference_threshold);
    buffer->write_reference_threshold = bounded_size(sizes.write_reference_threshold);
    set_io(self, io, way);
}

int
mp_buffer_api(VALUE self)
{
    return mp_buffer_get(self)->owner == MP_OF_USER ? mp_api_of_object(self, &mp_cBuffer) : MP_LENIENT;
}

VALUE
mp_buffer_new(VALUE io, VALUE options, bool of_gem)
{
    VALUE self = mp_buffer_allocate(mp_class_of(&mp_cBuffer, of_gem));

    mp_buffer_init(self, io, options);
    return self;
}

/* --- bytes ------------------------------------------------------------------------------------------ */

void
mp_buffer_append(VALUE self, VALUE string, size_t reference_threshold)
{
    mp_bytes *bytes = &mp_buffer_get(self)->bytes;
    size_t len = (size_t)RSTRING_LEN(string);

    if (len < reference_threshold) {
        mp_bytes_append(self, bytes, (const uint8_t *)RSTRING_PTR(string), len);
    } else {
        mp_bytes_refer(self, bytes, rb_str_new_frozen(string), 0, len);
    }
    RB_GC_GUARD(string);
}

void
mp_buffer_feed(VALUE self, VALUE str)
{
    mp_buffer_append(self, str, mp_buffer_get(self)->read_reference_threshold);
}

void
mp_buffer_clear(VALUE self)
{
    mp_buffer *buffer = mp_buffer_to_look_at(self);

    if (mp_loan_torn_p(&buffer->loan)) {
        rb_check_frozen(self);
        mp_loan_mend(&buffer->loan);
    }
    mp_buffer_for_removal(self);
    mp_buffer_before_removal(self, buffer->bytes.size);
    mp_bytes_clear(&buffer->bytes);
}

VALUE
mp_buffer_to_s(VALUE self)
{
    mp_bytes *bytes = &mp_buffer_to_look_at(self)->bytes;

    return mp_bytes_to_s(self, bytes, bytes->size);
}

VALUE
mp_buffer_to_a(VALUE self)
{
    return mp_bytes_to_a(self, &mp_buffer_to_look_at(self)->bytes);
}

VALUE
mp_buffer_take_all(VALUE self)
{
    mp_bytes *bytes = &mp_buffer_for_change(self)->bytes;
    VALUE string = mp_bytes_to_s(self, bytes, bytes->size);

    mp_bytes_clear(bytes);
    return string;
}

void
mp_buffer_close(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    mp_loan_close(&buffer->loan);
    mp_bytes_drop(&buffer->bytes);
    buffer->io = 0;
}

bool
mp_buffer_set_aside(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (!mp_loan_free_p(&buffer->loan)) return false;
    mp_loan_settle(&buffer->loan, &buffer->bytes);
    mp_bytes_clear(&buffer->bytes);
    buffer->io = 0;
    return !buffer->shown;
}

void
mp_buffer_reopen(VALUE self, VALUE io)
{
    set_io(self, io, way_of(io));
}
