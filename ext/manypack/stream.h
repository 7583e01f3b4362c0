/*
 * What an Unpacker reads from: a Buffer or the body of an ext. It knows where the stream stopped, which may be at any
 * byte, and it walks over objects that are not to be built.
 */
#ifndef MANYPACK_STREAM_H
#define MANYPACK_STREAM_H

#include "buffer.h"
#include "codec.h"
#include "decoder.h"
#include "skip.h"

/* What the first bytes of the buffer are. */
typedef enum {
    MP_AT_OBJECT,  /* the start of an object */
    MP_IN_OBJECT,  /* in the middle of one that is being read; the decoder says where */
    MP_IN_SKIPPED, /* in the middle of one that is being skipped; walk says where */
    MP_IN_FAILED,  /* in the middle of one that raised, of which nobody wants the rest; walk says where */
} mp_position;

typedef struct {
    VALUE buffer;         /* over a body: one that refuses all use, once somebody has asked for it; 0 before */
    VALUE broken;         /* the error after which nobody knows where the next object starts: every read raises it; 0 */
    mp_position position;
    bool open;            /* between initialize, or the start of a body, and the end of the body */
    bool running;         /* a method is at work */
    bool lost;            /* the error on its way will break it */
    uint32_t yields;      /* blocks of each that have an object, some of them left by their Fibers */
    bool body;            /* over the body of an ext, of body_type: its bytes are in piece, not in the buffer */
    int8_t body_type;
    size_t origin;        /* offset of the first byte of the buffer in all that was fed or read */
    size_t message;       /* offset of the object at hand */
    mp_codec codec;
    mp_chunk piece;       /* what is left of the body */
    mp_around around;     /* the body; its objects go on counting */
    mp_decoder d;         /* between two calls its value stack is in a block, where an object is unfinished, or empty */
    mp_walk walk;
    uint64_t *left;       /* the walk's memory, */
    size_t places;        /* of so many numbers */
    VALUE flags;          /* of the object when it was made */
} mp_stream;

MP_STATIC_ASSERT(unpacker_fits_a_slot_of_640, sizeof(mp_stream) <= 608);
MP_STATIC_ASSERT(unpacker_is_hot_in_one_cache_line, offsetof(mp_stream, codec) <= 48);

/*
 * That of an Unpacker. Valid while the caller has self on its stack. RuntimeError before initialize and once the body
 * has ended.
 */
mp_stream *mp_stream_get(VALUE self);

/* For methods that read: RuntimeError also while another one is at work, or the Buffer is being written somewhere. */
mp_stream *mp_stream_for_read(VALUE self);

/* Forgets all that it was told: the next object is the first one. */
void mp_stream_restart(mp_stream *u);

/* Closes an idle one, and frees what only a deep object needs. */
void mp_stream_set_aside(mp_stream *u);

/* The chunk with the first bytes, NULL when there are none. */
MP_INLINE const mp_chunk *
mp_stream_first_chunk(const mp_stream *u)
{
    if (!u->body) return mp_buffer_first(mp_buffer_get(u->buffer));
    return u->piece.len ? &u->piece : NULL;
}

/* Drops what was decoded or passed over. */
MP_INLINE void
mp_stream_consume(mp_stream *u, size_t n)
{
    u->origin += n;
    if (u->body) {
        u->piece.at += n;
        u->piece.len -= n;
    } else {
        mp_buffer_consume(u->buffer, n);
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

/* Passes over what is still to come of an object, from tree on. From now on the stream is in the middle of it. */
void mp_stream_pass_over_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why);

/* Starts a walk over a whole object, of a message that has that many objects so far, this one included. */
void mp_stream_walk(mp_stream *u, uint64_t objects);

/* Continues the walk to the end of its object. False if the bytes end first. */
bool mp_stream_pass_over(mp_stream *u);

/*
 * The bytes of the first chunk. The pointers are valid until the Buffer changes or anything allocates, because
 * compaction may move an embedded String: call this again afterwards.
 */
mp_blame mp_stream_front(const mp_stream *u);

/*
 * Reads from the io until there are n bytes, and makes them contiguous at the front. False if the input ends first. The
 * object has at least `whole` bytes from the front on: an io that waits for all that it is asked for is asked for no
 * more.
 */
bool mp_stream_bytes_there(mp_stream *u, uint64_t n, uint64_t whole);

/* True if the io waits for all that it is asked for. */
bool mp_stream_reads_exactly_p(const mp_stream *u);

/*
 * LimitError if the current object has more bytes than it may, of which `ahead` are not consumed yet. whole says that
 * its end is known.
 */
void mp_stream_check_max_bytes(mp_stream *u, size_t ahead, bool whole);

/* The input ends in the middle of an object, or before one. */
NORETURN(void mp_stream_raise_truncated(const mp_stream *u));

/* Raises an error after which nobody knows where the next object starts; the message has that many objects so far. */
NORETURN(void mp_stream_raise_lost(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame));

#endif
