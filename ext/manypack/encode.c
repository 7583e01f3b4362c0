/* VALUE to bytes: one walk, dispatched by what is most frequent; and Manypack.pack. */
#include "encode.h"

#include "buffer.h"
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

/* Bytes to have room for: what is written, n more, and as much again as keeps copying rare. */
static long
grown_capacity(size_t size, size_t n)
{
    size_t want = size < FIRST_CAPACITY ? FIRST_CAPACITY : size < ((size_t)1 << 20) ? size * GROWTH : size * 2;

    if (n > (size_t)LONG_MAX - size) rb_raise(rb_eNoMemError, "packed data of more than %ld bytes", LONG_MAX);
    if (want < size + n) want = size + n;
    return (long)want;
}

static void
grow_str(mp_encoder *e, size_t n)
{
    size_t size = mp_out_size(&e->out);
    long capacity = grown_capacity(size, n);

    if (e->str) {
        rb_str_set_len(e->str, (long)size);
        rb_str_modify_expand(e->str, capacity - (long)size);
    } else {
        e->str = rb_str_buf_new(capacity);
        memcpy(RSTRING_PTR(e->str), e->out.start, size);
    }
    e->out.start = (uint8_t *)RSTRING_PTR(e->str);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + rb_str_capacity(e->str);
}

/* The window on the buffer, behind size bytes that are written there and not committed, with room for n more. */
static void
window_on_buffer(mp_encoder *e, size_t size, size_t n)
{
    size_t room;

    e->out.start = mp_buffer_reserve(e->buffer, size, n, &room);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + room;
}

static bool
window_grow(mp_out *out, size_t n)
{
    mp_encoder *e = (mp_encoder *)(void *)out;

    if (e->buffer) window_on_buffer(e, mp_out_size(out), n);
    else grow_str(e, n);
    return true;
}

void
mp_encoder_init(mp_encoder *e, uint8_t *block, size_t size, const mp_codec *codec)
{
    mp_out_init(&e->out, block, size, window_grow);
    e->str = 0;
    e->buffer = 0;
    e->packer = 0;
    e->codec = codec;
    e->place = NULL;
    e->last_class = 0;
    e->depth = 0;
    e->max_depth = codec->options.max_depth ? codec->options.max_depth : MP_PACK_MAX_DEPTH;
}

void
mp_encoder_init_packer(mp_encoder *e, VALUE packer, VALUE buffer, uint32_t depth, const mp_codec *codec)
{
    mp_encoder_init(e, NULL, 0, codec);
    e->packer = packer;
    e->buffer = buffer;
    e->depth = depth;
    window_on_buffer(e, 0, 1);
}

void
mp_encoder_commit(mp_encoder *e)
{
    mp_buffer_commit(mp_buffer_get(e->buffer), mp_out_size(&e->out));
    e->out.start = e->out.pos;
}

/* From the block or the String to the buffer of a Packer, for user code to write to. */
static void
leave_for_packer(mp_encoder *e)
{
    const uint8_t *bytes = e->out.start;
    size_t size = mp_out_size(&e->out);

    e->packer = mp_packer_new(e->codec, &e->buffer);
    window_on_buffer(e, 0, size);
    memcpy(e->out.start, bytes, size);
    e->out.pos = e->out.start + size;
    e->str = 0;
}

/* The finished message as a String of its own. */
static VALUE
encoder_result(mp_encoder *e)
{
    size_t size = mp_out_size(&e->out);

    if (e->buffer) {
        mp_encoder_commit(e);
        return mp_buffer_to_s(e->buffer);
    }
    if (!e->str) return rb_str_new((const char *)e->out.start, (long)size);
    rb_str_set_len(e->str, (long)size);
    if (rb_str_capacity(e->str) / 2 > size) rb_str_resize(e->str, (long)size);
    return e->str;
}

/* --- errors ----------------------------------------------------------------------------------------- */

NORETURN(static void raise_unpackable(mp_encoder *e, VALUE obj));
NORETURN(static void raise_modified(mp_encoder *e, const char *what));
NORETURN(static void raise_too_long(mp_encoder *e, VALUE obj));

