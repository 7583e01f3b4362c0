/*
 * Decodes bytes into objects: one loop with explicit frames. Walks like core/skip.c, but keeps the objects of each open
 * container, to build it from them, and may call user code at any object.
 */
#include "unpack/decode.h"

#include "core/utf8.h"
#include "core/wire.h"
#include "unpack/ext.h"
#include "unpack/key_flood.h"
#include "unpack/nesting.h"
#include "unpack/objects.h"

/*
 * RuntimeError if user code changed the source String, because d->start and d->end then point to bytes that are gone.
 * User code may run while a Hash is made: Ruby calls eql?, which a program may have redefined, if two keys of different
 * classes have similar hashes. Does not compare the length of a frozen source: it cannot change, and we may decode only
 * a part of it.
 */
MP_INLINE void
check_source(const mp_decoder *d)
{
    if (MP_LIKELY((const uint8_t *)RSTRING_PTR(d->source) == d->start) &&
        MP_LIKELY(RSTRING_LEN(d->source) == d->end - d->start || RB_OBJ_FROZEN_RAW(d->source))) {
        return;
    }
    rb_raise(rb_eRuntimeError, "the String was modified during unpacking");
}

/* LimitError if a head declares more than the limits allow. Must be called before the object is counted or read. */
MP_INLINE void
check_limits(mp_decoder *d, mp_kind kind, uint32_t n, const uint8_t *at)
{
    mp_status status = mp_limits_pass(&d->codec->options.limits, kind, n, &d->tree.objects);

    if (MP_UNLIKELY(status != MP_OK)) mp_decoder_raise(d, status, at);
}

static bool
nan_p(VALUE number)
{
    double value = rb_float_value(number);

    return value != value;
}

/*
 * Makes the Hash of a map that ends at offset `end`. User code may run. LimitError if too many keys have the same hash.
 */
static MP_NOINLINE VALUE
hash_by_calls(mp_decoder *d, size_t n, const VALUE *values, size_t end)
{
    int exceeded = d->tree.keys_may_collide ? mp_same_hash_exceeded(n, values) : 0;

    if (exceeded) mp_raise_same_hash((size_t)exceeded, end);
    return mp_hash_new(d, n, values);
}

/*
 * Calls mp_decoder_own_source before a container that is a map key, because Ruby will call #hash of its elements. The
 * head of the container is at p.
 */
static MP_NOINLINE const uint8_t *
own_key_source(mp_decoder *d, const uint8_t *p)
{
    mp_nesting_check_key(d, p);
    return mp_decoder_own_source(d, p);
}

/* True if the payload of a str is UTF-8 or need not be. */
MP_INLINE bool
text_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t n)
{
    return !limited || !options->strict_utf8 || mp_utf8_valid_p(p, n);
}

/* True if p is at a fixstr that no limit can refuse. mp_ahead_p(p) must be true. */
MP_INLINE bool
short_str_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t *n)
{
    if (limited && options->limits.string < MP_FIXSTR_MAX) return false;
    return mp_fixstr_ahead_p(p, n) && text_p(options, limited, p + 1, *n);
}

MP_INLINE VALUE
uint_of(const mp_options *options, const uint8_t *p, mp_wire_row row)
{
    return mp_number(options, ULL2NUM(mp_row_uint(p, row)));
}

MP_INLINE VALUE
sint_of(const mp_options *options, const uint8_t *p, mp_wire_row row)
{
    return mp_number(options, LL2NUM(mp_row_sint(p, row)));
}

/* The Integer at p. mp_ahead_p(p) must be true. */
MP_INLINE VALUE
integer_in_row(const mp_options *options, const uint8_t *p, mp_wire_row row)
{
    int64_t n = mp_int_ahead(p, row);
    bool above = (n < 0) & (row.kind == MP_UINT);

    if (MP_LIKELY(FIXABLE(n) & !above)) return LONG2FIX((long)n);
    return mp_number(options, above ? ULL2NUM((uint64_t)n) : LL2NUM(n));
}

/*
 * Fast path (classics/Integers) for arrays of numbers: without it, 1.18 times the instructions. Decodes up to n
 * numbers, moves *at past them and returns their number. Stops at any other object, at a NaN, and near the end of
 * the source. Not inline, because the loop below would run out of registers.
 */
