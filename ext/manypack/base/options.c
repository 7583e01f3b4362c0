/* The table of options, and how a Hash of options is read. */
#include "base/options.h"

typedef enum {
    FLAG,        /* a bool: true, false, or nil for false */
    TRUST,       /* untrusted: a bool that changes other defaults; nil leaves it unchanged, as in the kinds below */
    DEPTH,       /* a uint32_t, 1 to MP_MAX_MAX_DEPTH */
    SIZE,        /* a size_t */
    LARGE,       /* a uint64_t */
    COUNT,       /* a uint32_t; larger values become UINT32_MAX */
    STRICTNESS,  /* a bool; the user writes the name of the lax or the strict value */
    KEYS,        /* the same with a third value, which has a field of its own: see KEYS_FIRST */
    JSON_FLAG,   /* a bit of the field `json`; true, false, or nil for false */
    BYTES_AS,    /* two bits of it: an mp_bytes_as */
    CALLED,      /* an object with call, which has no field: see mp_options_read */
    BUFFER_SIZE, /* a size_t of mp_buffer_options */
} option_kind;

/* One row per option. */
typedef struct {
    const char *name;
    option_kind kind;
    size_t offset;            /* of its field */
    uint64_t default_value;   /* without untrusted */
    uint64_t untrusted;       /* its default with untrusted: true */
    int effect;               /* the operations that it affects: MP_PACKS, MP_UNPACKS, MP_FROM_JSON, MP_TO_JSON */
    uint64_t minimum;         /* of a BUFFER_SIZE: smaller values become the minimum */
    const char *lax, *strict; /* the values of a STRICTNESS */
    mp_json_option bit;       /* of a JSON_FLAG or BYTES_AS: its lowest bit */
} option_row;

/* Values of KEYS: the last of equal keys counts, they are an error, or the first counts. */
enum { KEYS_LAST, KEYS_ERROR, KEYS_FIRST };

/* Combinations of flags, for the column `effect`. */
enum { READS = MP_UNPACKS | MP_FROM_JSON | MP_TO_JSON, BOTH = MP_PACKS | MP_UNPACKS,
       JSON = MP_FROM_JSON | MP_TO_JSON };

#define OF(field) offsetof(mp_options, field)
#define OF_BUFFER(field) offsetof(mp_buffer_options, field)

#define LIMIT_ROW(X, STATUS, field, type, option, untrusted, unit, text) \
    {option, sizeof(type) == sizeof(uint32_t) ? COUNT : LARGE, OF(limits.field), (type)-1, untrusted, READS, \
     0, NULL, NULL, 0},

/* The default of all of them is 0: false, or MP_BYTES_ERROR. */
#define JSON_ROW(option, kind, effect, bit) {option, kind, OF(json), 0, 0, effect, 0, NULL, NULL, bit}

