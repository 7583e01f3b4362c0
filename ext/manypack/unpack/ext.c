/*
 * Makes an object from the body of an ext, by the user's handler or, for a timestamp or a Symbol, directly. Here
 * decoding calls user code, which may in turn decode with the Unpacker that it gets. This is the one place where a
 * lower floor includes a higher one.
 */
#include "unpack/ext.h"

#include "base/stack.h"
#include "base/user_code.h"
#include "core/timestamp.h"
#include "stream/body_unpacker.h"
#include "unpack/nesting.h"
#include "unpack/objects.h"

static mp_timestamp
timestamp_read(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    mp_timestamp timestamp;
    mp_status status = mp_timestamp_read(p, n, &timestamp);

    if (status == MP_OK && d->codec->options.untrusted) status = mp_timestamp_check_range(timestamp);
    if (status != MP_OK) mp_decoder_raise(d, status, at);
    return timestamp;
}

/* Seals an object that user code or Ruby made. That may call the object's own freeze. */
static VALUE
sealed(mp_decoder *d, VALUE obj)
{
    const mp_options *options = &d->codec->options;

    return options->freeze || options->shareable ? mp_seal_foreign(options, obj) : obj;
}

/* A Time that does not fit a time_t of 32 bits. Call mp_decoder_own_source before: Time.at may be user code. */
static VALUE
distant_time(mp_timestamp timestamp)
{
    return rb_funcall(rb_cTime, rb_intern("at"), 3, LL2NUM(timestamp.sec), LONG2FIX((long)timestamp.nsec),
                      ID2SYM(rb_intern("nsec")));
}

/* Makes a Time in the local zone from the body of a timestamp. */
static VALUE
timestamp_new(mp_decoder *d, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    mp_timestamp timestamp = timestamp_read(d, p, n, at);
    struct timespec ts = {.tv_sec = (time_t)timestamp.sec, .tv_nsec = timestamp.nsec};

    VALUE time = ts.tv_sec == timestamp.sec ? rb_time_timespec_new(&ts, INT_MAX) : distant_time(timestamp);

    return sealed(d, time);
}

/* The Symbol whose name is the n bytes at p. The name is BINARY if it is not valid UTF-8. */
static VALUE
ext_symbol_new(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE symbol = mp_string_cache_fetch(&mp_decoder_ractor(d)->keys, p, n, MP_KEY_SYMBOL);

    return symbol ? symbol : rb_str_intern(rb_str_new((const char *)p, n));
}

/*
 * Counts the containers around the body of the current recursive ext. The ext itself counts as a level, and as a key if
 * it is a map key.
 */
static mp_outer
outer_of_body(mp_decoder *d, const uint8_t *at)
{
    bool key = mp_left_key_p(d->tree.left);
    mp_open_keys keys = mp_decoder_open_keys(d);
    uint32_t outermost = keys.outermost || !key ? keys.outermost : d->tree.depth + 1;
    mp_outer outer = {.depth = d->outer_depth + d->tree.depth + 1,
                      .max_depth = mp_nesting_limit_in_key(d, outermost),
                      .keys = keys.nesting + key,
                      .objects = d->tree.objects};

    if (outer.depth > outer.max_depth) mp_nesting_raise(d, outer.max_depth, at);
    if (outer.keys > MP_KEY_NESTING_MAX) mp_decoder_raise(d, MP_E_KEY_DEPTH, at);
    return outer;
}

/* An Unpacker for a body. It refers to the source, without a copy, if that is frozen. */
static VALUE
body_unpacker(mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, const mp_outer *outer)
{
    VALUE source = d->source;
    size_t at = 0;

    if (source && OBJ_FROZEN(source)) at = (size_t)(p - (const uint8_t *)RSTRING_PTR(source));
    else source = rb_obj_freeze(rb_str_new((const char *)p, n));
    return mp_unpacker_for_body(d, type, source, at, n, mp_decoder_offset(d, p), outer);
}

typedef struct {
    mp_decoder *d;
    const mp_type *type;
    const uint8_t *at; /* the head of the ext */
    VALUE argument;
} handler_call;

static VALUE
call_unpacker(VALUE arg)
{
    const handler_call *call = (const handler_call *)arg;

    return mp_handler_call(&call->type->handler, 1, &call->argument);
}

NORETURN(static void handler_left(const handler_call *call, int state));

/* Passes on the exception, throw or kill that ended a handler. A DecodeError gets its offset in this input. */
static void
handler_left(const handler_call *call, int state)
{
    mp_decoder *d = call->d;
    VALUE error = mp_user_error();

    if (mp_user_error_of_depth_p(error, d->outer_depth + d->tree.depth)) mp_decoder_raise(d, MP_E_DEPTH, call->at);
    if (mp_decode_error_p(error)) {
        mp_raise_handler_error(error, call->type->type, call->argument, mp_decoder_offset(d, call->at),
                               mp_decoder_message(d));
    }
    rb_jump_tag(state);
}

/* Uses rb_protect, Ruby's cheapest way to catch an exception. */
MP_INLINE VALUE
call_handler_safely(handler_call *call)
{
    int state;
    VALUE obj = rb_protect(call_unpacker, (VALUE)call, &state);

    if (MP_UNLIKELY(state)) handler_left(call, state);
    return obj;
}

/* StackError if the C stack is nearly used up. Checked once, because a decoder always calls from the same depth. */
MP_INLINE void
check_stack(mp_decoder *d, const uint8_t *at)
{
    if (MP_LIKELY(d->stack_enough)) return;
    if (mp_stack_used_up_p()) mp_decoder_raise(d, MP_E_DEPTH, at);
    d->stack_enough = true;
}

/* Makes the object of a registered type from a body. */
static VALUE
typed_new(mp_decoder *d, const mp_type *type, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    handler_call call = {.d = d, .type = type, .at = at};
    mp_outer outer;
    VALUE obj;

    if (type->optimized_symbol) return ext_symbol_new(d, p, n);
    if (type->timestamp) return timestamp_new(d, p, n, at);
    mp_type_check(type);
    check_stack(d, at);
    d->tree.keys_may_collide = true;
    if (!type->recursive) {
        call.argument = rb_str_new((const char *)p, n);
        obj = call_handler_safely(&call);
    } else {
        outer = outer_of_body(d, at);
        call.argument = body_unpacker(d, type, p, n, &outer);
        obj = call_handler_safely(&call);
        d->tree.objects = mp_unpacker_end_body(call.argument, d);
        d->others += d->tree.objects - outer.objects;
        if (d->tree.objects > d->codec->options.limits.objects) mp_decoder_raise(d, MP_E_MAX_OBJECTS, at);
    }
    return sealed(d, obj);
}

VALUE
mp_ext_new(mp_decoder *d, int id, const uint8_t *p, uint32_t n, const uint8_t *at)
{
    const mp_options *options = &d->codec->options;
    const mp_type *type = d->codec->types ? mp_types_for_ext(d->codec->types, id) : NULL;

    if (options->untrusted && id == MP_TIMESTAMP_TYPE) timestamp_read(d, p, n, at);
    if (type) return typed_new(d, type, p, n, at);
    if (options->timestamp && id == MP_TIMESTAMP_TYPE) return timestamp_new(d, p, n, at);
    if (options->allow_unknown_ext) {
        VALUE payload = mp_seal(options, rb_str_new((const char *)p, n));
        return mp_seal(options, rb_struct_new(mp_cExtensionValue, INT2FIX(id), payload));
    }
    mp_raise_unknown_ext(id, mp_decoder_offset(d, at), mp_decoder_message(d));
}