static MP_NOINLINE size_t
decode_numbers(const mp_decoder *d, const uint8_t **at, VALUE *values, size_t n)
{
    const mp_options *options = &d->codec->options;
    const uint8_t *p = *at, *end = d->end;
    size_t i;

    for (i = 0; i < n && mp_ahead_p(p, end); i++) {
        mp_wire_row row = mp_row_ahead(p);

        if (row.kind == MP_FLOAT64 || row.kind == MP_FLOAT32) {
            double value = mp_row_real(p, row);
            if (MP_UNLIKELY(value != value)) break;
            values[i] = mp_number(options, DBL2NUM(value));
        } else if (mp_row_integer_p(row)) {
            values[i] = integer_in_row(options, p, row);
        } else {
            break;
        }
        p += row.head;
    }
    *at = p;
    return i;
}

/*
 * map_mark is the offset of the map whose head is at p, as a Fixnum for the value stack; map_offset converts it back.
 * The offset counts from the start of the message, because a Fixnum has one bit less than a word, and an offset in the
 * whole input may need all bits.
 */
MP_INLINE VALUE
map_mark(const mp_decoder *d, const uint8_t *p)
{
    return (VALUE)(mp_decoder_offset(d, p) - d->message) << 1 | 1;
}

static MP_NOINLINE size_t
map_offset(const mp_decoder *d, VALUE mark)
{
    return d->message + (size_t)(mark >> 1);
}

/* --- the loop --------------------------------------------------------------------------------------- */

/*
 * The state of the loop. The compiler keeps it in registers and folds the constants of each caller, because every
 * function that gets it is inline.
 */
typedef struct {
    const uint8_t *p; /* the next head */
    uint64_t left;    /* this and the next three fields: as in mp_tree */
    size_t base, count;
    uint32_t depth;
    VALUE *values;    /* the value stack, and its size */
    size_t capacity;
    const mp_options *options;
    mp_string_kind key_kind;
    bool frozen;      /* the options ask for frozen objects */
    bool resumable, limited; /* constants; see decode_loop */
} loop;

/* The outcome for the object whose head was at loop.p. */
typedef enum {
    DECODED,   /* the object is complete, and p is after it */
    PASSED,    /* p is after a key or after the head of a container */
    TRUNCATED, /* the object at p is incomplete */
} outcome;

/* Stores the state of the loop in the decoder, so that decoding can continue at `at`. */
MP_INLINE void
commit(mp_decoder *d, const loop *l, const uint8_t *at)
{
    d->tree.left = l->left;
    d->tree.base = l->base;
    d->tree.count = l->count;
    d->tree.depth = l->depth;
    d->at = at;
    d->committed = true;
}

/* Stores as much of the state as the functions of nesting.h need to see which containers are open. */
MP_INLINE void
show_depth(mp_decoder *d, const loop *l)
{
    d->tree.depth = l->depth;
    d->tree.base = l->base;
}

/* Makes room for n more words on the value stack. */
MP_INLINE void
reserve(mp_decoder *d, loop *l, size_t n)
{
    if (MP_LIKELY(l->count + n <= l->capacity)) return;
    mp_decoder_grow_stack(d, l->count);
    l->values = d->stack.values;
    l->capacity = d->stack.capacity;
}

MP_INLINE void
check_declared(mp_decoder *d, const loop *l, mp_kind kind, uint32_t n)
{
    if (l->limited) check_limits(d, kind, n, l->p);
}

/* Makes a String that shares its payload with the source. Afterwards the loop reads a source that never changes. */
MP_INLINE VALUE
shared_payload(mp_decoder *d, loop *l, mp_wire_row row, uint32_t n, rb_encoding *encoding)
{
    l->p = mp_decoder_own_source(d, l->p);
    return mp_payload_shared(d, l->p + row.head, n, encoding);
}

/* The key for a str: a frozen String or a Symbol from the Ractor's cache. */
MP_INLINE VALUE
str_key(mp_decoder *d, const loop *l, const uint8_t *payload, uint32_t n)
{
    VALUE key = mp_string_cache_fetch(&d->ractor->keys, payload, n, l->key_kind);

    if (MP_LIKELY(key)) return key;
    commit(d, l, payload + n);
    mp_raise_malformed_symbol(payload, n, mp_decoder_offset(d, l->p), mp_decoder_message(d));
}

