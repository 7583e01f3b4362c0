/*
 * Manypack::Buffer: bytes that wait to be unpacked or to be written. A queue of chunks: long Strings are kept by
 * reference, short ones are collected in a block of the buffer's own.
 */
#ifndef MANYPACK_BUFFER_H
#define MANYPACK_BUFFER_H

#include "support.h"

/* len bytes from at on, of a String that never changes, or where str is 0 of a block that the buffer owns. */
typedef struct {
    VALUE str;
    uint8_t *block;
    size_t at, len;
} mp_chunk;

typedef struct {
    mp_chunk one;                  /* the queue while it has had but one chunk: capacity is 0 */
    mp_chunk *chunks;              /* since: chunks[first], and count of them */
    size_t first, count, capacity;
    size_t size;                   /* bytes in all of them */
    size_t block_size;             /* of the last chunk's block; 0 when nothing may be appended to it */
    size_t rollback;               /* what size was before a write that is not done, plus one; 0 without one */
    bool taken;                    /* user code runs while an encoder or decoder is in the middle of the bytes */
    bool append_only;              /* lent to user code in the middle of a write: what is in it stays */
    bool reads_exactly;            /* the io waits for all that it is asked for */
    bool writable;                 /* the io has a write */
    uint8_t owner;                 /* an mp_owner: whose it is, for errors that name what the user called */
    VALUE io;                      /* nil without one; 0 before initialize and after close */
    size_t io_buffer_size, read_reference_threshold, write_reference_threshold;
} mp_buffer;

typedef enum {
    MP_OF_USER,
    MP_OF_PACKER,
    MP_OF_UNPACKER
} mp_owner;

/* A Buffer for a Packer or an Unpacker. io may be nil, options are a Hash or nil. */
VALUE mp_buffer_new(VALUE io, VALUE options);

/* The struct of what is a Buffer; embedded, so valid while the caller has the object on its stack. */
MP_INLINE mp_buffer *
mp_buffer_get(VALUE self)
{
    return mp_typed_data(self);
}

/* Appends what a String has: long ones by reference to what they are now, short ones as a copy. */
void mp_buffer_feed(VALUE self, VALUE str);

/* Appends a copy of n bytes. */
void mp_buffer_append(VALUE self, const uint8_t *bytes, size_t n);

/* Appends len bytes of a frozen String from at on, by reference. */
void mp_buffer_refer(VALUE self, VALUE str, size_t at, size_t len);

/* The ith chunk of the queue, and its last one. */
MP_INLINE mp_chunk *
mp_buffer_chunk(mp_buffer *buffer, size_t i)
{
    return MP_LIKELY(!buffer->capacity) ? &buffer->one : &buffer->chunks[buffer->first + i];
}

MP_INLINE mp_chunk *
mp_buffer_last(mp_buffer *buffer)
{
    return mp_buffer_chunk(buffer, buffer->count - 1);
}

/* The chunk with the first bytes, NULL when there are none. */
MP_INLINE const mp_chunk *
mp_buffer_first(mp_buffer *buffer)
{
    return MP_LIKELY(buffer->size) ? mp_buffer_chunk(buffer, 0) : NULL;
}

/* Where its bytes are. */
MP_INLINE const uint8_t *
mp_chunk_bytes(const mp_chunk *chunk)
{
    return (chunk->str ? (const uint8_t *)RSTRING_PTR(chunk->str) : chunk->block) + chunk->at;
}

/* Takes back what a write that raised had committed. */
void mp_buffer_rollback(VALUE self);

/* Makes the first n bytes lie in one piece; there are as many. */
void mp_buffer_gather(VALUE self, size_t n);

/* Drops the first n bytes; there are as many. */
void mp_buffer_consume_chunks(VALUE self, size_t n);