/* NoMethodError, as calling the missing to_msgpack would raise; callers read its receiver. */
static void
raise_unpackable(mp_encoder *e, VALUE obj)
{
    VALUE message = rb_sprintf("undefined method 'to_msgpack' for an instance of %" PRIsVALUE ", at %" PRIsVALUE,
                               rb_obj_class(obj), mp_path(e->place));
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

/* --- scalars and strings ---------------------------------------------------------------------------- */

MP_INLINE void
encode_fixnum(mp_encoder *e, VALUE obj)
{
    mp_out_commit(&e->out, mp_put_sint(mp_encoder_reserve(e, MP_HEAD_MAX), FIX2LONG(obj)));
}

MP_INLINE void
encode_float(mp_encoder *e, double d)
{
    mp_out_commit(&e->out, mp_put_float64(mp_encoder_reserve(e, MP_HEAD_MAX), d));
}

static void encode_typed(mp_encoder *e, VALUE obj, const mp_type *type);

static void
encode_bignum(mp_encoder *e, VALUE obj)
{
    uint64_t magnitude;
    int sign = rb_integer_pack(obj, &magnitude, 1, sizeof(magnitude), 0,
                               INTEGER_PACK_MSWORD_FIRST | INTEGER_PACK_NATIVE_BYTE_ORDER);
    uint8_t *p = mp_encoder_reserve(e, MP_HEAD_MAX);

    if (sign == 1 || sign == 0) {
        mp_out_commit(&e->out, mp_put_uint(p, magnitude));
    } else if (sign == -1 && magnitude <= (uint64_t)1 << 63) {
        mp_out_commit(&e->out, mp_put_sint(p, (int64_t)(0 - magnitude)));
    } else if (e->codec->types && e->codec->types->integer) {
        encode_typed(e, obj, e->codec->types->integer);
    } else {
        rb_raise(rb_eRangeError, "Integer of %" PRIuSIZE " bits does not fit MessagePack's 64, at %" PRIsVALUE,
                 rb_absint_numwords(obj, 1, NULL) + (sign < 0), mp_path(e->place));
    }
}

/* Whether a payload goes into the output as a chunk of its own. */
MP_INLINE bool
by_reference_p(const mp_encoder *e, size_t n)
{
    const mp_buffer *buffer;

    if (MP_LIKELY(e->buffer == 0)) return false;
    buffer = mp_buffer_get(e->buffer);
    return n >= buffer->write_reference_threshold && !buffer->append_only; /* what is lent stays in one block */
}

/* Commits what is written, to be taken back when the write does not get to its end. */
static void
commit_for_now(mp_encoder *e)
{
    mp_buffer *buffer = mp_buffer_get(e->buffer);

    if (!buffer->rollback) buffer->rollback = buffer->size + 1;
    mp_encoder_commit(e);
}

/* Puts the String itself behind what is written. */
static void
append_reference(mp_encoder *e, VALUE string)
{
    string = rb_str_new_frozen(string);
    commit_for_now(e);
    mp_buffer_refer(e->buffer, string, 0, (size_t)RSTRING_LEN(string));
    window_on_buffer(e, 0, 1);
}

/* Room for a head and, unless it goes there by reference, for a payload of n bytes behind it. */
MP_INLINE uint8_t *
reserve_payload(mp_encoder *e, uint32_t n, bool reference)
{
    return mp_encoder_reserve(e, reference ? MP_HEAD_MAX : MP_HEAD_MAX + (size_t)n);
}

/* The payload behind a head that ends at p. */
MP_INLINE void
append_payload(mp_encoder *e, uint8_t *p, VALUE string, uint32_t n, bool reference)
{
    if (MP_LIKELY(!reference)) {
        mp_copy(p, RSTRING_PTR(string), n);
        mp_out_commit(&e->out, p + n);
    } else {
        mp_out_commit(&e->out, p);
        append_reference(e, string);
    }
}

MP_INLINE void
encode_str_bytes(mp_encoder *e, VALUE string)
{
    uint32_t n = checked_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);
    uint8_t *p = reserve_payload(e, n, reference);

    append_payload(e, mp_put_str_head(p, n, e->codec->options.compatibility_mode), string, n, reference);
}

static void
encode_bin_bytes(mp_encoder *e, VALUE string)
{
    uint32_t n = checked_length(e, string, (size_t)RSTRING_LEN(string));
    bool reference = by_reference_p(e, n);
    uint8_t *p = reserve_payload(e, n, reference);

    p = e->codec->options.compatibility_mode ? mp_put_str_head(p, n, true) : mp_put_bin_head(p, n);
    append_payload(e, p, string, n, reference);
    RB_GC_GUARD(string);
}

static VALUE
to_utf8(VALUE string)
{
    return rb_str_encode(string, rb_enc_from_encoding(mp_utf8), 0, Qnil);
}

typedef struct {
    const mp_encoder *e;
    uint32_t epoch;
} taken_buffer;

