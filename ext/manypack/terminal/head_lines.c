/*
 * Internal.head_lines: a line for each head byte of packed messages, for `manypack inspect`: the offset, the head byte,
 * the type and the value, indented by its depth. lib/manypack/terminal/output/head_line.rb has the words.
 */
#include "base/error.h"
#include "base/error_path.h"
#include "base/options.h"
#include "buffer/window.h"
#include "core/wire.h"
#include "json/decimal.h"
#include "terminal/part.h"

enum {
    PIECE = 256 * 1024, /* lines are yielded when they have this many bytes */
    SHOWN = 60,         /* bytes of a text that are shown, */
    SHOWN_BYTES = 20,   /* and of other payloads */
    OFFSET_WIDTH = 8
};

/* An open container. */
typedef struct {
    uint64_t left;
    bool map;
    bool key; /* it is a key, or inside of one */
} frame;

/* Lives on the C stack. */
typedef struct {
    mp_window window;
    VALUE marks, types, key; /* the text of each head byte, of its type, and what comes before the type of a key */
    VALUE texts;             /* shows texts that are not plain ASCII */
    uint64_t origin;         /* offset of the start in the input */
    const uint8_t *start, *end;
    const uint8_t *wanted;   /* head_lines_at: the byte whose object is looked for, */
    const uint8_t *found;    /* the last head up to it, */
    bool in_key;             /* true if that is a key, or inside of one, */
    bool starts_with_key;    /* and true if it is a key */
    size_t depth;
    frame frames[MP_TERMINAL_MAX_DEPTH];
} writer;

static void
show_bytes(writer *w, const char *bytes, size_t n)
{
    mp_out_write(&w->window.out, bytes, n);
}

#define WRITE(w, literal) show_bytes(w, literal, sizeof(literal) - 1)

static void
show_string(writer *w, VALUE string)
{
    Check_Type(string, T_STRING);
    show_bytes(w, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(string);
}

static void
write_uint(writer *w, uint64_t n)
{
    mp_out_commit(&w->window.out, mp_put_decimal_uint(mp_out_reserve(&w->window.out, MP_INTEGER_MAX), n));
}

static void
write_sint(writer *w, int64_t n)
{
    mp_out_commit(&w->window.out, mp_put_decimal_sint(mp_out_reserve(&w->window.out, MP_INTEGER_MAX), n));
}

static void
write_spaces(writer *w, size_t n)
{
    mp_out_commit(&w->window.out, (uint8_t *)memset(mp_out_reserve(&w->window.out, n), ' ', n) + n);
}

/* --- payloads --------------------------------------------------------------------------------------- */

/* True for printable ASCII. */
static bool
printable_p(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] < 0x20 || p[i] > 0x7e) return false;
    }
    return true;
}

/* Writes plain text as String#inspect shows it. */
static void
show_plain(writer *w, const uint8_t *p, size_t n)
{
    uint8_t *to = mp_out_reserve(&w->window.out, 2 * n + 2);

    *to++ = '"';
    for (size_t i = 0; i < n; i++) {
        bool expanded = p[i] == '#' && i + 1 < n && (p[i + 1] == '{' || p[i + 1] == '$' || p[i + 1] == '@');

        if (p[i] == '"' || p[i] == '\\' || expanded) *to++ = '\\';
        *to++ = p[i];
    }
    *to++ = '"';
    mp_out_commit(&w->window.out, to);
}

static VALUE
bytes_string(const uint8_t *p, size_t n)
{
    return rb_str_new((const char *)p, (long)n);
}

/* How many of the n payload bytes are present: a broken message may lack the end. */
static uint32_t
there(const writer *w, const uint8_t *p, uint32_t n)
{
    return (size_t)(w->end - p) < n ? (uint32_t)(w->end - p) : n;
}

static void
show_text(writer *w, const uint8_t *p, uint32_t n)
{
    size_t shown = there(w, p, n < SHOWN ? n : SHOWN);

    if (!printable_p(p, shown)) {
        show_string(w, rb_funcall(w->texts, rb_intern("text"), 2, bytes_string(p, shown), n > SHOWN ? Qtrue : Qfalse));
        return;
    }
    show_plain(w, p, shown);
    if (n > SHOWN) WRITE(w, "...");
}

