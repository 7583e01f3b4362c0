/* Bytes to VALUE: one loop with explicit frames; and Manypack.unpack. */
#include "decode.h"

#include "error.h"
#include "io.h"
#include "key_flood.h"
#include "skip.h"
#include "stack.h"
#include "timestamp.h"
#include "unpacker.h"
#include "user_code.h"
#include "utf8.h"
#include "wire.h"

/* --- the open containers ---------------------------------------------------------------------------- */

/*
 * What the value stack has of a container while another one is open inside it: two words, each with its lowest bit
 * set, so that the collector, which looks at every word there, takes them for Integers.
 */
enum { OPEN_WORDS = 2 };

MP_INLINE void
open_words_put(VALUE *words, uint64_t left, size_t base)
{
    words[0] = (VALUE)(left << 1 | 1);
    words[1] = (VALUE)((uint64_t)base << 1 | 1);
}

MP_INLINE uint64_t
open_words_left(const VALUE *words)
{
    return (uint64_t)words[0] >> 1;
}

MP_INLINE size_t
open_words_base(const VALUE *words)
{
    return (size_t)(words[1] >> 1);
}

void
mp_tree_lefts(const mp_tree *tree, const VALUE *values, uint64_t *left)
{
    uint64_t here = tree->left;
    size_t base = tree->base;
    uint32_t level;

    for (level = tree->depth; level > 0; level--) {
        left[level - 1] = mp_left_objects(here);
        here = open_words_left(&values[base - OPEN_WORDS]);
        base = open_words_base(&values[base - OPEN_WORDS]);
    }
}

uint64_t
mp_tree_missing(const mp_tree *tree, const VALUE *values)
{
    uint32_t levels = tree->depth < MP_MISSING_LEVELS ? tree->depth : MP_MISSING_LEVELS;
    uint64_t left = tree->left, missing = 0;
    size_t base = tree->base;

    for (; levels; levels--) {
        missing += mp_left_objects(left) - 1;
        left = open_words_left(&values[base - OPEN_WORDS]);
        base = open_words_base(&values[base - OPEN_WORDS]);
    }
    return missing;
}

/* --- the decoder ------------------------------------------------------------------------------------ */

static MP_NOINLINE void
grow_stack(mp_decoder *d, size_t count)
{
    mp_value_stack_move(&d->stack, count, d->stack.capacity * 2);
    if (d->holder) RB_OBJ_WRITTEN(d->holder, Qundef, d->stack.owner);
}

/*
 * Before user code can run, which might change the source, or before it is shared: goes on with a frozen one that
 * nobody else can change. Returns where p is in that. Long Strings are shared by it, not copied.
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

/*
 * A String that others can change: RuntimeError if they did, since what is left to decode is gone. Ruby calls eql?,
 * which a program may have redefined, where two keys of different classes have similar hashes.
 */
MP_INLINE void
check_source(const mp_decoder *d)
{
    if (MP_LIKELY((const uint8_t *)RSTRING_PTR(d->source) == d->start && RSTRING_LEN(d->source) == d->end - d->start)) {
        return;
    }
    rb_raise(rb_eRuntimeError, "the String changed while it was unpacked");
}

NORETURN(static void raise_status(mp_decoder *d, mp_status status, const uint8_t *at));

/* After 0xc1, and where it is too deep to go on, nobody knows where the next object starts. */
static void
raise_status(mp_decoder *d, mp_status status, const uint8_t *at)
{
    mp_blame blame = {.start = d->start, .at = at, .end = d->end, .origin = d->origin};

    if (status == MP_E_BAD_HEAD || status == MP_E_DEPTH || status == MP_E_KEY_DEPTH) d->committed = false;
    mp_raise_status(status, blame);
}

static size_t
offset_of(const mp_decoder *d, const uint8_t *at)
{
    return d->origin + (size_t)(at - d->start);
}

/* --- limits ---------------------------------------------------------------------------------------- */

NORETURN(static void raise_limit(mp_decoder *d, mp_status status, const uint8_t *at));

static void
raise_limit(mp_decoder *d, mp_status status, const uint8_t *at)
{
    mp_blame blame = {.start = d->start, .at = at, .end = d->end, .origin = d->origin};

    d->committed = false;
    mp_raise_limit(status, &d->codec->options.limits, d->tree.objects, blame);
}

