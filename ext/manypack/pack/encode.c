/* The encoder: walks over an object and packs it, most frequent classes first. */
#include "pack/encode.h"

#include "base/pack_error.h"
#include "core/wire.h"
#include "pack/foreign.h"

/* --- where the next byte goes ----------------------------------------------------------------------- */

/*
 * Functions for frequent objects take p, the place for the first byte, and return the place after the last byte, so
 * that p stays in a register. As e->out.pos it would be stored and loaded for each object, because the compiler must
 * assume that any written byte may alias that field. Functions for rare objects commit p and read it back from
 * e->out.pos.
 */

static MP_NOINLINE uint8_t *
grow_room(mp_encoder *e, uint8_t *p, size_t n)
{
    mp_out_commit(&e->out, p);
    return mp_out_reserve(&e->out, n);
}

/* Makes room for n bytes and returns p, which may have moved. */
MP_INLINE uint8_t *
room(mp_encoder *e, uint8_t *p, size_t n)
{
    return MP_LIKELY((size_t)(e->out.end - p) >= n) ? p : grow_room(e, p, n);
}

/* --- scalars and strings ---------------------------------------------------------------------------- */

MP_INLINE uint8_t *
encode_fixnum(mp_encoder *e, uint8_t *p, VALUE obj)
{
    return mp_put_sint(room(e, p, MP_HEAD_MAX), FIX2LONG(obj));
}

MP_INLINE uint8_t *
encode_float(mp_encoder *e, uint8_t *p, double d)
{
    return mp_put_float64(room(e, p, MP_HEAD_MAX), d);
}

/* Packs the object that the option `default` returns in place of obj. False if it is not set, or returns obj. */
static bool
encode_default(mp_encoder *e, VALUE obj)
{
    VALUE object = mp_foreign_default(e, obj);

    if (object == Qundef) return false;
    e->max_depth++; /* a level, but no container */
    e->depth++;
    mp_encode(e, object);
    e->depth--;
    e->max_depth--;
    RB_GC_GUARD(object);
    return true;
}

static uint8_t *
encode_foreign(mp_encoder *e, uint8_t *p, VALUE obj)
{
    p = mp_encode_foreign(e, p, obj);
    if (MP_LIKELY(p != NULL)) return p;
    if (!encode_default(e, obj)) mp_raise_unpackable(e, obj);
    return e->out.pos;
}

static MP_NOINLINE uint8_t *
encode_bignum(mp_encoder *e, uint8_t *p, VALUE obj)
{
    if (mp_int64_p(obj)) return mp_put_sint(room(e, p, MP_HEAD_MAX), rb_big2ll(obj));
    if (RBIGNUM_POSITIVE_P(obj) && rb_absint_size(obj, NULL) == sizeof(uint64_t)) {
        return mp_put_uint(room(e, p, MP_HEAD_MAX), rb_big2ull(obj));
    }
    if (e->codec->types && e->codec->types->integer) return mp_encode_typed(e, p, obj, e->codec->types->integer);
    mp_out_commit(&e->out, p);
    if (encode_default(e, obj)) return e->out.pos;
    mp_encoder_raise(e, rb_eRangeError,
                     "; register_common(:bigint) on a Factory or on DefaultFactory packs it as an ext type",
                     "bignum too big to convert into 64 bits: Integer of %" PRIuSIZE " bits",
                     rb_absint_numwords(obj, 1, NULL) + RBIGNUM_NEGATIVE_P(obj));
}

/* True if a payload of n bytes becomes a chunk of its own in the Buffer, by reference. */
MP_INLINE bool
by_reference_p(const mp_encoder *e, size_t n)
{
    const mp_buffer *buffer;

    if (MP_LIKELY(n < MP_WRITE_REFERENCE_MIN || e->buffer == 0)) return false;
    buffer = mp_buffer_get(e->buffer);
    return n >= buffer->write_reference_threshold && mp_loan_idle_p(&buffer->loan); /* if lent, all in one block */
}

/* Appends the String itself after the bytes up to p. */
static MP_NOINLINE uint8_t *
append_reference(mp_encoder *e, uint8_t *p, VALUE string)
{
    string = rb_str_new_frozen(string);
    mp_out_commit(&e->out, p);
    mp_encoder_commit_early(e);
    mp_bytes_refer(e->buffer, &mp_buffer_get(e->buffer)->bytes, string, 0, (size_t)RSTRING_LEN(string));
    mp_encoder_window_on_buffer(e, 0, 1);
    return e->out.pos;
}

/* Short payloads are copied in blocks of fixed size. The next bytes overwrite the surplus. */
enum { BLOCK = 8, BLOCKS = 16 };

