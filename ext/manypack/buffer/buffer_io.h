/* How a Buffer reads from its io, and writes to an io. */
#ifndef MANYPACK_BUFFER_IO_H
#define MANYPACK_BUFFER_IO_H

#include "buffer/buffer_object.h"

/* The result of reading from an io. */
typedef struct {
    VALUE bytes; /* a String; nil at the end or without an io */
    bool spare;  /* it is the spare String of the Ractor, to give back */
    VALUE eof;   /* without bytes: the EOFError that the io raised; 0 or nil if none */
} mp_io_bytes;

/*
 * Reads at least one byte from the io, and waits for no more than `needed`. The caller has to feed the bytes after it
 * has checked that the Buffer is still its own.
 */
mp_io_bytes mp_buffer_read_io(VALUE self, uint64_t needed);

/* Appends the bytes from mp_buffer_read_io. NoMemoryError loses them and leaves the Buffer TORN. */
void mp_buffer_feed_read(VALUE self, mp_io_bytes read);

/* Writes all bytes to io, chunk by chunk, and drops them. TypeError for an io that cannot be written to. */
size_t mp_buffer_write_to(VALUE self, VALUE io);

/* Writes all bytes to the Buffer's own io, if it has one. */
void mp_buffer_flush(VALUE self);

/*
 * A Packer with an io flushes after the object that reaches this many bytes (packer_write.c). A larger size would save
 * little, because a call of IO#write costs only as much as packing a few hundred bytes, and a larger block would not be
 * kept for the next bytes.
 */
#define MP_FLUSH_SIZE 12288

/* Calls mp_buffer_flush, unless the bytes are in use. */
void mp_buffer_flush_if_idle(VALUE self);

/*
 * For a flush by user code that the Packer is lent to: returns true, and the Buffer is flushed when the write is
 * complete. Otherwise returns false.
 */
bool mp_buffer_flush_later(VALUE self);

#endif
