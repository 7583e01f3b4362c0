/* VALUE to bytes: one walk, dispatched by what is most frequent; and Manypack.pack. */
#include "encode.h"

#include "error.h"
#include "io.h"
#include "packer.h"
#include "stack.h"
#include "timestamp.h"
#include "wire.h"

static ID id_to_msgpack, id_sec, id_nsec, id_tv_sec, id_tv_nsec;

/* --- the window ------------------------------------------------------------------------------------- */

/* A String this large is outgrown by few messages; four times as much at each step after it. */
enum { FIRST_CAPACITY = 16384, GROWTH = 4 };

MP_INLINE mp_ractor *
ractor_of(mp_encoder *e)
{
    if (MP_UNLIKELY(!e->ractor)) e->ractor = mp_ractor_current();
    return e->ractor;
}

static size_t
first_capacity(mp_encoder *e)
{
    size_t expected = mp_result_size_expected(&ractor_of(e)->results);

    return expected > FIRST_CAPACITY ? expected + expected / 16 : FIRST_CAPACITY;
}

/* Bytes to have room for: what is written, n more, and as much again as keeps copying rare. */
static long
grown_capacity(mp_encoder *e, size_t size, size_t n)
{
    size_t want = !e->str ? first_capacity(e) : size < ((size_t)1 << 20) ? size * GROWTH : size * 2;

    if (n > (size_t)LONG_MAX - size) rb_raise(rb_eNoMemError, "packed data of more than %ld bytes", LONG_MAX);
    if (want < size + n) want = size + n;
    return (long)want;
}

static void
grow_str(mp_encoder *e, size_t n)
{
    size_t size = mp_out_size(&e->out);
    long capacity = grown_capacity(e, size, n);

    if (e->str) {
        rb_str_set_len(e->str, (long)size);
        rb_str_modify_expand(e->str, capacity - (long)size);
    } else {
        e->str = rb_obj_hide(rb_str_buf_new(capacity)); /* from ObjectSpace, whose finders could change it */
        memcpy(RSTRING_PTR(e->str), e->out.start, size);
    }
    e->out.start = (uint8_t *)RSTRING_PTR(e->str);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + rb_str_capacity(e->str);
    mp_spoil(e->out.pos, (size_t)(e->out.end - e->out.pos));
}

bool
mp_encoder_grow(mp_out *out, size_t n)
{
    mp_encoder *e = (mp_encoder *)(void *)out;

    if (e->buffer) mp_encoder_window_on_buffer(e, mp_out_size(out), n);
    else grow_str(e, n);
    return true;
}

/* From the block or the String to the buffer of a Packer, for user code to write to. */
static void
leave_for_packer(mp_encoder *e)
{
    uint8_t *bytes = e->out.start;
    size_t size = mp_out_size(&e->out);

    e->packer = mp_packer_new(e->codec, &e->buffer);
    mp_encoder_window_on_buffer(e, 0, size + 1);
    memcpy(e->out.start, bytes, size);
    mp_spoil(bytes, size);
    e->out.pos = e->out.start + size;
    e->str = 0;
}

/* The finished message as a String of its own. */
static VALUE
encoder_result(mp_encoder *e)
{
    size_t size = mp_out_size(&e->out);

    if (e->buffer) {
        mp_bytes *bytes = &mp_buffer_get(e->buffer)->bytes;

        mp_encoder_commit(e);
        return mp_bytes_to_s(e->buffer, bytes, bytes->size);
    }
    if (!e->str) return rb_str_new((const char *)e->out.start, (long)size);
    mp_result_size_note(&ractor_of(e)->results, size);
    rb_str_set_len(e->str, (long)size);
    if (rb_str_capacity(e->str) / 2 > size) rb_str_resize(e->str, (long)size);
    return rb_obj_reveal(e->str, rb_cString);
}

/* --- errors ----------------------------------------------------------------------------------------- */

NORETURN(static void raise_unpackable(mp_encoder *e, VALUE obj));
NORETURN(static void raise_modified(mp_encoder *e, const char *what));
NORETURN(static void raise_too_long(mp_encoder *e, VALUE obj));

