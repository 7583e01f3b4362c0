/* Reading from and writing to anything that answers the methods of IO. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "base/options.h"

/* True if obj can be read from. */
bool mp_io_p(VALUE obj);

/* StringValue for packed bytes: the TypeError for an io says how to read one. */
VALUE mp_convert_to_bytes(VALUE obj);

MP_INLINE VALUE
mp_packed_bytes(VALUE obj)
{
    return MP_LIKELY(RB_TYPE_P(obj, T_STRING)) ? obj : mp_convert_to_bytes(obj);
}

/* How an io is read. */
enum {
    MP_BY_READPARTIAL, /* which returns the bytes that are there instead of waiting for all */
    MP_BY_READ,        /* which waits for all bytes, so it is never asked for more than needed */
    MP_BY_STRING_IO,   /* by read, which does not wait in a StringIO: its readpartial makes an EOFError at the end */
    MP_BY_FILE,        /* by readpartial of a File, after eof? if it gave fewer bytes than asked for before */
};
typedef uint8_t mp_io_way;

/* How to read this io. May run user code. */
mp_io_way mp_io_way_of(VALUE io);

/* The EOFError that an io raised at its end. */
typedef struct {
    bool of_any_class; /* a subclass of EOFError ends the io, too, as in the msgpack gem; otherwise it is raised */
    VALUE error;       /* nil if the io raised none */
} mp_io_end;

/*
 * Reads a String of at least one byte. Returns nil at the end, which an io signals by nil, "" or EOFError. `way` is the
 * result of mp_io_way_of: asks for size bytes, and by MP_BY_READ for at most `needed`. `into` is 0 or, if
 * mp_io_reads_into_p, a String whose content the bytes replace and which is returned. TypeError unless the io returns a
 * String or an object that converts to a String.
 */
VALUE mp_io_read(VALUE io, mp_io_way way, size_t size, uint64_t needed, VALUE into, mp_io_end *end);

/* True if the io is read by Ruby's own method, which can read into an existing String. */
bool mp_io_reads_into_p(VALUE io, mp_io_way way);

/* The class StringIO, once an object of it has been seen; otherwise 0. */
extern VALUE mp_cStringIO;

/* Recognizes a StringIO by the name of its data type, so that no constant is looked up. obj is a T_DATA. */
bool mp_new_string_io_p(VALUE obj);

/*
 * True for a StringIO, but not for one of a subclass or with methods of its own. Ruby's read and write of a StringIO
 * run no user code and let no other Thread run.
 */
MP_INLINE bool
mp_string_io_p(VALUE obj)
{
    return RB_TYPE_P(obj, T_DATA) && (MP_LIKELY(RBASIC_CLASS(obj) == mp_cStringIO) || mp_new_string_io_p(obj));
}

/*
 * True for an io that takes back bytes: a StringIO, or an IO whose class has no readpartial of its own. From any other
 * io, read no more than is needed.
 */
bool mp_io_takes_back_p(VALUE io);

/* Gives the bytes that were read last back to the io: the next read returns them. */
void mp_io_take_back(VALUE io, VALUE bytes);

/*
 * Calls write and returns its answer, or calls << and returns nil. If the io has neither, raises as mp_check_sink does.
 */
VALUE mp_io_write(VALUE io, VALUE bytes, int api);

/* Calls mp_io_write until the io has taken all bytes. */
void mp_io_write_all(VALUE io, VALUE bytes, int api);

/* True for an io with write: mp_io_call_write is faster than mp_io_write, which asks each time. */
bool mp_io_writable_p(VALUE obj);
VALUE mp_io_call_write(VALUE io, VALUE bytes);

/*
 * How many of len bytes the io took, according to the answer of its write: all, unless the answer is a smaller Integer.
 * IOError if that is below 1.
 */
size_t mp_io_bytes_taken(VALUE io, VALUE answer, size_t len);

/*
 * TypeError unless an io is nil or can be written to (sink), read from (source), or either (io). If mp_lenient_p,
 * anything passes: the msgpack gem appends to a String, and raises NoMethodError when it calls a missing method.
 */
void mp_check_sink(VALUE io, int api);
void mp_check_source(VALUE io, int api);
void mp_check_io(VALUE io, int api);

/*
 * TypeError unless an io can be written to; nil cannot. If mp_lenient_p, NoMethodError, as the msgpack gem calls write.
 * For methods that write at once. Returns what mp_io_writable_p does.
 */
bool mp_need_sink(VALUE io, int api);

/* Reads (io = nil, options = nil) as the msgpack gem does: if io is a Hash and no options follow, it is the options. */
void mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options);

#endif
