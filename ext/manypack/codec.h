/*
 * Manypack::Codec: the configuration of packing and unpacking, options and ext types. Immutable: whoever wants
 * another one makes another one. Everything that packs or unpacks does so by a codec.
 */
#ifndef MANYPACK_CODEC_H
#define MANYPACK_CODEC_H

#include "limit.h"
#include "types.h"

#define MP_UNPACK_MAX_DEPTH 128
#define MP_PACK_MAX_DEPTH 512

/* What untrusted: true limits where no option says otherwise. */
#define MP_UNTRUSTED_DEPTH 32
#define MP_UNTRUSTED_BYTES (1 << 20)
#define MP_UNTRUSTED_LIMITS \
    ((mp_limits){.objects = 100000, .map = 1000, .array = 10000, .string = 1 << 18, .ext = 1 << 12})

typedef struct {
    size_t max_bytes;   /* of unpacking, as the rest of this first half: the longest input; SIZE_MAX without a limit */
    uint32_t max_depth; /* open containers, of packing too; 0 for the default of the direction */
    uint32_t given;     /* which of these the user gave himself, a bit for each */
    bool untrusted;
    bool strict_utf8;
    bool unique_keys;
    bool limited;       /* anything above but max_bytes and max_depth is other than it is by default */
    bool symbolize_keys;
    bool freeze;
    bool shareable;
    bool allow_unknown_ext;
    bool timestamp;
    bool compatibility_mode;
    mp_limits limits; /* of unpacking; only asked for where limited */
} mp_options;

typedef struct {
    const mp_types *types; /* NULL when there are none */
    VALUE object;          /* the Codec that owns the types; whoever keeps a copy of this marks it */
    mp_options options;
} mp_codec;

/* How many containers may be open in an input. */
MP_INLINE uint32_t
mp_unpack_max_depth(const mp_options *options)
{
    if (options->max_depth) return options->max_depth;
    return options->untrusted ? MP_UNTRUSTED_DEPTH : MP_UNPACK_MAX_DEPTH;
}

/* The codec of a Codec object; TypeError for another object. Valid while the object is. */
const mp_codec *mp_codec_get(VALUE codec);

/*
 * For one call: fills the caller's codec with the types of a Codec object, and its options changed by a Hash or
 * nil. Valid while the object is. Unknown options are ignored; ArgumentError, TypeError for bad values.
 */
void mp_codec_override(mp_codec *codec, VALUE self, VALUE options);

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
VALUE mp_codec_with_options(VALUE codec, VALUE options);

/* The same with one type more. A nil packer or unpacker registers only the other direction. */
VALUE mp_codec_with_type(VALUE codec, VALUE type, VALUE klass, VALUE packer, VALUE unpacker, VALUE options);

/* The types of a Codec object, for who holds them beyond its life. */
mp_types *mp_codec_types(VALUE codec);

/* Arrays of Hashes: type, class and packer or unpacker of what is registered, by type. */
VALUE mp_codec_packers(VALUE codec);
VALUE mp_codec_unpackers(VALUE codec);

#endif
