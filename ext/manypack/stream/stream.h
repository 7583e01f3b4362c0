/*
 * The stream that an Unpacker reads: a Buffer or the body of an ext. It knows where reading stopped, which may be at
 * any byte, and it skips objects without building them.
 */
#ifndef MANYPACK_STREAM_H
#define MANYPACK_STREAM_H

#include "buffer/buffer_object.h"
#include "codec/codec.h"
#include "core/skip.h"
#include "unpack/decoder.h"

/* Where the first byte of the Buffer is. */
enum {
    MP_AT_OBJECT,  /* at the start of an object */
    MP_IN_OBJECT,  /* inside an object that is being read; its state is in d */
    MP_IN_SKIPPED, /* inside an object that is being skipped; its state is in walk */
    MP_IN_SLICED,  /* inside an object whose bytes slice collects; its state is in walk */
    MP_IN_FAILED,  /* skipping the rest of an object that raised; its state is in walk */
};
typedef uint8_t mp_position;

/* State of streams over an io or a body, and of those whose object is long, unfinished or invalid. */
typedef struct {
    VALUE sticky_error; /* every read raises it, once the next object's start is unknown; or 0 */
    VALUE as;           /* loads each message; Qtrue: return Views; nil: return the bytes; 0: build objects */
    VALUE slice;        /* the bytes of the current message so far, a String; 0 without any */
    VALUE eof;          /* the EOFError that the io raised at its end; 0 or nil if it raised none */
    VALUE refusing;     /* a body's Buffer, which refuses all use; 0 until user code asks for it */
    VALUE next;         /* the next spare Unpacker for bodies; 0 without one */
    size_t message;     /* offset of the object that is being read */
    size_t broken_off;  /* origin + 1 if the input ended inside an object with nothing consumed; else 0 */
    mp_outer outer;     /* the containers around the body; its `objects` keeps counting */
    mp_decoder d;       /* of an unfinished object, its value stack in a block; otherwise the stack is empty */
    mp_walk walk;
    uint64_t *left;     /* memory of the walk */
    size_t places;      /* how many numbers `left` has room for */
    VALUE flags;        /* the Ruby object's flags when it got its first body */
    uint64_t bodies;    /* number of bodies begun so far */
    uint32_t yields;    /* active calls of the method each, including those in suspended Fibers */
    bool leaves_rest;   /* full_unpack leaves the bytes after the object in the io */
} mp_stream_more;

/* Bytes of a frozen String. */
typedef struct {
    VALUE str; /* 0 without bytes, unless the stream keeps the piece */
    size_t at, len;
} mp_piece;

/*
 * Kept small because many Unpackers serve one short message: the memory of the next one should still be in the CPU's
 * cache. Such an Unpacker needs neither a Buffer nor `more`.
 */
typedef struct {
    VALUE buffer;          /* 0 if the bytes are in piece: a body, or the first String fed */
    mp_piece piece;
    mp_stream_more *more;  /* see mp_stream_grown; NULL until needed */
    mp_position position;
    bool open;             /* between initialize, or the start of a body, and the end of the body */
    bool running;          /* a method that reads is at work */
    bool position_unknown; /* the error that is being raised will become sticky_error */
    bool fed;              /* piece was used for fed bytes: later bytes need a Buffer */
    bool keeps_piece;      /* also when it is consumed: an error or the next body may need the String */
    bool body;             /* over the body of an ext of body_type */
    int8_t body_type;
    size_t origin;         /* offset of the first byte in the whole input */
    mp_codec codec;
} mp_stream;

MP_STATIC_ASSERT(unpacker_fits_a_slot_of_160, sizeof(mp_stream) <= 128);

/* Allocates `more`, which must be NULL. The stream does not move while its Unpacker is on the C stack. */
mp_stream_more *mp_stream_grow(mp_stream *u);

MP_INLINE mp_stream_more *
mp_stream_grown(mp_stream *u)
{
    return MP_LIKELY(u->more != NULL) ? u->more : mp_stream_grow(u);
}

/* The error that every read raises; 0 without one. */
MP_INLINE VALUE
mp_stream_sticky_error(const mp_stream *u)
{
    return u->more ? u->more->sticky_error : 0;
}

/* The loader of messages, or 0 to build objects: mp_stream_more.as. */
MP_INLINE VALUE
mp_stream_as(const mp_stream *u)
{
    return u->more ? u->more->as : 0;
}

/*
 * The stream of an Unpacker, valid while the caller has self on its stack. RuntimeError before initialize and after the
 * end of the body.
 */
mp_stream *mp_stream_get(VALUE self);

/* Raises the RuntimeError of mp_stream_for_read: the Unpacker or its Buffer is in use, or the Buffer is TORN. */
NORETURN(void mp_stream_raise_in_use(const mp_stream *u));

/* Forgets everything it has read: the next object is the first of a new stream. */
void mp_stream_restart(mp_stream *u);

/* Closes an idle stream, and frees its memory if a deep object made it large. */
void mp_stream_set_aside(mp_stream *u);