MP_INLINE outcome
str_decode(mp_decoder *d, loop *l, mp_wire_row row, VALUE *obj)
{
    const uint8_t *payload = l->p + row.head;
    uint32_t n = mp_row_count(l->p, row);

    check_declared(d, l, MP_STR, n);
    if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) return TRUNCATED;
    if (!text_p(l->options, l->limited, payload, n)) {
        commit(d, l, payload + n);
        mp_decoder_raise(d, MP_E_UTF8, l->p);
    }
    if (mp_left_key_p(l->left)) {
        *obj = str_key(d, l, payload, n);
    } else if (MP_LIKELY(n < MP_SHARE_MIN) || !mp_payload_to_share_p(d, payload, n)) {
        *obj = mp_str_new(d, l->frozen, payload, n);
    } else {
        *obj = shared_payload(d, l, row, n, mp_utf8);
    }
    l->p += row.head + (size_t)n;
    return DECODED;
}

MP_INLINE outcome
bin_decode(mp_decoder *d, loop *l, mp_wire_row row, VALUE *obj)
{
    const uint8_t *payload = l->p + row.head;
    uint32_t n = mp_row_count(l->p, row);

    check_declared(d, l, MP_BIN, n);
    if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) return TRUNCATED;
    if (mp_left_key_p(l->left)) *obj = mp_bin_key_new(d, payload, n);
    else if (n < MP_SHARE_MIN || !mp_payload_to_share_p(d, payload, n)) *obj = mp_bin_new(l->options, payload, n);
    else *obj = shared_payload(d, l, row, n, rb_ascii8bit_encoding());
    l->p += row.head + (size_t)n;
    return DECODED;
}

/*
 * True if making the object of an ext may run user code: its handler, the #hash of a key, the #freeze of a shareable
 * Time, or Time.at.
 */
MP_INLINE bool
ext_may_call_p(const mp_decoder *d, const loop *l)
{
    if (mp_left_key_p(l->left) || d->codec->types) return true;
    return l->options->timestamp && (l->options->shareable || sizeof(time_t) < sizeof(int64_t));
}

MP_INLINE outcome
ext_decode(mp_decoder *d, loop *l, mp_wire_row row, VALUE *obj)
{
    uint32_t n;

    n = mp_row_ext_count(l->p, row);
    check_declared(d, l, MP_EXT, n);
    if (MP_UNLIKELY(!mp_payload_present_p(l->p + row.head, n, d->end))) return TRUNCATED;
    if (ext_may_call_p(d, l)) l->p = mp_decoder_own_source(d, l->p);
    commit(d, l, l->p + row.head + n);
    *obj = mp_ext_new(d, mp_row_ext_type(l->p, row), l->p + row.head, n, l->p);
    d->committed = false;
    l->p += row.head + (size_t)n;
    return DECODED;
}

/*
 * Moves past a number. If it is a key, a Hash compares Bignums and Floats by eql?, which a program may have redefined.
 */
MP_INLINE void
number_passed(mp_decoder *d, loop *l, mp_wire_row row, VALUE number)
{
    if (MP_UNLIKELY(mp_left_key_p(l->left)) && !RB_SPECIAL_CONST_P(number)) l->p = mp_decoder_own_source(d, l->p);
    l->p += row.head;
}

/* Raises if the NaN just before p is a map key or inside one: it is equal to no key, not even to itself. */
MP_INLINE void
refuse_nan_key(mp_decoder *d, const loop *l, mp_wire_row row)
{
    commit(d, l, l->p);
    if (mp_left_key_p(l->left) || mp_decoder_open_keys(d).nesting) {
        mp_raise_malformed("a map key is or contains NaN", mp_decoder_offset(d, l->p - row.head),
                           mp_decoder_message(d));
    }
    d->committed = false;
}

MP_INLINE outcome
float_decode(mp_decoder *d, loop *l, mp_wire_row row, VALUE *obj)
{
    *obj = mp_float_new(d, mp_row_real(l->p, row));
    number_passed(d, l, row, *obj);
    if (l->limited && l->options->unique_keys && nan_p(*obj)) refuse_nan_key(d, l, row);
    return DECODED;
}

/* --- containers ------------------------------------------------------------------------------------- */

