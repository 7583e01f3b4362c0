/* Options: what a Hash of them sets, by the one table of their names in options.c. */
#ifndef MANYPACK_OPTIONS_H
#define MANYPACK_OPTIONS_H

#include "limit.h"
#include "support.h"

#define MP_UNPACK_MAX_DEPTH 128
#define MP_PACK_MAX_DEPTH 512
#define MP_UNTRUSTED_DEPTH 32

/* Of packing and unpacking: one Hash may configure both. */
typedef struct {
    size_t max_bytes;   /* of unpacking, as the rest of this first half: the longest input; SIZE_MAX without a limit */
    uint32_t max_depth; /* open containers, of packing too; 0 for the default of the direction */
    uint32_t explicit;  /* which rows of the table the user gave himself, a bit for each */
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

/* Of a Buffer. */
typedef struct {
    size_t io_buffer_size, read_reference_threshold, write_reference_threshold;
} mp_buffer_options;

/* Flags that say whose arguments are being read. */
enum {
    MP_OWN = 0,         /* of a method that only Manypack has */
    MP_SHARED = 1,      /* of a method that MessagePack has too: lenient where manypack/drop_in is loaded */
    MP_WITH_BUFFER = 2, /* the method makes a Buffer and knows its options */
};

/* How many containers may be open in an input. */
MP_INLINE uint32_t
mp_unpack_max_depth(const mp_options *options)
{
    if (options->max_depth) return options->max_depth;
    return options->untrusted ? MP_UNTRUSTED_DEPTH : MP_UNPACK_MAX_DEPTH;
}

/* The flags of a module function: only the one called on Manypack itself is certainly Manypack's own. */
MP_INLINE int
mp_api_of(VALUE self)
{
    return self == mp_mManypack ? MP_OWN : MP_SHARED;
}

/* Whether such arguments may be all that the msgpack gem takes, unknown options included. */
bool mp_lenient_p(int api);

/* The defaults. */
void mp_options_init(mp_options *options);

/*
 * Sets what a Hash has. ArgumentError names unknown options and suggests known ones; TypeError,
 * RangeError and ArgumentError for values that an option cannot have.
 */
void mp_options_read(mp_options *options, VALUE hash, int api);

/* The options of a Buffer in a Hash or nil, which mp_options_read or mp_buffer_options_check has passed. */
mp_buffer_options mp_buffer_options_of(VALUE hash);

/* ArgumentError where a Hash or nil for Buffer.new has other options. */
void mp_buffer_options_check(VALUE hash, int api);

/* A Hash of what is not as it is by default, with untrusted where that is set. */
VALUE mp_options_changed(const mp_options *options);

#endif
