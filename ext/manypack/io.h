/* Reading messages from whatever answers readpartial or read. */
#ifndef MANYPACK_IO_H
#define MANYPACK_IO_H

#include "codec.h"

/* Whether obj can be read from. */
bool mp_io_p(VALUE obj);

/*
 * Reads until one message is there and returns what was read, which may be more than that. Waits only for
 * bytes that the message still needs. TruncatedError at the end of the input, and the errors of the walk.
 */
VALUE mp_io_read_message(VALUE io, const mp_options *options);

#endif