/*
 * The innermost container is full: takes its frame and its *n objects off the value stack, and continues with the
 * container around it.
 */
MP_INLINE const VALUE *
frame_pop(loop *l, size_t *n)
{
    const VALUE *objects = l->values + l->base;

    *n = l->count - l->base;
    l->depth--;
    l->count = l->base - MP_FRAME_WORDS;
    l->left = mp_frame_left(&l->values[l->count]);
    l->base = mp_frame_base(&l->values[l->count]);
    return objects;
}

MP_INLINE VALUE
array_close(loop *l)
{
    size_t n;
    const VALUE *objects = frame_pop(l, &n);

    return mp_array_new(l->options, n, objects);
}

MP_INLINE VALUE
map_close(mp_decoder *d, loop *l)
{
    size_t n;
    const VALUE *objects = frame_pop(l, &n);
    VALUE hash;

    if (l->limited) l->count--; /* the map_mark */
    if (l->resumable) commit(d, l, l->p);
    if (MP_UNLIKELY(d->may_call)) hash = hash_by_calls(d, n, objects, mp_decoder_offset(d, l->p));
    else hash = mp_hash_new(d, n, objects);
    if (!l->resumable) check_source(d);
    if (l->limited && l->options->unique_keys && RHASH_SIZE(hash) != n / 2) {
        mp_raise_malformed("a map has the same key twice", map_offset(d, l->values[l->count]), mp_decoder_message(d));
    }
    if (l->resumable) d->committed = false;
    return hash;
}

/* Opens an array of n elements. Decodes the numbers at its start, which may be the whole array, at once. */
MP_INLINE outcome
array_open(mp_decoder *d, loop *l, uint32_t n, VALUE *obj)
{
    const uint8_t *p = l->p; /* not &l->p: that would make the compiler keep the whole loop in memory */
    size_t room = l->capacity - l->count;
    size_t numbers = decode_numbers(d, &p, &l->values[l->count], n < room ? n : room);

    l->p = p;
    l->count += numbers;
    l->left = mp_left_of_array(n) - MP_LEFT_ONE * numbers;
    if (!mp_left_none_p(l->left)) return PASSED;
    *obj = array_close(l);
    return DECODED;
}

/* Pushes the frame for a container that is not empty. Its head is at p. */
MP_INLINE void
frame_push(mp_decoder *d, loop *l, bool map)
{
    if (MP_UNLIKELY(l->depth + d->outer_depth >= d->tree.depth_limit)) {
        show_depth(d, l);
        mp_nesting_check_depth(d, l->p);
    }
    reserve(d, l, MP_FRAME_WORDS + l->limited);
    if (l->limited && map) l->values[l->count++] = map_mark(d, l->p);
    mp_frame_put(&l->values[l->count], l->left, l->base);
    l->depth++;
    l->base = l->count += MP_FRAME_WORDS;
}

MP_INLINE outcome
container_decode(mp_decoder *d, loop *l, mp_wire_row row, VALUE *obj)
{
    const bool map = row.kind == MP_MAP;
    uint32_t n;

    if (MP_UNLIKELY(mp_left_key_p(l->left))) {
        show_depth(d, l);
        l->p = own_key_source(d, l->p);
    }
    n = mp_row_count(l->p, row);
    check_declared(d, l, (mp_kind)row.kind, n);
    if (!n) {
        *obj = map ? mp_hash_new(d, 0, l->values) : mp_array_new(l->options, 0, l->values);
        l->p += row.head;
        return DECODED;
    }
    frame_push(d, l, map);
    l->p += row.head;
    if (!map) return array_open(d, l, n, obj);
    mp_decoder_ractor(d); /* sets d->ractor, which str_key does not check */
    l->left = mp_left_of_map(n);
    return PASSED;
}

/*
 * Puts an object into its container, and a container that is full now into the container around it, and so on. Returns
 * the outermost object if it is complete, otherwise Qundef.
 */
MP_INLINE VALUE
object_put(mp_decoder *d, loop *l, VALUE obj)
{
    for (;;) {
        reserve(d, l, 1);
        l->values[l->count++] = obj;
        l->left -= MP_LEFT_ONE;
        if (MP_LIKELY(!mp_left_none_p(l->left))) return Qundef;
        if (l->depth == 0) { /* outside of all containers */
            l->left = mp_left_of_array(1);
            l->count--;
            commit(d, l, l->p);
            return obj;
        }
        obj = mp_left_map_p(l->left) ? map_close(d, l) : array_close(l);
    }
}

