/* Writes the path of a value, such as "$.users[3].avatar". */
#include "base/error_path.h"

#include <ctype.h>
#include <math.h>

#include "base/hidden.h"
#include "core/key.h"
#include "core/utf8.h"

/* --- names ------------------------------------------------------------------------------------------ */

/* A longer key is cut, so that an error does not grow with a stranger's keys. Manypack::Path refuses a cut key. */
enum { KEY_BYTES = 128 };

/* The end of the last whole character in the first n bytes. */
static size_t
whole_characters(const uint8_t *p, size_t n)
{
    size_t cut = n;

    while (cut && n - cut < 3 && (p[cut] & 0xc0) == 0x80) cut--;
    return cut;
}

/* True if a name needs no quotes after a dot, as in path/text.rb, and no escapes. */
static bool
plain_name_p(const uint8_t *p, size_t n)
{
    size_t i;
    int bytes;

    for (i = 0; i < n; i++) {
        if (p[i] < 0x80 && !isalnum(p[i]) && p[i] != '_') return false;
        if (mp_hidden_character(p + i, p + n, &bytes)) return false;
    }
    return n && !isdigit(p[0]);
}

/* Appends a name in quotes, with the escapes of a JSON string. A name that is not text gets escapes such as \xFF. */
static void
append_quoted(VALUE path, const uint8_t *p, size_t n, bool text)
{
    const uint8_t *end = p + n;
    char escape[8];
    unsigned c;
    int bytes, size;

    for (; p < end; p += bytes) {
        c = mp_hidden_character(p, end, &bytes);
        if (!text || (!c && *p)) bytes = 1;
        if (!text && *p >= 0x7f) size = sprintf(escape, "\\x%02X", *p);
        else if (*p == '"' || *p == '\\') size = sprintf(escape, "\\%c", *p);
        else if (c || !*p) size = sprintf(escape, "\\u%04x", c);
        else size = sprintf(escape, "%c", *p);
        rb_str_cat(path, escape, size); /* not rb_str_catf, which does not grow the String by a factor */
    }
}

/* Appends a str or bin as .name or ["name"], or as ["na"...] if it is too long. */
static void
append_name(VALUE path, mp_kind kind, const uint8_t *p, size_t n)
{
    bool cut = n > KEY_BYTES, text;

    if (cut) n = whole_characters(p, KEY_BYTES);
    text = kind == MP_STR ? mp_utf8_valid_p(p, n) : mp_ascii_p(p, n);
    if (text && !cut && plain_name_p(p, n)) {
        rb_str_cat_cstr(path, ".");
        rb_str_cat(path, (const char *)p, (long)n);
        return;
    }
    rb_str_cat_cstr(path, "[\"");
    append_quoted(path, p, n, text);
    rb_str_cat_cstr(path, cut ? "\"...]" : "\"]");
}

/* Appends [1.5], or the name of the kind for a NaN, which equals no key. */
static void
append_float(VALUE path, double number)
{
    if (isnan(number)) rb_str_cat_cstr(path, "[float64]");
    else rb_str_catf(path, "[%" PRIsVALUE "]", DBL2NUM(number));
}

/* --- the path of an object that is packed --------------------------------------------------------- */

/* A longer path is shown by this many steps from its start and its end. */
enum { PATH_HEAD = 8, PATH_TAIL = 8 };

/* Appends [5]. rb_str_catf would take several times as long. */
static void
append_index(VALUE path, int64_t index)
{
    char step[24];

    rb_str_cat(path, step, snprintf(step, sizeof(step), "[%" PRId64 "]", index));
}

/* Appends an index or a key as Path reads it, or the class, in brackets, of a key that Path cannot express. */
static void
append_step(VALUE path, const mp_place *place)
{
    VALUE key = place->key;

    if (key == Qundef) {
        append_index(path, place->index);
        return;
    }
    if (RB_SYMBOL_P(key)) key = rb_sym2str(key);
    if (RB_INTEGER_TYPE_P(key)) {
        rb_str_catf(path, "[%" PRIsVALUE "]", key);
    } else if (RB_FLOAT_TYPE_P(key)) {
        append_float(path, RFLOAT_VALUE(key));
    } else if (NIL_P(key) || key == Qtrue || key == Qfalse) {
        rb_str_cat_cstr(path, NIL_P(key) ? "[nil]" : key == Qtrue ? "[true]" : "[false]");
    } else if (RB_TYPE_P(key, T_STRING)) {
        mp_kind kind = mp_utf8_index_p(RB_ENCODING_GET(key)) ? MP_STR : MP_BIN;
        append_name(path, kind, (const uint8_t *)RSTRING_PTR(key), (size_t)RSTRING_LEN(key));
        RB_GC_GUARD(key);
    } else {
        rb_str_catf(path, "[%" PRIsVALUE "]", rb_class_path(rb_obj_class(key))); /* to_s may be user code */
    }
}