/* Before an object is counted or read by a codec that is limited: LimitError where it declares too much. */
MP_INLINE void
check_limits(mp_decoder *d, mp_kind kind, uint32_t n, const uint8_t *at)
{
    mp_status status = mp_limits_pass(&d->codec->options.limits, kind, n, &d->tree.objects);

    if (MP_UNLIKELY(status != MP_OK)) raise_limit(d, status, at);
}

/*
 * A container is hashed when it is a key, and all over again with each one around it that is a key, too: few may be.
 * Hashing also takes C stack for every level, which Fibers and Threads have not much of.
 */
enum { KEY_NESTING_MAX = 4, KEY_DEPTH_MAX = 32 };

/* The containers that are keys among those that are open where the loop is. */
typedef struct {
    uint32_t nesting;   /* how many */
    uint32_t outermost; /* the level of the first; 0 without one */
} open_keys;

/* By depth and base of the tree. Looks no further up than a key can be deep. */
static open_keys
open_keys_of(const mp_decoder *d)
{
    uint32_t depth = d->tree.depth, top = depth > KEY_DEPTH_MAX ? depth - KEY_DEPTH_MAX : 0, level;
    open_keys keys = {.nesting = d->outer_keys};
    size_t base = d->tree.base;

    for (level = depth; level > top; level--) {
        const VALUE *words = &d->stack.values[base - OPEN_WORDS];

        if (mp_left_key_p(open_words_left(words))) {
            keys.nesting++;
            keys.outermost = level;
        }
        base = open_words_base(words);
    }
    return keys;
}

/* Before a container is opened that is a key; unless it is empty, when it is not opened. */
static void
check_key(mp_decoder *d, const uint8_t *at)
{
    open_keys keys = open_keys_of(d);
    uint32_t limit = d->outer_depth + d->tree.depth + KEY_DEPTH_MAX;
    mp_head head = {.kind = MP_NEVER};

    mp_head_read(at, d->end, &head);
    if (!head.n) return;
    if (keys.nesting == KEY_NESTING_MAX || mp_stack_used_up_p()) raise_status(d, MP_E_KEY_DEPTH, at);
    if (!keys.outermost && limit < d->tree.depth_limit) d->tree.depth_limit = limit;
}

NORETURN(static void raise_too_deep(mp_decoder *d, uint32_t limit, const uint8_t *at));

static void
raise_too_deep(mp_decoder *d, uint32_t limit, const uint8_t *at)
{
    raise_status(d, limit < mp_unpack_max_depth(&d->codec->options) ? MP_E_KEY_DEPTH : MP_E_DEPTH, at);
}

/* How deep containers may be that are in the outermost open key, at that level; 0 without one. */
static uint32_t
depth_limit_in(const mp_decoder *d, uint32_t outermost)
{
    uint32_t limit = outermost ? d->outer_depth + outermost - 1 + KEY_DEPTH_MAX : d->max_depth;

    return limit < d->max_depth ? limit : d->max_depth;
}

/* Where containers are as deep as depth_limit says, which is what it was inside of the last key. */
static MP_NOINLINE void
check_depth(mp_decoder *d, const uint8_t *at)
{
    d->tree.depth_limit = depth_limit_in(d, open_keys_of(d).outermost);
    if (d->outer_depth + d->tree.depth < d->tree.depth_limit) return;
    raise_too_deep(d, d->tree.depth_limit, at);
}

/* In the map that ends at that offset a NaN or an object of a user's class may be a key, or be in one. */
static MP_NOINLINE void
check_key_hashes(const mp_decoder *d, size_t n, const VALUE *values, size_t end)
{
    int exceeded = mp_same_hash_exceeded(n, values);

    if (exceeded) mp_raise_same_hash((size_t)exceeded, end);
}

/* --- what the Ractor keeps -------------------------------------------------------------------------- */

