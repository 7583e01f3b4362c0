/* Manypack::Buffer: the Ruby class. */
#include "buffer/buffer.h"

#include <ruby/io.h>

#include "base/error.h"
#include "base/lenient.h"
#include "caches/ractor.h"

static ID id_close;
static VALUE cBuffer;

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

static const char *
name_of_owner(const mp_buffer *buffer)
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
    if (mp_loan_torn_p(&buffer->loan)) mp_raise_torn(name_of_owner(buffer));
    if (mp_loan_taken_p(&buffer->loan) && buffer->unpacker) check_unpacker_idle(buffer->unpacker); /* may release it */
    if (mp_loan_taken_p(&buffer->loan)) mp_raise_in_use(name_of_owner(buffer));
    mp_loan_settle(&buffer->loan, &buffer->bytes);
}

mp_buffer *
mp_buffer_to_look_at(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    return buffer->io && mp_loan_torn_p(&buffer->loan) ? buffer : mp_buffer_checked(self);
}

mp_buffer *
mp_buffer_for_change(VALUE self)
{
    mp_buffer *buffer = mp_buffer_checked(self);

    if (MP_UNLIKELY(!mp_loan_idle_p(&buffer->loan))) mp_raise_in_use(name_of_owner(buffer));
    return buffer;
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

/* The struct of a Buffer, checked for a method that removes bytes. */
static mp_buffer *
for_removal(VALUE self)
{
    mp_buffer *buffer = mp_buffer_for_change(self);

    if (buffer->unpacker) check_unpacker_idle(buffer->unpacker);
    return buffer;
}

/* Must be called before anybody except the Buffer's Unpacker removes n bytes. */
static void
before_removal(VALUE self, size_t n)
{
    VALUE unpacker = mp_buffer_get(self)->unpacker;

    if (unpacker) forget_object(unpacker, n);
}

static VALUE
buffer_allocate(VALUE klass)
{
    mp_buffer *buffer;

    return TypedData_Make_Struct(klass, mp_buffer, &buffer_type, buffer);
}

static uint32_t
size_of(size_t size)
{
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* `way` is what way_of says of the io. */
static void
set_io(VALUE self, VALUE io, mp_io_way way)
{
    mp_buffer *buffer = mp_buffer_get(self);

    buffer->way = way;
    buffer->reads_exactly = way == MP_BY_READ;
    buffer->end_near = false;
    buffer->writable = false;
    RB_OBJ_WRITE(self, &buffer->io, io);
}

/* Asks an io, which may be nil, and may run user code. */
static mp_io_way
way_of(VALUE io)
{
    return NIL_P(io) ? MP_BY_READPARTIAL : mp_io_way_of(io);
}

static void
buffer_init(VALUE self, VALUE io, VALUE options)
{
    mp_buffer *buffer = mp_buffer_get(self);
    mp_buffer_options sizes = mp_buffer_options_of(options);
    mp_io_way way = way_of(io);

    /* Check this last: asking the io what it responds to may run user code, which may initialize the Buffer. */
    if (buffer->io || buffer->owner != MP_OF_USER) rb_raise(rb_eRuntimeError, "Buffer is already initialized");
    buffer->io_buffer_size = size_of(sizes.io_buffer_size);
    buffer->read_reference_threshold = size_of(sizes.read_reference_threshold);
    buffer->write_reference_threshold = size_of(sizes.write_reference_threshold);
    set_io(self, io, way);
}

VALUE
mp_buffer_new(VALUE io, VALUE options)
{
    VALUE self = buffer_allocate(cBuffer);

    buffer_init(self, io, options);
    return self;
}

/* --- bytes ------------------------------------------------------------------------------------------ */

/* Appends a String: by reference if it has at least reference_threshold bytes, otherwise as a copy. */
static void
append(VALUE self, VALUE string, size_t reference_threshold)
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
    append(self, str, mp_buffer_get(self)->read_reference_threshold);
}

void
mp_buffer_clear(VALUE self)
{
    mp_buffer *buffer = mp_buffer_to_look_at(self);

    if (mp_loan_torn_p(&buffer->loan)) {
        rb_check_frozen(self);
        mp_loan_mend(&buffer->loan);
    }
    for_removal(self);
    before_removal(self, buffer->bytes.size);
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

/* --- io --------------------------------------------------------------------------------------------- */

/* A Ractor keeps no larger String for ios. */
enum { SPARE_MAX = 65536 };

/* Somebody may have redefined the read of StringIO, and have frozen its String. */
static void
give_back_spare(VALUE string)
{
    if (OBJ_FROZEN(string) || rb_str_capacity(string) > SPARE_MAX) return;
    mp_ractor_seldom()->bytes = string;
}

/*
 * Reads into the spare String of the Ractor. Otherwise readpartial would fill a new String of io_buffer_size with zeros
 * and shrink it, and the read of a StringIO would make its own String share the bytes: both take longer than decoding a
 * short message.
 */
static mp_io_bytes
read_into_spare(const mp_buffer *buffer, size_t size, uint64_t needed)
{
    VALUE string = mp_spare_take(&mp_ractor_seldom()->bytes), bytes;

    if (MP_UNLIKELY(!string)) string = rb_str_buf_new(0);
    bytes = mp_io_read(buffer->io, buffer->way, size, needed, string);
    if (NIL_P(bytes)) give_back_spare(string);
    return (mp_io_bytes){.bytes = bytes, .spare = bytes == string};
}

static mp_io_bytes
read_once(const mp_buffer *buffer, size_t size, uint64_t needed)
{
    if (mp_io_reads_into_p(buffer->io, buffer->way)) return read_into_spare(buffer, size, needed);
    return (mp_io_bytes){.bytes = mp_io_read(buffer->io, buffer->way, size, needed, 0)};
}

/*
 * eof? takes a tenth of the time that an EOFError of readpartial takes. It is asked in vain if a program rewinds a File
 * to read one message again: about 900 instructions, with a copy of the bytes and two system calls.
 */
static mp_io_bytes
read_file(mp_buffer *buffer, size_t size)
{
    mp_io_bytes read;

    if (buffer->end_near && RTEST(rb_io_eof(buffer->io))) return (mp_io_bytes){.bytes = Qnil};
    read = read_once(buffer, size, size);
    buffer->end_near = !NIL_P(read.bytes) && (size_t)RSTRING_LEN(read.bytes) < size;
    return read;
}

mp_io_bytes
mp_buffer_read_io(VALUE self, uint64_t needed)
{
    mp_buffer *buffer = mp_buffer_get(self);
    size_t size = buffer->io_buffer_size;
    mp_io_bytes read;

    if (NIL_P(buffer->io)) return (mp_io_bytes){.bytes = Qnil};
    if (buffer->reads_exactly && needed < size) size = (size_t)needed;
    read = buffer->way == MP_BY_FILE ? read_file(buffer, size) : read_once(buffer, size, needed);
    RB_GC_GUARD(self);
    return read;
}

/* Copies bytes that fill less than half of the spare String; otherwise the Buffer keeps that String. */
static void
feed_spare(VALUE self, VALUE string)
{
    size_t len = (size_t)RSTRING_LEN(string);

    if (len < mp_buffer_get(self)->read_reference_threshold || len < rb_str_capacity(string) / 2) {
        append(self, string, SIZE_MAX);
        give_back_spare(string);
    } else {
        mp_buffer_feed(self, rb_obj_freeze(string));
    }
}

void
mp_buffer_feed_read(VALUE self, mp_io_bytes read)
{
    mp_loan *loan = &mp_buffer_get(self)->loan;

    mp_loan_tear(loan);
    if (read.spare) feed_spare(self, read.bytes);
    else mp_buffer_feed(self, read.bytes);
    mp_loan_mend(loan);
}

/* A call of an io's write. */
typedef struct {
    VALUE io, bytes;
    const uint8_t *copy; /* the bytes on the C stack, as long as there is no String; or NULL */
    size_t len;
    bool writable, string_io;
    int api;
} io_write;

static VALUE
call_write(VALUE arg)
{
    io_write *write = (io_write *)arg;

    if (write->copy) {
        if (MP_LIKELY(mp_io_write_plain(write->io, write->copy, write->len))) return SIZET2NUM(write->len);
        write->bytes = rb_str_new((const char *)write->copy, (long)write->len);
    }
    if (write->writable) return mp_io_call_write(write->io, write->bytes);
    return mp_io_write(write->io, write->bytes, write->api);
}

/* Calls write of a StringIO, which takes all bytes or raises. Qundef as from mp_loan_call_taken. */
static VALUE
write_to_string_io(mp_loan *loan, const io_write *write)
{
    uint32_t epoch = mp_loan_tear_for_write(loan);
    VALUE answer = mp_io_call_write(write->io, write->bytes);

    return MP_LIKELY(mp_loan_written(loan, epoch)) ? answer : Qundef;
}

static VALUE
write_to_other(mp_loan *loan, io_write *write)
{
    /* IO#write waits. That of any other object may raise IO::WaitWritable, as write_nonblock does: it took nothing. */
    mp_taken_call taken = {.loan = loan, .call = call_write, .arg = (VALUE)write, .may_tear = true,
                           .refusal = RB_TYPE_P(write->io, T_FILE) ? 0 : rb_mWaitWritable};

    return mp_loan_call_taken(&taken);
}

/* Makes the io write the first bytes of the Buffer, and drops the bytes that it took. Returns how many. */
static size_t
write_once(VALUE self, io_write *write)
{
    mp_buffer *buffer = mp_buffer_get(self);
    size_t n;
    VALUE answer = write->string_io ? write_to_string_io(&buffer->loan, write)
                                    : write_to_other(&buffer->loan, write);

    if (MP_UNLIKELY(answer == Qundef)) mp_raise_in_use(name_of_owner(buffer));
    n = mp_io_bytes_taken(write->io, answer, write->len);
    before_removal(self, n);
    mp_bytes_consume(&buffer->bytes, n);
    return n;
}

/*
 * Writes the rest of a chunk of which the io took only a part. Copies it at most once, even if the io takes small
 * parts.
 */
static void
write_rest(VALUE self, io_write *write)
{
    VALUE rest = rb_obj_freeze(mp_chunk_to_s(mp_bytes_first(&mp_buffer_get(self)->bytes)));
    long at = 0, len = RSTRING_LEN(rest);

    while (at < len) {
        write->bytes = rb_str_subseq(rest, at, len - at);
        write->len = (size_t)(len - at);
        mp_buffer_for_change(self);
        at += (long)write_once(self, write);
    }
}

/* A Packer has checked its io, unless it is MessagePack's. */
static int
api_of(VALUE self)
{
    return mp_buffer_get(self)->owner == MP_OF_USER ? mp_api_of_object(self, cBuffer) : MP_LENIENT;
}

/* An IO gets no String for fewer bytes, but a copy of them, because the Buffer may be closed while the IO waits. */
enum { COPIED_MAX = 1024 };

static MP_NOINLINE size_t
write_copied(VALUE self, io_write *write, const mp_chunk *chunk)
{
    uint8_t copy[COPIED_MAX];
    size_t n;

    memcpy(copy, mp_chunk_bytes(chunk), chunk->len);
    write->copy = copy;
    n = write_once(self, write);
    write->copy = NULL;
    return n;
}

static size_t
write_chunk(VALUE self, io_write *write)
{
    const mp_chunk *chunk = mp_bytes_first(&mp_buffer_get(self)->bytes);
    size_t len = chunk->len, taken;

    write->len = len;
    if (RB_TYPE_P(write->io, T_FILE) && len <= COPIED_MAX) {
        taken = write_copied(self, write, chunk);
    } else {
        write->bytes = mp_chunk_to_s(chunk);
        taken = write_once(self, write);
    }
    if (MP_UNLIKELY(taken < len)) write_rest(self, write);
    return len;
}

/* Writes all bytes and drops those that the io took. Nobody else can use the Buffer while the io writes. */
static size_t
write_all(VALUE self, io_write *write)
{
    size_t written = 0;

    for_removal(self);
    before_removal(self, 0);
    if (!write->writable) write->api = api_of(self);
    while (mp_buffer_get(self)->bytes.size) {
        written += write_chunk(self, write);
        /* If some are left, others may have used the Buffer while the io was writing. */
        if (MP_UNLIKELY(mp_buffer_get(self)->bytes.size)) for_removal(self);
    }
    return written;
}

/* True if a StringIO can have the bytes with nothing to check and nobody to tell, because they are in one block. */
static bool
one_block_p(VALUE self, const mp_buffer *buffer)
{
    return mp_buffer_ready_p(self, buffer) && !buffer->unpacker && buffer->bytes.count == 1 &&
           !buffer->bytes.capacity && buffer->bytes.block_size;
}

/*
 * The short way of write_all to a StringIO, for the bytes of one block. Returns how many it took: all, unless somebody
 * has redefined its write. 0 if write_all has to do it.
 */
static size_t
write_block(VALUE self, io_write *write)
{
    mp_buffer *buffer = mp_buffer_get(self);
    size_t len = buffer->bytes.size, n;
    VALUE answer;

    if (!one_block_p(self, buffer) || !len) return 0;
    write->bytes = mp_chunk_to_s(&buffer->bytes.chunks.one);
    answer = write_to_string_io(&buffer->loan, write);
    if (MP_UNLIKELY(answer == Qundef)) mp_raise_in_use(name_of_owner(buffer));
    n = MP_LIKELY(answer == SIZET2NUM(len)) ? len : mp_io_bytes_taken(write->io, answer, len);
    if (MP_LIKELY(n == len)) mp_bytes_clear(&buffer->bytes);
    else mp_bytes_consume(&buffer->bytes, n);
    RB_GC_GUARD(self);
    return n;
}

size_t
mp_buffer_write_to(VALUE self, VALUE io)
{
    io_write write = {.io = io, .string_io = mp_string_io_p(io)};
    size_t n = write.string_io ? write_block(self, &write) : 0;

    if (MP_LIKELY(n && !mp_buffer_get(self)->bytes.size)) return n;
    write.writable = write.string_io || mp_need_sink(io);
    return n + write_all(self, &write);
}

/* True if the Buffer's own io has write. Asks at the first flush, because most Unpackers never flush. */
static bool
own_io_writable_p(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);
    VALUE io = buffer->io;
    bool writable;

    if (MP_LIKELY(buffer->writable)) return true;
    writable = mp_io_writable_p(io);
    if (buffer->io == io) buffer->writable = writable; /* respond_to? is user code: it may have closed the Buffer */
    return writable;
}

void
mp_buffer_flush(VALUE self)
{
    io_write write = {.io = mp_buffer_get(self)->io};

    write.string_io = mp_string_io_p(write.io);
    if (write.string_io && write_block(self, &write) && MP_LIKELY(!mp_buffer_get(self)->bytes.size)) return;
    write.io = mp_buffer_for_change(self)->io;
    if (NIL_P(write.io)) return;
    write.writable = own_io_writable_p(self); /* user code, which may close the Buffer: write_all refuses it then */
    write_all(self, &write);
}

void
mp_buffer_flush_if_idle(VALUE self)
{
    if (mp_loan_idle_p(&mp_buffer_get(self)->loan)) mp_buffer_flush(self);
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
mp_buffer_reusable_p(VALUE self)
{
    const mp_buffer *buffer = mp_buffer_get(self);

    return mp_loan_free_p(&buffer->loan) && mp_pristine_p(self, cBuffer);
}

void
mp_buffer_set_aside(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    mp_loan_settle(&buffer->loan, &buffer->bytes);
    if (buffer->bytes.capacity) mp_bytes_drop(&buffer->bytes); /* the array of chunks may be long */
    else mp_bytes_clear(&buffer->bytes);
    buffer->io = 0;
}

void
mp_buffer_reopen(VALUE self, VALUE io)
{
    set_io(self, io, way_of(io));
}

/* --- Manypack::Buffer ------------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Buffer.new(io = nil, options = nil) -> buffer
 *
 * Creates an empty Buffer, which reads from and writes to the io, if there is one.
 *
 * io:: read from (<code>readpartial</code> or <code>read</code>) and written to (<code>write</code> or <code><<</code>)
 * io_buffer_size:: how many bytes to read from the io at a time (default 32768, at least 1024)
 * read_reference_threshold:: fed Strings of at least this size are referenced, not copied (default 256, at least 256)
 * write_reference_threshold:: the same for written Strings (default 524288, at least 256)
 *
 * Smaller sizes are raised to the minimum. Raises RangeError below 0, TypeError for a size that is not an Integer or an
 * io that is neither readable nor writable, and ArgumentError for an unknown option.
 *
 *   Manypack::Buffer.new(StringIO.new("abc"), io_buffer_size: 4096).read(2) #=> "ab"
 */
static VALUE
rb_buffer_initialize(int argc, VALUE *argv, VALUE self)
{
    VALUE io = Qnil, options = Qnil;
    int api = mp_api_of_object(self, cBuffer);

    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_io(io, api);
    mp_buffer_options_check(options, api);
    rb_check_frozen(self);
    buffer_init(self, io, options);
    return self;
}

/*
 * call-seq: buffer.clear -> nil
 *
 * Discards all bytes. The Buffer's Unpacker forgets an object that it has read in part. After an error of the io, the
 * Buffer and its Packer can be used again. Raises RuntimeError while its Packer or Unpacker works on the bytes.
 *
 *   buffer = Manypack::Buffer.new << "ab"
 *   buffer.clear #=> nil
 *   buffer.empty? #=> true
 */
static VALUE
rb_buffer_clear(VALUE self)
{
    mp_buffer_clear(self);
    return Qnil;
}

/*
 * call-seq: buffer.size -> Integer
 *
 * Returns the number of bytes in the Buffer. Does not read from the io. Raises RuntimeError while the bytes are being
 * read or flushed.
 *
 *   (Manypack::Buffer.new << "ab").size #=> 2
 */
static VALUE
rb_buffer_size(VALUE self)
{
    return SIZET2NUM(mp_buffer_to_look_at(self)->bytes.size);
}

/*
 * call-seq: buffer.empty? -> true or false
 *
 * Returns true if the Buffer has no bytes. Does not read from the io. Raises RuntimeError as size does.
 *
 *   Manypack::Buffer.new.empty? #=> true
 */
static VALUE
rb_buffer_empty_p(VALUE self)
{
    return mp_buffer_to_look_at(self)->bytes.size ? Qfalse : Qtrue;
}

/*
 * call-seq: buffer.write(string) -> Integer
 *
 * Appends the bytes of a String and returns how many. A long String is referenced, with its current content, not
 * copied. Raises TypeError for anything that is not a String, and RuntimeError as size does.
 *
 *   Manypack::Buffer.new.write("ab") #=> 2
 */
static VALUE
rb_buffer_write(VALUE self, VALUE string)
{
    const mp_buffer *buffer;
    size_t len;

    StringValue(string);
    buffer = mp_buffer_checked(self);
    len = (size_t)RSTRING_LEN(string);
    append(self, string, mp_loan_idle_p(&buffer->loan) ? buffer->write_reference_threshold : SIZE_MAX);
    return SIZET2NUM(len);
}

/*
 * call-seq: buffer << string -> buffer
 *
 * Appends the bytes of a String, with the errors of write.
 *
 *   (Manypack::Buffer.new << "a" << "b").to_s #=> "ab"
 */
static VALUE
rb_buffer_append(VALUE self, VALUE string)
{
    rb_buffer_write(self, string);
    return self;
}

/* Reads from the io until n bytes are there or the io ends. Returns how many bytes are there, at most n. */
static size_t
fill(VALUE self, size_t n)
{
    size_t size;

    while ((size = for_removal(self)->bytes.size) < n) {
        mp_io_bytes read = mp_buffer_read_io(self, n - size);

        if (NIL_P(read.bytes)) break;
        for_removal(self); /* others may have used the Buffer while the io was waiting */
        mp_buffer_feed_read(self, read);
    }
    size = for_removal(self)->bytes.size; /* again: the io's read may use the Buffer, too */
    return size < n ? size : n;
}

typedef struct {
    size_t n;
    bool limited;
    VALUE into;
} read_arguments;

static read_arguments
scan_read(int argc, const VALUE *argv)
{
    read_arguments arguments = {.n = SIZE_MAX, .limited = false, .into = Qnil};

    rb_check_arity(argc, 0, 2);
    if (argc > 0 && !NIL_P(argv[0])) {
        arguments.n = mp_size(argv[0], "a number of bytes");
        arguments.limited = true;
    }
    if (argc > 1 && !NIL_P(argv[1])) {
        arguments.into = argv[1];
        StringValue(arguments.into);
    }
    return arguments;
}

/* Removes the first n bytes and returns them, in the caller's String if there is one. */
static VALUE
take(VALUE self, size_t n, const read_arguments *arguments)
{
    VALUE bytes = mp_bytes_to_s(self, &mp_buffer_get(self)->bytes, n), into = arguments->into;

    if (!NIL_P(into)) rb_str_replace(into, bytes); /* first, because it may raise */
    if (arguments->n) before_removal(self, n);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, n);
    return NIL_P(into) ? bytes : into;
}

/*
 * call-seq: buffer.read(n = nil, string = nil) -> String or nil
 *
 * Removes and returns up to n bytes, or all bytes without n, reading from the io as needed. Returns nil if n is above 0
 * and no bytes are left. If a String is given, the bytes replace its content. Raises RangeError for a negative n,
 * TypeError for arguments of other classes, RuntimeError as clear does, and the errors of the io.
 *
 *   buffer = Manypack::Buffer.new(StringIO.new("abc"))
 *   buffer.read(2) #=> "ab"
 *   buffer.read #=> "c"
 *   buffer.read(1) #=> nil
 */
static VALUE
rb_buffer_read(int argc, VALUE *argv, VALUE self)
{
    read_arguments arguments = scan_read(argc, argv);
    size_t n = fill(self, arguments.n);

    if (n || !arguments.limited || !arguments.n) return take(self, n, &arguments);
    before_removal(self, 0);
    return Qnil;
}

/*
 * call-seq: buffer.read_all(n = nil, string = nil) -> String
 *
 * Removes and returns bytes as read does. If there are fewer than n bytes, raises EOFError and removes nothing.
 *
 *   (Manypack::Buffer.new << "abc").read_all(2) #=> "ab"
 */
static VALUE
rb_buffer_read_all(int argc, VALUE *argv, VALUE self)
{
    read_arguments arguments = scan_read(argc, argv);
    size_t n = fill(self, arguments.n);

    if (n < arguments.n && arguments.limited) rb_eof_error();
    return take(self, n, &arguments);
}

/*
 * call-seq: buffer.skip(n) -> Integer
 *
 * Removes up to n bytes, reading from the io as needed, and returns how many. Raises the errors of read.
 *
 *   (Manypack::Buffer.new << "abc").skip(5) #=> 3
 */
static VALUE
rb_buffer_skip(VALUE self, VALUE n)
{
    size_t size = mp_size(n, "a number of bytes"), there = fill(self, size);

    if (size) before_removal(self, there);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, there);
    return SIZET2NUM(there);
}

