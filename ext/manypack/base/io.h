/* Reading from and writing to anything that answers the methods of IO. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "base/options.h"

/* True if obj can be read from. */
bool mp_io_p(VALUE obj);

/* True if it has readpartial, which returns the bytes that are there instead of waiting for all. */
bool mp_io_partial_p(VALUE obj);

/*
 * Reads a String of at least one byte. Returns nil at the end, which an io signals by nil, "" or EOFError. partial is
 * what mp_io_partial_p said: if true, asks readpartial for size bytes, otherwise read for at most `needed`, because
 * read waits for all of them. TypeError unless the io returns a String or an object that converts to a String.
 */
VALUE mp_io_read(VALUE io, bool partial, size_t size, uint64_t needed);

/*
 * True for an io that takes back bytes: a StringIO, or an IO whose class has no readpartial of its own. From any other
 * io, read no more than is needed.
 */
bool mp_io_takes_back_p(VALUE io);

/* Gives the bytes that were read last back to the io: the next read returns them. */
void mp_io_take_back(VALUE io, VALUE bytes);

/*
 * Calls write and returns its answer, or calls << and returns nil. If the io has neither, does what mp_check_sink does.
 */
VALUE mp_io_write(VALUE io, VALUE bytes, int api);

/* Calls mp_io_write until the io has taken all bytes. */
void mp_io_write_all(VALUE io, VALUE bytes, int api);

/* For an io that is known to have write: faster than mp_io_write, which finds out each time. */
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
 * TypeError unless an io can be written to, even if lenient; nil cannot. For methods that write at once. Returns what
 * mp_io_writable_p does.
 */
bool mp_need_sink(VALUE io);

/* The arguments (io = nil, options = nil) of the msgpack gem: a single one may be either. */
void mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options);

#endif