MP_INLINE mp_ractor *
ractor_of(mp_decoder *d)
{
    if (MP_UNLIKELY(!d->ractor)) d->ractor = mp_ractor_current();
    return d->ractor;
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

/* A str that is frozen: one String may stand in several places. */
static MP_NOINLINE VALUE
frozen_str(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    mp_string_kind kind = d->codec->options.shareable ? MP_VALUE_SHAREABLE : MP_VALUE_INTERNED;

    if (n - 1 >= MP_VALUE_MAX) return mp_value_new(p, n, kind);
    return mp_value_cache_fetch(&ractor_of(d)->values, p, n, kind);
}

MP_INLINE VALUE
str_new(mp_decoder *d, bool frozen, const uint8_t *p, uint32_t n)
{
    return MP_UNLIKELY(frozen) ? frozen_str(d, p, n) : rb_enc_str_new((const char *)p, n, mp_utf8);
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

static bool
nan_p(VALUE real)
{
    double value = rb_float_value(real);

    return value != value;
}

MP_INLINE VALUE
real(mp_decoder *d, double value)
{
    if (MP_UNLIKELY(value != value)) d->tree.odd = true;
    return number(&d->codec->options, DBL2NUM(value));
}

static VALUE
array_new(const mp_options *options, size_t n, const VALUE *values)
{
    return finished(options, rb_ary_new_from_values((long)n, values));
}

static MP_NOINLINE VALUE
large_hash_new(mp_decoder *d, size_t n, const VALUE *values)
{
    if (n > 2 * MP_ROW_PAIRS_MAX) return mp_hash_of_new_keys(n, values);
    return mp_hash_of_row(&ractor_of(d)->rows, n, values);
}

/* n objects, a key and a value in turn. User code runs in here when a key's class has a #hash of its own. */
static VALUE
hash_new(mp_decoder *d, size_t n, const VALUE *values)
{
    VALUE hash;

    if (n < 2 * MP_ROW_PAIRS_MIN) {
        hash = rb_hash_new();
        rb_hash_bulk_insert((long)n, values, hash);
    } else {
        hash = large_hash_new(d, n, values);
    }
    return finished(&d->codec->options, hash);
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

static mp_timestamp
timestamp_read(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    mp_timestamp timestamp;
    mp_status status = mp_timestamp_read(p, n, &timestamp);

    if (status == MP_OK && d->codec->options.untrusted) status = mp_timestamp_check_range(timestamp);
    if (status != MP_OK) raise_status(d, status, at);
    return timestamp;
}

/* The body of a timestamp as a Time in the local zone. */
static VALUE
timestamp_new(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    mp_timestamp timestamp = timestamp_read(d, p, n, at);
    struct timespec ts = {.tv_sec = (time_t)timestamp.sec, .tv_nsec = timestamp.nsec};

    if (ts.tv_sec != timestamp.sec) rb_raise(rb_eRangeError, "%" PRId64 " seconds are beyond Time", timestamp.sec);
    return finished_foreign(&d->codec->options, rb_time_timespec_new(&ts, INT_MAX));
}

/* A Symbol by its name; one whose name is not UTF-8 is binary. */
static VALUE
symbol_new(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE symbol = mp_key_cache_fetch(&ractor_of(d)->keys, p, n, MP_KEY_SYMBOL);

    return symbol ? symbol : rb_str_intern(rb_str_new((const char *)p, n));
}

/* What there is around the body of the recursive ext at hand, which is a level itself, and a key where it is one. */
static mp_around
around_body(mp_decoder *d, const uint8_t *at)
{
    bool key = mp_left_key_p(d->tree.left);
    open_keys keys = open_keys_of(d);
    uint32_t outermost = keys.outermost || !key ? keys.outermost : d->tree.depth + 1;
    mp_around around = {.depth = d->outer_depth + d->tree.depth + 1,
                        .max_depth = depth_limit_in(d, outermost),
                        .keys = keys.nesting + key,
                        .objects = d->tree.objects};

    if (around.depth > around.max_depth) raise_too_deep(d, around.max_depth, at);
    if (around.keys > KEY_NESTING_MAX) raise_status(d, MP_E_KEY_DEPTH, at);
    return around;
}

/* An Unpacker for a body, by reference where the source never changes; if there is one, that of the body before. */
static VALUE
body_unpacker(mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, mp_around around)
{
    VALUE source = d->source, used = mp_spare_take(d->inner ? &d->inner : &ractor_of(d)->spares.body);
    size_t at = 0;

    if (source && OBJ_FROZEN(source)) at = (size_t)(p - (const uint8_t *)RSTRING_PTR(source));
    else source = rb_obj_freeze(rb_str_new((const char *)p, n));
    return mp_unpacker_for_body(used, d->codec, type, source, at, n, offset_of(d, p), around);
}

/* A handler at work on the ext whose head is at. */
typedef struct {
    mp_decoder *d;
    const mp_type *type;
    const uint8_t *at;
    VALUE argument;
} handler_call;

static VALUE
call_handler(VALUE arg)
{
    const handler_call *call = (const handler_call *)arg;

    return mp_handler_call(&call->type->handler, 1, &call->argument);
}

NORETURN(static void handler_left(const handler_call *call, int state));

/* After a handler raised, threw or was killed. A DecodeError learns where in the input it is. */
static void
handler_left(const handler_call *call, int state)
{
    mp_decoder *d = call->d;
    VALUE error = mp_user_error();

    if (mp_user_error_of_depth_p(error, d->outer_depth + d->tree.depth)) raise_status(d, MP_E_DEPTH, call->at);
    if (mp_decode_error_p(error)) {
        mp_raise_handler_error(error, call->type->type, call->argument, offset_of(d, call->at));
    }
    rb_jump_tag(state);
}

/* rb_protect is the cheapest way that Ruby has to see an exception pass. */
MP_INLINE VALUE
call_handler_safely(const handler_call *call)
{
    int state;
    VALUE obj = rb_protect(call_handler, (VALUE)call, &state);

    if (MP_UNLIKELY(state)) handler_left(call, state);
    return obj;
}

/* Before user code is called: it is always from the same depth of the C stack that a decoder calls it. */
MP_INLINE void
check_stack(mp_decoder *d, const uint8_t *at)
{
    if (MP_LIKELY(d->stack_enough)) return;
    if (mp_stack_used_up_p()) raise_status(d, MP_E_DEPTH, at);
    d->stack_enough = true;
}

/* The object that the handler of a type makes of a body. */
static VALUE
typed_new(mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    handler_call call = {.d = d, .type = type, .at = at};
    VALUE obj;

    if (type->optimized_symbol) return symbol_new(d, p, n);
    if (type->timestamp) return timestamp_new(d, p, n, at);
    mp_type_check_ractor(type);
    check_stack(d, at);
    d->tree.odd = true;
    if (!type->recursive) {
        call.argument = rb_str_new((const char *)p, n);
        obj = call_handler_safely(&call);
    } else {
        call.argument = body_unpacker(d, type, p, n, around_body(d, at));
        obj = call_handler_safely(&call);
        d->tree.objects = mp_unpacker_end_body(call.argument);
        d->inner = call.argument;
        if (d->holder) RB_OBJ_WRITTEN(d->holder, Qundef, d->inner);
        if (d->tree.objects > d->codec->options.limits.objects) raise_limit(d, MP_E_MAX_OBJECTS, at);
    }
    return finished_foreign(&d->codec->options, obj);
}

/* The object of an ext whose head is at and whose body p. */
static VALUE
ext_new(mp_decoder *d, int id, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    const mp_options *options = &d->codec->options;
    const mp_type *type = d->codec->types ? mp_types_for_ext(d->codec->types, id) : NULL;

    if (options->untrusted && id == MP_TIMESTAMP_TYPE) timestamp_read(d, p, n, at);
    if (type) return typed_new(d, type, p, n, at);
    if (options->timestamp && id == MP_TIMESTAMP_TYPE) return timestamp_new(d, p, n, at);
    if (options->allow_unknown_ext) {
        VALUE payload = finished(options, rb_str_new((const char *)p, n));
        return finished(options, rb_struct_new(mp_cExtensionValue, INT2FIX(id), payload));
    }
    mp_raise_unknown_ext(id, offset_of(d, at));
}

/* The same before a container that is a key; its head is at p. */
static MP_NOINLINE const uint8_t *
own_key_source(mp_decoder *d, const uint8_t *p)
{
    check_key(d, p);
    return own_source(d, p);
}

/*
 * The same for a number that is a key, with payload behind it. Where two Bignums or two Floats are equal, Ruby calls
 * eql?, which a program may have redefined.
 */
static MP_NOINLINE const uint8_t *
own_number_key_source(mp_decoder *d, const uint8_t *payload, VALUE number)
{
    return RB_SPECIAL_CONST_P(number) ? payload : own_source(d, payload);
}

/* Whether a str may have that payload. */
MP_INLINE bool
text_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t n)
{
    return !limited || !options->strict_utf8 || mp_utf8_valid_p(p, n);
}

/* Whether a fixstr is at p, where mp_ahead_p is true, that no limit can refuse. */
MP_INLINE bool
short_str_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t *n)
{
    if (limited && options->limits.string < MP_FIXSTR_MAX) return false;
    return mp_fixstr_ahead_p(p, n) && text_p(options, limited, p + 1, *n);
}

/* An Integer in a row of numbers. */
MP_INLINE VALUE
integer_in_row(const mp_options *options, const uint8_t *p, mp_wire_row row)
{
    int64_t n = mp_int_ahead(p, row);
    bool above = (n < 0) & (row.kind == MP_UINT);

    if (MP_LIKELY(FIXABLE(n) & !above)) return LONG2FIX((long)n);
    return number(options, above ? ULL2NUM((uint64_t)n) : LL2NUM(n));
}

/*
 * Arrays are often all numbers: those that come next go a short way, n of them at most, up to any other object, a NaN,
 * or the last bytes of the source. Returns how many; *at is behind them. Not inline: in the loop below it takes the
 * registers of everything else.
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
            values[i] = number(options, DBL2NUM(value));
        } else if (row.kind >= MP_FIXINT && row.kind <= MP_INT) {
            values[i] = integer_in_row(options, p, row);
        } else {
            break;
        }
        p += row.head;
    }
    *at = p;
    return i;
}

/* --- the loop --------------------------------------------------------------------------------------- */

/*
 * Decodes from d->at on until an object is complete, or the bytes end inside one: with resumable that is Qundef,
 * and the next call goes on; without, TruncatedError. resumable and limited are constants of each caller.
 *
 * The place in the tree is in locals. Where something can raise that is not the end of all decoding, it is
 * committed first, with the object to blame counted as not there yet and d->at behind it.
 */
#define COMMIT(at_)                    \
    do {                               \
        d->tree.left = left;           \
        d->tree.base = base;           \
        d->tree.count = count;         \
        d->tree.depth = depth;         \
        d->at = (at_);                 \
        d->committed = true;           \
    } while (0)

#define LACKING()                                                   \
    do {                                                            \
        if (!resumable) raise_status(d, MP_E_TRUNCATED, p);         \
        COMMIT(p);                                                  \
        return Qundef;                                              \
    } while (0)

/* Before user code is called or an error is raised. Once plain is false, decoding goes on with the same object. */
#define STOP_IF_PLAIN()              \
    do {                             \
        if (resumable && d->plain) { \
            d->stopped = true;       \
            COMMIT(p);               \
            return Qundef;           \
        }                            \
    } while (0)

MP_INLINE VALUE
decode_loop(mp_decoder *d, const bool resumable, const bool limited)
{
    const mp_options *const options = &d->codec->options;
    const uint8_t *p = d->at;
    const mp_string_kind key_kind = options->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING;
    const bool frozen = options->freeze || options->shareable;
    uint64_t left = d->tree.left;
    size_t base = d->tree.base, count = d->tree.count;
    uint32_t depth = d->tree.depth;
    VALUE *values = d->stack.values;
    size_t capacity = d->stack.capacity;

    for (;;) {
        mp_wire_row row;
        const uint8_t *payload;
        uint32_t n;
        VALUE obj;

        if (MP_LIKELY(mp_ahead_p(p, d->end))) {
            /* A short key goes a way of its own to its value: no map ends behind it, and there is nothing to choose. */
            if (mp_left_key_p(left) && short_str_p(options, limited, p, &n) && MP_LIKELY(count < capacity)) {
                obj = mp_key_cache_fetch(&d->ractor->keys, p + 1, n, key_kind);
                if (MP_LIKELY(obj)) {
                    values[count++] = obj;
                    left -= MP_LEFT_ONE;
                    p += 1 + n;
                    if (!mp_ahead_p(p, d->end)) continue;
                    if (short_str_p(options, limited, p, &n)) {
                        obj = str_new(d, frozen, p + 1, n);
                        p += 1 + n;
                        goto complete;
                    }
                }
            }
            row = mp_row_ahead(p);
        } else if (MP_UNLIKELY(mp_row_read(p, d->end, &row) != MP_OK)) {
            LACKING();
        }
        payload = p + row.head;

        switch ((mp_kind)row.kind) {
          case MP_FIXINT:
            obj = INT2FIX((int)mp_row_sint(p, row));
            break;
          case MP_STR:
            n = mp_row_count(p, row);
            if (limited) check_limits(d, MP_STR, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            if (!text_p(options, limited, payload, n)) {
                COMMIT(payload + n);
                raise_status(d, MP_E_UTF8, p);
            }
            if (mp_left_key_p(left)) {
                obj = mp_key_cache_fetch(&d->ractor->keys, payload, n, key_kind);
                if (MP_UNLIKELY(!obj)) {
                    STOP_IF_PLAIN();
                    COMMIT(payload + n);
                    mp_raise_malformed_symbol(payload, n, offset_of(d, p));
                }
            } else if (MP_LIKELY(n < SHARE_MIN) || !payload_to_share_p(d, payload, n)) {
                obj = str_new(d, frozen, payload, n);
            } else {
                p = own_source(d, p);
                payload = p + row.head;
                obj = payload_shared(d, payload, n, mp_utf8);
            }
            payload += n;
            break;
          case MP_MAP:
          case MP_ARRAY:
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                STOP_IF_PLAIN();
                d->tree.depth = depth;
                d->tree.base = base;
                p = own_key_source(d, p);
                payload = p + row.head;
            }
            n = mp_row_count(p, row);
            if (limited) check_limits(d, (mp_kind)row.kind, n, p);
            if (n) {
                if (MP_UNLIKELY(depth + d->outer_depth >= d->tree.depth_limit)) {
                    STOP_IF_PLAIN();
                    d->tree.depth = depth;
                    d->tree.base = base;
                    check_depth(d, p);
                }
                if (sizeof(VALUE) < 8 && left >> 31) LACKING(); /* no such machine has that many bytes */
                if (MP_UNLIKELY(count + OPEN_WORDS + limited > capacity)) {
                    grow_stack(d, count);
                    values = d->stack.values;
                    capacity = d->stack.capacity;
                }
                if (limited && row.kind == MP_MAP) values[count++] = (VALUE)(offset_of(d, p) << 1 | 1);
                open_words_put(&values[count], left, base);
                depth++;
                base = count += OPEN_WORDS;
                p = payload;
                if (row.kind == MP_MAP) {
                    ractor_of(d); /* keys are looked up in d->ractor without asking */
                    left = mp_left_of_map(n);
                } else {
                    size_t room = capacity - count;
                    size_t numbers = decode_numbers(d, &p, &values[count], n < room ? n : room);

                    count += numbers;
                    left = mp_left_of_array(n) - MP_LEFT_ONE * numbers;
                    if (mp_left_none_p(left)) goto full;
                }
                continue;
            }
            obj = row.kind == MP_MAP ? hash_new(d, 0, values) : array_new(options, 0, values);
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
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj)) STOP_IF_PLAIN();
                payload = own_number_key_source(d, payload, obj);
            }
            break;
          case MP_INT:
            obj = number(options, LL2NUM(mp_row_sint(p, row)));
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj)) STOP_IF_PLAIN();
                payload = own_number_key_source(d, payload, obj);
            }
            break;
          case MP_FLOAT32:
          case MP_FLOAT64:
            obj = real(d, mp_row_real(p, row));
            if (MP_UNLIKELY(d->tree.odd)) STOP_IF_PLAIN(); /* for the maps around it */
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj)) STOP_IF_PLAIN();
                payload = own_number_key_source(d, payload, obj);
                p = payload - row.head;
            }
            if (limited && options->unique_keys && nan_p(obj)) {
                COMMIT(payload);
                if (mp_left_key_p(left) || open_keys_of(d).nesting) {
                    mp_raise_malformed("a map key is or has a NaN", offset_of(d, p));
                }
                d->committed = false;
            }
            break;
          case MP_BIN:
            n = mp_row_count(p, row);
            if (limited) check_limits(d, MP_BIN, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            if (mp_left_key_p(left)) {
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
            STOP_IF_PLAIN();
            n = mp_row_ext_count(p, row);
            if (limited) check_limits(d, MP_EXT, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) LACKING();
            /* Whose handler, #hash or, for a shareable Time, #freeze may be the user's. */
            if (mp_left_key_p(left) || d->codec->types || (options->timestamp && options->shareable)) {
                p = own_source(d, p);
                payload = p + row.head;
            }
            COMMIT(payload + n);
            obj = ext_new(d, mp_row_ext_type(p, row), payload, n, p);
            d->committed = false;
            payload += n;
            break;
          default:
            STOP_IF_PLAIN();
            raise_status(d, MP_E_BAD_HEAD, p);
        }
        p = payload;

      complete:
        /* The object is complete, and with it every container that it was the last object of. */
        for (;;) {
            size_t n_objects, first;
            bool map;

            if (MP_UNLIKELY(count == capacity)) {
                grow_stack(d, count);
                values = d->stack.values;
                capacity = d->stack.capacity;
            }
            values[count++] = obj;
            left -= MP_LEFT_ONE;
            if (MP_LIKELY(!mp_left_none_p(left))) break;
            if (depth == 0) { /* it was the one outside of all */
                left = mp_left_of_array(1);
                count--;
                COMMIT(p);
                return obj;
            }

          full:
            first = base;
            n_objects = count - base;
            map = mp_left_map_p(left);
            depth--;
            count = first - OPEN_WORDS;
            left = open_words_left(&values[count]);
            base = open_words_base(&values[count]);
            if (limited && map) count--;
            if (!map) {
                obj = array_new(options, n_objects, values + first);
                continue;
            }
            if (resumable) COMMIT(p);
            if (MP_UNLIKELY(d->tree.odd)) check_key_hashes(d, n_objects, values + first, offset_of(d, p));
            obj = hash_new(d, n_objects, values + first);
            if (!resumable) check_source(d);
            if (limited && options->unique_keys && RHASH_SIZE(obj) != n_objects / 2) {
                mp_raise_malformed("a map has the same key twice", (size_t)(values[count] >> 1));
            }
            if (resumable) d->committed = false;
        }
    }
}