/* Iterative, because the C stack may be nearly used up. */
static VALUE
path_without_middle(const mp_place *innermost, unsigned long head, unsigned long tail)
{
    VALUE path = rb_utf8_str_new_cstr("$");
    const mp_place *place;
    unsigned long depth = 0, step, up;

    for (place = innermost; place; place = place->up) depth++;
    for (step = 0; step < depth; step++) {
        if (step == head && depth > head + tail) {
            rb_str_cat_cstr(path, "...");
            step = depth - tail;
        }
        for (place = innermost, up = depth - 1 - step; up; up--) place = place->up;
        append_step(path, place);
    }
    return path;
}

VALUE
mp_error_path(const mp_place *innermost)
{
    return path_without_middle(innermost, PATH_HEAD, PATH_TAIL);
}

VALUE
mp_error_path_longer(const mp_place *innermost)
{
    return path_without_middle(innermost, MP_ROUTE_HEAD, MP_ROUTE_TAIL);
}

/* --- paths in error messages ---------------------------------------------------------------------- */

/* An error message shows at least this many bytes from the start and the end of a path. */
enum { SHOWN_HEAD = 400, SHOWN_TAIL = 400 };

VALUE
mp_error_path_join(VALUE outer, VALUE path)
{
    VALUE joined = rb_str_dup(outer);

    rb_str_cat(joined, RSTRING_PTR(path) + 1, RSTRING_LEN(path) - 1); /* without "$" */
    RB_GC_GUARD(path);
    return joined;
}

VALUE
mp_error_path_shown(VALUE path)
{
    const uint8_t *p = (const uint8_t *)RSTRING_PTR(path);
    size_t n = (size_t)RSTRING_LEN(path), tail = n - SHOWN_TAIL;
    VALUE shown;

    if (n <= SHOWN_HEAD + SHOWN_TAIL) return path;
    while (tail < n && (p[tail] & 0xc0) == 0x80) tail++;
    shown = rb_utf8_str_new((const char *)p, (long)whole_characters(p, SHOWN_HEAD));
    rb_str_cat_cstr(shown, "...");
    rb_str_cat(shown, RSTRING_PTR(path) + tail, (long)(n - tail));
    RB_GC_GUARD(path);
    return shown;
}

/* --- the path of a place in packed bytes ---------------------------------------------------------- */

/* Appends a map key. Containers, exts and NaN are shown by their type, which only people can read: no Path has them. */
static void
append_key(VALUE path, const uint8_t *p, const uint8_t *end)
{
    mp_key key = mp_key_read(p, end);

    switch (key.kind) {
      case MP_STR:
      case MP_BIN: append_name(path, key.kind, key.bytes, key.n); break;
      case MP_UINT: rb_str_catf(path, "[%" PRIu64 "]", key.bits); break;
      case MP_INT: rb_str_catf(path, "[%" PRId64 "]", (int64_t)key.bits); break;
      case MP_FLOAT64: append_float(path, mp_double_of_bits(key.bits)); break;
      default: rb_str_catf(path, "[%s]", mp_kind_name(key.kind)); break;
    }
}

static mp_route_finder find_route;

void
mp_error_path_set_finder(mp_route_finder finder)
{
    find_route = finder;
}

VALUE
mp_error_path_of(VALUE source, size_t start, size_t offset)
{
    VALUE path;
    mp_route route;
    uint32_t i;

    if (start > offset || offset > (size_t)RSTRING_LEN(source)) return Qnil;
    if (!find_route(source, start, offset, &route)) return Qnil;
    path = rb_utf8_str_new_cstr("$");
    for (i = 0; i < route.count; i++) {
        const mp_trail_step *step = &route.steps[i];
        const uint8_t *message = (const uint8_t *)RSTRING_PTR(source) + start;

        if (route.cut && i == MP_ROUTE_HEAD) rb_str_cat_cstr(path, "...");
        if (step->kind == MP_ARRAY) append_index(path, step->index);
        else append_key(path, message + step->key, message + step->key_end);
    }
    RB_GC_GUARD(source); /* otherwise compaction may move it */
    return rb_obj_freeze(path);
}
