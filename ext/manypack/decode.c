/* Bytes to VALUE: one loop with explicit frames; and Manypack.unpack. */
#include "decode.h"

#include "error.h"
#include "io.h"
#include "stack.h"
#include "timestamp.h"
#include "unpacker.h"
#include "wire.h"

/* --- the open containers ---------------------------------------------------------------------------- */

/*
 * What the value stack has of a container while another one is open inside it: two words, each with its lowest bit
 * set, so that the collector, which looks at every word there, takes them for Integers.
 */
enum { OPEN_WORDS = 2 };

MP_INLINE void
open_words_put(VALUE *words, uint64_t left, size_t base, uint64_t parity)
{
    words[0] = (VALUE)(left << 1 | 1);
    words[1] = (VALUE)((uint64_t)base << 2 | parity | 1);
}

MP_INLINE uint64_t
open_words_left(const VALUE *words)
{
    return (uint64_t)words[0] >> 1;
}

MP_INLINE size_t
open_words_base(const VALUE *words)
{
    return (size_t)(words[1] >> 2);
}

MP_INLINE uint64_t
open_words_parity(const VALUE *words)
{
    return (uint64_t)words[1] & 2;
}

void
mp_tree_lefts(const mp_tree *tree, const VALUE *values, uint64_t *left)
{
    uint64_t here = tree->left;
    size_t base = tree->base;
    uint32_t level;

    for (level = tree->depth; level > 0; level--) {
        left[level - 1] = here;
        here = open_words_left(&values[base - OPEN_WORDS]);
        base = open_words_base(&values[base - OPEN_WORDS]);
    }
}

/* --- the decoder ------------------------------------------------------------------------------------ */

void
mp_decoder_init(mp_decoder *d, const mp_codec *codec)
{
    d->source = 0;
    d->start = d->end = d->at = NULL;
    d->origin = 0;
    d->codec = codec;
    d->keys = NULL;
    d->outer_depth = 0;
    d->max_depth = codec->options.max_depth ? codec->options.max_depth : MP_UNPACK_MAX_DEPTH;
    d->source_own = false;
    d->committed = false;
    d->tree = (mp_tree){.left = 1, .parity = 2};
    mp_value_stack_init(&d->stack);
}

void
mp_decoder_source(mp_decoder *d, VALUE source, const uint8_t *start, size_t len)
{
    d->origin += (size_t)(d->at - d->start);
    d->source = source;
    d->start = d->at = start;
    d->end = d->start + len;
}

void
mp_decoder_cleanup(mp_decoder *d)
{
    mp_value_stack_cleanup(&d->stack);
}

/*
 * Before user code can run, which might change the source, or before it is shared: goes on with a frozen one that nobody else can change.
 * Returns where p is in that. Long Strings are shared by it, not copied.
 */
static const uint8_t *
own_source(mp_decoder *d, const uint8_t *p)
{
    const uint8_t *old = d->start;
    size_t at;

    if (d->source_own || OBJ_FROZEN(d->source)) return p;
    at = (size_t)(old - (const uint8_t *)RSTRING_PTR(d->source));
    d->source = rb_str_new_frozen(d->source);
    d->start = (const uint8_t *)RSTRING_PTR(d->source) + at;
    d->end = d->start + (d->end - old);
    d->at = d->start + (d->at - old);
    return d->start + (p - old);
}

NORETURN(static void raise_status(mp_decoder *d, mp_status status, const uint8_t *at));

/* After 0xc1, and where it is too deep to go on, nobody knows where the next object starts. */
static void
raise_status(mp_decoder *d, mp_status status, const uint8_t *at)
{
    mp_blame blame = {.start = d->start, .at = at, .end = d->end, .origin = d->origin};

    if (status == MP_E_BAD_HEAD || status == MP_E_DEPTH) d->committed = false;
    mp_raise_status(status, blame);
}

static size_t
offset_of(const mp_decoder *d, const uint8_t *at)
{
    return d->origin + (size_t)(at - d->start);
}

/* --- objects ---------------------------------------------------------------------------------------- */

/* As the options want every finished object of ours that can be frozen; its children have been here before. */
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