VALUE
mp_decode_on(mp_decoder *d)
{
    return d->codec->options.limited ? decode_loop(d, true, true) : decode_loop(d, true, false);
}

/* Apart, so that what nobody limits has a function of its own around its loop. */
static MP_NOINLINE VALUE
decode_whole_limited(mp_decoder *d)
{
    return decode_loop(d, false, true);
}

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
        obj = INT2FIX((int)mp_row_sint(*p, row));
        break;
      case MP_INT:
        obj = number(options, LL2NUM(mp_row_sint(*p, row)));
        break;
      case MP_UINT:
        obj = number(options, ULL2NUM(mp_row_uint(*p, row)));
        break;
      case MP_FLOAT32:
      case MP_FLOAT64:
        obj = number(options, DBL2NUM(mp_row_real(*p, row)));
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
        if (n >= SHARE_MIN || !mp_payload_present_p(payload, n, end) || options->freeze || options->shareable) {
            return Qundef;
        }
        obj = rb_enc_str_new((const char *)payload, n, mp_utf8);
        payload += n;
        break;
      default:
        return Qundef;
    }
    *p = payload;
    return obj;
}

VALUE
mp_decode_whole(VALUE source, const mp_codec *codec)
{
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    if (MP_UNLIKELY((size_t)RSTRING_LEN(source) > codec->options.max_bytes)) {
        mp_raise_max_bytes(codec->options.max_bytes, (size_t)RSTRING_LEN(source), codec->options.max_bytes);
    }
    mp_decoder_init(&d, codec, &words);
    mp_decoder_source(&d, source, (const uint8_t *)RSTRING_PTR(source), (size_t)RSTRING_LEN(source));
    obj = MP_UNLIKELY(codec->options.limited) ? decode_whole_limited(&d) : decode_loop(&d, false, false);
    if (MP_UNLIKELY(d.at != d.end)) mp_raise_extra_bytes((size_t)(d.end - d.at), offset_of(&d, d.at));
    if (MP_UNLIKELY(d.inner != 0)) mp_unpacker_keep_for_bodies(d.inner);
    mp_decoder_cleanup(&d);
    RB_GC_GUARD(d.source);
    return obj;
}
