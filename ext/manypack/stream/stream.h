/*
 * What an Unpacker reads from: a Buffer or the body of an ext. It knows where the stream stopped, which may be at any
 * byte, and it walks over objects that are not to be built.
 */
#ifndef MANYPACK_STREAM_H
#define MANYPACK_STREAM_H

#include "buffer/buffer.h"
#include "codec/codec.h"
#include "core/skip.h"
#include "unpack/decoder.h"

/* Where the first byte of the buffer is. */
typedef enum {
    MP_AT_OBJECT,  /* at the start of an object */
    MP_IN_OBJECT,  /* inside an object that is being read; the decoder says where */
    MP_IN_SKIPPED, /* inside an object that is being skipped; walk says where */
    MP_IN_SLICED,  /* inside an object whose bytes are collected in slice; walk says where */
    MP_IN_FAILED,  /* inside an object that raised, whose rest nobody wants; walk says where */
} mp_position;

typedef struct {
    VALUE buffer;          /* 0 over a body, until somebody asks for it; that Buffer refuses all use */
    VALUE sticky_error;    /* raised by every read, because nobody knows where the next object starts; 0 without one */
    mp_position position;
    bool open;             /* between initialize, or the start of a body, and the end of the body */
    bool running;          /* a method is at work */
    bool plainly;          /* without rb_ensure: only NoMemoryError can have left it running */
    bool position_unknown; /* the error that is being raised will be the sticky one */
    uint32_t yields;       /* blocks of each that are running, including those that their Fibers left */
    bool body;             /* over the body of an ext of body_type: the bytes are in piece, not in the buffer */
    int8_t body_type;
    size_t origin;         /* offset of the first byte of the buffer in all that was fed or read */
    size_t message;        /* offset of the current object */
    mp_codec codec;
    mp_chunk piece;        /* the rest of the body */
    mp_outer outer;        /* what encloses the body; its objects are counted on */
    mp_decoder d;          /* between two calls its value stack is in a block if an object is unfinished, else empty */
    mp_walk walk;
    uint64_t *left;        /* the walk's memory: */
    size_t places;         /* this many numbers */
    VALUE flags;           /* of the object when it was created */
    VALUE as;              /* what loads a message from its bytes, or Qtrue for Views; 0 if objects are built */
    VALUE slice;           /* a String of the current message's bytes so far; 0 if there are none */
    uint64_t bodies;       /* how many bodies it has begun, if it reads bodies */
    uint32_t lease;        /* counts how often it was set aside for another user */
    size_t broken_off;     /* 1 + origin when the input ended inside an object of which nothing is consumed; or 0 */
} mp_stream;

MP_STATIC_ASSERT(unpacker_fits_a_slot_of_640, sizeof(mp_stream) <= 608);
MP_STATIC_ASSERT(unpacker_is_hot_in_one_cache_line, offsetof(mp_stream, codec) <= 48);

/*
 * The stream of an Unpacker. Valid while the caller has self on its stack. RuntimeError before initialize and after the
 * end of the body.
 */
mp_stream *mp_stream_get(VALUE self);

/* True while a method is at work. One that NoMemoryError has left where no exception is expected is not. */
bool mp_stream_running_p(mp_stream *u);

/* For methods that read: RuntimeError also while another one is at work, or while the Buffer is being written. */
mp_stream *mp_stream_for_read(VALUE self);

/* Raises as mp_stream_for_read does if the Unpacker or its Buffer is in use, or the Buffer is TORN. */
NORETURN(void mp_stream_raise_in_use(const mp_stream *u));

/* Forgets everything it has read: the next object is the first one. */
void mp_stream_restart(mp_stream *u);

/* Closes an idle stream and frees the memory that only a deep object needs. */
void mp_stream_set_aside(mp_stream *u);

/* The chunk with the first bytes; NULL if there are none. */
MP_INLINE const mp_chunk *
mp_stream_first_chunk(const mp_stream *u)
{
    if (!u->body) return mp_bytes_first(&mp_buffer_get(u->buffer)->bytes);
    return u->piece.len ? &u->piece : NULL;
}

/* Drops bytes that were decoded or passed over. */
MP_INLINE void
mp_stream_consume(mp_stream *u, size_t n)
{
    u->origin += n;
    if (u->body) {
        u->piece.at += n;
        u->piece.len -= n;
    } else {
        mp_bytes_consume(&mp_buffer_get(u->buffer)->bytes, n);
    }
}

/* Forgets the unfinished object and its values. */
MP_INLINE void
mp_stream_at_object(mp_stream *u)
{
    u->position = MP_AT_OBJECT;
    u->d.source = 0;
    u->d.stack = (mp_value_stack){.values = NULL};
}

/* True inside an object that is passed over. */
MP_INLINE bool
mp_stream_passing_p(const mp_stream *u)
{
    return u->position == MP_IN_SKIPPED || u->position == MP_IN_FAILED;
}

/* Prepares to pass over the rest of an object, whose place is tree; why becomes the position. */
void mp_stream_pass_over_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why);

/*
 * Continues the walk to the end of its object. False if the bytes end first. MP_IN_SLICED it collects the bytes, for
 * the object in d.holder.
 */
bool mp_stream_pass_over(mp_stream *u);

/*
 * The bytes of the first chunk. The pointers are valid until the Buffer changes or anything allocates, because
 * compaction may move an embedded String: call this again afterwards.
 */
mp_blame mp_stream_front(const mp_stream *u);

/* The current message, for an error, as mp_decoder_message. */
mp_message mp_stream_message(const mp_stream *u);

/*
 * Reads from the io until there are n bytes, and makes them contiguous at the front. False if the input ends first.
 * The object has at least `object` bytes from the front: an io that waits for all bytes that it is asked for is not
 * asked for more.
 */
bool mp_stream_bytes_there(mp_stream *u, uint64_t n, uint64_t object);

/* True if the io waits for all bytes that it is asked for. */
bool mp_stream_reads_exactly_p(const mp_stream *u);

/*
 * LimitError if the current object has more than max_bytes. ahead counts those that are not consumed yet; whole says
 * that the end of the object is known.
 */
void mp_stream_check_max_bytes(mp_stream *u, size_t ahead, bool whole);

/* Starts passing over the next object; why becomes the position. */
void mp_stream_begin_pass(mp_stream *u, mp_position why);

/* The offset after the last whole object, which is where the unfinished one starts. */
size_t mp_stream_position(const mp_stream *u);

/* True if an object has been begun and its end has not come. */
bool mp_stream_pending_p(const mp_stream *u);

/* Raises TruncatedError: the input ends before or inside an object. */
NORETURN(void mp_stream_raise_truncated(const mp_stream *u));

/* Raises an error after which nobody knows where the next object starts; the message has that many objects so far. */
NORETURN(void mp_stream_raise_unknown_position(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame));

#endif