/* Makes room for a head and, unless it is kept by reference, for its payload of n bytes. */
MP_INLINE uint8_t *
payload_room(mp_encoder *e, uint8_t *p, uint32_t n, bool reference)
{
    return room(e, p, reference ? MP_HEAD_MAX : MP_HEAD_MAX + (size_t)n + BLOCK);
}

/*
 * The lengths of short Strings vary, so branch predictors miss. Therefore a String embedded in its slot is copied in
 * whole blocks. They never reach beyond the slot: every slot has room for one block after the header of a String, and a
 * slot for BLOCK bytes and a NUL has room for two.
 */
MP_INLINE void
copy_payload(uint8_t *to, VALUE string, uint32_t n)
{
    if (sizeof(VALUE) < 8 || n > BLOCKS || RB_FL_TEST_RAW(string, RSTRING_NOEMBED)) {
        mp_copy(to, RSTRING_PTR(string), n);
    } else if (n < BLOCK) {
        memcpy(to, RSTRING(string)->as.embed.ary, BLOCK);
    } else {
        memcpy(to, RSTRING(string)->as.embed.ary, BLOCKS);
    }
}

/* Writes the payload after a head that ends at p. */
MP_INLINE uint8_t *
put_payload(mp_encoder *e, uint8_t *p, VALUE string, uint32_t n, bool reference)
{
    if (MP_UNLIKELY(reference)) return append_reference(e, p, string);
    copy_payload(p, string, n);
    return p + n;
}

MP_INLINE uint8_t *
encode_str_bytes(mp_encoder *e, uint8_t *p, VALUE string)
{
    uint32_t n = mp_encoder_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);

    p = payload_room(e, p, n, reference);
    return put_payload(e, mp_put_str_head(p, n, e->codec->options.compatibility_mode), string, n, reference);
}

static uint8_t *
encode_bin_bytes(mp_encoder *e, uint8_t *p, VALUE string)
{
    uint32_t n = mp_encoder_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);

    p = payload_room(e, p, n, reference);
    p = e->codec->options.compatibility_mode ? mp_put_str_head(p, n, true) : mp_put_bin_head(p, n);
    p = put_payload(e, p, string, n, reference);
    RB_GC_GUARD(string);
    return p;
}

static VALUE
transcode(VALUE string)
{
    return rb_str_encode(string, rb_enc_from_encoding(mp_utf8), 0, Qnil);
}

static VALUE
to_utf8(VALUE string)
{
    return mp_pack_call(transcode, string);
}

/* True if a String must be transcoded to UTF-8. compatibility_mode writes the bytes of every String as they are. */
static bool
transcoded_p(const mp_encoder *e, VALUE string, int index)
{
    return !mp_utf8_index_p(index) && !e->codec->options.compatibility_mode && !rb_enc_str_asciionly_p(string);
}

/* Writes a String that is neither UTF-8 nor US-ASCII: BINARY as bin, any other as str, transcoded to UTF-8. */
static MP_NOINLINE uint8_t *
encode_foreign_string(mp_encoder *e, uint8_t *p, VALUE string)
{
    int index = rb_enc_get_index(string);

    if (index == mp_binary_index) return encode_bin_bytes(e, p, string);
    if (transcoded_p(e, string, index)) {
        mp_out_commit(&e->out, p);
        string = mp_encoder_call_placed(e, to_utf8, string); /* may run require, for a transcoder */
        p = e->out.pos;
    }
    p = encode_str_bytes(e, p, string);
    RB_GC_GUARD(string);
    return p;
}

MP_INLINE uint8_t *
encode_string(mp_encoder *e, uint8_t *p, VALUE string)
{
    if (MP_LIKELY(mp_utf8_index_p(RB_ENCODING_GET_INLINED(string)))) return encode_str_bytes(e, p, string);
    return encode_foreign_string(e, p, string);
}

/* Writes a Symbol as its registered ext type, otherwise as its name. */
static uint8_t *
encode_symbol(mp_encoder *e, uint8_t *p, VALUE symbol)
{
    VALUE name;

    if (MP_UNLIKELY(e->codec->types && e->codec->types->symbol)) {
        return mp_encode_typed(e, p, symbol, e->codec->types->symbol);
    }
    if (MP_LIKELY(RB_STATIC_SYM_P(symbol))) {
        const mp_packed_symbol *packed;

        packed = mp_packed_symbols_find(&mp_encoder_ractor(e)->symbols, symbol, &name);
        if (MP_LIKELY(packed != NULL)) return mp_put_packed_symbol(room(e, p, MP_PACKED_SYMBOL_MAX), packed);
    } else {
        name = rb_sym2str(symbol);
    }
    return encode_string(e, p, name);
}