static const option_row rows[] = {
    {"symbolize_keys", FLAG, OF(symbolize_keys), false, false, MP_UNPACKS, 0, NULL, NULL, 0},
    {"freeze", FLAG, OF(freeze), false, false, MP_UNPACKS, 0, NULL, NULL, 0},
    {"shareable", FLAG, OF(shareable), false, false, MP_UNPACKS, 0, NULL, NULL, 0},
    {"allow_unknown_ext", FLAG, OF(allow_unknown_ext), false, false, MP_UNPACKS, 0, NULL, NULL, 0},
    {"timestamp", FLAG, OF(timestamp), false, false, BOTH | MP_TO_JSON, 0, NULL, NULL, 0},
    {"compatibility_mode", FLAG, OF(compatibility_mode), false, false, MP_PACKS | MP_FROM_JSON, 0, NULL, NULL, 0},
    {"canonical", FLAG, OF(canonical), false, false, MP_PACKS | MP_FROM_JSON, 0, NULL, NULL, 0},
    {"default", CALLED, SIZE_MAX, 0, 0, MP_PACKS, 0, NULL, NULL, 0},
    {"untrusted", TRUST, OF(untrusted), false, true, READS, 0, NULL, NULL, 0},
    {"max_depth", DEPTH, OF(max_depth), 0, 0, MP_CONFIGURES, 0, NULL, NULL, 0}, /* 0: see mp_options */
    {"max_bytes", SIZE, OF(max_bytes), SIZE_MAX, 1 << 20, READS, 0, NULL, NULL, 0},
    MP_LIMITS_EACH(LIMIT_ROW, )
    {"utf8", STRICTNESS, OF(strict_utf8), false, true, MP_UNPACKS, 0, "accept", "strict", 0},
    {"duplicate_keys", KEYS, OF(unique_keys), false, true, MP_UNPACKS, 0, "last", "error", 0},
    JSON_ROW("allow_nan", JSON_FLAG, JSON, MP_JSON_NAN),
    JSON_ROW("allow_duplicate_key", JSON_FLAG, JSON, MP_JSON_DUPLICATE_KEY),
    JSON_ROW("ascii_only", JSON_FLAG, MP_TO_JSON, MP_JSON_ASCII_ONLY),
    JSON_ROW("script_safe", JSON_FLAG, MP_TO_JSON, MP_JSON_SCRIPT_SAFE),
    JSON_ROW("pretty", JSON_FLAG, MP_TO_JSON, MP_JSON_PRETTY),
    JSON_ROW("stringify_keys", JSON_FLAG, MP_TO_JSON, MP_JSON_STRINGIFY),
    JSON_ROW("bin", BYTES_AS, MP_TO_JSON, MP_JSON_BIN),
    JSON_ROW("ext", BYTES_AS, MP_TO_JSON, MP_JSON_EXT),
    {"io_buffer_size", BUFFER_SIZE, OF_BUFFER(io_buffer_size), 32768, 32768, BOTH, 1024, NULL, NULL, 0},
    {"read_reference_threshold", BUFFER_SIZE, OF_BUFFER(read_reference_threshold), 256, 256, BOTH, 256,
     NULL, NULL, 0},
    {"write_reference_threshold", BUFFER_SIZE, OF_BUFFER(write_reference_threshold), 524288, 524288, BOTH, 256,
     NULL, NULL, 0},
};
enum {
    ROWS = sizeof(rows) / sizeof(rows[0]),
    BUFFER_ROWS = sizeof(mp_buffer_options) / sizeof(size_t), /* one for each field, after all others */
    CODEC_ROWS = ROWS - BUFFER_ROWS,
};
MP_STATIC_ASSERT(explicit_has_a_bit_for_each_row, CODEC_ROWS <= 32);

/* Static symbols: immortal, never moved. */
static VALUE names[ROWS], lax_names[ROWS], strict_names[ROWS], bytes_as_names[MP_BYTES_WAYS];

/* The defaults, without and with untrusted; set once in Init. */
static mp_options defaults[2];
static mp_buffer_options buffer_defaults;

static VALUE sym_first;

/* --- fields ----------------------------------------------------------------------------------------- */

/* The bits of `json` that the option has. */
static unsigned
json_mask(const option_row *row)
{
    return (row->kind == BYTES_AS ? 3u : 1u) << row->bit;
}

static void
field_set(mp_options *options, const option_row *row, uint64_t value)
{
    void *field = (char *)options + row->offset;

    switch (row->kind) {
      case CALLED: break;
      case DEPTH:
      case COUNT: *(uint32_t *)field = (uint32_t)value; break;
      case SIZE: *(size_t *)field = (size_t)value; break;
      case JSON_FLAG:
      case BYTES_AS: options->json = (uint16_t)((options->json & ~json_mask(row)) | (unsigned)value << row->bit); break;
      case LARGE: *(uint64_t *)field = value; break;
      case KEYS:
        options->unique_keys = value == KEYS_ERROR;
        options->first_key = value == KEYS_FIRST;
        break;
      default: *(bool *)field = value != 0; break;
    }
}

static void
buffer_field_set(mp_buffer_options *options, const option_row *row, uint64_t value)
{
    *(size_t *)(void *)((char *)options + row->offset) = (size_t)value;
}

