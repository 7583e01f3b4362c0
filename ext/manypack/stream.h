/*
 * The resumable machine behind an Unpacker: it reads one object after another from a Buffer, or from the body of an
 * ext, and can stop at every byte.
 */
#ifndef MANYPACK_STREAM_H
#define MANYPACK_STREAM_H

#include "buffer.h"
#include "codec.h"
#include "decode.h"
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

/* The next object. TruncatedError when the bytes end before it does; the other errors are those of mp_decode_on. */
VALUE mp_stream_read(VALUE self, mp_stream *u);

/* Yields each object until the bytes end. */
void mp_stream_each(VALUE self);

/* Passes over the next object, or the rest of one that was read in part. TruncatedError as mp_stream_read. */
void mp_stream_skip(VALUE self);

/* Passes over a nil, and tells whether there was one: Qtrue or Qfalse. */
VALUE mp_stream_skip_nil(VALUE self);

/* The count of the container that comes next, whose head is dropped. UnexpectedTypeError for another object. */
VALUE mp_stream_read_header(VALUE self, mp_kind kind);

#endif
