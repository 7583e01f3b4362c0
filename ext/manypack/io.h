/* Reading from and writing to anything that answers the methods of IO. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "options.h"

/* Whether obj can be read from. */
bool mp_io_p(VALUE obj);

/* Whether a read from it takes what is there, without waiting for all that is asked for. */
bool mp_io_partial_p(VALUE obj);

/*
 * A String of at least one byte; nil at the end, which an io tells by nil, "" or EOFError. readpartial is asked for
 * size bytes and takes what is there; read waits for all that it is asked for, and is asked for no more than needed.
 * TypeError when the io returns neither a String nor what converts to one.
 */
VALUE mp_io_read(VALUE io, size_t size, uint64_t needed);

/* All of bytes, by write or <<; where there is neither, as mp_check_sink says. */
void mp_io_write(VALUE io, VALUE bytes, int api);

/* The same without asking, to an io that is known to have the write of an IO. */
bool mp_io_writable_p(VALUE obj);
void mp_io_call_write(VALUE io, VALUE bytes);

/*
 * TypeError unless an io is nil or can be written to, read from, or either. Where mp_lenient_p, anything passes: the
 * msgpack gem appends to a String, and raises NoMethodError when it calls a method that is not there.
 */
void mp_check_sink(VALUE io, int api);
void mp_check_source(VALUE io, int api);
void mp_check_io(VALUE io, int api);

/* TypeError for what cannot be written to, nil included, and always: for methods that write to it at once. */
void mp_need_sink(VALUE io);

/* The arguments (io = nil, options = nil) of the msgpack gem, where the only one may be either. */
void mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options);

#endif
