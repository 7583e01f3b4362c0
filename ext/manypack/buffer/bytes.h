/*
 * A queue of bytes, in chunks: long Strings are kept by reference, short Strings are copied into a block of the queue.
 * No user code runs in here.
 *
 * A queue is part of an object, its owner. Functions that take the owner may allocate or store a String: they keep the
 * owner on the stack and issue its write barrier.
 */
#ifndef MANYPACK_BYTES_H
#define MANYPACK_BYTES_H

#include "base/support.h"

/* `len` bytes from `at` on: of a String that never changes or, if str is 0, of a block that the queue owns. */
typedef struct {
    VALUE str;
    uint8_t *block;
    size_t at, len;
} mp_chunk;

typedef struct {
    union {
        mp_chunk one;              /* while capacity is 0: the only chunk */
        struct {
            mp_chunk *all;         /* otherwise: count chunks from all[first] on */
            size_t first;
        } many;
    } chunks;
    uint32_t count, capacity;
    size_t size;                   /* bytes in all chunks */
    size_t block_size;             /* of the last chunk's block; 0 when nothing may be appended to it */
} mp_bytes;

/* The ith chunk, and the last one. */
MP_INLINE mp_chunk *
mp_bytes_chunk(mp_bytes *bytes, size_t i)
{
    return MP_LIKELY(!bytes->capacity) ? &bytes->chunks.one : &bytes->chunks.many.all[bytes->chunks.many.first + i];
}

MP_INLINE mp_chunk *
mp_bytes_last(mp_bytes *bytes)
{
    return mp_bytes_chunk(bytes, bytes->count - 1);
}

/* The chunk with the first bytes; NULL if the queue is empty. */
MP_INLINE const mp_chunk *
mp_bytes_first(mp_bytes *bytes)
{
    return MP_LIKELY(bytes->size) ? mp_bytes_chunk(bytes, 0) : NULL;
}

/* The bytes of a chunk. */
MP_INLINE const uint8_t *
mp_chunk_bytes(const mp_chunk *chunk)
{
    return (chunk->str ? (const uint8_t *)RSTRING_PTR(chunk->str) : chunk->block) + chunk->at;
}

/* A chunk as a binary String. If the chunk is a whole String, the result shares its bytes. */
VALUE mp_chunk_to_s(const mp_chunk *chunk);

/* Appends, by reference, len bytes of a frozen String from `at` on. */
void mp_bytes_refer(VALUE owner, mp_bytes *bytes, VALUE str, size_t at, size_t len);

/* How many bytes fit after the last byte. */
MP_INLINE size_t
mp_bytes_room(mp_bytes *bytes)
{
    const mp_chunk *tail;

    if (MP_UNLIKELY(!bytes->block_size)) return 0;
    tail = mp_bytes_last(bytes);
    return bytes->block_size - tail->at - tail->len;
}

/* The place after the last byte, where there is room. */
MP_INLINE uint8_t *
mp_bytes_end(mp_bytes *bytes)
{
    const mp_chunk *tail = mp_bytes_last(bytes);

    return tail->block + tail->at + tail->len;
}

/* Makes room for n more bytes after the last byte and the `written` uncommitted bytes that follow it. */
void mp_bytes_expand(VALUE owner, mp_bytes *bytes, size_t written, size_t n);

/*
 * The place after the last byte. It has room for *room bytes: the `written` uncommitted bytes that are there already,
 * and at least n more. Bytes count once they are committed. Reserving more keeps the uncommitted bytes.
 */
MP_INLINE uint8_t *
mp_bytes_reserve(VALUE owner, mp_bytes *bytes, size_t written, size_t n, size_t *room)
{
    if (MP_UNLIKELY(mp_bytes_room(bytes) < written + n)) mp_bytes_expand(owner, bytes, written, n);
    *room = mp_bytes_room(bytes);
    return mp_bytes_end(bytes);
}

MP_INLINE void
mp_bytes_commit(mp_bytes *bytes, size_t n)
{
    mp_bytes_last(bytes)->len += n;
    bytes->size += n;
}

/* Appends a copy of n bytes. */
MP_INLINE void
mp_bytes_append(VALUE owner, mp_bytes *bytes, const uint8_t *from, size_t n)
{
    size_t room;

    if (!n) return; /* there may be no block, and memcpy must not get NULL, even for 0 bytes */
    memcpy(mp_bytes_reserve(owner, bytes, 0, n, &room), from, n);
    mp_bytes_commit(bytes, n);
}

/* Puts the first n bytes into one chunk. The queue must have them. */
void mp_bytes_gather(VALUE owner, mp_bytes *bytes, size_t n);

/* Drops the first n bytes. The queue must have them. */
void mp_bytes_consume_chunks(mp_bytes *bytes, size_t n);

MP_INLINE void
mp_bytes_consume(mp_bytes *bytes, size_t n)
{
    mp_chunk *first = mp_bytes_chunk(bytes, 0);

    if (MP_UNLIKELY(n >= first->len)) {
        mp_bytes_consume_chunks(bytes, n);
        return;
    }
    first->at += n;
    first->len -= n;
    bytes->size -= n;
}

/* Drops bytes from the end until size are left. */
void mp_bytes_truncate(mp_bytes *bytes, size_t size);

/* Drop all bytes. mp_bytes_clear keeps a small block for the next bytes, unless there is an array of chunks. */
void mp_bytes_clear(mp_bytes *bytes);
void mp_bytes_drop(mp_bytes *bytes);

/* An empty binary String with room for n bytes. NoMemoryError if a String cannot have them. */
VALUE mp_binary_of_size(size_t n);

/* The first n bytes as a binary String; they stay in the queue. */
VALUE mp_bytes_to_s(VALUE owner, mp_bytes *bytes, size_t n);

/* All bytes as an Array of Strings, one for each chunk. */
VALUE mp_bytes_to_a(VALUE owner, mp_bytes *bytes);

/* For the owner's GC functions. memsize does not include the Strings, which tell their own sizes. */
void mp_bytes_mark(mp_bytes *bytes);
void mp_bytes_compact(mp_bytes *bytes);
size_t mp_bytes_memsize(mp_bytes *bytes);

#endif
