/* The Ruby object of an Unpacker, which holds a stream. */
#ifndef MANYPACK_UNPACKER_OBJECT_H
#define MANYPACK_UNPACKER_OBJECT_H

#include "base/lenient.h"
#include "stream/stream.h"

extern mp_classes mp_cUnpacker;

VALUE mp_unpacker_allocate(VALUE klass);

bool mp_unpacker_p(VALUE object);

/* The stream of an Unpacker, even before initialize. TypeError for any other object. */
mp_stream *mp_unpacker_checked(VALUE object);

void mp_unpacker_set_codec(VALUE self, const mp_codec *codec);
void mp_unpacker_set_buffer(VALUE self, VALUE buffer);

/* The Buffer of an Unpacker that is not over a body, made if it has none. During a read, makes it TAKEN. */
VALUE mp_unpacker_buffer(VALUE self);

/*
 * Stores the first fed String as the Unpacker's piece, so that no Buffer is needed. False unless it is the first and
 * embedded: any other may share the bytes of a long String, which a reference would keep alive.
 */
bool mp_unpacker_take_first(VALUE self, VALUE string);

#endif