static uint64_t
field_get(const mp_options *options, const option_row *row)
{
    const void *field = (const char *)options + row->offset;

    switch (row->kind) {
      case CALLED: return 0;
      case DEPTH:
      case COUNT: return *(const uint32_t *)field;
      case SIZE: return *(const size_t *)field;
      case JSON_FLAG:
      case BYTES_AS: return (options->json & json_mask(row)) >> row->bit;
      case LARGE: return *(const uint64_t *)field;
      case KEYS: return options->first_key ? KEYS_FIRST : options->unique_keys ? KEYS_ERROR : KEYS_LAST;
      default: return *(const bool *)field;
    }
}

bool
mp_options_set_p(const mp_options *options, size_t field)
{
    size_t row;

    for (row = 0; row < CODEC_ROWS && rows[row].offset != field; row++) continue;
    return options->explicit >> row & 1;
}

bool
mp_options_called_p(const mp_options *options)
{
    return mp_options_set_p(options, SIZE_MAX);
}

/*
 * Sets the derived fields. `limited` means that each object has to be checked, which max_bytes and max_depth do not
 * require.
 */
static void
derive(mp_options *options)
{
    bool limits = memcmp(&options->limits, &defaults[false].limits, sizeof(mp_limits)) != 0; /* there is no padding */

    options->last_key = !options->unique_keys && !options->first_key;
    options->limited = options->untrusted || options->strict_utf8 || options->unique_keys || limits;
}

/* Resets all options that the user did not set to the defaults for this value of untrusted. */
static void
set_defaults(mp_options *options)
{
    mp_options fresh = defaults[options->untrusted];
    size_t row;

    for (row = 0; row < CODEC_ROWS; row++) {
        if (options->explicit >> row & 1) field_set(&fresh, &rows[row], field_get(options, &rows[row]));
    }
    fresh.explicit = options->explicit;
    *options = fresh;
}

void
mp_options_init(mp_options *options)
{
    *options = defaults[false];
}

void
mp_options_overlay(mp_options *options, const mp_options *over)
{
    bool untrusted = options->untrusted;
    size_t row;

    if (!over->explicit) return;
    for (row = 0; row < CODEC_ROWS; row++) {
        if (over->explicit >> row & 1) field_set(options, &rows[row], field_get(over, &rows[row]));
    }
    options->explicit |= over->explicit;
    if (options->untrusted != untrusted) set_defaults(options);
    derive(options);
}

/* --- values ----------------------------------------------------------------------------------------- */

static uint64_t
depth_of(VALUE value, const char *option)
{
    long depth;

    if (!RB_INTEGER_TYPE_P(value)) {
        rb_raise(rb_eTypeError, "%s must be an Integer, got %" PRIsVALUE, option, rb_obj_class(value));
    }
    depth = RB_FIXNUM_P(value) ? FIX2LONG(value) : 0;
    if (depth < 1 || depth > MP_MAX_MAX_DEPTH) {
        rb_raise(rb_eRangeError, "%s must be in 1..%d, got %" PRIsVALUE, option, MP_MAX_MAX_DEPTH, value);
    }
    return (uint64_t)depth;
}

static uint64_t
count_of(VALUE value, const char *option)
{
    size_t size = mp_size(value, option);

    return size < UINT32_MAX ? size : UINT32_MAX;
}

/* True for the strict value of an option, false for the lax one. ArgumentError for any other. */
static bool
strict_of(VALUE value, size_t row)
{
    VALUE lax = lax_names[row], strict = strict_names[row];

    if (value != strict && value != lax) {
        rb_raise(rb_eArgError, "%s must be %+" PRIsVALUE "%s or %+" PRIsVALUE ", got %+" PRIsVALUE, rows[row].name,
                 lax, rows[row].kind == KEYS ? ", :first" : "", strict, value);
    }
    return value == strict;
}

/* The same, with :first as a third value. Only MP_LOOKS takes it: unpacking keeps the last of equal keys. */
static uint64_t
keys_value(VALUE value, size_t row, int api)
{
    if (value != sym_first) return strict_of(value, row) ? KEYS_ERROR : KEYS_LAST;
    if (api & MP_LOOKS) return KEYS_FIRST;
    rb_raise(rb_eArgError, "duplicate_keys: :first has no effect on unpacking, which keeps the last of equal keys: it "
                           "is an option of Manypack.dig, View.new, the methods of Path, a Type, a Codec, and what "
                           "takes as: :view");
}