/* The chunk with the first bytes; its len is 0 without bytes. */
MP_INLINE mp_chunk
mp_stream_first_chunk(const mp_stream *u)
{
    const mp_chunk *chunk;

    if (!u->buffer) return (mp_chunk){.str = u->piece.str, .at = u->piece.at, .len = u->piece.len};
    chunk = mp_bytes_first(&mp_buffer_get(u->buffer)->bytes);
    return chunk ? *chunk : (mp_chunk){.len = 0};
}

/* The number of bytes that are not consumed yet. */
MP_INLINE size_t
mp_stream_size(const mp_stream *u)
{
    return u->buffer ? mp_buffer_get(u->buffer)->bytes.size : u->piece.len;
}

/* Drops n bytes that were decoded or skipped. */
MP_INLINE void
mp_stream_consume(mp_stream *u, size_t n)
{
    u->origin += n;
    if (u->buffer) {
        mp_bytes_consume(&mp_buffer_get(u->buffer)->bytes, n);
    } else {
        u->piece.at += n;
        u->piece.len -= n;
        if (!u->piece.len && !u->keeps_piece) u->piece.str = 0;
    }
}

/* Forgets the unfinished object and its values. */
MP_INLINE void
mp_stream_at_object(mp_stream *u)
{
    u->position = MP_AT_OBJECT;
    if (!u->more) return;
    u->more->d.source = 0;
    u->more->d.stack = (mp_value_stack){.values = NULL};
}

/* True inside an object that is being skipped. */
MP_INLINE bool
mp_stream_passing_p(const mp_stream *u)
{
    return u->position == MP_IN_SKIPPED || u->position == MP_IN_FAILED;
}

/* True if nobody but the stream may use its Buffer now. */
MP_INLINE bool
mp_stream_buffer_closed_p(const mp_stream *u)
{
    return u->buffer && mp_loan_closed_p(&mp_buffer_get(u->buffer)->loan);
}

/* Raises unless a method may read now. */
void mp_stream_check_for_read(VALUE self);

/*
 * The stream for a method that reads. RuntimeError also while another method reads, or while the Buffer is being
 * written.
 */
MP_INLINE mp_stream *
mp_stream_for_read(VALUE self)
{
    mp_stream *u = mp_typed_data(self);

    if (MP_UNLIKELY(!u->open || u->running || mp_stream_buffer_closed_p(u))) mp_stream_check_for_read(self);
    return u;
}

/* The stream for a method that does more than read. RuntimeError for an Unpacker over the body of an ext. */
mp_stream *mp_stream_for_change(VALUE self);

/*
 * Starts skipping the rest of an object that the decoder has begun: `tree` tells how far it got. Sets u->position to
 * `why`.
 */
void mp_stream_skip_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why);

/*
 * Continues skipping to the end of the object. False if the bytes end first. In MP_IN_SLICED, collects the bytes in
 * slice. The stream must be grown.
 */
bool mp_stream_skip(VALUE self, mp_stream *u);

/*
 * The bytes of the first chunk. The pointers are valid until the Buffer changes or anything allocates, because
 * compaction may move an embedded String: call this again afterwards.
 */
mp_blame mp_stream_front(const mp_stream *u);

/* The current message for an error, like mp_decoder_message. */
mp_message mp_stream_message(const mp_stream *u);

/* Reads bytes from the io, waiting for at most `needed` of them. False at the end of the input. */
bool mp_stream_read_more(mp_stream *u, uint64_t needed);

/*
 * Reads from the io until there are n bytes, and makes them contiguous at the front. False if the input ends first.
 * `object` is the least size of the object: an io that waits for all requested bytes is asked for no more than that.
 */
bool mp_stream_bytes_there(mp_stream *u, uint64_t n, uint64_t object);

/* True if the io waits for all bytes that are requested. */
bool mp_stream_reads_exactly_p(const mp_stream *u);

/*
 * LimitError if the current object has more than max_bytes. `ahead` bytes of it are not consumed yet. end_known:
 * reading can continue after the object.
 */
void mp_stream_check_max_bytes(mp_stream *u, size_t ahead, bool end_known);

/* Starts skipping the next object. Sets u->position to `why`. */
void mp_stream_begin_skip(mp_stream *u, mp_position why);

/* The offset after the last complete object, where the next or the unfinished object starts. */
size_t mp_stream_position(const mp_stream *u);

/* True if an object has been begun and is not complete. */
bool mp_stream_pending_p(const mp_stream *u);

/* Raises TruncatedError: the input ends before or inside an object. */
NORETURN(void mp_stream_raise_truncated(const mp_stream *u));

/* Raises EOFError if the input ends after a whole object, as at the end of an IO, and otherwise TruncatedError. */
NORETURN(void mp_stream_raise_end(const mp_stream *u));

/* Raises an error after which the next object's start is unknown. The message has `objects` objects so far. */
NORETURN(void mp_stream_raise_unknown_position(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame));

#endif
