/*
 * Manypack::Buffer: bytes that wait to be unpacked or to be written. A queue of chunks: long Strings are kept by
 * reference, short ones are collected in a block of the buffer's own.
 */
#ifndef MANYPACK_BUFFER_H
#define MANYPACK_BUFFER_H

#include "manypack.h"

/* len bytes from at on, of a String that never changes, or where str is 0 of a block that the buffer owns. */
typedef struct {
    VALUE str;
    uint8_t *block;
    size_t at, len;
} mp_chunk;

typedef struct {
    mp_chunk *chunks;
    size_t first, count, capacity; /* the queue is chunks[first], and count of them */
    size_t size;                   /* bytes in all of them */
    size_t block_size;             /* of the last chunk's block; 0 when nothing may be appended to it */
    size_t rollback;               /* what size was before a write that is not done, plus one; 0 without one */
    bool taken;                    /* user code runs while an encoder or decoder is in the middle of the bytes */
    bool append_only;              /* lent to user code in the middle of a write: what is in it stays */
    bool reads_exactly;            /* the io waits for all that it is asked for */
    VALUE io;                      /* nil without one; 0 before initialize and after close */
    size_t io_buffer_size, read_reference_threshold, write_reference_threshold;
} mp_buffer;

/* A Buffer for a Packer or an Unpacker. io may be nil, options are a Hash or nil. */
VALUE mp_buffer_new(VALUE io, VALUE options);

/* Its struct; embedded, so valid while the caller has the object on its stack. */
mp_buffer *mp_buffer_get(VALUE self);

/* Appends what a String has: long ones by reference to what they are now, short ones as a copy. */
void mp_buffer_feed(VALUE self, VALUE str);

/* Appends a copy of n bytes. */
void mp_buffer_append(VALUE self, const uint8_t *bytes, size_t n);

/* Appends len bytes of a frozen String from at on, by reference. */
void mp_buffer_refer(VALUE self, VALUE str, size_t at, size_t len);

/* The chunk with the first bytes, NULL when there are none; and where these are. */
const mp_chunk *mp_buffer_first(const mp_buffer *buffer);
const uint8_t *mp_chunk_bytes(const mp_chunk *chunk);

/* Makes the first n bytes lie in one piece; there are as many. */
void mp_buffer_gather(VALUE self, size_t n);

/* Drops the first n bytes; there are as many. */
void mp_buffer_consume(VALUE self, size_t n);

/* Drops all bytes. */
void mp_buffer_clear(VALUE self);

/* Drops bytes from the end until size are left. */
void mp_buffer_truncate(VALUE self, size_t size);

/* Reads from the io, at least one byte and not waiting for more than needed. false at its end or without one. */
bool mp_buffer_read_io(VALUE self, uint64_t needed);

/*
 * Where at least n bytes may be written behind the last one, and in *room how many. They count once they are
 * committed; those of them that were written are kept when more room is reserved.
 */
uint8_t *mp_buffer_reserve(VALUE self, size_t written, size_t n, size_t *room);
void mp_buffer_commit(mp_buffer *buffer, size_t n);

/* For whoever looks or appends, and for whoever also removes: RuntimeError when that is not allowed now. */
mp_buffer *mp_buffer_for_append(VALUE self);
mp_buffer *mp_buffer_for_change(VALUE self);

/* All bytes as one binary String. */
VALUE mp_buffer_to_s(VALUE self);

/* The same as what the queue keeps; long ones are not copied. */
VALUE mp_buffer_to_a(VALUE self);

/* All bytes as one binary String; the buffer is empty afterwards. */
VALUE mp_buffer_take_all(VALUE self);

/* Writes all bytes to io, chunk by chunk, and drops them. */
size_t mp_buffer_write_to(VALUE self, VALUE io);

/* Writes all bytes to the buffer's own io and flushes that; nothing without one. */
void mp_buffer_flush(VALUE self);

/* Drops all bytes; every later use raises RuntimeError. */
void mp_buffer_close(VALUE self);

#endif
