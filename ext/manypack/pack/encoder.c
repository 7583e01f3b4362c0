/* How the window of an encoder grows and becomes a result, and how an encoder calls user code and raises. */
#include "pack/encoder.h"

#include "base/error.h"
#include "base/pack_error.h"
#include "base/user_code.h"

/* The String's first capacity, enough for most messages, and the factor by which it grows. */
enum { FIRST_CAPACITY = 16384, GROWTH = 4 };

static size_t
first_capacity(mp_encoder *e)
{
    size_t expected = mp_result_size_expected(&mp_encoder_ractor(e)->results);

    return expected > FIRST_CAPACITY ? expected + expected / 16 : FIRST_CAPACITY;
}

/* A capacity for size bytes and n more, large enough that copying stays rare. */
static long
grown_capacity(mp_encoder *e, size_t size, size_t n)
{
    size_t want = !e->str ? first_capacity(e) : size < ((size_t)1 << 20) ? size * GROWTH : size * 2;

    if (n > (size_t)LONG_MAX - size) rb_raise(rb_eNoMemError, "packed data cannot exceed %ld bytes", LONG_MAX);
    if (want < size + n) want = size + n;
    if (want > (size_t)LONG_MAX) want = size + n + ((size_t)LONG_MAX - size - n) / 2; /* on 32 bits, above 1 GiB */
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
        e->str = rb_obj_hide(rb_str_buf_new(capacity)); /* hidden: else ObjectSpace shows it */
        memcpy(RSTRING_PTR(e->str), e->out.start, size);
    }
    e->out.start = (uint8_t *)RSTRING_PTR(e->str);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + rb_str_capacity(e->str);
    mp_poison(e->out.pos, (size_t)(e->out.end - e->out.pos));
}

void
mp_encoder_grow(mp_out *out, size_t n)
{
    mp_encoder *e = (mp_encoder *)(void *)out;

    if (e->buffer) mp_encoder_window_on_buffer(e, mp_out_size(out), n);
    else grow_str(e, n);
}

static VALUE
call_with_buffer(const mp_encoder *e, VALUE (*call)(VALUE), VALUE arg)
{
    mp_taken_call taken = {.loan = &mp_buffer_get(e->buffer)->loan, .call = call, .arg = arg};
    VALUE result = mp_loan_call_taken(&taken);

    if (MP_UNLIKELY(result == Qundef)) mp_raise_in_use("Packer");
    return result;
}

VALUE
mp_encoder_call_taken(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg)
{
    return e->buffer ? call_with_buffer(e, call, arg) : call(arg);
}

/* True if comparing the key with another may run user code. */
static bool
compared_by_user_p(VALUE key)
{
    if (mp_plain_key_p(key)) return false;
    return RB_BUILTIN_TYPE(key) != T_SYMBOL && RB_BUILTIN_TYPE(key) != T_FLOAT && RB_BUILTIN_TYPE(key) != T_BIGNUM;
}

void
mp_pairs_pause(mp_pairs *pairs, VALUE key)
{
    mp_encoder *e = pairs->e;

    if (!compared_by_user_p(key)) return;
    if (e->buffer) {
        mp_encoder_commit_early(e);
        pairs->pause = mp_loan_pause_write(&mp_buffer_get(e->buffer)->loan);
    }
    pairs->left_paused = pairs->left;
    pairs->left = 0;
    pairs->paused = true;
}

static void
end_pause(mp_pairs *pairs)
{
    mp_encoder *e = pairs->e;

    if (e->buffer) {
        if (!mp_loan_goes_on_p(&mp_buffer_get(e->buffer)->loan, pairs->pause)) mp_raise_in_use("Packer");
        mp_encoder_window_on_buffer(e, 0, 1);
    }
    pairs->left = pairs->left_paused;
    pairs->paused = false;
}

void
mp_pairs_go_on(mp_pairs *pairs)
{
    if (!pairs->paused) mp_encoder_raise_modified(pairs->e, "Hash");
    end_pause(pairs);
    if (pairs->left-- == 0) mp_encoder_raise_modified(pairs->e, "Hash");
}

void
mp_pairs_end(mp_pairs *pairs)
{
    if (pairs->paused) end_pause(pairs);
    if (pairs->left) mp_encoder_raise_modified(pairs->e, "Hash");
}

VALUE
mp_encoder_result(mp_encoder *e)
{
    size_t size = mp_out_size(&e->out);

    if (e->buffer) {
        mp_bytes *bytes = &mp_buffer_get(e->buffer)->bytes;

        mp_encoder_commit(e);
        return mp_bytes_to_s(e->buffer, bytes, bytes->size);
    }
    if (!e->str) return rb_str_new((const char *)e->out.start, (long)size);
    mp_result_size_note(&mp_encoder_ractor(e)->results, size);
    rb_str_set_len(e->str, (long)size);
    if (rb_str_capacity(e->str) / 2 > size) rb_str_resize(e->str, (long)size);
    return rb_obj_reveal(e->str, rb_cString);
}

typedef struct {
    mp_encoder *e;
    VALUE (*call)(VALUE);
    VALUE arg;
} placed_call;

static VALUE
call_taken(VALUE arg)
{
    const placed_call *placed = (const placed_call *)arg;

    return mp_encoder_call_taken(placed->e, placed->call, placed->arg);
}

VALUE
mp_encoder_call_placed(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg)
{
    placed_call placed = {.e = e, .call = call, .arg = arg};
    int state;
    VALUE result = rb_protect(call_taken, (VALUE)&placed, &state);

    if (MP_LIKELY(!state)) return result;
    if (!mp_pack_error_p(mp_user_error())) rb_jump_tag(state);
    mp_raise_pack_error_below(mp_user_error(), mp_error_path(e->place), e->codec->options.of_gem);
}

void
mp_encoder_raise(const mp_encoder *e, VALUE klass, const char *suffix, const char *format, ...)
{
    VALUE path = mp_error_path(e->place), words;
    va_list arguments;

    va_start(arguments, format);
    words = rb_enc_vsprintf(mp_utf8, format, arguments);
    va_end(arguments);
    rb_str_catf(words, ", at %" PRIsVALUE "%s", mp_error_path_shown(path), suffix ? suffix : "");
    mp_raise_encode_error(klass, words, path, e->codec->options.of_gem);
}

void
mp_encoder_raise_too_long(const mp_encoder *e, VALUE obj)
{
    mp_encoder_raise(e, rb_eArgError, NULL, "%" PRIsVALUE " is longer than MessagePack's limit of 4294967295",
                     rb_obj_class(obj));
}

void
mp_encoder_raise_too_deep(const mp_encoder *e)
{
    uint32_t most = mp_encoder_containers(e->codec);

    /* e->depth if the C stack was used up there */
    mp_raise_nesting(e->depth < e->max_depth ? e->depth : most, mp_error_path(e->place), e->codec->options.of_gem);
}

void
mp_encoder_raise_modified(const mp_encoder *e, const char *what)
{
    mp_encoder_raise(e, rb_eRuntimeError, NULL, "%s was modified during packing", what);
}
