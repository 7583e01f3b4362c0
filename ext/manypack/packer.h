/* A Packer, for its own methods, for the encoder, which lends it to user code, and for pools and Codecs. */
#ifndef MANYPACK_PACKER_H
#define MANYPACK_PACKER_H

#include "codec.h"

typedef struct {
    VALUE buffer;
    mp_codec codec;
} mp_packer;

/* Valid while the caller has self on its stack. RuntimeError before initialize and after mp_packer_close. */
MP_INLINE mp_packer *
mp_packer_get(VALUE self)
{
    mp_packer *packer = mp_typed_data(self);

    if (MP_UNLIKELY(!packer->buffer)) {
        rb_raise(rb_eRuntimeError, "Packer cannot be used: its block or handler has ended, or it is not initialized");
    }
    return packer;
}

/* A Packer for the user code of one pack, and its Buffer. */
VALUE mp_packer_new(const mp_codec *codec, VALUE *buffer);

/* After this every use of the Packer raises: what it wrote to belongs to somebody else now. */
void mp_packer_close(VALUE packer);

/*
 * A frozen Packer by a Codec object for the block of a pool: the spare one of the Ractor, or a new one. Given back, it
 * becomes the spare one unless user code still has it in the middle of something.
 */
VALUE mp_packer_borrow(VALUE codec);
void mp_packer_give_back(VALUE packer);

/* A Packer by a Codec object, with (io = nil, options = nil); api as for mp_options_read. */
VALUE mp_packer_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

#endif
