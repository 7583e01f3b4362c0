/* The encoder: objects in, bytes into an output window that a String takes over when it is outgrown. */
#ifndef MANYPACK_ENCODE_H
#define MANYPACK_ENCODE_H

#include "buffer.h"
#include "codec.h"
#include "out.h"
#include "path.h"
#include "ractor.h"

/* Bytes of C stack that an encoder starts with: most messages need no more. */
#define MP_ENCODER_BLOCK 4096

/*
 * One walk over one object. Lives on the C stack and owns nothing but str, which the collector finds there. The window
 * is on the caller's block at first, and then on a String that becomes the result; or on what a Buffer has reserved,
 * whose bytes count only when the encoder commits them: an exception leaves nothing to undo, except what was committed
 * before user code or a String by reference, which the Buffer's loan undoes.
 */
typedef struct {
    mp_out out;              /* first: the window's growth finds the encoder by it */
    VALUE str;               /* the String behind the window; 0 while there is none */
    VALUE buffer;            /* the Buffer behind the window; 0 while there is none */
    VALUE packer;            /* what user code writes to; 0 until some is called. Its buffer is buffer */
    const mp_codec *codec;
    const mp_place *place;
    mp_ractor *ractor;       /* the current one; NULL until something that it keeps is needed */
    VALUE last_class;        /* of a foreign object, and the ext type that was found for it or NULL */
    const mp_type *last_type;
    uint32_t depth, max_depth;
} mp_encoder;

/* The growth of the window. It raises what there is to raise and is never false. */
bool mp_encoder_grow(mp_out *out, size_t n);

/* Starts with the window on block, which the caller owns and which must outlive the encoder, as codec must. */
MP_INLINE void
mp_encoder_init(mp_encoder *e, uint8_t *block, size_t size, const mp_codec *codec)
{
    mp_spoil(block, size);
    mp_out_init(&e->out, block, size, mp_encoder_grow);
    e->str = 0;
    e->buffer = 0;
    e->packer = 0;
    e->codec = codec;
    e->place = NULL;
    e->ractor = NULL;
    e->last_class = 0;
    e->depth = 0;
    e->max_depth = codec->options.max_depth ? codec->options.max_depth : MP_PACK_MAX_DEPTH;
}

/* The window on the buffer, behind size bytes that are written there and not committed, with room for n more. */
MP_INLINE void
mp_encoder_window_on_buffer(mp_encoder *e, size_t size, size_t n)
{
    size_t room;

    e->out.start = mp_bytes_reserve(e->buffer, &mp_buffer_get(e->buffer)->bytes, size, n, &room);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + room;
}

/* Starts with the window on the buffer of a Packer, at the depth at which it is lent. */
MP_INLINE void
mp_encoder_init_packer(mp_encoder *e, VALUE packer, VALUE buffer, const mp_codec *codec)
{
    mp_encoder_init(e, NULL, 0, codec);
    e->packer = packer;
    e->buffer = buffer;
    e->depth = mp_buffer_get(buffer)->loan.depth;
    mp_encoder_window_on_buffer(e, 0, 1);
}

/* What was written now counts as in the buffer. */
MP_INLINE void
mp_encoder_commit(mp_encoder *e)
{
    mp_bytes_commit(&mp_buffer_get(e->buffer)->bytes, mp_out_size(&e->out));
    e->out.start = e->out.pos;
}

/* Appends obj. Raises NoMethodError, RangeError, ArgumentError, RuntimeError, NestingError with the path. */
void mp_encode(mp_encoder *e, VALUE obj);

/* Appends string as str or bin by its encoding, and as bin. */
void mp_encode_string(mp_encoder *e, VALUE string);
void mp_encode_bin(mp_encoder *e, VALUE string);

/* Appends a container's elements as that container, whatever ext type its class has. */
void mp_encode_array(mp_encoder *e, VALUE array);
void mp_encode_hash(mp_encoder *e, VALUE hash);

/* Appends an ext of one type with the bytes of payload. */
void mp_encode_ext(mp_encoder *e, int type, VALUE payload);

/* Packs obj into a String; errors as mp_encode. */
VALUE mp_encode_whole(VALUE obj, const mp_codec *codec);

/* Room for n bytes; never NULL, as growth raises NoMemoryError itself. */
MP_INLINE uint8_t *
mp_encoder_reserve(mp_encoder *e, size_t n)
{
    return mp_out_reserve(&e->out, n);
}

#endif