/* --- one object ------------------------------------------------------------------------------------- */

/*
 * Fast path (messages/plain) for a key that is a fixstr, if mp_ahead_p. Moves past it; false if the slow path must
 * handle it.
 */
MP_INLINE bool
short_key_passed(const mp_decoder *d, loop *l)
{
    uint32_t n;
    VALUE key;

    if (!mp_left_key_p(l->left) || !short_str_p(l->options, l->limited, l->p, &n)) return false;
    if (MP_UNLIKELY(l->count >= l->capacity)) return false;
    key = mp_string_cache_fetch(&d->ractor->keys, l->p + 1, n, l->key_kind);
    if (MP_UNLIKELY(!key)) return false;
    l->values[l->count++] = key;
    l->left -= MP_LEFT_ONE;
    l->p += 1 + n;
    return true;
}

MP_INLINE bool
short_str_decoded(mp_decoder *d, loop *l, VALUE *obj)
{
    uint32_t n;

    if (!short_str_p(l->options, l->limited, l->p, &n)) return false;
    *obj = mp_str_new(d, l->frozen, l->p + 1, n);
    l->p += 1 + n;
    return true;
}

MP_INLINE outcome
object_decode(mp_decoder *d, loop *l, VALUE *obj)
{
    mp_wire_row row;

    if (MP_LIKELY(mp_ahead_p(l->p, d->end))) {
        /* Fast path (messages/plain) from a short key to its value: no map can end between, and no switch is needed. */
        if (short_key_passed(d, l)) {
            if (!mp_ahead_p(l->p, d->end)) return PASSED;
            if (short_str_decoded(d, l, obj)) return DECODED;
        }
        row = mp_row_ahead(l->p);
    } else if (MP_UNLIKELY(mp_row_read(l->p, d->end, &row) != MP_OK)) {
        return TRUNCATED;
    }
    switch ((mp_kind)row.kind) {
      case MP_STR:
        return str_decode(d, l, row, obj);
      case MP_MAP:
      case MP_ARRAY:
        return container_decode(d, l, row, obj);
      case MP_UINT:
        *obj = uint_of(l->options, l->p, row);
        number_passed(d, l, row, *obj);
        return DECODED;
      case MP_INT:
        *obj = sint_of(l->options, l->p, row);
        number_passed(d, l, row, *obj);
        return DECODED;
      case MP_FLOAT32:
      case MP_FLOAT64:
        return float_decode(d, l, row, obj);
      case MP_BIN:
        return bin_decode(d, l, row, obj);
      case MP_EXT:
        return ext_decode(d, l, row, obj);
      case MP_FIXINT:
        *obj = INT2FIX((int)mp_row_sint(l->p, row));
        break;
      case MP_NIL:
        *obj = Qnil;
        break;
      case MP_FALSE:
        *obj = Qfalse;
        break;
      case MP_TRUE:
        *obj = Qtrue;
        break;
      default:
        mp_decoder_raise(d, MP_E_BAD_HEAD, l->p);
    }
    l->p += row.head;
    return DECODED;
}

/*
 * Decodes from d->at until an object is complete. If the bytes end inside the object, returns Qundef if resumable, and
 * the next call continues there; otherwise raises TruncatedError. resumable and limited are constants in each caller.
 *
 * Decoding may continue after some errors. Before each of these the state is committed: d->at is after the object to
 * blame, and the tree counts that object as still to come.
 */
MP_INLINE VALUE
decode_loop(mp_decoder *d, const bool resumable, const bool limited)
{
    const mp_options *options = &d->codec->options;
    loop l = {.p = d->at,
              .left = d->tree.left,
              .base = d->tree.base,
              .count = d->tree.count,
              .depth = d->tree.depth,
              .values = d->stack.values,
              .capacity = d->stack.capacity,
              .options = options,
              .key_kind = options->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING,
              .frozen = options->freeze || options->shareable,
              .resumable = resumable,
              .limited = limited};
    outcome result;

    do {
        VALUE obj;

        result = object_decode(d, &l, &obj);
        if (result == DECODED) {
            obj = object_put(d, &l, obj);
            if (obj != Qundef) return obj;
        }
    } while (result == DECODED || result == PASSED);

    if (!resumable) mp_decoder_raise(d, MP_E_TRUNCATED, l.p);
    commit(d, &l, l.p);
    return Qundef;
}