MP_INLINE void
mp_buffer_consume(VALUE self, size_t n)
{
    mp_buffer *buffer = mp_buffer_get(self);
    mp_chunk *first = mp_buffer_chunk(buffer, 0);

    if (MP_UNLIKELY(n >= first->len)) {
        mp_buffer_consume_chunks(self, n);
        return;
    }
    first->at += n;
    first->len -= n;
    buffer->size -= n;
}

/* Drops all bytes. */
void mp_buffer_clear(VALUE self);

/* Reads from the io, at least one byte and not waiting for more than needed. false at its end or without one. */
bool mp_buffer_read_io(VALUE self, uint64_t needed);

/* Bytes that may be written behind the last one. */
MP_INLINE size_t
mp_buffer_room(mp_buffer *buffer)
{
    const mp_chunk *tail;

    if (MP_UNLIKELY(!buffer->block_size)) return 0;
    tail = mp_buffer_last(buffer);
    return buffer->block_size - tail->at - tail->len;
}

/* Behind the last one, where there is room. */
MP_INLINE uint8_t *
mp_buffer_end(mp_buffer *buffer)
{
    const mp_chunk *tail = mp_buffer_last(buffer);

    return tail->block + tail->at + tail->len;
}

/* Has room for n more bytes behind the last one and the so many that are written there. */
void mp_buffer_expand(VALUE self, size_t written, size_t n);

/*
 * Where at least n bytes may be written behind the last one, and in *room how many. They count once they are
 * committed; those of them that were written are kept when more room is reserved.
 */
MP_INLINE uint8_t *
mp_buffer_reserve(VALUE self, size_t written, size_t n, size_t *room)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (MP_UNLIKELY(mp_buffer_room(buffer) < written + n)) mp_buffer_expand(self, written, n);
    *room = mp_buffer_room(buffer);
    return mp_buffer_end(buffer);
}

MP_INLINE void
mp_buffer_commit(mp_buffer *buffer, size_t n)
{
    mp_buffer_last(buffer)->len += n;
    buffer->size += n;
}

/* A shorter String is never written by reference, whatever the threshold. */
#define MP_WRITE_REFERENCE_MIN 256

/*
 * From so many bytes on, what was written to a buffer that has an io goes there, once the object is whole. A call of
 * IO#write costs as much as a few hundred bytes; more of them would outgrow the block that is kept for the next ones.
 */
#define MP_WRITE_THROUGH 12288
void mp_buffer_write_through(VALUE self);

/* What whoever looks or appends has to see to, when it is not ready for that. */
void mp_buffer_make_ready(VALUE self);

/* For whoever looks or appends, and for whoever also removes: RuntimeError when that is not allowed now. */
MP_INLINE mp_buffer *
mp_buffer_for_append(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (MP_UNLIKELY(!buffer->io || buffer->taken || buffer->rollback || OBJ_FROZEN(self))) mp_buffer_make_ready(self);
    return buffer;
}

mp_buffer *mp_buffer_for_change(VALUE self);

/* All bytes as one binary String. */
VALUE mp_buffer_to_s(VALUE self);

/* The same as what the queue keeps; long ones are not copied. */
VALUE mp_buffer_to_a(VALUE self);

/* All bytes as one binary String; the buffer is empty afterwards. */
VALUE mp_buffer_take_all(VALUE self);

/* Writes all bytes to io, chunk by chunk, and drops them. */
size_t mp_buffer_write_to(VALUE self, VALUE io);

/* Writes all bytes to the buffer's own io; nothing without one. */
void mp_buffer_flush(VALUE self);

/* Whether no user code made it its own, and, to be reused, nobody is at work on it either. */
bool mp_buffer_pristine_p(VALUE self);
bool mp_buffer_reusable_p(VALUE self);

/* As mp_buffer_close, but a small block is kept for the next owner. */
void mp_buffer_set_aside(VALUE self);

/* Drops all bytes; every later use raises RuntimeError, until it is opened again. */
void mp_buffer_close(VALUE self);
void mp_buffer_reopen(VALUE self);

#endif
