/* Describes the fault of a JSON text in one sentence, fit to be shown to the sender of the text. */
#include "json/json_error.h"

#include "base/error.h"
#include "base/error_path.h"

static VALUE eJSONError, eStackError, eLimitError;
static ID id_line, id_column, id_path, id_limit, id_value;

/* How much of a text an error shows, in bytes. */
enum { SHOWN = 40 };

void
mp_json_pass(mp_json_origin *origin, const uint8_t *from, const uint8_t *to)
{
    const uint8_t *line = from, *p = from;

    origin->offset += (size_t)(to - from);
    while (p < to && (p = memchr(p, '\n', (size_t)(to - p)))) {
        line = ++p;
        origin->line++;
        origin->column = 0;
    }
    for (p = line; p < to; p++) origin->column += (*p & 0xc0) != 0x80;
}

void
mp_json_append_whole(VALUE words, const mp_json_origin *origin)
{
    if (!origin->stream) return;
    rb_str_catf(words, ", after %" PRIuSIZE " whole text%s", origin->texts, origin->texts == 1 ? "" : "s");
}

/* The text at p, up to white space, as String#inspect shows it. */
static VALUE
shown_input(const mp_json_packer *t, const uint8_t *p)
{
    const uint8_t *end = t->c.end - p > SHOWN ? p + SHOWN : t->c.end, *stop = p;
    VALUE text, scrubbed;

    if (p == t->c.end) return rb_utf8_str_new_cstr("the end of the text");
    if (t->c.lines && *p == '\n') return rb_utf8_str_new_cstr("the end of the line");
    while (stop < end && (stop == p || *stop > ' ')) stop++;
    while (stop < t->c.end && stop - p < SHOWN + 3 && (*stop & 0xc0) == 0x80) stop++;
    text = rb_utf8_str_new((const char *)p, stop - p);
    scrubbed = rb_str_scrub(text, Qnil);
    return rb_str_inspect(NIL_P(scrubbed) ? text : scrubbed);
}

/* The text of the number or key at p, without additional quotes. */
static VALUE
quoted(const mp_json_packer *t, const uint8_t *p)
{
    const uint8_t *from = p, *end = t->c.end - p > SHOWN ? p + SHOWN : t->c.end;
    VALUE text;

    if (*p == '"') {
        for (p++; p < end && *p != '"'; p++) p += *p == '\\' && end - p > 1;
        if (p < end) p++;
    } else {
        while (p < end && memchr("0123456789+-.eE", *p, 15)) p++;
    }
    while (p > from && p == end && p < t->c.end && (*p & 0xc0) == 0x80) p--, end--;
    text = rb_utf8_str_new((const char *)from, p - from);
    return p == end && end < t->c.end ? rb_str_cat_cstr(text, "...") : text;
}

/* Describes an exceeded limit: its option, the amount allowed, and the object that exceeds it. */
typedef struct {
    const char *option, *what;
    uint64_t allowed;
} exceeded;

static exceeded
exceeded_by(const mp_json_packer *t)
{
    const mp_limits *limits = &t->codec->options.limits;

    switch (t->limit) {
      case MP_E_MAX_MAP: return (exceeded){MP_OPTION_NAME(limits.map), "this object has more pairs", limits->map};
      case MP_E_MAX_ARRAY:
        return (exceeded){MP_OPTION_NAME(limits.array), "this array has more elements", limits->array};
      case MP_E_MAX_STRING:
        return (exceeded){MP_OPTION_NAME(limits.string), "this string has more bytes", limits->string};
      case MP_OK:
        return (exceeded){MP_OPTION_NAME(max_bytes), "the text has more bytes", t->codec->options.max_bytes};
      case MP_E_MAX_EXT: return (exceeded){MP_OPTION_NAME(limits.ext), "this Integer takes more bytes", limits->ext};
      default:
        return (exceeded){MP_OPTION_NAME(limits.objects), "the text has more values and keys", limits->objects};
    }
}

