/* The canonical form of Strings: working memory that the collector owns, and errors for readers and for packers. */
#include "canonical_form.h"

#include "canonical.h"
#include "error.h"
#include "options.h"
#include "window.h"

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
    if (found.offset != end) mp_raise_extra_bytes(end - found.offset, found.offset);
    return form;
}

/* --- what was packed -------------------------------------------------------------------------------- */

NORETURN(static void raise_packed(mp_status status));

/* By the objects that were packed: their bytes are not the caller's. */
static void
raise_packed(mp_status status)
{
    switch (status) {
      case MP_E_UTF8:
        rb_raise(rb_eEncodingError, "not canonical: a String is not valid UTF-8; pack bytes as BINARY");
      case MP_E_DUPLICATE_KEY:
        rb_raise(rb_eArgError, "not canonical: two keys of a Hash are the same key once packed");
      case MP_E_NAN_KEY:
        rb_raise(rb_eArgError, "not canonical: a key of a Hash is NaN or contains it");
      case MP_E_TRUNCATED:
      case MP_OK:
        rb_raise(rb_eArgError, "not canonical: a to_msgpack method or packer did not write exactly one object");
      default:
        rb_raise(rb_eArgError, "not canonical: %s", mp_status_text(status));
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
    if (found.status != MP_OK || found.offset != end) raise_packed(found.status);
    rb_str_resize(packed, 0); /* its memory is free at once */
    return form;
}