MP_INLINE uint8_t *
encode_special(mp_encoder *e, uint8_t *p, VALUE obj)
{
    if (NIL_P(obj)) return mp_put_nil(room(e, p, MP_HEAD_MAX));
    if (obj == Qtrue || obj == Qfalse) return mp_put_bool(room(e, p, MP_HEAD_MAX), obj == Qtrue);
    return encode_symbol(e, p, obj);
}

/* --- containers ------------------------------------------------------------------------------------- */

static uint8_t *encode_array(mp_encoder *e, uint8_t *p, VALUE array);
static uint8_t *encode_hash(mp_encoder *e, uint8_t *p, VALUE hash);
static uint8_t *encode_rare(mp_encoder *e, uint8_t *p, VALUE obj);

/* Writes any object except a Fixnum or a Flonum. */
MP_INLINE uint8_t *
encode_other(mp_encoder *e, uint8_t *p, VALUE obj)
{
    VALUE klass;

    if (RB_SPECIAL_CONST_P(obj)) return encode_special(e, p, obj);
    klass = RBASIC_CLASS(obj);
    if (klass == rb_cString) return encode_string(e, p, obj);
    if (klass == rb_cHash) return encode_hash(e, p, obj);
    if (klass == rb_cArray) return encode_array(e, p, obj);
    return encode_rare(e, p, obj);
}

/*
 * Tests classes by their frequency in real documents. Branches instead of a switch: they are predicted better than one
 * indirect jump.
 */
MP_INLINE uint8_t *
encode_value(mp_encoder *e, uint8_t *p, VALUE obj)
{
    if (RB_FIXNUM_P(obj)) return encode_fixnum(e, p, obj);
    if (RB_FLONUM_P(obj)) return encode_float(e, p, rb_float_value(obj));
    return encode_other(e, p, obj);
}

/* How many numbers to reserve room for at once. */
enum { NUMBERS = 16 };

/* Writes the numbers from *i on, up to the first other object. Runs no user code. */
MP_INLINE uint8_t *
encode_numbers(mp_encoder *e, uint8_t *p, VALUE array, uint32_t n, uint32_t *i)
{
    const VALUE *elements = RARRAY_CONST_PTR(array);

    while (*i < n) {
        uint32_t end = n - *i > NUMBERS ? *i + NUMBERS : n;

        p = room(e, p, NUMBERS * MP_HEAD_MAX);
        for (; *i < end; ++*i) {
            VALUE obj = elements[*i];
            if (RB_FIXNUM_P(obj)) p = mp_put_sint(p, FIX2LONG(obj));
            else if (RB_FLONUM_P(obj)) p = mp_put_float64(p, rb_float_value(obj));
            else return p;
        }
    }
    return p;
}

/* Writes the elements of an Array of n, from the ith on. */
static MP_NOINLINE uint8_t *
encode_elements(mp_encoder *e, uint8_t *p, VALUE array, uint32_t n, uint32_t i)
{
    mp_place place = {.key = Qundef};

    mp_encoder_open(e, &place);
    while (i < n) {
        VALUE obj = RARRAY_AREF(array, (long)i);

        if (RB_FIXNUM_P(obj) || RB_FLONUM_P(obj)) {
            p = encode_numbers(e, p, array, n, &i);
            continue;
        }
        place.index = (long)i++;
        p = encode_other(e, p, obj);
        /* to_msgpack of an element may have changed the Array, but the head already holds its length. */
        if (MP_UNLIKELY(RARRAY_LEN(array) != (long)n)) mp_encoder_raise_modified(e, "Array");
    }
    mp_encoder_close(e, &place);
    RB_GC_GUARD(array);
    return p;
}

static uint8_t *
encode_array(mp_encoder *e, uint8_t *p, VALUE array)
{
    uint32_t n = mp_encoder_length(e, array, (size_t)RARRAY_LEN(array));
    uint32_t i = 0;

    if (MP_UNLIKELY(e->depth == e->max_depth) && n) mp_encoder_raise_too_deep(e);
    p = encode_numbers(e, mp_put_array_head(room(e, p, MP_HEAD_MAX), n), array, n, &i);
    return i == n ? p : encode_elements(e, p, array, n, i);
}

typedef struct {
    mp_pairs pairs;
    uint8_t *p;
} hash_walk;

static MP_NOINLINE void
continue_walk(hash_walk *walk)
{
    mp_pairs_go_on(&walk->pairs);
    walk->p = walk->pairs.e->out.pos;
}