static VALUE
give_back(VALUE arg)
{
    const taken_buffer *taken = (const taken_buffer *)arg;

    if (mp_packer_epoch(taken->e->packer) == taken->epoch) mp_buffer_get(taken->e->buffer)->taken = false;
    return Qnil;
}

/* Calls what may run user code or switch threads; the buffer, with bytes in it that do not count yet, is out of reach. */
static VALUE
call_with_buffer_taken(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg)
{
    taken_buffer taken = {.e = e};
    VALUE result;

    if (!e->buffer) return call(arg);
    taken.epoch = mp_packer_epoch(e->packer);
    mp_buffer_get(e->buffer)->taken = true;
    result = rb_ensure(call, arg, give_back, (VALUE)&taken);
    if (MP_UNLIKELY(mp_packer_epoch(e->packer) != taken.epoch)) mp_raise_packer_in_use();
    return result;
}

/* An encoding that is neither UTF-8, US-ASCII nor BINARY: as it is where it is ASCII, else transcoded. */
static MP_NOINLINE void
encode_foreign_string(mp_encoder *e, VALUE string)
{
    int index = rb_enc_get_index(string);

    if (index == mp_binary_index) {
        encode_bin_bytes(e, string);
        return;
    }
    if (index != mp_utf8_index && index != mp_usascii_index && !rb_enc_str_asciionly_p(string)) {
        string = call_with_buffer_taken(e, to_utf8, string); /* transcoders are loaded by require */
    }
    encode_str_bytes(e, string);
    RB_GC_GUARD(string);
}

MP_INLINE void
encode_string(mp_encoder *e, VALUE string)
{
    int index = RB_ENCODING_GET_INLINED(string);

    if (MP_LIKELY(index == mp_utf8_index || index == mp_usascii_index)) encode_str_bytes(e, string);
    else encode_foreign_string(e, string);
}

void
mp_encode_string(mp_encoder *e, VALUE string)
{
    encode_string(e, string);
}

void
mp_encode_bin(mp_encoder *e, VALUE string)
{
    encode_bin_bytes(e, string);
}

void
mp_encode_symbol(mp_encoder *e, VALUE symbol)
{
    encode_str_bytes(e, rb_sym2str(symbol));
}

/* A Symbol as what it is registered as, or as its name. */
static void
encode_symbol(mp_encoder *e, VALUE symbol)
{
    if (MP_UNLIKELY(e->codec->types && e->codec->types->symbol)) encode_typed(e, symbol, e->codec->types->symbol);
    else mp_encode_symbol(e, symbol);
}

MP_INLINE void
encode_special(mp_encoder *e, VALUE obj)
{
    uint8_t *p = mp_encoder_reserve(e, MP_HEAD_MAX);

    if (NIL_P(obj)) mp_out_commit(&e->out, mp_put_nil(p));
    else if (obj == Qtrue || obj == Qfalse) mp_out_commit(&e->out, mp_put_bool(p, obj == Qtrue));
    else encode_symbol(e, obj);
}

/* --- ext -------------------------------------------------------------------------------------------- */

int
mp_ext_type(VALUE type)
{
    int id = NUM2INT(type);

    if (id < -128 || id > 127) rb_raise(rb_eRangeError, "ext type %d is not one of -128..127", id);
    return id;
}

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

