/* Reading from and writing to anything that answers the methods of IO. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "manypack.h"

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

/* Whether obj has the write of an IO. */
bool mp_io_writable_p(VALUE obj);

/* All of bytes, by write or <<; with writable, which mp_io_writable_p told, by write without asking again. */
void mp_io_write(VALUE io, VALUE bytes, bool writable);

/* The arguments (io = nil, options = nil) of the msgpack gem, where the only one may be either. */
void mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options);

#endif