/* A Time or what timestamp: true packs like one. */
static bool
moment_p(VALUE obj)
{
    return RTEST(rb_obj_is_kind_of(obj, rb_cTime)) || rb_obj_class(obj) == mp_cTimestamp;
}

/* NoMethodError, as calling the missing to_msgpack would raise; callers read its receiver. */
static void
raise_unpackable(mp_encoder *e, VALUE obj)
{
    const char *way = moment_p(obj) ? "pack with timestamp: true, or register Manypack::Timestamp::TYPE"
                                    : "register an ext type for it by Factory#register_type";
    VALUE message = rb_enc_sprintf(mp_utf8, "undefined method 'to_msgpack' for an instance of %" PRIsVALUE ", at %"
                                   PRIsVALUE "; %s", rb_obj_class(obj), mp_path(e->place), way);
    VALUE keywords = rb_hash_new();
    VALUE argv[4];

    rb_hash_aset(keywords, ID2SYM(rb_intern("receiver")), obj);
    argv[0] = message;
    argv[1] = ID2SYM(id_to_msgpack);
    argv[2] = rb_ary_new();
    argv[3] = keywords;
    rb_exc_raise(rb_class_new_instance_kw(4, argv, rb_eNoMethodError, RB_PASS_KEYWORDS));
}

static void
raise_modified(mp_encoder *e, const char *what)
{
    rb_raise(rb_eRuntimeError, "%s was modified during packing, at %" PRIsVALUE, what, mp_path(e->place));
}

static void
raise_too_long(mp_encoder *e, VALUE obj)
{
    rb_raise(rb_eArgError, "%" PRIsVALUE " is longer than MessagePack's 4294967295, at %" PRIsVALUE, rb_obj_class(obj),
             mp_path(e->place));
}

MP_INLINE uint32_t
checked_length(mp_encoder *e, VALUE obj, size_t n)
{
    if (MP_UNLIKELY(n > UINT32_MAX)) raise_too_long(e, obj);
    return (uint32_t)n;
}

/* --- where the next byte goes ----------------------------------------------------------------------- */

/*
 * What is written for every object takes the place of its first byte and returns the place behind its last one, in a
 * register. Were it kept in e->out.pos, each object would wait for the one before it to be stored there and loaded
 * again, since any byte written might be that field's. What is rare commits the place, and takes it from there again.
 */

static MP_NOINLINE uint8_t *
grow_room(mp_encoder *e, uint8_t *p, size_t n)
{
    mp_out_commit(&e->out, p);
    return mp_out_reserve(&e->out, n);
}

/* Room for n bytes at p, or where p has moved to. */
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

static uint8_t *encode_typed(mp_encoder *e, uint8_t *p, VALUE obj, const mp_type *type);

/* Whether an Integer is from -2^63 to 2^63 - 1. */
static bool
int64_p(VALUE integer)
{
    int zeros; /* bits that the highest byte of its magnitude begins with */
    size_t bytes;

    if (RB_FIXNUM_P(integer)) return true;
    bytes = rb_absint_size(integer, &zeros);
    if (bytes != sizeof(int64_t)) return bytes < sizeof(int64_t);
    return zeros > 0 || (RBIGNUM_NEGATIVE_P(integer) && rb_absint_singlebit_p(integer));
}

static uint8_t *
encode_bignum(mp_encoder *e, uint8_t *p, VALUE obj)
{
    if (int64_p(obj)) return mp_put_sint(room(e, p, MP_HEAD_MAX), rb_big2ll(obj));
    if (RBIGNUM_POSITIVE_P(obj) && rb_absint_size(obj, NULL) == sizeof(uint64_t)) {
        return mp_put_uint(room(e, p, MP_HEAD_MAX), rb_big2ull(obj));
    }
    if (e->codec->types && e->codec->types->integer) return encode_typed(e, p, obj, e->codec->types->integer);
    rb_raise(rb_eRangeError, "bignum too big to convert into 64 bits: Integer of %" PRIuSIZE " bits, at %" PRIsVALUE,
             rb_absint_numwords(obj, 1, NULL) + RBIGNUM_NEGATIVE_P(obj), mp_path(e->place));
}