static uint64_t
bytes_as_of(VALUE value, size_t row)
{
    bool ext = rows[row].bit == MP_JSON_EXT;
    uint64_t way = 0, ways = ext ? MP_BYTES_WAYS : MP_BYTES_NAMED;

    while (way < ways && bytes_as_names[way] != value) way++;
    if (way == ways) {
        rb_raise(rb_eArgError, "%s must be :error, :base64%s, got %+" PRIsVALUE, rows[row].name,
                 ext ? ", :hex or :name" : " or :hex", value);
    }
    return way;
}

static MP_NOINLINE bool
odd_flag(VALUE value, size_t row, int api)
{
    if (!mp_lenient_p(api)) {
        rb_raise(rb_eArgError, "%s must be true or false, got %+" PRIsVALUE, rows[row].name, value);
    }
    return true;
}

/* ArgumentError for anything but true, false and nil, unless the caller accepts what the msgpack gem does. */
static bool
flag_of(VALUE value, size_t row, int api)
{
    if (MP_LIKELY(value == Qtrue)) return true;
    return RTEST(value) && odd_flag(value, row, api);
}

/* TypeError for an object without call. */
static VALUE
called_of(VALUE value, const char *option)
{
    if (rb_obj_respond_to(value, rb_intern("call"), 0)) return value;
    rb_raise(rb_eTypeError, "%s must be a Proc, or respond to call, got %" PRIsVALUE, option, rb_obj_class(value));
}

static uint64_t
option_value(VALUE value, size_t row, int api)
{
    switch (rows[row].kind) {
      case DEPTH: return depth_of(value, rows[row].name);
      case COUNT: return count_of(value, rows[row].name);
      case SIZE: return mp_size(value, rows[row].name);
      case LARGE: return mp_large(value, rows[row].name);
      case STRICTNESS: return strict_of(value, row);
      case KEYS: return keys_value(value, row, api);
      case BYTES_AS: return bytes_as_of(value, row);
      default: return flag_of(value, row, api);
    }
}

/* --- a Hash ----------------------------------------------------------------------------------------- */

typedef struct {
    mp_options *options; /* NULL for Buffer.new, which has none */
    int api;
    bool limits;      /* the Hash had an option that is not a FLAG */
    size_t misplaced; /* the row of an option that has no effect on the method; ROWS while there is none */
    VALUE codec;      /* the value of `codec`, or nil */
    VALUE called;     /* the value of `default`; 0 without one */
    VALUE unknown;    /* an Array of unknown keys; 0 while there are none */
} reading;

/* True if the row is an option of methods of this kind, even if this one does not take it. */
static bool
known_p(const reading *r, size_t row)
{
    return row < CODEC_ROWS ? r->options != NULL : row < ROWS && r->api & MP_WITH_BUFFER;
}

/* True if the method takes the option of the row. */
static bool
taken_p(const reading *r, size_t row)
{
    return known_p(r, row) && rows[row].effect & r->api;
}

static size_t
row_of(VALUE key)
{
    size_t row;

    for (row = 0; row < ROWS && names[row] != key; row++) continue;
    return row;
}

static MP_NOINLINE int
read_other(reading *r, size_t row, VALUE key, VALUE value)
{
    if (known_p(r, row)) {
        r->misplaced = row;
        return ST_CONTINUE;
    }
    if (key == ID2SYM(rb_intern("codec")) && r->api & MP_WITH_CODEC) {
        r->codec = value;
        return ST_CONTINUE;
    }
    if (key == ID2SYM(rb_intern("check")) && r->api & MP_WITH_CHECK) return ST_CONTINUE;
    if (!r->unknown) r->unknown = rb_ary_new();
    rb_ary_push(r->unknown, key);
    return ST_CONTINUE;
}