/*
 * call-seq: buffer.skip_all(n) -> buffer
 *
 * Removes n bytes. If there are fewer, raises EOFError and removes nothing. Raises the errors of read.
 *
 *   (Manypack::Buffer.new << "abc").skip_all(2).to_s #=> "c"
 */
static VALUE
rb_buffer_skip_all(VALUE self, VALUE n)
{
    size_t size = mp_size(n, "a number of bytes");

    if (fill(self, size) < size) rb_eof_error();
    if (size) before_removal(self, size);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, size);
    return self;
}

/*
 * call-seq: buffer.io -> io or nil
 *
 * Returns the io of the Buffer, or nil. Raises RuntimeError as size does.
 *
 *   Manypack::Buffer.new.io #=> nil
 */
static VALUE
rb_buffer_io(VALUE self)
{
    return mp_buffer_to_look_at(self)->io;
}

/*
 * call-seq: buffer.flush -> buffer
 *
 * Writes all bytes to the io and removes them. Does nothing without an io. Raises RuntimeError as clear does, IOError
 * if the io takes nothing, and the errors of the io. After an error of the io, except IO::WaitWritable, nobody knows
 * how many bytes the io took: until clear, the Buffer shows its bytes and refuses everything else.
 *
 *   io = StringIO.new
 *   (Manypack::Buffer.new(io) << "ab").flush.size #=> 0
 *   io.string #=> "ab"
 */