static VALUE
fault_words(const mp_json_packer *t)
{
    const uint8_t *at = t->c.at;

    switch (t->c.fault) {
      case MP_JSON_UTF8: return rb_enc_sprintf(mp_utf8, "byte 0x%02x is not UTF-8", *at);
      case MP_JSON_CONTROL:
        return rb_enc_sprintf(mp_utf8, "a string has the control character \\u%04x, which must be escaped", *at);
      case MP_JSON_ESCAPE:
        return rb_enc_sprintf(mp_utf8, "there is no escape such as %" PRIsVALUE, shown_input(t, at));
      case MP_JSON_SURROGATE: return rb_utf8_str_new_cstr("half of a pair of surrogates");
      case MP_JSON_NUMBER:
        return rb_enc_sprintf(mp_utf8, "no number starts with a zero and another digit, as %" PRIsVALUE " does",
                              quoted(t, at));
      case MP_JSON_LARGE: return rb_enc_sprintf(mp_utf8, "%" PRIsVALUE " is too large for a Float", quoted(t, at));
      case MP_JSON_BIG:
        if (t->codec->types && t->codec->types->integer) {
            return rb_enc_sprintf(mp_utf8, "the Integer %" PRIsVALUE " has more than %d digits", quoted(t, at),
                                  MP_JSON_BIGNUM_MOST);
        }
        return rb_enc_sprintf(mp_utf8, "the Integer %" PRIsVALUE " has more than 64 bits; register_common(:bigint) on "
                              "a Factory packs it", quoted(t, at));
      case MP_JSON_TWICE: return rb_enc_sprintf(mp_utf8, "the key %" PRIsVALUE " is there twice", quoted(t, at));
      case MP_JSON_DEPTH:
        return rb_enc_sprintf(mp_utf8, "nested more than %u levels deep (max_depth: allows more)", t->max_depth);
      case MP_JSON_LIMIT: {
        exceeded by = exceeded_by(t);
        return rb_enc_sprintf(mp_utf8, "%s is %" PRIu64 ", but %s", by.option, by.allowed, by.what);
      }
      default:
        return rb_enc_sprintf(mp_utf8, "expected %s, got %" PRIsVALUE, t->c.expected, shown_input(t, at));
    }
}

void
mp_json_raise(mp_json_packer *t, mp_json_origin origin)
{
    bool limit = t->c.fault == MP_JSON_LIMIT;
    VALUE klass = t->c.fault == MP_JSON_DEPTH ? eStackError : limit ? eLimitError : eJSONError;
    VALUE words = fault_words(t), path = mp_json_path(t), error;
    mp_json_origin at = origin;

    mp_json_pass(&at, t->start, t->c.at);
    if (!NIL_P(path) && RSTRING_LEN(path) > 1) rb_str_catf(words, ", at %" PRIsVALUE, mp_error_path_shown(path));
    rb_str_catf(words, ", line %" PRIuSIZE ", column %" PRIuSIZE, at.line + 1, at.column + 1);
    mp_json_append_whole(words, &origin);
    error = mp_error_at(klass, words, at.offset);
    rb_ivar_set(error, id_path, path);
    rb_ivar_set(error, id_line, SIZET2NUM(at.line + 1));
    rb_ivar_set(error, id_column, SIZET2NUM(at.column + 1));
    if (limit) {
        rb_ivar_set(error, id_limit, ID2SYM(rb_intern(exceeded_by(t).option)));
        rb_ivar_set(error, id_value, ULL2NUM(exceeded_by(t).allowed + 1));
    }
    rb_exc_raise(error);
}

void
Init_manypack_json_error(void)
{
    eJSONError = mp_const("Manypack::JSONError");
    eStackError = mp_const("Manypack::StackError");
    eLimitError = mp_const("Manypack::LimitError");
    id_line = rb_intern("@line");
    id_column = rb_intern("@column");
    id_path = rb_intern("path"); /* the variable that DecodeError#path returns: base/error.c */
    id_limit = rb_intern("@limit");
    id_value = rb_intern("@value");
}
