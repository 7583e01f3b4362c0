/* Bytes to VALUE: one loop with explicit frames; and Manypack.unpack. */
#include "decode.h"

#include "error.h"
#include "io.h"
#include "key_cache.h"
#include "timestamp.h"
#include "value_stack.h"
#include "wire.h"

/* An open container, as it was when one inside it was opened. */
typedef struct {
    uint64_t left;   /* objects still to come, keys and values counted apart */
    size_t base;     /* where its objects start on the value stack */
    uint64_t parity; /* see decode_loop */
} mp_frame;

/* Levels that need no block of their own. */
#define FRAMES_INLINE 32

typedef struct {
    VALUE source;             /* keeps the bytes alive */
    const uint8_t *start, *end;
    const mp_options *options;
    mp_key_cache *keys;       /* of this Ractor; NULL until the first map key */
    uint32_t max_depth;
    size_t frame_capacity;
    mp_frame *frames;
    volatile VALUE frames_owner;
    mp_frame frames_inlined[FRAMES_INLINE];
    mp_value_stack stack;
} mp_decoder;

static void
decoder_init(mp_decoder *d, VALUE source, const mp_options *options)
{
    d->source = source;
    d->start = (const uint8_t *)RSTRING_PTR(source);
    d->end = d->start + RSTRING_LEN(source);
    d->options = options;
    d->keys = NULL;
    d->max_depth = options->max_depth ? options->max_depth : MP_UNPACK_MAX_DEPTH;
    d->frames = d->frames_inlined;
    d->frame_capacity = FRAMES_INLINE;
    d->frames_owner = 0;
    mp_value_stack_init(&d->stack);
}

static void
decoder_cleanup(mp_decoder *d)
{
    mp_value_stack_cleanup(&d->stack);
    if (MP_UNLIKELY(d->frames_owner != 0)) rb_free_tmp_buffer(&d->frames_owner);
}

/* Twice as many frames, in a block that the collector owns. */
static MP_NOINLINE void
frames_grow(mp_decoder *d)
{
    volatile VALUE owner = 0;
    size_t capacity = d->frame_capacity * 2, words = capacity * sizeof(mp_frame) / sizeof(VALUE);
    mp_frame *frames = rb_alloc_tmp_buffer_with_count(&owner, capacity * sizeof(mp_frame), words);

    memcpy(frames, d->frames, d->frame_capacity * sizeof(mp_frame));
    memset(frames + d->frame_capacity, 0, d->frame_capacity * sizeof(mp_frame));
    if (d->frames_owner) rb_free_tmp_buffer(&d->frames_owner);
    d->frames = frames;
    d->frame_capacity = capacity;
    d->frames_owner = owner;
}

/*
 * Before Ruby code can run, which might change the source: goes on with a frozen one that nobody else can
 * change. Returns where p is in that. Long Strings are shared by it, not copied.
 */
static const uint8_t *
decoder_own_source(mp_decoder *d, const uint8_t *p)
{
    size_t offset = (size_t)(p - d->start);

    if (OBJ_FROZEN(d->source)) return p;
    d->source = rb_str_new_frozen(d->source);
    d->start = (const uint8_t *)RSTRING_PTR(d->source);
    d->end = d->start + RSTRING_LEN(d->source);
    return d->start + offset;
}

NORETURN(static void decoder_raise(const mp_decoder *d, mp_status status, const uint8_t *at));

static void
decoder_raise(const mp_decoder *d, mp_status status, const uint8_t *at)
{
    mp_blame blame = {.start = d->start, .at = at, .end = d->end};

    mp_raise_status(status, blame);
}

/* --- objects ---------------------------------------------------------------------------------------- */

/* As the options want every finished object that can be frozen; its children have been here before. */
MP_INLINE VALUE
finished(const mp_options *options, VALUE obj)
{
    if (MP_UNLIKELY(options->shareable)) {
        RB_OBJ_FREEZE(obj);
        return mp_obj_set_shareable(obj);
    }
    if (MP_UNLIKELY(options->freeze)) RB_OBJ_FREEZE(obj);
    return obj;
}

