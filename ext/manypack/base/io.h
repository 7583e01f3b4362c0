/* Reading from and writing to anything that answers the methods of IO. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "base/options.h"

/* True if obj can be read from. */
bool mp_io_p(VALUE obj);

/* True if it has readpartial, which takes what is there instead of waiting for all that is asked for. */
bool mp_io_partial_p(VALUE obj);

/*
 * A String of at least one byte, or nil at the end, which an io signals by nil, "" or EOFError. Asks readpartial for
 * size bytes, but read for no more than needed, since read waits for all of them. TypeError unless the io returns a
 * String or an object that converts to one.
 */
VALUE mp_io_read(VALUE io, size_t size, uint64_t needed);

/*
 * True for an io that takes back bytes: a StringIO, or an IO whose class has no readpartial of its own. From any other
 * io, read no more than is needed.
 */
bool mp_io_takes_back_p(VALUE io);

/* Gives the bytes of a String that were read last back to the io: the next read returns them. */
void mp_io_take_back(VALUE io, VALUE bytes);

/* Calls write and returns its answer, or calls << and returns nil. Without either, does as mp_check_sink. */
VALUE mp_io_write(VALUE io, VALUE bytes, int api);

/* Calls mp_io_write until the io has taken all bytes. */
void mp_io_write_all(VALUE io, VALUE bytes, int api);

/* mp_io_write for an io that is known to have write, which saves asking each time. */
bool mp_io_writable_p(VALUE obj);
VALUE mp_io_call_write(VALUE io, VALUE bytes);

/*
 * How many of len bytes the io took, by the answer of its write: all of them, unless the answer is a smaller Integer.
 * IOError if that is below 1.
 */
size_t mp_io_bytes_taken(VALUE io, VALUE answer, size_t len);

/*
 * TypeError unless an io is nil or can be written to, read from, or either. Where mp_lenient_p, anything passes: the
 * msgpack gem appends to a String, and raises NoMethodError when it calls a method that is not there.
 */
void mp_check_sink(VALUE io, int api);
void mp_check_source(VALUE io, int api);
void mp_check_io(VALUE io, int api);

/* TypeError unless it can be written to, in every API: for methods that write at once. nil cannot. */
void mp_need_sink(VALUE io);

/* The arguments (io = nil, options = nil) of the msgpack gem: a single one may be either. */
void mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options);

#endif
