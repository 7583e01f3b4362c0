/* Configuration: the options of a pack or an unpack, immutable while it runs. */
#ifndef MANYPACK_CODEC_H
#define MANYPACK_CODEC_H

#include "manypack.h"

#define MP_UNPACK_MAX_DEPTH 128
#define MP_PACK_MAX_DEPTH 512

typedef struct {
    size_t max_bytes;   /* unpack: the longest input; SIZE_MAX without a limit */
    uint32_t max_depth; /* open containers; 0 for the default of the direction */
    bool symbolize_keys;
    bool freeze;
    bool shareable;
    bool allow_unknown_ext;
    bool timestamp;
    bool compatibility_mode;
} mp_options;

extern const mp_options mp_default_options;

/* Fills options from a Hash of options or nil; keys it does not know are ignored. ArgumentError, TypeError. */
void mp_options_init(mp_options *options, VALUE hash);

#endif
