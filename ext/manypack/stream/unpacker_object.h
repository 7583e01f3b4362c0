/* The Ruby object of an Unpacker, which holds a stream. */
#ifndef MANYPACK_UNPACKER_OBJECT_H
#define MANYPACK_UNPACKER_OBJECT_H

#include "stream/stream.h"

extern VALUE mp_cUnpacker;

VALUE mp_unpacker_allocate(VALUE klass);

/* The stream of an Unpacker, even before initialize. TypeError for any other object. */
mp_stream *mp_unpacker_checked(VALUE object);

void mp_unpacker_set_codec(VALUE self, const mp_codec *codec);
void mp_unpacker_set_buffer(VALUE self, VALUE buffer);

#endif