MP_INLINE VALUE
str_new(const mp_options *options, const uint8_t *p, uint32_t n)
{
    if (MP_UNLIKELY(options->freeze && !options->shareable)) return rb_enc_interned_str((const char *)p, n, mp_utf8);
    return finished(options, rb_enc_str_new((const char *)p, n, mp_utf8));
}

static VALUE
bin_new(const mp_options *options, const uint8_t *p, uint32_t n)
{
    if (options->freeze && !options->shareable) {
        return rb_enc_interned_str((const char *)p, n, rb_ascii8bit_encoding());
    }
    return finished(options, rb_str_new((const char *)p, n));
}

/* A Bignum is born frozen, but not shareable. */
static VALUE
uint_new(const mp_options *options, uint64_t n)
{
    VALUE obj = ULL2NUM(n);

    return options->shareable && !RB_SPECIAL_CONST_P(obj) ? mp_obj_set_shareable(obj) : obj;
}

static VALUE
sint_new(const mp_options *options, int64_t n)
{
    VALUE obj = LL2NUM(n);

    return options->shareable && !RB_SPECIAL_CONST_P(obj) ? mp_obj_set_shareable(obj) : obj;
}

static VALUE
float_new(const mp_options *options, double real)
{
    VALUE obj = DBL2NUM(real);

    return options->shareable && !RB_SPECIAL_CONST_P(obj) ? mp_obj_set_shareable(obj) : obj;
}

static VALUE
array_new(const mp_options *options, size_t n, const VALUE *values)
{
    return finished(options, rb_ary_new_from_values((long)n, values));
}

/* n objects, a key and a value in turn. Ruby code runs in here when a key's class has a #hash of its own. */
static VALUE
hash_new(const mp_options *options, size_t n, const VALUE *values)
{
    VALUE hash = n > 16 ? rb_hash_new_capa((long)(n / 2)) : rb_hash_new();

    rb_hash_bulk_insert((long)n, values, hash);
    return finished(options, hash);
}

static VALUE
time_new(const mp_options *options, mp_timestamp timestamp)
{
    struct timespec ts = {.tv_sec = timestamp.sec, .tv_nsec = timestamp.nsec};
    VALUE time = rb_time_timespec_new(&ts, INT_MAX); /* in the local zone */

    if (options->shareable) return rb_ractor_make_shareable(time);
    return finished(options, time);
}

static VALUE
ext_new(const mp_decoder *d, int type, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    const mp_options *options = d->options;

    if (options->timestamp && type == MP_TIMESTAMP_TYPE) {
        mp_timestamp timestamp;
        mp_status status = mp_timestamp_read(p, n, &timestamp);

        if (status != MP_OK) decoder_raise(d, status, at);
        return time_new(options, timestamp);
    }
    if (options->allow_unknown_ext) {
        VALUE payload = finished(options, rb_str_new((const char *)p, n));
        return finished(options, rb_struct_new(mp_cExtensionValue, INT2FIX(type), payload));
    }
    mp_raise_unknown_ext(type, (size_t)(at - d->start));
}

/* A str that is a map key. */
MP_INLINE VALUE
str_key(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    VALUE key;

    if (MP_UNLIKELY(!d->keys)) d->keys = mp_key_cache_get();
    key = mp_key(d->keys, p, n, d->options->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING);
    if (MP_UNLIKELY(!key)) mp_raise_malformed_symbol(p, n, (size_t)(at - d->start));
    return key;
}

/* A bin that is a map key: always frozen, as a Hash would freeze a copy of it otherwise. */
static VALUE
bin_key(const mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE key = rb_str_new((const char *)p, n);

    if (d->options->symbolize_keys) return rb_str_intern(key);
    RB_OBJ_FREEZE(key);
    return finished(d->options, key);
}

