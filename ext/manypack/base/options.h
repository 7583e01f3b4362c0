/* Options, as read from a Hash by the one table in options.c. */
#ifndef MANYPACK_OPTIONS_H
#define MANYPACK_OPTIONS_H

#include "base/support.h"
#include "core/limit.h"

/* Equal for packing and unpacking, so that every packed object can be unpacked. */
#define MP_DEFAULT_MAX_DEPTH 128
#define MP_TERMINAL_MAX_DEPTH 512 /* of the program manypack, which shows and converts what others have packed */
#define MP_UNTRUSTED_DEPTH 32
#define MP_MAX_MAX_DEPTH 100000

/*
 * What to_json does with bytes that are not text: it raises an error, or writes a string in base64 or hexadecimal or,
 * only for an ext, an object with one pair, the name of the class and the string in base64.
 */
typedef enum { MP_BYTES_ERROR, MP_BYTES_BASE64, MP_BYTES_HEX, MP_BYTES_NAMED, MP_BYTES_WAYS } mp_bytes_as;

/* Options of JSON, packed into one word so that an Unpacker, which reads none of them, still fits its slot. */
typedef enum {
    MP_JSON_NAN,           /* allow_nan: reads and writes NaN, Infinity and -Infinity, which are not JSON */
    MP_JSON_DUPLICATE_KEY, /* allow_duplicate_key: reading, the last counts; writing, keys may be equal */
    MP_JSON_ASCII_ONLY,    /* ascii_only: writes characters beyond ASCII as \u escapes */
    MP_JSON_SCRIPT_SAFE,   /* script_safe: escapes the slash, U+2028 and U+2029, for a script element of HTML */
    MP_JSON_PRETTY,        /* pretty: writes what JSON.pretty_generate writes */
    MP_JSON_STRINGIFY,     /* stringify_keys: writes nil, booleans and numbers that are keys as strings */
    MP_JSON_BIN,           /* bin: an mp_bytes_as, in two bits */
    MP_JSON_EXT = MP_JSON_BIN + 2, /* ext: the same for the payload of an ext */
} mp_json_option;

/* Options of packing and unpacking, and of JSON: one Hash may configure all. */
typedef struct {
    size_t max_bytes;   /* of an input; SIZE_MAX without a limit */
    uint32_t max_depth; /* open containers, in packing too; 0 for the default of packing or unpacking */
    uint32_t explicit;  /* one bit for each row of the table: set if the user set the option */
    bool untrusted;
    bool strict_utf8;
    bool unique_keys;
    bool first_key;     /* the first of equal keys counts where a View or a Path looks; unpacking keeps the last */
    bool last_key;      /* derived: the last of equal keys counts, so a View must search to the end of a map */
    bool limited;       /* derived: more than max_bytes and max_depth must be checked */
    bool symbolize_keys;
    bool freeze;
    bool shareable;
    bool allow_unknown_ext;
    bool timestamp;
    bool compatibility_mode;
    bool canonical;
    bool of_gem : 1;    /* no option: called by the name MessagePack, so user code gets MessagePack's classes */
    bool to_io : 1;     /* no option: the packed bytes go to an io, so full_pack in to_msgpack returns nil */
    uint16_t json;      /* options of JSON: see mp_json_option */
    mp_limits limits; /* of unpacking; read only if limited */
} mp_options;

/* Options of a Buffer. */
typedef struct {
    size_t io_buffer_size, read_reference_threshold, write_reference_threshold;
} mp_buffer_options;

/* Flags of a method: the name that it is called by, and what it does, which decides the options that it takes. */
enum {
    MP_OWN = 0,          /* of a method called by Manypack's own name */
    MP_LENIENT = 1,      /* of a method called by the name MessagePack: options may be what the msgpack gem accepts */
    MP_WITH_BUFFER = 2,  /* of a method that makes a Buffer and knows its options */
    MP_PACKS = 4,        /* of a method that packs */
    MP_UNPACKS = 8,      /* of a method that unpacks */
    MP_WITH_CODEC = 16,  /* of a method that also takes `codec` */
    MP_WITH_CHECK = 32,  /* of a method that also takes `check`, which is not a field of mp_options */
    MP_WITH_AS = 64,     /* of a method that also takes `as`, which it removes from the Hash: errors may suggest it */
    MP_LOOKS = 128,      /* of a method that looks into bytes, or makes a Codec: it takes duplicate_keys: :first */
    MP_FROM_JSON = 256,  /* of a method that reads JSON */
    MP_TO_JSON = 512,    /* of a method that writes JSON */
    MP_CONFIGURES = MP_PACKS | MP_UNPACKS | MP_FROM_JSON | MP_TO_JSON, /* of a method that makes a Codec */
};

/* True if a flag of JSON is set. */
MP_INLINE bool
mp_json_flag(const mp_options *options, mp_json_option flag)
{
    return options->json >> flag & 1;
}

/* The value of the option MP_JSON_BIN or MP_JSON_EXT. */
MP_INLINE mp_bytes_as
mp_json_bytes_as(const mp_options *options, mp_json_option which)
{
    return (mp_bytes_as)(options->json >> which & 3);
}

/* How many containers of an input may be open. */
MP_INLINE uint32_t
mp_unpack_max_depth(const mp_options *options)
{
    if (options->max_depth) return options->max_depth;
    return options->untrusted ? MP_UNTRUSTED_DEPTH : MP_DEFAULT_MAX_DEPTH;
}

/* The flags of a module function: MP_OWN if it is called on Manypack, MP_LENIENT if on MessagePack. */
MP_INLINE int
mp_api_of(VALUE self)
{
    return self == mp_mManypack ? MP_OWN : MP_LENIENT;
}

/* True if arguments may be whatever the msgpack gem accepts, including unknown options. */
MP_INLINE bool
mp_lenient_p(int api)
{
    return api & MP_LENIENT;
}

/* Sets the defaults. */
void mp_options_init(mp_options *options);

/*
 * Sets the options in a Hash. ArgumentError for unknown options: it names them and suggests known ones; and for options
 * that have no effect on the method. TypeError, RangeError or ArgumentError for invalid values. Returns the value of
 * `codec` if MP_WITH_CODEC, or nil. If it is a Codec, the caller reads the Hash again, over the Codec's options. Sets
 * *called to the value of `default`, which a Codec object keeps, if there is one.
 */
VALUE mp_options_read(mp_options *options, VALUE hash, int api, VALUE *called);

/* True if the user set the option of a field. */
bool mp_options_set_p(const mp_options *options, size_t field);

/* Sets all options that the user set in `over`. */
void mp_options_overlay(mp_options *options, const mp_options *over);

/* The options of a Buffer in a Hash or nil, which mp_options_read or mp_buffer_options_check must have accepted. */
mp_buffer_options mp_buffer_options_of(VALUE hash);

/* True if these are the defaults. */
bool mp_buffer_options_default_p(VALUE hash);

/* ArgumentError if a Hash for Buffer.new has unknown options. nil is an empty Hash. */
void mp_buffer_options_check(VALUE hash, int api);

/* The name of the option with that field of mp_options, for errors. */
#define MP_OPTION_NAME(field) mp_option_name(offsetof(mp_options, field))
const char *mp_option_name(size_t field);

/* True if the user set the option `default`. */
bool mp_options_called_p(const mp_options *options);

/* A Hash of the options that the user set, even to their defaults. `called` is the value of `default`. */
VALUE mp_options_said(const mp_options *options, VALUE called);

#endif