static VALUE
rb_buffer_flush(VALUE self)
{
    mp_buffer_flush(self);
    return self;
}

/*
 * call-seq: buffer.close -> object
 *
 * Closes the io and returns what its close returns. Does nothing without an io. Raises the errors of the io.
 *
 *   Manypack::Buffer.new(StringIO.new).close #=> nil
 */
static VALUE
rb_buffer_close(VALUE self)
{
    VALUE io = mp_buffer_to_look_at(self)->io;

    return NIL_P(io) ? Qnil : rb_funcall(io, id_close, 0);
}

/*
 * call-seq: buffer.write_to(io) -> Integer
 *
 * Writes all bytes to an io, removes them, and returns how many they were. Raises RuntimeError as clear does, TypeError
 * for an io that cannot be written to, and the errors of the io.
 *
 *   (Manypack::Buffer.new << "ab").write_to(StringIO.new) #=> 2
 */
static VALUE
rb_buffer_write_to(VALUE self, VALUE io)
{
    return SIZET2NUM(mp_buffer_write_to(self, io));
}

/*
 * call-seq:
 *   buffer.to_s -> String
 *   buffer.to_str -> String
 *
 * Returns all bytes as a binary String. They stay in the Buffer. Raises RuntimeError as size does.
 *
 *   (Manypack::Buffer.new << "ab").to_s #=> "ab"
 */
