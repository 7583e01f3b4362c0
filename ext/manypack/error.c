/* The only file that turns a status into an exception: its class, what was expected and found, and the byte offset. */
#include "error.h"

#include "options.h"

static VALUE mDecodeError;
static VALUE eMalformedFormatError, eStackError, eUnexpectedTypeError, eUnknownExtTypeError;
static VALUE eTruncatedError, eLimitError, eNestingError;
static ID id_offset, id_input, id_limit, id_value, id_clone, id_freeze, id_exception;

/*
 * Identifies the input that an error's offset refers to, by the object that reads it: the receiver of the running
 * method, for example an Unpacker. The error holds only a keyed hash of the object's address, which neither keeps the
 * object alive nor reveals the address.
 */
static VALUE
input_of(VALUE reader)
{
    return LONG2FIX((long)(rb_memhash(&reader, sizeof(reader)) >> 2));
}

/* Sets the offset in the input of the current method. */
static void
set_offset(VALUE error, size_t offset)
{
    rb_ivar_set(error, id_offset, SIZET2NUM(offset));
    rb_ivar_set(error, id_input, input_of(rb_current_receiver()));
}

/* Raises klass with "MESSAGE, at byte OFFSET"; the message is fresh. */
NORETURN(static void raise_at(VALUE klass, VALUE message, size_t offset));

static void
raise_at(VALUE klass, VALUE message, size_t offset)
{
    VALUE error;

    rb_str_catf(message, ", at byte %" PRIuSIZE, offset);
    error = rb_exc_new_str(klass, message);
    set_offset(error, offset);
    rb_exc_raise(error);
}

static const char *
kind_name(mp_kind kind)
{
    switch (kind) {
      case MP_STR: return "str";
      case MP_BIN: return "bin";
      case MP_EXT: return "ext";
      case MP_ARRAY: return "array";
      case MP_MAP: return "map";
      case MP_FLOAT32: return "float32";
      case MP_FLOAT64: return "float64";
      case MP_UINT: return "uint";
      case MP_INT: return "int";
      case MP_NIL: return "nil";
      case MP_TRUE: return "true";
      case MP_FALSE: return "false";
      case MP_FIXINT: return "fixint";
      default: return "object";
    }
}

/* Says what is missing after blame.at. */
static VALUE
truncated_message(mp_blame blame)
{
    size_t left = (size_t)(blame.end - blame.at) + blame.bytes_after;
    mp_wire_row row;
    mp_head head = {.kind = MP_NEVER};

    if (left == 0) return rb_str_new_cstr("unexpected end of input");
    row = MP_WIRE[*blame.at];
    if (left < row.head) {
        return rb_sprintf("incomplete %s head: got %" PRIuSIZE " of %d bytes", kind_name((mp_kind)row.kind), left,
                          row.head);
    }
    mp_head_read(blame.at, blame.end, &head);
    return rb_sprintf("incomplete %s: got %" PRIuSIZE " of %" PRIu32 " bytes", kind_name(head.kind),
                      left - (size_t)(head.payload - blame.at), head.n);
}

static VALUE
timestamp_message(mp_status status, size_t size)
{
    if (status != MP_E_TIMESTAMP_SIZE) return rb_str_new_cstr(mp_status_text(status));
    return rb_sprintf("%s, got %" PRIuSIZE, mp_status_text(status), size);
}

void
mp_raise_timestamp(mp_status status, size_t size)
{
    rb_exc_raise(rb_exc_new_str(eMalformedFormatError, timestamp_message(status, size)));
}

void
mp_raise_status(mp_status status, mp_blame blame)
{
    size_t offset = blame.origin + (size_t)(blame.at - blame.start);
    mp_head head = {.kind = MP_NEVER};

    switch (status) {
      case MP_E_TRUNCATED:
        raise_at(eTruncatedError, truncated_message(blame), offset);
      case MP_E_DEPTH:
      case MP_E_KEY_DEPTH:
        raise_at(eStackError, rb_str_new_cstr(mp_status_text(status)), offset);
      case MP_E_TIMESTAMP_SIZE:
      case MP_E_TIMESTAMP_NSEC:
        mp_head_read(blame.at, blame.end, &head);
        raise_at(eMalformedFormatError, timestamp_message(status, head.n), offset);
      default:
        raise_at(eMalformedFormatError, rb_str_new_cstr(mp_status_text(status)), offset);
    }
}

