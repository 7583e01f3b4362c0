/* What the decoder needs of an Unpacker: one over an io, and one over the body of an ext. */
#ifndef MANYPACK_UNPACKER_H
#define MANYPACK_UNPACKER_H

#include "decoder.h"

/* An Unpacker by a Codec object, with (io = nil, options = nil); api as for mp_options_read. */
VALUE mp_unpacker_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

/*
 * A frozen Unpacker by a Codec object for the block of a pool: the spare one of the Ractor, or a new one. Given back,
 * it becomes the spare one unless user code still has it in the middle of something.
 */
VALUE mp_unpacker_borrow(VALUE codec);
void mp_unpacker_give_back(VALUE unpacker);

/* Unpacks the one object that an io has. */
VALUE mp_unpack_io(VALUE io, const mp_codec *codec);

/*
 * An Unpacker over the n bytes of a frozen String from at on, the body of an ext of that type at offset in the whole
 * input. It can read and skip, and only that. used is one whose body has ended, which is made this one, or 0.
 */
VALUE mp_unpacker_for_body(VALUE used, const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n,
                           size_t offset, mp_outer outer);

/*
 * MalformedFormatError unless all of the body was read; until it gets another one every use of the Unpacker raises.
 * Returns how many objects the message has so far.
 */
uint64_t mp_unpacker_end_body(VALUE self);

/* Keeps an Unpacker whose body has ended, and some of those for bodies inside it, as the spare one of the Ractor. */
void mp_unpacker_keep_for_bodies(VALUE self);

#endif