/* The same for what may be any object, made by somebody else. */
static VALUE
finished_foreign(const mp_options *options, VALUE obj)
{
    if (options->shareable) return rb_ractor_make_shareable(obj);
    return options->freeze ? rb_obj_freeze(obj) : obj;
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

/* A payload so long that it may pay to share it with the source instead of copying it. */
enum { SHARE_MIN = 1024 };

/*
 * Whether to share it: only the tail of the source, because Ruby shares no other part; only of a source that is no
 * more than twice as long, so that no small piece keeps a large message alive; and of none that Ractors share, which
 * Ruby would mark, as only one of them at a time may do.
 */
static MP_NOINLINE bool
payload_to_share_p(const mp_decoder *d, const uint8_t *p, uint32_t n)
{
    const uint8_t *bytes;
    long len;

    if (!d->source || RB_OBJ_SHAREABLE_P(d->source)) return false;
    if (d->codec->options.freeze || d->codec->options.shareable) return false;
    bytes = (const uint8_t *)RSTRING_PTR(d->source);
    len = RSTRING_LEN(d->source);
    return p + n == bytes + len && n >= len / 2;
}

/* It as a String; the source is one that never changes. */
static VALUE
payload_shared(const mp_decoder *d, const uint8_t *p, uint32_t n, rb_encoding *encoding)
{
    VALUE shared = rb_str_subseq(d->source, (long)(p - (const uint8_t *)RSTRING_PTR(d->source)), (long)n);

    rb_enc_associate(shared, encoding);
    return shared;
}

/* A Bignum or a Float is born frozen, but the Bignum not shareable. */
MP_INLINE VALUE
number(const mp_options *options, VALUE obj)
{
    return MP_UNLIKELY(options->shareable) && !RB_SPECIAL_CONST_P(obj) ? mp_obj_set_shareable(obj) : obj;
}

static VALUE
array_new(const mp_options *options, size_t n, const VALUE *values)
{
    return finished(options, rb_ary_new_from_values((long)n, values));
}

/* n objects, a key and a value in turn. User code runs in here when a key's class has a #hash of its own. */
static VALUE
hash_new(const mp_options *options, size_t n, const VALUE *values)
{
    VALUE hash = n > 16 ? rb_hash_new_capa((long)(n / 2)) : rb_hash_new();

    rb_hash_bulk_insert((long)n, values, hash);
    return finished(options, hash);
}

/* A str that is a map key; 0 when it cannot be the Symbol that it should. */
MP_INLINE VALUE
str_key(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    if (MP_UNLIKELY(!d->keys)) d->keys = mp_key_cache_get();
    return mp_key(d->keys, p, n, d->codec->options.symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING);
}

/* A bin that is a map key: always frozen, as a Hash would freeze a copy of it otherwise. */
static VALUE
bin_key(const mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE key = rb_str_new((const char *)p, n);

    if (d->codec->options.symbolize_keys) return rb_str_intern(key);
    RB_OBJ_FREEZE(key);
    return finished(&d->codec->options, key);
}

/* --- ext -------------------------------------------------------------------------------------------- */

/* The body of a timestamp as a Time in the local zone. */
static VALUE
timestamp_new(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    mp_timestamp timestamp;
    mp_status status = mp_timestamp_read(p, n, &timestamp);
    struct timespec ts;

    if (status != MP_OK) raise_status(d, status, at);
    ts = (struct timespec){.tv_sec = (time_t)timestamp.sec, .tv_nsec = timestamp.nsec};

    if (ts.tv_sec != timestamp.sec) rb_raise(rb_eRangeError, "%" PRId64 " seconds are beyond Time", timestamp.sec);
    return finished_foreign(&d->codec->options, rb_time_timespec_new(&ts, INT_MAX));
}

/* A Symbol by its name; one whose name is not UTF-8 is binary. */
static VALUE
symbol_new(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE symbol;

    if (!d->keys) d->keys = mp_key_cache_get();
    symbol = mp_key(d->keys, p, n, MP_KEY_SYMBOL);
    return symbol ? symbol : rb_str_intern(rb_str_new((const char *)p, n));
}

/* An Unpacker for a body, by reference where the source never changes. */
static VALUE
body_unpacker(const mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, uint32_t depth)
{
    VALUE source = d->source;
    size_t at = 0;

    if (source && OBJ_FROZEN(source)) at = (size_t)(p - (const uint8_t *)RSTRING_PTR(source));
    else source = rb_obj_freeze(rb_str_new((const char *)p, n));
    return mp_unpacker_for_body(d->codec, type, source, at, n, offset_of(d, p), depth);
}

/* The object that the handler of a type makes of a body. */
static VALUE
typed_new(mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    VALUE argument, obj;

    if (type->optimized_symbol) return symbol_new(d, p, n);
    if (type->timestamp) return timestamp_new(d, p, n, at);
    mp_type_check_ractor(type);
    if (MP_UNLIKELY(mp_stack_used_up_p())) raise_status(d, MP_E_DEPTH, at);
    if (!type->recursive) {
        argument = rb_str_new((const char *)p, n);
        obj = mp_handler_call(&type->handler, 1, &argument);
    } else {
        uint32_t depth = d->outer_depth + d->tree.depth + 1;
        if (depth > d->max_depth) raise_status(d, MP_E_DEPTH, at);
        argument = body_unpacker(d, type, p, n, depth);
        obj = mp_handler_call(&type->handler, 1, &argument);
        mp_unpacker_end_body(argument);
    }
    return finished_foreign(&d->codec->options, obj);
}

/* The object of an ext whose head is at and whose body p. */
static VALUE
ext_new(mp_decoder *d, int id, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    const mp_options *options = &d->codec->options;
    const mp_type *type = d->codec->types ? mp_types_for_ext(d->codec->types, id) : NULL;

    if (type) return typed_new(d, type, p, n, at);
    if (options->timestamp && id == MP_TIMESTAMP_TYPE) return timestamp_new(d, p, n, at);
    if (options->allow_unknown_ext) {
        VALUE payload = finished(options, rb_str_new((const char *)p, n));
        return finished(options, rb_struct_new(mp_cExtensionValue, INT2FIX(id), payload));
    }
    mp_raise_unknown_ext(id, offset_of(d, at));
}

/* --- the loop --------------------------------------------------------------------------------------- */

/*
 * Decodes from d->at on until an object is complete, or the bytes end inside one: with resumable that is Qundef,
 * and the next call goes on; without, TruncatedError. resumable is a constant of each caller.
 *
 * The place in the tree is in locals. Where something can raise that is not the end of all decoding, it is
 * committed first, with the object to blame counted as not there yet and d->at behind it.
 */
#define COMMIT(at_)                                                                                             \
    do {                                                                                                        \
        d->tree = (mp_tree){.left = left, .parity = parity, .base = base, .count = count, .depth = depth};      \
        d->at = (at_);                                                                                          \
        d->committed = true;                                                                                    \
    } while (0)

#define LACKING()                                                   \
    do {                                                            \
        if (!resumable) raise_status(d, MP_E_TRUNCATED, p);         \
        COMMIT(p);                                                  \
        return Qundef;                                              \
    } while (0)

MP_INLINE VALUE
decode_loop(mp_decoder *d, const bool resumable)
{
    const mp_options *const options = &d->codec->options;
    const uint8_t *p = d->at;
    uint64_t left = d->tree.left, parity = d->tree.parity;
    size_t base = d->tree.base, count = d->tree.count;
    uint32_t depth = d->tree.depth;
    VALUE *values = d->stack.values;
    size_t capacity = d->stack.capacity;

    for (;;) {
        mp_wire_row row;
        const uint8_t *payload;
        uint32_t n;
        VALUE obj;
        bool key = (left & 1) == parity;

        if (MP_UNLIKELY(mp_row_read(p, d->end, &row) != MP_OK)) LACKING();
        payload = p + row.head;

        switch ((mp_kind)row.kind) {
          case MP_FIXINT:
            obj = INT2FIX((int)mp_row_sint(p, row));
            break;
          case MP_STR:
            n = mp_row_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            if (key) {
                obj = str_key(d, payload, n);
                if (MP_UNLIKELY(!obj)) {
                    COMMIT(payload + n);
                    mp_raise_malformed_symbol(payload, n, offset_of(d, p));
                }
            } else if (MP_LIKELY(n < SHARE_MIN) || !payload_to_share_p(d, payload, n)) {
                obj = str_new(options, payload, n);
            } else {
                p = own_source(d, p);
                payload = p + row.head;
                obj = payload_shared(d, payload, n, mp_utf8);
            }
            payload += n;
            break;
          case MP_MAP:
          case MP_ARRAY:
            if (MP_UNLIKELY(key)) {
                p = own_source(d, p);
                payload = p + row.head;
            }
            n = mp_row_count(p, row);
            if (n) {
                if (MP_UNLIKELY(depth + d->outer_depth >= d->max_depth)) raise_status(d, MP_E_DEPTH, p);
                if (sizeof(VALUE) < 8 && left >> 31) LACKING(); /* no such machine has that many bytes */
                if (MP_UNLIKELY(count + OPEN_WORDS > capacity)) {
                    mp_value_stack_move(&d->stack, count, capacity * 2);
                    values = d->stack.values;
                    capacity = d->stack.capacity;
                }
                open_words_put(&values[count], left, base, parity);
                depth++;
                base = count += OPEN_WORDS;
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
            obj = number(options, ULL2NUM(mp_row_uint(p, row)));
            break;
          case MP_INT:
            obj = number(options, LL2NUM(mp_row_sint(p, row)));
            break;
          case MP_FLOAT32:
          case MP_FLOAT64:
            obj = number(options, DBL2NUM(mp_row_real(p, row)));
            break;
          case MP_BIN:
            n = mp_row_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            if (key) {
                obj = bin_key(d, payload, n);
            } else if (n < SHARE_MIN || !payload_to_share_p(d, payload, n)) {
                obj = bin_new(options, payload, n);
            } else {
                p = own_source(d, p);
                payload = p + row.head;
                obj = payload_shared(d, payload, n, rb_ascii8bit_encoding());
            }
            payload += n;
            break;
          case MP_EXT:
            n = mp_row_ext_count(p, row);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            if (key || d->codec->types || (options->timestamp && options->shareable)) { /* which calls Time#freeze */
                p = own_source(d, p);
                payload = p + row.head;
            }
            COMMIT(payload + n);
            obj = ext_new(d, mp_row_ext_type(p, row), payload, n, p);
            d->committed = false;
            payload += n;
            break;
          default:
            raise_status(d, MP_E_BAD_HEAD, p);
        }
        p = payload;

        /* The object is complete, and with it every container that it was the last object of. */
        for (;;) {
            size_t n_objects, first;
            bool map;

            if (depth == 0) {
                left = 1;
                COMMIT(p);
                return obj;
            }
            if (MP_UNLIKELY(count == capacity)) {
                mp_value_stack_move(&d->stack, count, capacity * 2);
                values = d->stack.values;
                capacity = d->stack.capacity;
            }
            values[count++] = obj;
            if (MP_LIKELY(--left)) break;

            first = base;
            n_objects = count - base;
            map = parity == 0;
            depth--;
            count = first - OPEN_WORDS;
            left = open_words_left(&values[count]);
            base = open_words_base(&values[count]);
            parity = open_words_parity(&values[count]);
            if (resumable) COMMIT(p);
            obj = map ? hash_new(options, n_objects, values + first) : array_new(options, n_objects, values + first);
            if (resumable) d->committed = false;
        }
    }
}

VALUE
mp_decode_on(mp_decoder *d)
{
    return decode_loop(d, true);
}

/* --- Manypack.unpack -------------------------------------------------------------------------------- */

static VALUE
unpack_string(VALUE source, const mp_codec *codec)
{
    mp_decoder d;
    VALUE obj;

    if (MP_UNLIKELY((size_t)RSTRING_LEN(source) > codec->options.max_bytes)) {
        mp_raise_limit("max_bytes", codec->options.max_bytes, (size_t)RSTRING_LEN(source), codec->options.max_bytes);
    }
    mp_decoder_init(&d, codec);
    mp_decoder_source(&d, source, (const uint8_t *)RSTRING_PTR(source), (size_t)RSTRING_LEN(source));
    obj = decode_loop(&d, false);
    if (MP_UNLIKELY(d.at != d.end)) mp_raise_extra_bytes((size_t)(d.end - d.at), offset_of(&d, d.at));
    mp_decoder_cleanup(&d);
    RB_GC_GUARD(d.source);
    return obj;
}

VALUE
mp_unpack(VALUE source, const mp_codec *codec)
{
    VALUE codec_object = codec->object, string, obj; /* which user code may have replaced */

    if (MP_LIKELY(RB_TYPE_P(source, T_STRING))) {
        obj = unpack_string(source, codec);
    } else if (NIL_P(source)) {
        mp_raise_no_data();
    } else if (mp_io_p(source)) {
        obj = mp_unpack_io(source, codec);
    } else {
        string = rb_check_string_type(source);
        if (NIL_P(string)) rb_raise(rb_eTypeError, "String or IO expected, not %" PRIsVALUE, rb_obj_class(source));
        obj = unpack_string(string, codec);
    }
    RB_GC_GUARD(codec_object);
    return obj;
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
    mp_codec codec;

    if (MP_LIKELY(argc == 1)) return mp_unpack(argv[0], mp_default_codec());
    rb_check_arity(argc, 1, 2);
    mp_codec_override(&codec, mp_default_codec()->object, argv[1]);
    return mp_unpack(argv[0], &codec);
}

void
Init_manypack_decode(void)
{
    rb_define_module_function(mp_mManypack, "unpack", rb_manypack_unpack, -1);
    rb_define_module_function(mp_mManypack, "load", rb_manypack_unpack, -1);
}
