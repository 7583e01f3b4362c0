/* The methods of an Unpacker that read, over its stream. */
#ifndef MANYPACK_READER_H
#define MANYPACK_READER_H

#include "stream.h"

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