void
mp_raise_unknown_ext(int type, size_t offset)
{
    raise_at(eUnknownExtTypeError, rb_sprintf("ext type %d is not registered", type), offset);
}

void
mp_raise_unexpected(mp_kind expected, mp_kind found, size_t offset)
{
    raise_at(eUnexpectedTypeError, rb_sprintf("expected %s, got %s", kind_name(expected), kind_name(found)), offset);
}

void
mp_raise_past_body(int type, size_t offset)
{
    raise_at(eMalformedFormatError, rb_sprintf("the unpacker of ext type %d read past the end of its body", type),
             offset);
}

void
mp_raise_unread_body(int type, size_t left, size_t offset)
{
    raise_at(eMalformedFormatError,
             rb_sprintf("the unpacker of ext type %d left %" PRIuSIZE " byte%s of its body unread", type, left,
                        left == 1 ? "" : "s"),
             offset);
}

void
mp_raise_extra_bytes(size_t extra, size_t offset)
{
    raise_at(eMalformedFormatError, rb_sprintf("%" PRIuSIZE " extra bytes after the deserialized object", extra),
             offset);
}

void
mp_raise_malformed(const char *what, size_t offset)
{
    raise_at(eMalformedFormatError, rb_str_new_cstr(what), offset);
}

/* found_text says what the input has. */
NORETURN(static void raise_limit(const char *limit, uint64_t allowed, uint64_t found, VALUE found_text, size_t offset));

static void
raise_limit(const char *limit, uint64_t allowed, uint64_t found, VALUE found_text, size_t offset)
{
    VALUE message = rb_sprintf("%s is %" PRIu64 ", but the input has %" PRIsVALUE ", at byte %" PRIuSIZE,
                               limit, allowed, found_text, offset);
    VALUE error = rb_exc_new_str(eLimitError, message);

    set_offset(error, offset);
    rb_ivar_set(error, id_limit, ID2SYM(rb_intern(limit)));
    rb_ivar_set(error, id_value, ULL2NUM(found));
    rb_exc_raise(error);
}

void
mp_raise_max_bytes(size_t allowed, size_t found, size_t offset)
{
    raise_limit(MP_OPTION_NAME(max_bytes), allowed, found, rb_sprintf("at least %" PRIuSIZE " bytes", found), offset);
}

void
mp_raise_same_hash(size_t allowed, size_t offset)
{
    VALUE text = rb_sprintf("a map with at least %" PRIuSIZE " different keys that have the same hash", allowed + 1);

    raise_limit("max_same_hash", allowed, allowed + 1, text, offset);
}

typedef struct {
    const char *option, *unit;
} limit_words;

#define LIMIT_WORDS(X, STATUS, field, type, option, untrusted, unit, text) {option, unit},
static const limit_words words_of_limits[] = {MP_LIMITS_EACH(LIMIT_WORDS, )};

#define LIMIT_VALUE(limits, STATUS, field, type, option, untrusted, unit, text) (limits)->field,

void
mp_raise_limit(mp_status status, const mp_limits *limits, uint64_t objects, mp_blame blame)
{
    const uint64_t allowed[] = {MP_LIMITS_EACH(LIMIT_VALUE, limits)};
    unsigned limit = mp_limit_of(status);
    const limit_words *words = &words_of_limits[limit];
    size_t offset = blame.origin + (size_t)(blame.at - blame.start);
    mp_head head = {.kind = MP_NEVER};
    const char *article;

    if (status == MP_E_MAX_OBJECTS) {
        raise_limit(words->option, allowed[limit], objects,
                    rb_sprintf("at least %" PRIu64 " %s", objects, words->unit), offset);
    }
    mp_head_read(blame.at, blame.end, &head);
    article = head.kind == MP_ARRAY || head.kind == MP_EXT ? "an" : "a";
    raise_limit(words->option, allowed[limit], head.n,
                rb_sprintf("%s %s of %" PRIu32 " %s", article, kind_name(head.kind), head.n, words->unit), offset);
}

/* rb_str_intern raises the EncodingError that becomes the cause of ours. */
void
mp_raise_malformed_symbol(const uint8_t *p, size_t len, size_t offset)
{
    int raised;

    rb_protect(rb_str_intern, rb_enc_str_new((const char *)p, (long)len, mp_utf8), &raised);
    raise_at(eMalformedFormatError, rb_str_new_cstr("a map key is not valid UTF-8 and cannot become a Symbol"), offset);
}