/* --- the loop --------------------------------------------------------------------------------------- */

/*
 * Decodes one object from p on and sets *after behind it.
 *
 * The innermost open container is in the locals left, base and parity, the ones around it are in d->frames.
 * In a map the objects still to come are even in number exactly when the next is a key; parity is 0 there
 * and 2, which no number leaves as a remainder, in an array and outside of all.
 */
static VALUE
decode_loop(mp_decoder *d, const uint8_t *p, const uint8_t **after)
{
    const mp_options *const options = d->options;
    uint64_t left = 1, parity = 2;
    size_t base = 0, count = 0, capacity = d->stack.capacity;
    VALUE *values = d->stack.values;
    uint32_t depth = 0;

    for (;;) {
        mp_wire_row row;
        const uint8_t *payload;
        uint32_t n;
        VALUE obj;
        bool key = (left & 1) == parity;

        if (MP_UNLIKELY(mp_row_read(p, d->end, &row) != MP_OK)) decoder_raise(d, MP_E_TRUNCATED, p);
        payload = p + row.head;

        switch ((mp_kind)row.kind) {
          case MP_FIXINT:
            obj = INT2FIX((int)mp_row_sint(p, row));
            break;
          case MP_STR:
            n = mp_row_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) decoder_raise(d, MP_E_TRUNCATED, p);
            obj = key ? str_key(d, payload, n, p) : str_new(options, payload, n);
            payload += n;
            break;
          case MP_MAP:
          case MP_ARRAY:
            if (MP_UNLIKELY(key)) {
                p = decoder_own_source(d, p);
                payload = p + row.head;
            }
            n = mp_row_count(p, row);
            if (n) {
                if (MP_UNLIKELY(depth == d->max_depth)) decoder_raise(d, MP_E_DEPTH, p);
                if (MP_UNLIKELY(depth == d->frame_capacity)) frames_grow(d);
                d->frames[depth++] = (mp_frame){.left = left, .base = base, .parity = parity};
                base = count;
                parity = row.kind == MP_MAP ? 0 : 2;
                left = row.kind == MP_MAP ? (uint64_t)n * 2 : n;
                p = payload;
                continue;
            }
            obj = row.kind == MP_MAP ? hash_new(options, 0, values) : array_new(options, 0, values);
            break;
          case MP_NIL:
            obj = Qnil;
            break;
          case MP_FALSE:
            obj = Qfalse;
            break;
          case MP_TRUE:
            obj = Qtrue;
            break;
          case MP_UINT:
            obj = uint_new(options, mp_row_uint(p, row));
            break;
          case MP_INT:
            obj = sint_new(options, mp_row_sint(p, row));
            break;
          case MP_FLOAT32:
          case MP_FLOAT64:
            obj = float_new(options, mp_row_real(p, row));
            break;
          case MP_BIN:
            n = mp_row_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) decoder_raise(d, MP_E_TRUNCATED, p);
            obj = key ? bin_key(d, payload, n) : bin_new(options, payload, n);
            payload += n;
            break;
          case MP_EXT:
            if (key || (options->timestamp && options->shareable)) { /* of which the latter calls Time#freeze */
                p = decoder_own_source(d, p);
                payload = p + row.head;
            }
            n = mp_row_ext_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) decoder_raise(d, MP_E_TRUNCATED, p);
            obj = ext_new(d, mp_row_ext_type(p, row), payload, n, p);
            payload += n;
            break;
          default:
            decoder_raise(d, MP_E_BAD_HEAD, p);
        }
        p = payload;

        /* The object is complete, and with it every container that it was the last object of. */
        for (;;) {
            if (depth == 0) {
                *after = p;
                return obj;
            }
            if (MP_UNLIKELY(count == capacity)) {
                mp_value_stack_grow(&d->stack, count);
                values = d->stack.values;
                capacity = d->stack.capacity;
            }
            values[count++] = obj;
            if (MP_LIKELY(--left)) break;

            obj = parity == 0 ? hash_new(options, count - base, values + base)
                              : array_new(options, count - base, values + base);
            count = base;
            depth--;
            left = d->frames[depth].left;
            base = d->frames[depth].base;
            parity = d->frames[depth].parity;
        }
    }
}

