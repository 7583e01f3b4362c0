/* What the encoder needs of a Packer: to hand its output to user code and to take it back. */
#ifndef MANYPACK_PACKER_H
#define MANYPACK_PACKER_H

#include "codec.h"

/* A Packer with nothing to write to yet. */
VALUE mp_packer_new(const mp_codec *codec);

/*
 * Gives the Packer the String that its methods append to, at so many levels of nesting; returns how many there were
 * before, which mp_packer_take wants back.
 */
uint32_t mp_packer_lend(VALUE packer, VALUE str, uint32_t depth);

/* Takes the String back. RuntimeError when another Fiber or Thread is in the middle of a write. */
VALUE mp_packer_take(VALUE packer, uint32_t depth);

/* After this every use of the Packer raises: what it wrote to belongs to somebody else now. */
void mp_packer_close(VALUE packer);

/* A Packer by a Codec object, with (io = nil, options = nil). */
VALUE mp_packer_with_codec(VALUE codec, int argc, const VALUE *argv);

#endif
