/*
 * Manypack::Codec: the configuration of packing and unpacking, made of options and ext types. Everything that packs or
 * unpacks has one. It is immutable: a changed configuration is another Codec.
 */
#ifndef MANYPACK_CODEC_H
#define MANYPACK_CODEC_H

#include "base/options.h"
#include "codec/types.h"

typedef struct {
    const mp_types *types; /* NULL if there are none */
    VALUE object;          /* the Codec that owns the types; the owner of a copy of this struct has to mark it */
    mp_options options;
} mp_codec;

/* The struct of a Codec object, valid while the object lives. TypeError for any other object. */
const mp_codec *mp_codec_get(VALUE codec);

/* The option `default` of a Codec object, which is called for objects that cannot be packed; 0 if it is not set. */
VALUE mp_codec_called(VALUE codec);

/*
 * Fills the caller's struct for one call with the types and options of a Codec object, or of the `codec` in the Hash.
 * The other options in the Hash, which may be nil, override them. The struct is valid while its `object` lives. api and
 * errors as in mp_options_read.
 */
void mp_codec_override(mp_codec *codec, VALUE self, VALUE options, int api);

/*
 * The codec of Manypack.pack and Manypack.unpack: no options, and the types that are registered on DefaultFactory. User
 * code may replace it, and then it may be freed: keep its object on the stack while you use it.
 */
const mp_codec *mp_default_codec(void);

/* mp_default_codec or, if api is MP_LENIENT, its twin for calls by the name MessagePack. */
const mp_codec *mp_default_codec_for(int api);

/* The Codec object without options and types. */
VALUE mp_plain_codec(void);

/*
 * The Codec of a Packer or Unpacker that is given none: the default codec, or the plain one if mp_lenient_p, as the
 * msgpack gem has it.
 */
VALUE mp_codec_by_default(int api);

/* Replaces the default codec as a whole. Calls that are running finish with the old one. */
void mp_default_codec_set(VALUE codec);

/*
 * A Codec with the same types, and options changed by a Hash. Returns codec itself for nil. api and errors as in
 * mp_options_read.
 */
VALUE mp_codec_with_options(VALUE codec, VALUE options, int api);

/* A Codec with the types and the options of a struct. `called`: see mp_codec_called. */
VALUE mp_codec_made_of(const mp_codec *codec, VALUE called);

/* A Codec with the types of `over` and the options of both: where both set an option, `over` decides. */
VALUE mp_codec_overlaid(VALUE codec, VALUE over);

/*
 * A Codec with one more type. A nil packer or unpacker registers only the other direction. options is the Hash of
 * Factory#register_type, or nil.
 */
VALUE mp_codec_with_type(VALUE codec, VALUE type, VALUE klass, VALUE packer, VALUE unpacker, VALUE options);

/* The types of a Codec object, for callers that hold them longer than the object lives. */
mp_types *mp_codec_types(VALUE codec);

/* Ractor::IsolationError unless all handlers of a Codec object, and its option `default`, are shareable. */
void mp_codec_check_shareable(VALUE codec);

/* An Array with a Hash for each registration: type, class, and packer or unpacker. */
VALUE mp_codec_packers(VALUE codec);
VALUE mp_codec_unpackers(VALUE codec);

#endif