static int
read_option(VALUE key, VALUE value, VALUE arg)
{
    reading *r = (reading *)arg;
    size_t row = row_of(key);

    if (MP_UNLIKELY(!taken_p(r, row))) return read_other(r, row, key, value);
    if (row >= CODEC_ROWS) return ST_CONTINUE;
    if (rows[row].kind == FLAG) {
        *(bool *)((char *)r->options + rows[row].offset) = flag_of(value, row, r->api);
    } else {
        if (NIL_P(value) && rows[row].kind != JSON_FLAG) return ST_CONTINUE;
        if (rows[row].kind == CALLED) r->called = called_of(value, rows[row].name);
        else field_set(r->options, &rows[row], option_value(value, row, r->api));
        r->limits = true;
    }
    r->options->explicit |= 1u << row;
    return ST_CONTINUE;
}

/* The names of the options that the method takes; with `all` also those that only other methods of its kind take. */
static VALUE
known_names(const reading *r, bool all)
{
    VALUE known = rb_ary_new();
    size_t row;

    for (row = 0; row < ROWS; row++) {
        if (all ? known_p(r, row) : taken_p(r, row)) rb_ary_push(known, names[row]);
    }
    if (r->api & MP_WITH_CODEC) rb_ary_push(known, ID2SYM(rb_intern("codec")));
    if (r->api & MP_WITH_CHECK) rb_ary_push(known, ID2SYM(rb_intern("check")));
    if (r->api & MP_WITH_AS) rb_ary_push(known, ID2SYM(rb_intern("as")));
    return known;
}

NORETURN(static void raise_unknown(const reading *r));

static MP_NOINLINE void
raise_unknown(const reading *r)
{
    rb_exc_raise(rb_exc_new_str(rb_eArgError,
                                rb_funcall(mp_mArguments, rb_intern("unknown_options"), 3, r->unknown,
                                           known_names(r, true), known_names(r, false))));
}

NORETURN(static void raise_misplaced(const reading *r));

/* The method's operation, named for an error message. */
static const char *
act_of(int api)
{
    if (api & MP_FROM_JSON) return "from_json";
    if (api & MP_TO_JSON) return "to_json";
    if ((api & BOTH) == BOTH) return "packing or unpacking";
    return api & MP_PACKS ? "packing" : "unpacking";
}

static MP_NOINLINE void
raise_misplaced(const reading *r)
{
    rb_exc_raise(rb_exc_new_str(rb_eArgError,
                                rb_funcall(mp_mArguments, rb_intern("misplaced_option"), 2, names[r->misplaced],
                                           rb_str_new_cstr(act_of(r->api)))));
}

static reading
read_hash(mp_options *options, VALUE hash, int api)
{
    reading r = {.options = options, .api = api, .limits = false, .misplaced = ROWS, .codec = Qnil,
                 .called = 0, .unknown = 0};

    Check_Type(hash, T_HASH);
    rb_hash_foreach(hash, read_option, (VALUE)&r);
    if (MP_UNLIKELY(r.unknown != 0) && !mp_lenient_p(api)) raise_unknown(&r);
    if (MP_UNLIKELY(r.misplaced != ROWS) && !mp_lenient_p(api)) raise_misplaced(&r);
    return r;
}

VALUE
mp_options_read(mp_options *options, VALUE hash, int api, VALUE *called)
{
    bool untrusted = options->untrusted;
    reading r = read_hash(options, hash, api);

    if (r.limits) {
        if (options->untrusted != untrusted) set_defaults(options);
        derive(options);
    }
    if (MP_UNLIKELY(r.called != 0)) *called = r.called;
    return r.codec;
}

void
mp_buffer_options_check(VALUE hash, int api)
{
    if (!NIL_P(hash)) read_hash(NULL, hash, api | MP_WITH_BUFFER | MP_CONFIGURES);
}

mp_buffer_options
mp_buffer_options_of(VALUE hash)
{
    mp_buffer_options options = buffer_defaults;
    size_t row;

    for (row = CODEC_ROWS; row < ROWS && !NIL_P(hash); row++) {
        VALUE value = rb_hash_lookup(hash, names[row]);
        uint64_t size;

        if (NIL_P(value)) continue;
        size = mp_size(value, rows[row].name);
        buffer_field_set(&options, &rows[row], size < rows[row].minimum ? rows[row].minimum : size);
    }
    return options;
}

bool
mp_buffer_options_default_p(VALUE hash)
{
    mp_buffer_options options;

    if (NIL_P(hash)) return true;
    options = mp_buffer_options_of(hash);
    return memcmp(&options, &buffer_defaults, sizeof(options)) == 0; /* there is no padding */
}

