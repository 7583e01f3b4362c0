/* Manypack::Packer: a codec and the Buffer that it packs objects into. */
#ifndef MANYPACK_PACKER_H
#define MANYPACK_PACKER_H

#include "codec/codec.h"
#include "pack/written.h"

typedef struct {
    VALUE buffer;
    mp_codec codec;
    mp_notes notes; /* on objects that user code nested in the innermost call has written */
    uint32_t calls; /* how many levels of the Buffer's loan are calls of to_msgpack, not containers */
} mp_packer;

/*
 * The struct of a Packer, valid while the caller has self on its stack. RuntimeError before initialize and after
 * mp_packer_close.
 */
MP_INLINE mp_packer *
mp_packer_get(VALUE self)
{
    mp_packer *packer = mp_typed_data(self);

    if (MP_UNLIKELY(!packer->buffer)) {
        rb_raise(rb_eRuntimeError, "Packer cannot be used: its block or handler has ended, or it is not initialized");
    }
    return packer;
}

/* True for a Packer, of any class. */
bool mp_packer_p(VALUE obj);

/* Makes a Packer for the user code of one pack call, and its Buffer. */
VALUE mp_packer_new(const mp_codec *codec, VALUE *buffer);

/* Replaces the notes and returns the old ones. */
mp_notes mp_packer_set_notes(VALUE packer, mp_notes notes);

void mp_packer_set_calls(VALUE packer, uint32_t calls);

/* The number of calls of to_msgpack among the levels that are open around a write to the Packer. */
uint32_t mp_packer_calls(const mp_packer *packer);

/* Ends the use of a Packer: every later call raises. */
void mp_packer_close(VALUE packer);

/* Makes a Packer with the codec of a Codec object and the arguments (io = nil, options = nil). api: see options.h. */
VALUE mp_packer_with_codec(VALUE codec, int argc, const VALUE *argv, int api);

#endif