/* Whether a payload goes into the output as a chunk of its own. */
MP_INLINE bool
by_reference_p(const mp_encoder *e, size_t n)
{
    const mp_buffer *buffer;

    if (MP_LIKELY(n < MP_WRITE_REFERENCE_MIN || e->buffer == 0)) return false;
    buffer = mp_buffer_get(e->buffer);
    return n >= buffer->write_reference_threshold && mp_loan_idle_p(&buffer->loan); /* a lent one stays in one block */
}

/* Commits what is written, to be taken back when the write does not get to its end. */
static void
commit_for_now(mp_encoder *e)
{
    mp_buffer *buffer = mp_buffer_get(e->buffer);

    mp_loan_begin(&buffer->loan, &buffer->bytes);
    mp_encoder_commit(e);
}

/* Puts the String itself behind what is written up to p. */
static MP_NOINLINE uint8_t *
append_reference(mp_encoder *e, uint8_t *p, VALUE string)
{
    string = rb_str_new_frozen(string);
    mp_out_commit(&e->out, p);
    commit_for_now(e);
    mp_bytes_refer(e->buffer, &mp_buffer_get(e->buffer)->bytes, string, 0, (size_t)RSTRING_LEN(string));
    mp_encoder_window_on_buffer(e, 0, 1);
    return e->out.pos;
}

/* The blocks that a short payload is copied in. What they have beyond it is overwritten by what comes next. */
enum { BLOCK = 8, BLOCKS = 16 };

/* Room for a head and, unless it goes there by reference, for a payload of n bytes behind it. */
MP_INLINE uint8_t *
payload_room(mp_encoder *e, uint8_t *p, uint32_t n, bool reference)
{
    return room(e, p, reference ? MP_HEAD_MAX : MP_HEAD_MAX + (size_t)n + BLOCK);
}

/*
 * The short Strings of a message have any length, which no CPU predicts: where the String is in its slot, they are
 * copied in blocks, and the slot has all of these. Every slot has one block behind the header of a String, and a slot
 * where a String of BLOCK bytes and its NUL fit has two.
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

/* The payload behind a head that ends at p. */
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
    uint32_t n = checked_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);

    p = payload_room(e, p, n, reference);
    return put_payload(e, mp_put_str_head(p, n, e->codec->options.compatibility_mode), string, n, reference);
}

static uint8_t *
encode_bin_bytes(mp_encoder *e, uint8_t *p, VALUE string)
{
    uint32_t n = checked_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);

    p = payload_room(e, p, n, reference);
    p = e->codec->options.compatibility_mode ? mp_put_str_head(p, n, true) : mp_put_bin_head(p, n);
    p = put_payload(e, p, string, n, reference);
    RB_GC_GUARD(string);
    return p;
}

static VALUE
to_utf8(VALUE string)
{
    return rb_str_encode(string, rb_enc_from_encoding(mp_utf8), 0, Qnil);
}

/* Calls what may run user code or switch threads; the buffer, with bytes that do not count yet, is out of reach. */
static VALUE
call_with_buffer_taken(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg)
{
    return e->buffer ? mp_loan_call_taken(&mp_buffer_get(e->buffer)->loan, call, arg) : call(arg);
}

/* Says if text must be transcoded: compatibility_mode writes the bytes of every String as they are. */
static bool
transcoded_p(const mp_encoder *e, VALUE string, int index)
{
    return !mp_utf8_index_p(index) && !e->codec->options.compatibility_mode && !rb_enc_str_asciionly_p(string);
}

