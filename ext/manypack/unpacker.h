/* What the decoder needs of an Unpacker: one over an io, and one over the body of an ext. */
#ifndef MANYPACK_UNPACKER_H
#define MANYPACK_UNPACKER_H

#include "codec.h"

/* An Unpacker by a Codec object, with (io = nil, options = nil). */
VALUE mp_unpacker_with_codec(VALUE codec, int argc, const VALUE *argv);

/* Unpacks the one object that an io has. */
VALUE mp_unpack_io(VALUE io, const mp_codec *codec);

/*
 * An Unpacker over the n bytes of a frozen String from at on, the body of an ext of that type at offset in the whole
 * input, inside so many containers. It can read and skip, and only that.
 */
VALUE mp_unpacker_for_body(const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n, size_t offset,
                           uint32_t depth);

/* MalformedFormatError unless all of the body was read; after this every use of the Unpacker raises. */
void mp_unpacker_end_body(VALUE self);

#endif
