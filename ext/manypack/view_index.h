/* The index of the containers in a message, which all Views of it share: a tape (tape.h) that the collector owns. */
#ifndef MANYPACK_VIEW_INDEX_H
#define MANYPACK_VIEW_INDEX_H

#include "codec.h"
#include "tape.h"

/* A message of fewer bytes needs no Index: passing over what is in it takes no longer. One of 4 GiB can have none. */
#define MP_VIEW_INDEX_MIN 512

/* An empty Index for a message with containers at most max_depth deep; 0 if it needs or can have none. */
VALUE mp_view_index_new(VALUE message, uint32_t max_depth);

/* An Index of all of a message, after checking that unpacking it by a codec would not raise; otherwise it raises. */
VALUE mp_view_index_checked(VALUE message, const mp_codec *codec);

/* Indexes the rest of the message, and freezes the Index: Ractors may share it then. Raises a DecodeError. */
void mp_view_index_finish(VALUE index, VALUE message);

/* Its tape, over the bytes of the message. Valid while the caller has both objects on its stack. */
mp_tape *mp_view_index_tape(VALUE index, VALUE message);

#endif
