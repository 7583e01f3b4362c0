/* What the encoder needs of a Packer: to hand its output to user code and to take it back. */
#ifndef MANYPACK_PACKER_H
#define MANYPACK_PACKER_H

#include "codec.h"

/* A Packer with nothing to write to yet. */
VALUE mp_packer_new(const mp_options *options);

/* Gives the Packer the String that its methods append to, at so many levels of nesting. */
void mp_packer_lend(VALUE packer, VALUE str, uint32_t depth);

/* Takes the String back. RuntimeError when another Fiber is in the middle of writing to it. */
VALUE mp_packer_take(VALUE packer);

/* After this every use of the Packer raises: what it wrote to belongs to somebody else now. */
void mp_packer_close(VALUE packer);

#endif