/* Whether an Integer is from -2^63 to 2^63 - 1. */
static bool
int64_p(VALUE integer)
{
    uint64_t bits;
    int sign;

    if (RB_FIXNUM_P(integer)) return true;
    sign = rb_integer_pack(integer, &bits, 1, sizeof(bits), 0,
                           INTEGER_PACK_MSWORD_FIRST | INTEGER_PACK_NATIVE_BYTE_ORDER);
    return sign == 1 ? bits <= INT64_MAX : sign == -1 && bits <= (uint64_t)1 << 63;
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

static void
encode_time(mp_encoder *e, int type, VALUE time)
{
    encode_timestamp(e, type, rb_funcallv(time, id_tv_sec, 0, NULL), rb_funcallv(time, id_tv_nsec, 0, NULL));
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

/* From so many levels on a callback's SystemStackError is taken for what it is: too many levels. */
enum { DEEP = 64 };

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

static void encode_array(mp_encoder *e, VALUE array);
static void encode_hash(mp_encoder *e, VALUE hash);
static void encode_rare(mp_encoder *e, VALUE obj);
static void encode_derived(mp_encoder *e, VALUE obj);

/* By frequency in real documents. Branches, not a switch: they are predicted better than one jump is. */
MP_INLINE void
encode_value(mp_encoder *e, VALUE obj)
{
    VALUE klass;

    if (RB_FIXNUM_P(obj)) {
        encode_fixnum(e, obj);
        return;
    }
    if (RB_FLONUM_P(obj)) {
        encode_float(e, rb_float_value(obj));
        return;
    }
    if (RB_SPECIAL_CONST_P(obj)) {
        encode_special(e, obj);
        return;
    }
    klass = RBASIC_CLASS(obj);
    if (klass == rb_cString) encode_string(e, obj);
    else if (klass == rb_cHash) encode_hash(e, obj);
    else if (klass == rb_cArray) encode_array(e, obj);
    else encode_rare(e, obj);
}

static void
encode_array(mp_encoder *e, VALUE array)
{
    uint32_t n = checked_length(e, array, (size_t)RARRAY_LEN(array));
    mp_place place = {.key = Qundef};
    uint32_t i;

    level_open(e, &place);
    mp_out_commit(&e->out, mp_put_array_head(mp_encoder_reserve(e, MP_HEAD_MAX), n));
    for (i = 0; i < n; i++) {
        /* to_msgpack of an element may have changed the Array, but not what was announced. */
        if (MP_UNLIKELY(RARRAY_LEN(array) != (long)n)) raise_modified(e, "Array");
        place.index = (long)i;
        encode_value(e, RARRAY_AREF(array, (long)i));
    }
    if (MP_UNLIKELY(RARRAY_LEN(array) != (long)n)) raise_modified(e, "Array");
    level_close(e, &place);
    RB_GC_GUARD(array);
}

typedef struct {
    mp_encoder *e;
    mp_place place;
    uint32_t left; /* pairs announced and not yet written */
} hash_walk;

static int
encode_pair(VALUE key, VALUE value, VALUE arg)
{
    hash_walk *walk = (hash_walk *)arg;

    walk->place.key = key;
    if (MP_UNLIKELY(walk->left-- == 0)) raise_modified(walk->e, "Hash");
    encode_value(walk->e, key);
    encode_value(walk->e, value);
    return ST_CONTINUE;
}

static void
encode_hash(mp_encoder *e, VALUE hash)
{
    uint32_t n = checked_length(e, hash, RHASH_SIZE(hash));
    hash_walk walk = {.e = e, .place = {.key = Qnil}, .left = n};

    level_open(e, &walk.place);
    mp_out_commit(&e->out, mp_put_map_head(mp_encoder_reserve(e, MP_HEAD_MAX), n));
    if (n) rb_hash_foreach(hash, encode_pair, (VALUE)&walk);
    if (MP_UNLIKELY(walk.left)) raise_modified(e, "Hash");
    level_close(e, &walk.place);
}

/* A call of user code that packs an object. */
typedef struct {
    mp_encoder *e;
    VALUE obj;
    const mp_type *type; /* NULL to call obj.to_msgpack */
    mp_loan loan;
    bool well; /* the loan was returned as it should */
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
    if (MP_LIKELY(((const user_call *)arg)->e->depth < DEEP)) return call_with_packer(arg);
    return rb_rescue2(call_with_packer, arg, calls_too_deep, arg, rb_eSysStackError, (VALUE)0);
}

static VALUE
call_over(VALUE arg)
{
    user_call *call = (user_call *)arg;

    call->well = mp_packer_return(call->e->packer, call->e->depth, call->loan);
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
    call.loan = mp_packer_lend(e->packer, e->depth);
    result = rb_ensure(call_at_any_depth, (VALUE)&call, call_over, (VALUE)&call);
    if (MP_UNLIKELY(!call.well)) mp_raise_packer_in_use();
    window_on_buffer(e, 0, 1);
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
    start = mp_buffer_get(e->buffer)->size + mp_out_size(&e->out);
    call_with_window_lent(e, obj, type);
    size = mp_buffer_get(e->buffer)->size - start;
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
static void
encode_typed(mp_encoder *e, VALUE obj, const mp_type *type)
{
    user_call call = {.e = e, .obj = obj, .type = type};

    mp_type_check_ractor(type);
    if (type->recursive) encode_recursive(e, obj, type);
    else if (type->timestamp) encode_time(e, type->type, obj);
    else mp_encode_ext(e, type->type, call_with_buffer_taken(e, call_handler, (VALUE)&call));
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

static void
encode_foreign(mp_encoder *e, VALUE obj)
{
    const mp_type *type = type_of(e, obj);

    if (type) {
        encode_typed(e, obj, type);
    } else if (rb_obj_class(obj) == mp_cExtensionValue) {
        encode_extension_value(e, obj);
    } else if (e->codec->options.timestamp && RTEST(rb_obj_is_kind_of(obj, rb_cTime))) {
        encode_time(e, MP_TIMESTAMP_TYPE, obj);
    } else if (e->codec->options.timestamp && rb_obj_class(obj) == mp_cTimestamp) {
        encode_timestamp(e, MP_TIMESTAMP_TYPE, rb_ivar_get(obj, id_sec), rb_ivar_get(obj, id_nsec));
    } else if (call_with_window_lent(e, obj, NULL) == Qundef) {
        raise_unpackable(e, obj);
    }
}

/* A String, Hash or Array whose class is not that class itself: its ext type goes first. */
static void
encode_derived(mp_encoder *e, VALUE obj)
{
    const mp_type *type = type_of(e, obj);

    if (type) encode_typed(e, obj, type);
    else if (RB_BUILTIN_TYPE(obj) == T_STRING) encode_string(e, obj);
    else if (RB_BUILTIN_TYPE(obj) == T_HASH) encode_hash(e, obj);
    else encode_array(e, obj);
}

static void
encode_rare(mp_encoder *e, VALUE obj)
{
    switch (RB_BUILTIN_TYPE(obj)) {
      case T_FLOAT: encode_float(e, RFLOAT_VALUE(obj)); break;
      case T_SYMBOL: encode_symbol(e, obj); break;
      case T_BIGNUM: encode_bignum(e, obj); break;
      case T_STRING:
      case T_HASH:
      case T_ARRAY: encode_derived(e, obj); break;
      default: encode_foreign(e, obj); break;
    }
}

void
mp_encode(mp_encoder *e, VALUE obj)
{
    encode_value(e, obj);
}

void
mp_encode_array(mp_encoder *e, VALUE array)
{
    encode_array(e, array);
}

void
mp_encode_hash(mp_encoder *e, VALUE hash)
{
    encode_hash(e, hash);
}

/* --- Manypack.pack ---------------------------------------------------------------------------------- */

static VALUE
pack(VALUE obj, const mp_codec *codec)
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

VALUE
mp_pack(VALUE obj, VALUE io, const mp_codec *codec)
{
    VALUE bytes = pack(obj, codec);

    if (NIL_P(io)) return bytes;
    mp_io_write(io, bytes);
    return Qnil;
}

/*
 * call-seq:
 *   Manypack.pack(object, io = nil, **options) -> String or nil
 *   Manypack.dump(object, io = nil, **options) -> String or nil
 *
 * Packs an object: nil, true, false, Integer (64 bits), Float, String, Symbol, Array, Hash, ExtensionValue, or
 * whatever answers <code>to_msgpack(packer)</code>. Numbers and lengths take their shortest form. A String goes out
 * as bin when its encoding is BINARY and as str otherwise, transcoded to UTF-8 where it has to be.
 *
 * [object] the object
 * [io] anything with <code>write</code> or <code><<</code>; the bytes go there and the result is nil
 * [timestamp:] pack Time and Timestamp as ext type -1 (default false)
 * [max_depth:] most levels of nesting, 1 to 100000 (default 512)
 * [compatibility_mode:] write as before 2013: no bin, no str8 (default false)
 *
 * Options may be given as a Hash too; unknown ones are ignored. Returns a binary String.
 *
 * Raises NoMethodError (with receiver) for an object that cannot be packed, RangeError for an Integer above 64 bits,
 * NestingError for data that is too deep or contains itself, EncodingError for a String that cannot be transcoded,
 * RuntimeError when a container changes meanwhile. The messages say where: <code>$.users[3].avatar</code>.
 *
 *   Manypack.pack({"id" => 1})          #=> "\x81\xA2id\x01"
 *   Manypack.pack([1, 2], StringIO.new) #=> nil
 */
static VALUE
rb_manypack_pack(int argc, VALUE *argv, VALUE self)
{
    VALUE io, options;
    mp_codec codec;

    if (MP_LIKELY(argc == 1)) return pack(argv[0], mp_default_codec());
    rb_check_arity(argc, 1, 3);
    mp_scan_io_options(argc - 1, argv + 1, &io, &options);
    mp_codec_override(&codec, mp_default_codec()->object, options);
    return mp_pack(argv[0], io, &codec);
}

void
Init_manypack_encode(void)
{
    id_to_msgpack = rb_intern("to_msgpack");
    id_sec = rb_intern("@sec");
    id_nsec = rb_intern("@nsec");
    id_tv_sec = rb_intern("tv_sec");
    id_tv_nsec = rb_intern("tv_nsec");

    rb_define_module_function(mp_mManypack, "pack", rb_manypack_pack, -1);
    rb_define_module_function(mp_mManypack, "dump", rb_manypack_pack, -1);
}
