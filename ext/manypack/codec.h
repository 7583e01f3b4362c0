/*
 * Manypack::Codec: the configuration of packing and unpacking, options and ext types. Immutable: whoever wants
 * another one makes another one. Everything that packs or unpacks does so by a codec.
 */
#ifndef MANYPACK_CODEC_H
#define MANYPACK_CODEC_H

#include "options.h"
#include "types.h"

typedef struct {
    const mp_types *types; /* NULL when there are none */
    VALUE object;          /* the Codec that owns the types; whoever keeps a copy of this marks it */
    mp_options options;
} mp_codec;

/* The codec of a Codec object; TypeError for another object. Valid while the object is. */
const mp_codec *mp_codec_get(VALUE codec);

/*
 * For one call: fills the caller's codec with the types of a Codec object, and its options changed by a Hash or
 * nil. Valid while the object is. api and errors as for mp_options_read.
 */
void mp_codec_override(mp_codec *codec, VALUE self, VALUE options, int api);

/*
 * What Manypack.pack and Manypack.unpack work by: no options, the types that were registered on DefaultFactory. It may
 * be replaced and freed whenever user code runs: whoever uses it has its object on the stack.
 */
const mp_codec *mp_default_codec(void);

/* The Codec object without options and types. */
VALUE mp_plain_codec(void);

/* Replaces the default codec, as a whole: whoever is at work goes on with the one that it began with. */
void mp_default_codec_set(VALUE codec);

/* The same types with the options of a Hash or nil on top of its own; codec itself when there are none. */
VALUE mp_codec_with_options(VALUE codec, VALUE options, int api);

/* The same with one type more. A nil packer or unpacker registers only the other direction. */
VALUE mp_codec_with_type(VALUE codec, VALUE type, VALUE klass, VALUE packer, VALUE unpacker, VALUE options);

/* The types of a Codec object, for who holds them beyond its life. */
mp_types *mp_codec_types(VALUE codec);

/* Arrays of Hashes: type, class and packer or unpacker of what is registered, by type. */
VALUE mp_codec_packers(VALUE codec);
VALUE mp_codec_unpackers(VALUE codec);

#endif