/* Writes a pair whose key is neither a String nor an immediate value. */
static MP_NOINLINE int
encode_rare_pair(hash_walk *walk, VALUE key, VALUE value)
{
    mp_encoder *e = walk->pairs.e;

    walk->p = encode_value(e, encode_other(e, walk->p, key), value);
    mp_out_commit(&e->out, walk->p);
    return mp_pairs_passed(&walk->pairs, key);
}

/* Does what mp_pairs_next and mp_pairs_passed do, with p in a register. */
static int
encode_pair(VALUE key, VALUE value, VALUE arg)
{
    hash_walk *walk = (hash_walk *)arg;
    mp_encoder *e = walk->pairs.e;

    walk->pairs.place.key = key;
    if (MP_UNLIKELY(walk->pairs.left-- == 0)) continue_walk(walk);
    if (MP_UNLIKELY(!mp_plain_key_p(key))) return encode_rare_pair(walk, key, value);
    walk->p = encode_value(e, encode_value(e, walk->p, key), value);
    return ST_CONTINUE;
}

static uint8_t *
encode_hash(mp_encoder *e, uint8_t *p, VALUE hash)
{
    uint32_t n = mp_encoder_length(e, hash, RHASH_SIZE(hash));
    hash_walk walk;

    if (!n) return mp_put_map_head(room(e, p, MP_HEAD_MAX), n);
    mp_pairs_init(&walk.pairs, e, n);
    mp_encoder_open(e, &walk.pairs.place);
    walk.p = mp_put_map_head(room(e, p, MP_HEAD_MAX), n);
    if (MP_UNLIKELY(mp_pairs_each(&walk.pairs, hash, encode_pair))) walk.p = e->out.pos;
    mp_encoder_close(e, &walk.pairs.place);
    return walk.p;
}

/* Writes an object of a subclass of String, Hash or Array, as an ext if the codec has a type for it. */
static MP_NOINLINE uint8_t *
encode_derived(mp_encoder *e, uint8_t *p, VALUE obj)
{
    const mp_type *type = mp_foreign_type(e, obj);

    if (type) return mp_encode_typed(e, p, obj, type);
    if (RB_BUILTIN_TYPE(obj) == T_STRING) return encode_string(e, p, obj);
    return RB_BUILTIN_TYPE(obj) == T_HASH ? encode_hash(e, p, obj) : encode_array(e, p, obj);
}

static uint8_t *
encode_rare(mp_encoder *e, uint8_t *p, VALUE obj)
{
    switch (RB_BUILTIN_TYPE(obj)) {
      case T_FLOAT: return encode_float(e, p, RFLOAT_VALUE(obj));
      case T_SYMBOL: return encode_symbol(e, p, obj);
      case T_BIGNUM: return encode_bignum(e, p, obj);
      case T_STRING:
      case T_HASH:
      case T_ARRAY: return encode_derived(e, p, obj);
      default: return encode_foreign(e, p, obj);
    }
}

void
mp_encode(mp_encoder *e, VALUE obj)
{
    mp_out_commit(&e->out, encode_value(e, e->out.pos, obj));
}

void
mp_encode_pair(mp_encoder *e, const uint8_t *key, size_t size, VALUE value)
{
    uint8_t *p = room(e, e->out.pos, size + MP_HEAD_MAX);

    mp_copy(p, key, size);
    mp_out_commit(&e->out, encode_value(e, p + size, value));
}

void
mp_encode_string(mp_encoder *e, VALUE string)
{
    mp_out_commit(&e->out, encode_string(e, e->out.pos, string));
}

void
mp_encode_bin(mp_encoder *e, VALUE string)
{
    mp_out_commit(&e->out, encode_bin_bytes(e, e->out.pos, string));
}

void
mp_encode_array(mp_encoder *e, VALUE array)
{
    mp_out_commit(&e->out, encode_array(e, e->out.pos, array));
}

void
mp_encode_hash(mp_encoder *e, VALUE hash)
{
    mp_out_commit(&e->out, encode_hash(e, e->out.pos, hash));
}

VALUE
mp_encode_whole(VALUE obj, const mp_codec *codec)
{
    uint8_t block[MP_ENCODER_BLOCK];
    VALUE codec_object = codec->object, result; /* keeps the codec alive if user code replaces it */
    mp_encoder e;

    mp_encoder_init(&e, block, sizeof(block), codec);
    mp_encode(&e, obj);
    result = mp_encoder_result(&e);
    if (MP_UNLIKELY(e.packer != 0)) mp_foreign_end(&e);
    RB_GC_GUARD(obj);
    RB_GC_GUARD(codec_object);
    return result;
}