/* Writes hexadecimal digits. */
static void
write_payload(writer *w, const uint8_t *p, uint32_t n)
{
    static const char digits[] = "0123456789abcdef";

    for (uint32_t i = 0; i < there(w, p, n) && i < SHOWN_BYTES; i++) {
        char pair[] = {' ', digits[p[i] >> 4], digits[p[i] & 15]};

        show_bytes(w, pair + (i == 0), sizeof(pair) - (i == 0));
    }
    if (n > SHOWN_BYTES) WRITE(w, " ...");
}

/* Writes a bin. If it is a key and text, writes the text. */
static void
show_bin(writer *w, const uint8_t *p, uint32_t n, bool key)
{
    uint32_t size = there(w, p, n);
    VALUE text;

    if (key && size && printable_p(p, size)) {
        show_text(w, p, n);
        return;
    }
    text = key && size ? rb_funcall(w->texts, rb_intern("key"), 1, bytes_string(p, size)) : Qnil;
    if (NIL_P(text)) write_payload(w, p, n);
    else show_string(w, text);
}

/* --- lines ------------------------------------------------------------------------------------------ */

/* Writes a count and its unit, such as " of 2 pairs". */
static void
write_count(writer *w, uint32_t n, const char *thing)
{
    WRITE(w, " of ");
    write_uint(w, n);
    show_bytes(w, thing, strlen(thing));
    if (n != 1) WRITE(w, "s");
}

/* Writes a Float as Ruby does. */
static void
show_float(writer *w, double real)
{
    uint8_t text[MP_DECIMAL_MAX];

    if (real - real == 0) show_bytes(w, (char *)text, (size_t)(mp_put_double(text, real) - text));
    else show_string(w, rb_obj_as_string(DBL2NUM(real)));
}

static void
show_value(writer *w, const uint8_t *at, const mp_head *head, bool key)
{
    mp_wire_row row = MP_WIRE[*at];

    switch (head->kind) {
      case MP_MAP: write_count(w, head->n, " pair"); break;
      case MP_ARRAY: write_count(w, head->n, " element"); break;
      case MP_STR:
      case MP_BIN:
      case MP_EXT:
        write_count(w, head->n, " byte");
        WRITE(w, ": ");
        if (head->kind == MP_STR) {
            show_text(w, head->payload, head->n);
        } else if (head->kind == MP_BIN) {
            show_bin(w, head->payload, head->n, key);
        } else {
            WRITE(w, "type ");
            write_sint(w, head->ext_type);
            WRITE(w, ", ");
            write_payload(w, head->payload, head->n);
        }
        break;
      case MP_FIXINT:
      case MP_INT:
        WRITE(w, " ");
        write_sint(w, mp_row_sint(at, row));
        break;
      case MP_UINT:
        WRITE(w, " ");
        write_uint(w, mp_row_uint(at, row));
        break;
      case MP_FLOAT32:
      case MP_FLOAT64:
        WRITE(w, " ");
        show_float(w, mp_row_real(at, row));
        break;
      default: break;
    }
}

static void
show_line(writer *w, const uint8_t *at, const mp_head *head, bool key)
{
    uint64_t offset = w->origin + (uint64_t)(at - w->start);

    if (mp_digits(offset) < OFFSET_WIDTH) write_spaces(w, OFFSET_WIDTH - mp_digits(offset));
    write_uint(w, offset);
    WRITE(w, "  ");
    show_string(w, rb_ary_entry(w->marks, *at));
    write_spaces(w, 2 + 2 * w->depth);
    if (key) show_string(w, w->key);
    show_string(w, rb_ary_entry(w->types, *at));
    show_value(w, at, head, key);
    WRITE(w, "\n");
}

static void
yield_lines(writer *w)
{
    if (mp_out_size(&w->window.out)) rb_yield(mp_window_result(&w->window));
    mp_window_init_result(&w->window, PIECE + PIECE / 4);
}

typedef void head_visit(writer *w, const uint8_t *at, const mp_head *head, bool key);

/* Visits each head of a message and sets *p to its end, or to the head to blame, which was visited if it is whole. */
static mp_status
each_head(writer *w, const uint8_t **p, head_visit *visit)
{
    w->depth = 0;
    do {
        frame *inner = w->depth ? &w->frames[w->depth - 1] : NULL;
        bool key = inner ? inner->map && !(inner->left & 1) : w->starts_with_key;
        mp_head head;
        mp_status status = mp_head_read(*p, w->end, &head);

        if (status != MP_OK) return status;
        visit(w, *p, &head, key);
        if (!mp_payload_present_p(head.payload, mp_payload_size(&head), w->end)) return MP_E_TRUNCATED;
        if (inner) inner->left--;
        *p = head.payload + mp_payload_size(&head);
        if (mp_declared_objects(head.kind, head.n)) {
            if (w->depth == MP_TERMINAL_MAX_DEPTH) return MP_E_DEPTH;
            w->frames[w->depth++] = (frame){mp_declared_objects(head.kind, head.n), head.kind == MP_MAP,
                                            key || (inner && inner->key)};
        }
        while (w->depth && !w->frames[w->depth - 1].left) w->depth--;
    } while (w->depth);
    return MP_OK;
}