/* --- shown ------------------------------------------------------------------------------------------ */

static VALUE
option_shown(const mp_options *options, size_t row)
{
    uint64_t value = field_get(options, &rows[row]);

    switch (rows[row].kind) {
      case FLAG:
      case JSON_FLAG:
      case TRUST: return value ? Qtrue : Qfalse;
      case STRICTNESS: return value ? strict_names[row] : lax_names[row];
      case KEYS: return value == KEYS_FIRST ? sym_first : value ? strict_names[row] : lax_names[row];
      case BYTES_AS: return bytes_as_names[value];
      default: return ULL2NUM(value);
    }
}

VALUE
mp_options_said(const mp_options *options, VALUE called)
{
    const mp_options copy = *options; /* compaction may move the original */
    VALUE said = rb_hash_new();
    size_t row;

    for (row = 0; row < CODEC_ROWS; row++) {
        if (!(copy.explicit >> row & 1)) continue;
        rb_hash_aset(said, names[row], rows[row].kind == CALLED ? called : option_shown(&copy, row));
    }
    return said;
}

const char *
mp_option_name(size_t field)
{
    size_t row = 0;

    while (rows[row].offset != field) row++;
    return rows[row].name;
}

/* The names of a Codec's options with one of these effects, shareable. For Ruby methods that pass them on. */
static VALUE
codec_names(int effect)
{
    VALUE all = rb_ary_new();
    size_t row;

    for (row = 0; row < CODEC_ROWS; row++) {
        if (rows[row].effect & effect) rb_ary_push(all, names[row]);
    }
    return mp_obj_set_shareable(rb_obj_freeze(all));
}

/* The names of all a Codec's options as the keys of a Hash, for fast look-up. */
static VALUE
codec_names_hash(void)
{
    VALUE all = rb_hash_new();
    size_t row;

    for (row = 0; row < CODEC_ROWS; row++) rb_hash_aset(all, names[row], Qtrue);
    return mp_obj_set_shareable(rb_obj_freeze(all));
}

static void
set_all_defaults(void)
{
    size_t row;

    for (row = 0; row < CODEC_ROWS; row++) {
        field_set(&defaults[false], &rows[row], rows[row].default_value);
        field_set(&defaults[true], &rows[row], rows[row].untrusted);
    }
    for (row = CODEC_ROWS; row < ROWS; row++) buffer_field_set(&buffer_defaults, &rows[row], rows[row].default_value);
    derive(&defaults[false]);
    derive(&defaults[true]);
}

void
Init_manypack_options(void)
{
    size_t row;
    sym_first = ID2SYM(rb_intern("first"));
    for (row = 0; row < ROWS; row++) {
        names[row] = ID2SYM(rb_intern(rows[row].name));
        if (rows[row].lax) lax_names[row] = ID2SYM(rb_intern(rows[row].lax));
        if (rows[row].strict) strict_names[row] = ID2SYM(rb_intern(rows[row].strict));
    }
    bytes_as_names[MP_BYTES_ERROR] = ID2SYM(rb_intern("error"));
    bytes_as_names[MP_BYTES_BASE64] = ID2SYM(rb_intern("base64"));
    bytes_as_names[MP_BYTES_HEX] = ID2SYM(rb_intern("hex"));
    bytes_as_names[MP_BYTES_NAMED] = ID2SYM(rb_intern("name"));
    set_all_defaults();
    rb_define_const(mp_mArguments, "CODEC_OPTIONS", codec_names(MP_CONFIGURES));
    rb_define_const(mp_mArguments, "OPTION_OF_CODECS", codec_names_hash());
    rb_define_const(mp_mArguments, "PACKING_OPTIONS", codec_names(MP_PACKS));
    rb_define_const(mp_mArguments, "UNPACKING_OPTIONS", codec_names(MP_UNPACKS));
    rb_define_const(mp_mArguments, "FROM_JSON_OPTIONS", codec_names(MP_FROM_JSON));
    rb_define_const(mp_mArguments, "TO_JSON_OPTIONS", codec_names(MP_TO_JSON));
}
