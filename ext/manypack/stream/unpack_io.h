/* One object of an io. */
#ifndef MANYPACK_UNPACK_IO_H
#define MANYPACK_UNPACK_IO_H

#include "stream/stream.h"

/* Makes the next full_unpack leave the bytes after the object in the io, if nothing has been read from the io yet. */
void mp_unpacker_leave_rest(VALUE unpacker);

/* Unpacks the next object of an io and leaves the bytes after it in the io. */
VALUE mp_unpack_io(VALUE io, const mp_codec *codec);

/* True once after mp_unpacker_leave_rest, unless something was read from the io meanwhile. */
bool mp_unpacker_leaves_rest(mp_stream *u);

/* Reads the next object with a new Unpacker over an io, and leaves the bytes after it in the io. */
VALUE mp_unpacker_read_one(VALUE self, VALUE io);

#endif
