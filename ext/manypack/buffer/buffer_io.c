/* How a Buffer reads from its io, and writes to an io. */
#include "buffer/buffer_io.h"

#include <ruby/io.h>

#include "base/error.h"
#include "caches/ractor.h"

/* --- reading ---------------------------------------------------------------------------------------- */

/* The largest spare String that a Ractor keeps for reading from ios. */
enum { SPARE_MAX = 65536 };

/* Keeps the String as the Ractor's spare, unless it is large, or frozen by a redefined read of StringIO. */
static void
give_back_spare(VALUE string)
{
    if (OBJ_FROZEN(string) || rb_str_capacity(string) > SPARE_MAX) return;
    mp_ractor_seldom()->bytes = string;
}

/* Calls the io's method. Under the name MessagePack an EOFError of any class ends the io, as in the msgpack gem. */
static mp_io_bytes
read_io(VALUE self, size_t size, uint64_t needed, VALUE into)
{
    const mp_buffer *buffer = mp_buffer_get(self);
    mp_io_end end = {.of_any_class = mp_lenient_p(mp_api_of_object(self, &mp_cBuffer))};
    VALUE bytes = mp_io_read(buffer->io, buffer->way, size, needed, into, &end);

    return (mp_io_bytes){.bytes = bytes, .spare = into && bytes == into, .eof = end.error};
}

/*
 * Reads into the spare String of the Ractor. Otherwise readpartial would fill a new String of io_buffer_size with zeros
 * and shrink it, and the read of a StringIO would make its own String share the bytes: both take longer than decoding a
 * short message.
 */
static mp_io_bytes
read_into_spare(VALUE self, size_t size, uint64_t needed)
{
    VALUE string = mp_spare_take(&mp_ractor_seldom()->bytes);
    mp_io_bytes read;

    if (MP_UNLIKELY(!string)) string = rb_str_buf_new(0);
    read = read_io(self, size, needed, string);
    if (NIL_P(read.bytes)) give_back_spare(string);
    return read;
}

static mp_io_bytes
read_once(VALUE self, size_t size, uint64_t needed)
{
    const mp_buffer *buffer = mp_buffer_get(self);

    if (mp_io_reads_into_p(buffer->io, buffer->way)) return read_into_spare(self, size, needed);
    return read_io(self, size, needed, 0);
}

/*
 * eof? takes a tenth of the time that an EOFError of readpartial takes. If a File has grown or was rewound, the extra
 * eof? costs nothing: readpartial returns the bytes that eof? has read ahead.
 */
static mp_io_bytes
read_file(VALUE self, size_t size)
{
    mp_buffer *buffer = mp_buffer_get(self);
    mp_io_bytes read;

    if (buffer->end_near && RTEST(rb_io_eof(buffer->io))) return (mp_io_bytes){.bytes = Qnil};
    read = read_once(self, size, size);
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
    read = buffer->way == MP_BY_FILE ? read_file(self, size) : read_once(self, size, needed);
    RB_GC_GUARD(self);
    return read;
}

/* Copies bytes that fill less than half of the spare String; otherwise the Buffer keeps that String. */
static void
feed_spare(VALUE self, VALUE string)
{
    size_t len = (size_t)RSTRING_LEN(string);

    if (len < mp_buffer_get(self)->read_reference_threshold || len < rb_str_capacity(string) / 2) {
        mp_buffer_append(self, string, SIZE_MAX);
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

/* --- writing ---------------------------------------------------------------------------------------- */

/* A call of an io's write. */
typedef struct {
    VALUE io, bytes;
    size_t len;
    bool writable, string_io;
    int api;
} io_write;

static VALUE
call_write(VALUE arg)
{
    const io_write *write = (const io_write *)arg;

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
    /* IO#write waits. Other ios may raise IO::WaitWritable, as write_nonblock does: then they took nothing. */
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

    if (MP_UNLIKELY(answer == Qundef)) mp_raise_in_use(mp_buffer_name(buffer));
    n = mp_io_bytes_taken(write->io, answer, write->len);
    mp_buffer_before_removal(self, n);
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

static size_t
write_chunk(VALUE self, io_write *write)
{
    const mp_chunk *chunk = mp_bytes_first(&mp_buffer_get(self)->bytes);
    size_t len = chunk->len;

    write->len = len;
    write->bytes = mp_chunk_to_s(chunk);
    if (MP_UNLIKELY(write_once(self, write) < len)) write_rest(self, write);
    return len;
}

/* Writes all bytes and drops those that the io took. Nobody else can use the Buffer while the io writes. */
static size_t
write_all(VALUE self, io_write *write)
{
    size_t written = 0;

    mp_buffer_for_removal(self);
    mp_buffer_before_removal(self, 0);
    if (!write->writable) write->api = mp_buffer_api(self);
    while (mp_buffer_get(self)->bytes.size) {
        written += write_chunk(self, write);
        /* If some are left, others may have used the Buffer while the io was writing. */
        if (MP_UNLIKELY(mp_buffer_get(self)->bytes.size)) mp_buffer_for_removal(self);
    }
    return written;
}

size_t
mp_buffer_write_to(VALUE self, VALUE io)
{
    io_write write = {.io = io, .string_io = mp_string_io_p(io)};

    write.writable = write.string_io || mp_need_sink(io, mp_api_of_object(self, &mp_cBuffer));
    return write_all(self, &write);
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
    io_write write = {.io = mp_buffer_for_change(self)->io};

    if (NIL_P(write.io)) return;
    write.string_io = mp_string_io_p(write.io);
    write.writable = own_io_writable_p(self); /* user code, which may close the Buffer: write_all refuses it then */
    write_all(self, &write);
}

void
mp_buffer_flush_if_idle(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (!mp_loan_idle_p(&buffer->loan)) return;
    buffer->flush_due = false;
    mp_buffer_flush(self);
}

bool
mp_buffer_flush_later(VALUE self)
{
    mp_buffer *buffer = mp_buffer_checked(self);

    if (mp_loan_idle_p(&buffer->loan) || !mp_loan_writer_p(&buffer->loan)) return false;
    buffer->flush_due = !NIL_P(buffer->io);
    return true;
}