VALUE
mp_decode(VALUE source, const mp_options *options)
{
    mp_decoder d;
    const uint8_t *after;
    VALUE obj;

    if (MP_UNLIKELY((size_t)RSTRING_LEN(source) > options->max_bytes)) {
        mp_raise_limit("max_bytes", options->max_bytes, (size_t)RSTRING_LEN(source));
    }
    decoder_init(&d, source, options);
    obj = decode_loop(&d, d.start, &after);
    if (MP_UNLIKELY(after != d.end)) mp_raise_extra_bytes((size_t)(d.end - after), (size_t)(after - d.start));
    decoder_cleanup(&d);
    RB_GC_GUARD(d.source);
    return obj;
}

/* --- Manypack.unpack -------------------------------------------------------------------------------- */

/* The bytes of one message: a String, or what converts to one, or what an IO has. */
static VALUE
source_bytes(VALUE source, const mp_options *options)
{
    VALUE string;

    if (RB_TYPE_P(source, T_STRING)) return source;
    if (NIL_P(source)) mp_raise_no_data();
    if (mp_io_p(source)) return mp_io_read_message(source, options);
    string = rb_check_string_type(source);
    if (NIL_P(string)) {
        rb_raise(rb_eTypeError, "String or IO expected, not %" PRIsVALUE, rb_obj_class(source));
    }
    return string;
}

/*
 * call-seq:
 *   Manypack.unpack(source, **options) -> object
 *   Manypack.load(source, **options) -> object
 *
 * Unpacks one object. Str become UTF-8 Strings, bin become BINARY ones; the String keys of a map are frozen.
 *
 * [source] a String with exactly one object, or anything with <code>readpartial</code> or <code>read</code>
 * [symbolize_keys:] str and bin map keys become Symbols (default false)
 * [freeze:] every object is frozen, Strings are interned (default false)
 * [shareable:] every object is frozen and may be shared between Ractors from the start (default false)
 * [allow_unknown_ext:] an ext becomes an ExtensionValue instead of an error (default false)
 * [timestamp:] ext type -1 becomes a Time (default false)
 * [max_depth:] most containers inside each other, 1 to 100000 (default 128)
 * [max_bytes:] most bytes of input (default no limit)
 *
 * Options may be given as a Hash too; unknown ones are ignored.
 *
 * Every error of the input includes DecodeError and has its byte offset: TruncatedError (an EOFError) when the input
 * ends too early, MalformedFormatError, StackError above max_depth, LimitError above max_bytes, UnknownExtTypeError.
 * TypeError when source is none.
 *
 *   Manypack.unpack("\x81\xA2id\x01")                       #=> {"id" => 1}
 *   Manypack.unpack("\x81\xA2id\x01", symbolize_keys: true) #=> {id: 1}
 */
static VALUE
rb_manypack_unpack(int argc, VALUE *argv, VALUE self)
{
    mp_options options;

    rb_check_arity(argc, 1, 2);
    if (MP_LIKELY(argc == 1 && RB_TYPE_P(argv[0], T_STRING))) return mp_decode(argv[0], &mp_default_options);
    mp_options_init(&options, argc == 2 ? argv[1] : Qnil);
    return mp_decode(source_bytes(argv[0], &options), &options);
}

void
Init_manypack_decode(void)
{
    rb_define_module_function(mp_mManypack, "unpack", rb_manypack_unpack, -1);
    rb_define_module_function(mp_mManypack, "load", rb_manypack_unpack, -1);
}