VALUE
mp_decode_on(mp_decoder *d)
{
    return d->codec->options.limited ? decode_loop(d, true, true) : decode_loop(d, true, false);
}

/* Not inline, so that mp_decode_whole gets better code for the loop without limits. */
static MP_NOINLINE VALUE
decode_whole_limited(mp_decoder *d)
{
    return decode_loop(d, false, true);
}

/*
 * A second switch over heads. In many streams most objects are short, and setting up a decoder takes longer than
 * decoding such an object. This switch needs no decoder. It handles no keys, no limits, and no containers except empty
 * ones.
 */
VALUE
mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end)
{
    mp_wire_row row;
    const uint8_t *payload;
    uint32_t n;
    VALUE obj;

    if (mp_row_read(*p, end, &row) != MP_OK) return Qundef;
    payload = *p + row.head;
    switch ((mp_kind)row.kind) {
      case MP_FIXINT:
        obj = INT2FIX((int8_t)**p);
        break;
      case MP_INT:
        obj = sint_of(options, *p, row);
        break;
      case MP_UINT:
        obj = uint_of(options, *p, row);
        break;
      case MP_FLOAT32:
      case MP_FLOAT64:
        obj = mp_number(options, DBL2NUM(mp_row_real(*p, row)));
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
      case MP_STR:
        n = mp_row_count(*p, row);
        if (n >= MP_SHARE_MIN || !mp_payload_present_p(payload, n, end) || options->freeze || options->shareable) {
            return Qundef;
        }
        obj = rb_enc_str_new((const char *)payload, n, mp_utf8);
        payload += n;
        break;
      case MP_ARRAY:
      case MP_MAP:
        if (mp_row_count(*p, row) || options->freeze || options->shareable) return Qundef;
        obj = row.kind == MP_MAP ? rb_hash_new() : rb_ary_new();
        break;
      default:
        return Qundef;
    }
    *p = payload;
    return obj;
}

VALUE
mp_decode_inside(mp_decoder *d, size_t count, uint32_t depth)
{
    d->tree = (mp_tree){.left = mp_left_of_array(1), .base = count, .count = count, .depth_limit = d->max_depth,
                        .objects = d->others + 1};
    d->outer_depth = depth;
    return d->codec->options.limited ? decode_whole_limited(d) : decode_loop(d, false, false);
}

/* Decodes the object at an offset of a String and leaves the decoder after it. The caller must keep d->source alive. */
static VALUE
decode_at(mp_decoder *d, VALUE source, size_t offset)
{
    VALUE obj;

    mp_decoder_source(d, source, (const uint8_t *)RSTRING_PTR(source), (size_t)RSTRING_LEN(source));
    d->at += offset;
    obj = MP_UNLIKELY(d->codec->options.limited) ? decode_whole_limited(d) : decode_loop(d, false, false);
    mp_decoder_cleanup(d);
    return obj;
}

VALUE
mp_decode_whole(VALUE source, const mp_codec *codec)
{
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    if (MP_UNLIKELY((size_t)RSTRING_LEN(source) > codec->options.max_bytes)) {
        mp_raise_max_bytes(codec->options.max_bytes, (size_t)RSTRING_LEN(source), codec->options.max_bytes,
                           mp_message_whole(source));
    }
    mp_decoder_init(&d, codec, &words);
    obj = decode_at(&d, source, 0);
    if (MP_UNLIKELY(d.at != d.end)) {
        mp_raise_extra_bytes((size_t)(d.end - d.at), mp_decoder_offset(&d, d.at), source);
    }
    RB_GC_GUARD(d.source);
    return obj;
}

VALUE
mp_decode_part(VALUE source, size_t *offset, const mp_codec *codec)
{
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    mp_decoder_init(&d, codec, &words);
    obj = decode_at(&d, source, *offset);
    *offset = mp_decoder_offset(&d, d.at);
    RB_GC_GUARD(d.source);
    return obj;
}