static VALUE
rb_buffer_to_s(VALUE self)
{
    return mp_buffer_to_s(self);
}

/*
 * call-seq: buffer.to_a -> Array of Strings
 *
 * Returns all bytes as an Array of Strings, one for each chunk of the Buffer. Long Strings are not copied. Raises
 * RuntimeError as size does.
 *
 *   (Manypack::Buffer.new << "ab").to_a #=> ["ab"]
 */
static VALUE
rb_buffer_to_a(VALUE self)
{
    return mp_buffer_to_a(self);
}

/*
 * Document-class: Manypack::Buffer
 *
 * A queue of bytes, optionally connected to an io. Every Packer and Unpacker has one: <code>packer.buffer</code>,
 * <code>unpacker.buffer</code>.
 */
void
Init_manypack_buffer(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    id_close = rb_intern("close");

    cBuffer = rb_define_class_under(mManypack, "Buffer", rb_cObject);
    rb_gc_register_mark_object(cBuffer);
    mp_is_lenient(&cBuffer);
    rb_define_alloc_func(cBuffer, buffer_allocate);
    rb_undef_method(cBuffer, "initialize_copy");
    rb_undef_method(cBuffer, "dup");
    rb_undef_method(cBuffer, "clone");

    rb_define_method(cBuffer, "initialize", rb_buffer_initialize, -1);
    rb_define_method(cBuffer, "clear", rb_buffer_clear, 0);
    rb_define_method(cBuffer, "size", rb_buffer_size, 0);
    rb_define_method(cBuffer, "empty?", rb_buffer_empty_p, 0);
    rb_define_method(cBuffer, "write", rb_buffer_write, 1);
    rb_define_method(cBuffer, "<<", rb_buffer_append, 1);
    rb_define_method(cBuffer, "read", rb_buffer_read, -1);
    rb_define_method(cBuffer, "read_all", rb_buffer_read_all, -1);
    rb_define_method(cBuffer, "skip", rb_buffer_skip, 1);
    rb_define_method(cBuffer, "skip_all", rb_buffer_skip_all, 1);
    rb_define_method(cBuffer, "io", rb_buffer_io, 0);
    rb_define_method(cBuffer, "flush", rb_buffer_flush, 0);
    rb_define_method(cBuffer, "close", rb_buffer_close, 0);
    rb_define_method(cBuffer, "write_to", rb_buffer_write_to, 1);
    rb_define_method(cBuffer, "to_s", rb_buffer_to_s, 0);
    rb_define_method(cBuffer, "to_str", rb_buffer_to_s, 0);
    rb_define_method(cBuffer, "to_a", rb_buffer_to_a, 0);
}