static void
show_head(writer *w, const uint8_t *at, const mp_head *head, bool key)
{
    show_line(w, at, head, key);
    if (mp_out_size(&w->window.out) > PIECE) yield_lines(w);
}

static void
find_head(writer *w, const uint8_t *at, const mp_head *head, bool key)
{
    if (at > w->wanted) return;
    w->found = at;
    w->in_key = key || (w->depth && w->frames[w->depth - 1].key);
    w->starts_with_key = key;
}

static void
start_lines(writer *w, const mp_part *part, VALUE origin, VALUE words, VALUE texts)
{
    Check_Type(words, T_ARRAY);
    w->origin = NUM2ULL(origin);
    w->marks = rb_ary_entry(words, 0);
    w->types = rb_ary_entry(words, 1);
    w->key = rb_ary_entry(words, 2);
    w->texts = texts;
    Check_Type(w->marks, T_ARRAY);
    Check_Type(w->types, T_ARRAY);
    w->start = part->start;
    w->end = part->end;
    w->starts_with_key = false;
    mp_window_init_result(&w->window, PIECE);
}

/*
 * call-seq: Internal.head_lines(bytes, start, size, origin, [marks, types, key], texts) { |lines| }
 *
 * Yields the lines of the messages in a part of a String, some at a time. origin: the offset of the part in the input;
 * marks, types: 256 Strings each, for the head bytes. Raises a DecodeError, whose offset counts from start, after the
 * lines of everything before it.
 */
static VALUE
rb_internal_head_lines(VALUE self, VALUE bytes, VALUE from, VALUE size, VALUE origin, VALUE words, VALUE texts)
{
    mp_part part = mp_part_of(bytes, from, size);
    mp_status status = MP_OK;
    const uint8_t *p;
    writer w;

    start_lines(&w, &part, origin, words, texts);
    for (p = w.start; p < w.end && status == MP_OK;) status = each_head(&w, &p, show_head);
    yield_lines(&w);
    if (status != MP_OK) mp_raise_status(status, mp_blame_of(w.start, p, w.end, 0));
    RB_GC_GUARD(part.bytes);
    RB_GC_GUARD(words);
    RB_GC_GUARD(w.window.string);
    return Qnil;
}

/*
 * call-seq: Internal.head_lines_at(bytes, at, origin, [marks, types, key], texts) { |lines| }
 *
 * Yields the path of the object to which a byte of a message belongs, and then the lines of that object, as far as they
 * are there. Yields nothing if no head before the byte is whole.
 */
static VALUE
rb_internal_head_lines_at(VALUE self, VALUE bytes, VALUE at, VALUE origin, VALUE words, VALUE texts)
{
    mp_part part = mp_part_of(bytes, at, INT2FIX(0));
    const uint8_t *p;
    VALUE path;
    writer w;

    w.wanted = part.start;
    part.start = (const uint8_t *)RSTRING_PTR(part.bytes);
    part.end = (const uint8_t *)RSTRING_END(part.bytes);
    start_lines(&w, &part, origin, words, texts);
    w.found = NULL;
    p = w.start;
    each_head(&w, &p, find_head);
    if (!w.found) return Qnil;
    path = mp_error_path_of(part.bytes, 0, (size_t)(w.found - w.start));
    if (w.in_key) WRITE(&w, "a key of ");
    show_string(&w, NIL_P(path) ? rb_utf8_str_new_cstr("$...") : path);
    WRITE(&w, "\n");
    p = w.found;
    each_head(&w, &p, show_head);
    yield_lines(&w);
    RB_GC_GUARD(part.bytes);
    RB_GC_GUARD(words);
    RB_GC_GUARD(w.window.string);
    return Qnil;
}

void
Init_manypack_head_lines(void)
{
    MP_DEFINE_INTERNAL("head_lines_at", rb_internal_head_lines_at, 5);
    MP_DEFINE_INTERNAL("head_lines", rb_internal_head_lines, 6);
}