void
mp_raise_no_data(void)
{
    raise_at(eTruncatedError, rb_str_new_cstr("expected a String or an IO, got nil"), 0);
}

void
mp_raise_bigint_size(size_t size)
{
    rb_raise(eMalformedFormatError, "a bigint must have a sign byte and chunks of 4 bytes, got %" PRIuSIZE " bytes",
             size);
}

/* --- errors of handlers ----------------------------------------------------------------------------- */

bool
mp_decode_error_p(VALUE error)
{
    return RTEST(rb_obj_is_kind_of(error, mDecodeError));
}

static VALUE
unfrozen(VALUE error)
{
    VALUE options;

    if (!OBJ_FROZEN(error)) return error;
    options = rb_hash_new();
    rb_hash_aset(options, ID2SYM(id_freeze), Qfalse);
    return rb_funcallv_kw(error, id_clone, 1, &options, RB_PASS_KEYWORDS);
}

/* The message, in an ASCII-compatible encoding. */
static VALUE
message_of(VALUE error)
{
    VALUE message = rb_obj_as_string(error);

    if (rb_enc_asciicompat(rb_enc_get(message))) return message;
    return rb_str_encode(message, rb_enc_from_encoding(mp_utf8), ECONV_INVALID_REPLACE | ECONV_UNDEF_REPLACE, Qnil);
}

/* The message of an error with the offset of the ext that is to blame. */
static VALUE
message_with_ext(VALUE error, int type, size_t offset)
{
    VALUE message = message_of(error);

    return NIL_P(rb_attr_get(error, id_offset))
        ? rb_sprintf("%" PRIsVALUE ", at byte %" PRIuSIZE, message, offset)
        : rb_sprintf("%" PRIsVALUE ", in the unpacker of ext type %d, at byte %" PRIuSIZE, message, type, offset);
}

NORETURN(static void raise_blaming_ext(VALUE error, int type, size_t offset));

/*
 * A TruncatedError is about another message, and this input has not ended: it becomes the cause of an error that cannot
 * be mistaken for the end of the input. For any other error a copy is raised, because the user may raise it again.
 */
static void
raise_blaming_ext(VALUE error, int type, size_t offset)
{
    VALUE message = message_with_ext(error, type, offset), blaming;

    if (RTEST(rb_obj_is_kind_of(error, eTruncatedError))) {
        blaming = rb_exc_new_str(eMalformedFormatError, message);
    } else {
        blaming = rb_funcall(unfrozen(error), id_exception, 1, message);
        rb_set_errinfo(Qnil); /* otherwise Ruby makes the original the cause of its copy */
    }
    set_offset(blaming, offset);
    rb_exc_raise(blaming);
}

void
mp_raise_handler_error(VALUE error, int type, VALUE body, size_t offset)
{
    if (rb_attr_get(error, id_input) != input_of(body)) raise_blaming_ext(error, type, offset);
    error = unfrozen(error);
    set_offset(error, NUM2SIZET(rb_attr_get(error, id_offset)));
    rb_set_errinfo(Qnil);
    rb_exc_raise(error);
}

void
mp_raise_in_use(const char *what)
{
    rb_raise(rb_eRuntimeError, "%s is in use by another call: give each Thread, Fiber and handler its own", what);
}

void
mp_raise_nesting(unsigned long max_depth, VALUE path)
{
    rb_raise(eNestingError, "nested more than %lu containers deep, at %" PRIsVALUE, max_depth, path);
}

void
Init_manypack_error(void)
{
    mDecodeError = mp_const("Manypack::DecodeError");
    eMalformedFormatError = mp_const("Manypack::MalformedFormatError");
    eStackError = mp_const("Manypack::StackError");
    eUnexpectedTypeError = mp_const("Manypack::UnexpectedTypeError");
    eUnknownExtTypeError = mp_const("Manypack::UnknownExtTypeError");
    eTruncatedError = mp_const("Manypack::TruncatedError");
    eLimitError = mp_const("Manypack::LimitError");
    eNestingError = mp_const("Manypack::NestingError");
    id_offset = rb_intern("@offset");
    id_input = rb_intern("input"); /* hidden from Ruby code */
    id_limit = rb_intern("@limit");
    id_value = rb_intern("@value");
    id_clone = rb_intern("clone");
    id_freeze = rb_intern("freeze");
    id_exception = rb_intern("exception");
}
