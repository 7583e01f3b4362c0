/*
 * The canonical form of bytes in a String: gives core/canonical.c its memory, and raises its errors for reading and
 * packing.
 */
#include "pack/canonical_form.h"

#include "base/error.h"
#include "base/error_path.h"
#include "base/options.h"
#include "base/pack_error.h"
#include "buffer/window.h"
#include "core/canonical.h"

/* --- a String --------------------------------------------------------------------------------------- */

/* A status, and the offset of the head to blame or of the end of the object. */
typedef struct {
    mp_status status;
    size_t offset;
} outcome;

static const uint8_t *
bytes_of(VALUE string)
{
    return (const uint8_t *)RSTRING_PTR(string);
}

static outcome
check(VALUE string, size_t offset, size_t end, uint32_t max_depth)
{
    const uint8_t *start = bytes_of(string), *p = start + offset;
    mp_status status;
    mp_window open;

    mp_window_init(&open);
    status = mp_canonical_check(&p, start + end, max_depth, &open.out);
    RB_GC_GUARD(open.string);
    RB_GC_GUARD(string);
    return (outcome){.status = status, .offset = (size_t)(p - start)};
}

static outcome
write_form(VALUE string, size_t offset, size_t end, uint32_t max_depth, VALUE *form)
{
    const uint8_t *start = bytes_of(string), *p = start + offset;
    mp_window open, nodes, out;
    mp_status status;

    mp_window_init(&open);
    mp_window_init(&nodes);
    mp_window_init_result(&out, end - offset + MP_HEAD_MAX);
    status = mp_canonical_write(&p, start + end, max_depth, &open.out, &nodes.out, &out.out);
    if (status == MP_OK) *form = mp_window_result(&out);
    RB_GC_GUARD(open.string);
    RB_GC_GUARD(nodes.string);
    RB_GC_GUARD(out.string);
    RB_GC_GUARD(string);
    return (outcome){.status = status, .offset = (size_t)(p - start)};
}

bool
mp_canonical_p(VALUE string, size_t offset, size_t end, uint32_t max_depth)
{
    outcome found = check(string, offset, end, max_depth);

    return found.status == MP_OK && found.offset == end;
}

VALUE
mp_canonical_string(VALUE string, size_t offset, size_t end, uint32_t max_depth)
{
    VALUE form = Qnil;
    outcome found = write_form(string, offset, end, max_depth, &form);

    if (found.status != MP_OK) {
        const uint8_t *start = bytes_of(string);
        mp_blame blame = mp_blame_of(start, start + found.offset, start + end, 0);

        blame.message = mp_message_whole(string);
        mp_raise_status(found.status, blame);
    }
    if (found.offset != end) mp_raise_extra_bytes(end - found.offset, found.offset, offset ? 0 : string);
    return form;
}

/* --- bytes that we packed ------------------------------------------------------------------------- */

NORETURN(static void raise_packed(VALUE packed, size_t offset, VALUE klass, const char *reason));

static void
raise_packed(VALUE packed, size_t offset, VALUE klass, const char *reason)
{
    VALUE path = mp_error_path_of(packed, 0, offset), words;

    if (NIL_P(path)) path = rb_utf8_str_new_cstr("$");
    words = rb_enc_sprintf(mp_utf8, "not canonical: %s, at %" PRIsVALUE, reason, mp_error_path_shown(path));
    mp_raise_encode_error(klass, words, path, false);
}

NORETURN(static void raise_not_canonical(VALUE packed, outcome found));

/* Names the packed objects in the error, because the caller has never seen their bytes. */
static void
raise_not_canonical(VALUE packed, outcome found)
{
    switch (found.status) {
      case MP_E_UTF8:
        raise_packed(packed, found.offset, rb_eEncodingError, "a String is not valid UTF-8; pack bytes as BINARY");
      case MP_E_DUPLICATE_KEY:
        raise_packed(packed, found.offset, rb_eArgError, "two keys of a Hash are the same key once packed");
      case MP_E_NAN_KEY:
        raise_packed(packed, found.offset, rb_eArgError, "a key of a Hash is NaN or contains it");
      default:
        raise_packed(packed, found.offset, rb_eArgError, mp_status_text(found.status));
    }
}

VALUE
mp_canonical_packed(VALUE packed)
{
    size_t end = (size_t)RSTRING_LEN(packed);
    VALUE form = Qnil;
    outcome found;

    if (mp_canonical_p(packed, 0, end, MP_MAX_MAX_DEPTH)) return packed;
    found = write_form(packed, 0, end, MP_MAX_MAX_DEPTH, &form);
    if (found.status != MP_OK) raise_not_canonical(packed, found);
    rb_str_resize(packed, 0); /* frees its memory at once */
    return form;
}