/* A String that is neither UTF-8 nor US-ASCII: as bin where it is BINARY, and otherwise as UTF-8. */
static MP_NOINLINE uint8_t *
encode_foreign_string(mp_encoder *e, uint8_t *p, VALUE string)
{
    int index = rb_enc_get_index(string);

    if (index == mp_binary_index) return encode_bin_bytes(e, p, string);
    if (transcoded_p(e, string, index)) {
        mp_out_commit(&e->out, p);
        string = call_with_buffer_taken(e, to_utf8, string); /* transcoders are loaded by require */
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

/* A Symbol as what it is registered as, or as a String that is its name. */
static uint8_t *
encode_symbol(mp_encoder *e, uint8_t *p, VALUE symbol)
{
    VALUE name;

    if (MP_UNLIKELY(e->codec->types && e->codec->types->symbol)) {
        return encode_typed(e, p, symbol, e->codec->types->symbol);
    }
    if (MP_LIKELY(RB_STATIC_SYM_P(symbol))) {
        const mp_packed_symbol *packed;

        packed = mp_symbol_cache_find(&ractor_of(e)->symbols, symbol, &name);
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

/* --- ext -------------------------------------------------------------------------------------------- */

static MP_NOINLINE void
encode_ext_bytes(mp_encoder *e, int type, const void *bytes, uint32_t n)
{
    uint8_t *p = mp_encoder_reserve(e, MP_HEAD_MAX + (size_t)n);

    p = mp_put_ext_head(p, (int8_t)type, n);
    mp_copy(p, bytes, n);
    mp_out_commit(&e->out, p + n);
}

void
mp_encode_ext(mp_encoder *e, int type, VALUE payload)
{
    uint32_t n;

    StringValue(payload);
    n = checked_length(e, payload, (size_t)RSTRING_LEN(payload));
    encode_ext_bytes(e, type, RSTRING_PTR(payload), n);
    RB_GC_GUARD(payload);
}

/* Seconds and nanoseconds as a timestamp, under any type. RangeError where it has no room for them. */
static void
encode_timestamp(mp_encoder *e, int type, VALUE sec, VALUE nsec)
{
    uint8_t body[MP_TIMESTAMP_MAX];
    mp_timestamp timestamp;

    if (!RB_FIXNUM_P(nsec) || FIX2LONG(nsec) < 0 || FIX2LONG(nsec) > (long)MP_TIMESTAMP_NSEC_MAX) {
        rb_raise(rb_eRangeError, "nanoseconds of a timestamp are 0..%u, not %" PRIsVALUE ", at %" PRIsVALUE,
                 MP_TIMESTAMP_NSEC_MAX, nsec, mp_path(e->place));
    }
    if (!RB_INTEGER_TYPE_P(sec) || !int64_p(sec)) {
        rb_raise(rb_eRangeError, "seconds of a timestamp are int64, not %" PRIsVALUE ", at %" PRIsVALUE, sec,
                 mp_path(e->place));
    }
    timestamp.sec = NUM2LL(sec);
    timestamp.nsec = (uint32_t)FIX2LONG(nsec);
    encode_ext_bytes(e, type, body, (uint32_t)mp_timestamp_put(body, timestamp));
}

typedef struct {
    VALUE time, sec, nsec;
} time_parts;

static VALUE
call_for_parts(VALUE arg)
{
    time_parts *parts = (time_parts *)arg;

    parts->sec = rb_funcallv(parts->time, id_tv_sec, 0, NULL);
    parts->nsec = rb_funcallv(parts->time, id_tv_nsec, 0, NULL);
    return Qnil;
}

static VALUE
parts_of_time(VALUE arg)
{
    time_parts *parts = (time_parts *)arg;
    struct timespec ts = rb_time_timespec(parts->time);

    parts->sec = LL2NUM(ts.tv_sec);
    parts->nsec = LONG2FIX(ts.tv_nsec);
    return Qnil;
}

/* After the ArgumentError for a Time that a struct timespec has no room for. */
static VALUE
parts_beyond_range(VALUE arg, VALUE error)
{
    return call_for_parts(arg);
}

static VALUE
parts_of(VALUE arg)
{
    if (MP_UNLIKELY(rb_obj_class(((const time_parts *)arg)->time) != rb_cTime)) return call_for_parts(arg);
    return rb_rescue2(parts_of_time, arg, parts_beyond_range, arg, rb_eArgError, (VALUE)0);
}

/* A Time, or whatever else answers tv_sec and tv_nsec. */
static void
encode_time(mp_encoder *e, int type, VALUE time)
{
    time_parts parts = {.time = time};

    call_with_buffer_taken(e, parts_of, (VALUE)&parts);
    encode_timestamp(e, type, parts.sec, parts.nsec);
}

/* An ExtensionValue as what it says. */
static void
encode_extension_value(mp_encoder *e, VALUE obj)
{
    VALUE type = RSTRUCT_GET(obj, 0), payload = RSTRUCT_GET(obj, 1);

    if (!RB_INTEGER_TYPE_P(type)) {
        rb_raise(rb_eTypeError, "the type of an ExtensionValue is an Integer, not %" PRIsVALUE ", at %" PRIsVALUE,
                 rb_obj_class(type), mp_path(e->place));
    }
    if (!RB_FIXNUM_P(type) || FIX2LONG(type) < -128 || FIX2LONG(type) > 127) {
        rb_raise(rb_eRangeError, "the type of an ExtensionValue is -128..127, not %" PRIsVALUE ", at %" PRIsVALUE, type,
                 mp_path(e->place));
    }
    if (!RB_TYPE_P(payload, T_STRING)) {
        rb_raise(rb_eTypeError, "the payload of an ExtensionValue is a String, not %" PRIsVALUE ", at %" PRIsVALUE,
                 rb_obj_class(payload), mp_path(e->place));
    }
    mp_encode_ext(e, FIX2INT(type), payload);
}

/* --- containers and foreign objects ----------------------------------------------------------------- */

/* Opens one level. So many of them take half of what mp_stack_used_up_p keeps free; few documents have as many. */
enum { STACK_CHECK_LEVELS = 32 };

MP_INLINE void
level_open(mp_encoder *e, mp_place *place)
{
    place->up = e->place;
    e->place = place;
    if (MP_UNLIKELY(++e->depth > e->max_depth || (e->depth % STACK_CHECK_LEVELS == 0 && mp_stack_used_up_p()))) {
        mp_raise_nesting(e->depth - 1, mp_path(e->place->up));
    }
}

MP_INLINE void
level_close(mp_encoder *e, const mp_place *place)
{
    e->place = place->up;
    e->depth--;
}

static uint8_t *encode_array(mp_encoder *e, uint8_t *p, VALUE array);
static uint8_t *encode_hash(mp_encoder *e, uint8_t *p, VALUE hash);
static uint8_t *encode_rare(mp_encoder *e, uint8_t *p, VALUE obj);

/* What is no number without an object of its own. */
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

/* By frequency in real documents. Branches, not a switch: they are predicted better than one jump is. */
MP_INLINE uint8_t *
encode_value(mp_encoder *e, uint8_t *p, VALUE obj)
{
    if (RB_FIXNUM_P(obj)) return encode_fixnum(e, p, obj);
    if (RB_FLONUM_P(obj)) return encode_float(e, p, rb_float_value(obj));
    return encode_other(e, p, obj);
}

/* So many numbers get room at a time. */
enum { NUMBERS = 16 };

/* The numbers from *i on, up to the first other object; none of them runs user code. */
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

/* The elements of an Array of n from the ith on. */
static MP_NOINLINE uint8_t *
encode_elements(mp_encoder *e, uint8_t *p, VALUE array, uint32_t n, uint32_t i)
{
    mp_place place = {.key = Qundef};

    level_open(e, &place);
    while (i < n) {
        VALUE obj = RARRAY_AREF(array, (long)i);

        if (RB_FIXNUM_P(obj) || RB_FLONUM_P(obj)) {
            p = encode_numbers(e, p, array, n, &i);
            continue;
        }
        place.index = (long)i++;
        p = encode_other(e, p, obj);
        /* to_msgpack of an element may have changed the Array, but not what was announced. */
        if (MP_UNLIKELY(RARRAY_LEN(array) != (long)n)) raise_modified(e, "Array");
    }
    level_close(e, &place);
    RB_GC_GUARD(array);
    return p;
}

static uint8_t *
encode_array(mp_encoder *e, uint8_t *p, VALUE array)
{
    uint32_t n = checked_length(e, array, (size_t)RARRAY_LEN(array));
    uint32_t i = 0;

    if (MP_UNLIKELY(e->depth == e->max_depth)) mp_raise_nesting(e->depth, mp_path(e->place));
    p = encode_numbers(e, mp_put_array_head(room(e, p, MP_HEAD_MAX), n), array, n, &i);
    return i == n ? p : encode_elements(e, p, array, n, i);
}

typedef struct {
    mp_encoder *e;
    uint8_t *p;
    mp_place place;
    uint32_t left; /* pairs announced and not yet written */
} hash_walk;

static int
encode_pair(VALUE key, VALUE value, VALUE arg)
{
    hash_walk *walk = (hash_walk *)arg;

    walk->place.key = key;
    if (MP_UNLIKELY(walk->left-- == 0)) raise_modified(walk->e, "Hash");
    walk->p = encode_value(walk->e, encode_value(walk->e, walk->p, key), value);
    return ST_CONTINUE;
}

static uint8_t *
encode_hash(mp_encoder *e, uint8_t *p, VALUE hash)
{
    uint32_t n = checked_length(e, hash, RHASH_SIZE(hash));
    hash_walk walk = {.e = e, .place = {.key = Qnil}, .left = n};

    level_open(e, &walk.place);
    walk.p = mp_put_map_head(room(e, p, MP_HEAD_MAX), n);
    if (n) rb_hash_foreach(hash, encode_pair, (VALUE)&walk);
    if (MP_UNLIKELY(walk.left)) raise_modified(e, "Hash");
    level_close(e, &walk.place);
    return walk.p;
}

/* A call of user code that packs an object. */
typedef struct {
    mp_encoder *e;
    VALUE obj;
    const mp_type *type; /* NULL to call obj.to_msgpack */
    mp_lent lent;
    bool returned; /* the loan, unbroken */
} user_call;

/* obj.to_msgpack(packer), or a recursive handler; Qundef when there is no such method. */
static VALUE
call_with_packer(VALUE arg)
{
    const user_call *call = (const user_call *)arg;
    VALUE argv[2] = {call->obj, call->e->packer};

    if (call->type) return mp_handler_call(&call->type->handler, 2, argv);
    return rb_check_funcall(call->obj, id_to_msgpack, 1, &argv[1]);
}

static VALUE
calls_too_deep(VALUE arg, VALUE error)
{
    const mp_encoder *e = ((const user_call *)arg)->e;

    mp_raise_nesting(e->depth, mp_path(e->place));
}

static VALUE
call_at_any_depth(VALUE arg)
{
    if (MP_LIKELY(((const user_call *)arg)->e->depth < MP_DEEP)) return call_with_packer(arg);
    return rb_rescue2(call_with_packer, arg, calls_too_deep, arg, rb_eSysStackError, (VALUE)0);
}

static VALUE
call_over(VALUE arg)
{
    user_call *call = (user_call *)arg;
    mp_buffer *buffer = mp_buffer_get(call->e->buffer);

    call->returned = mp_loan_return(&buffer->loan, &buffer->bytes, call->lent);
    return Qnil;
}

/*
 * Has user code write the object to e->packer. While it does, all that this encoder wrote is in the buffer and stays
 * there; it goes on behind whatever else is. One level of nesting.
 */
static VALUE
call_with_window_lent(mp_encoder *e, VALUE obj, const mp_type *type)
{
    user_call call = {.e = e, .obj = obj, .type = type};
    mp_place place = {.key = Qundef};
    VALUE result;

    if (MP_UNLIKELY(mp_stack_used_up_p())) mp_raise_nesting(e->depth, mp_path(e->place));
    if (!e->packer) leave_for_packer(e);
    level_open(e, &place);
    commit_for_now(e);
    call.lent = mp_loan_lend(&mp_buffer_get(e->buffer)->loan, e->depth);
    result = rb_ensure(call_at_any_depth, (VALUE)&call, call_over, (VALUE)&call);
    if (MP_UNLIKELY(!call.returned)) mp_raise_in_use("Packer");
    mp_encoder_window_on_buffer(e, 0, 1);
    level_close(e, &place);
    return result;
}

/* An ext whose body is written by the handler. Its head comes last, when the length is known. */
static void
encode_recursive(mp_encoder *e, VALUE obj, const mp_type *type)
{
    uint8_t head[MP_HEAD_MAX];
    size_t start, size, head_size;
    uint8_t *body;

    if (!e->packer) leave_for_packer(e);
    start = mp_buffer_get(e->buffer)->bytes.size + mp_out_size(&e->out);
    call_with_window_lent(e, obj, type);
    size = mp_buffer_get(e->buffer)->bytes.size - start;
    head_size = (size_t)(mp_put_ext_head(head, type->type, checked_length(e, obj, size)) - head);
    mp_encoder_reserve(e, head_size);
    body = e->out.start - size; /* what is committed while lent is in one block */
    memmove(body + head_size, body, size);
    memcpy(body, head, head_size);
    mp_out_commit(&e->out, e->out.start + head_size);
}

/* The body that a handler makes of the object. */
static VALUE
call_handler(VALUE arg)
{
    const user_call *call = (const user_call *)arg;
    VALUE body = mp_handler_call(&call->type->handler, 1, &call->obj), string = rb_check_string_type(body);

    if (NIL_P(string)) {
        rb_raise(rb_eTypeError, "the packer of ext type %d for %" PRIsVALUE " returns a String, not %" PRIsVALUE,
                 call->type->type, call->type->klass, rb_obj_class(body));
    }
    return string;
}

/* An object as the ext that its class is registered as. */
static uint8_t *
encode_typed(mp_encoder *e, uint8_t *p, VALUE obj, const mp_type *type)
{
    user_call call = {.e = e, .obj = obj, .type = type};

    mp_out_commit(&e->out, p);
    mp_type_check_ractor(type);
    if (type->recursive) encode_recursive(e, obj, type);
    else if (type->timestamp) encode_time(e, type->type, obj);
    else mp_encode_ext(e, type->type, call_with_buffer_taken(e, call_handler, (VALUE)&call));
    return e->out.pos;
}

/* The ext type of what is no exact core object, or NULL. Rows of a table ask for the same class again and again. */
static const mp_type *
type_of(mp_encoder *e, VALUE obj)
{
    if (!e->codec->types) return NULL;
    if (e->last_class != CLASS_OF(obj)) {
        e->last_type = mp_types_for_object(e->codec->types, obj);
        e->last_class = CLASS_OF(obj);
    }
    return e->last_type;
}

static uint8_t *
encode_foreign(mp_encoder *e, uint8_t *p, VALUE obj)
{
    const mp_type *type = type_of(e, obj);

    if (type) return encode_typed(e, p, obj, type);
    mp_out_commit(&e->out, p);
    if (rb_obj_class(obj) == mp_cExtensionValue) {
        encode_extension_value(e, obj);
    } else if (e->codec->options.timestamp && RTEST(rb_obj_is_kind_of(obj, rb_cTime))) {
        encode_time(e, MP_TIMESTAMP_TYPE, obj);
    } else if (e->codec->options.timestamp && rb_obj_class(obj) == mp_cTimestamp) {
        encode_timestamp(e, MP_TIMESTAMP_TYPE, rb_ivar_get(obj, id_sec), rb_ivar_get(obj, id_nsec));
    } else if (call_with_window_lent(e, obj, NULL) == Qundef) {
        raise_unpackable(e, obj);
    }
    return e->out.pos;
}

/* A String, Hash or Array whose class is not that class itself: its ext type goes first. */
static uint8_t *
encode_derived(mp_encoder *e, uint8_t *p, VALUE obj)
{
    const mp_type *type = type_of(e, obj);

    if (type) return encode_typed(e, p, obj, type);
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
    VALUE codec_object = codec->object, result; /* which user code may have replaced */
    mp_encoder e;

    mp_encoder_init(&e, block, sizeof(block), codec);
    mp_encode(&e, obj);
    result = encoder_result(&e);
    if (MP_UNLIKELY(e.packer != 0)) mp_packer_close(e.packer);
    RB_GC_GUARD(obj);
    RB_GC_GUARD(codec_object);
    return result;
}

void
Init_manypack_encode(void)
{
    id_to_msgpack = rb_intern("to_msgpack");
    id_sec = rb_intern("@sec");
    id_nsec = rb_intern("@nsec");
    id_tv_sec = rb_intern("tv_sec");
    id_tv_nsec = rb_intern("tv_nsec");
}
