/* The methods of an Unpacker that read. */
#ifndef MANYPACK_UNPACKER_READ_H
#define MANYPACK_UNPACKER_READ_H

#include "stream/stream.h"

/* Reads the next object. TruncatedError if the bytes end before or inside it; otherwise the errors of mp_decode_on. */
VALUE mp_unpacker_read(VALUE self, mp_stream *u);

/* Yields each object until the bytes end. If strict, raises TruncatedError if they end inside an object. */
void mp_unpacker_each(VALUE self, bool strict);

/* Skips the next object, or the rest of an object that was partly read. TruncatedError like mp_unpacker_read. */
void mp_unpacker_skip(VALUE self);

/* After a read that failed: skips the rest of the failed object, as the next read would. */
void mp_unpacker_skip_failed(VALUE self);

/* Skips the next object if it is nil. Returns Qtrue if it was, otherwise Qfalse. */
VALUE mp_unpacker_skip_nil(VALUE self);

/* True if no byte follows the object that was just read. Waits for a byte or for the end of the io. */
bool mp_unpacker_end_p(VALUE self);

/* Reads the head of a container and returns its count. UnexpectedTypeError for any other object. */
VALUE mp_unpacker_read_header(VALUE self, mp_kind kind);

#endif
