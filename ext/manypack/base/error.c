/* The errors of unpacking. Only this file turns a status of the core into an exception with its offset and path. */
#include "base/error.h"

#include "base/error_path.h"
#include "base/options.h"
#include "core/timestamp.h"

static VALUE mDecodeError;
static VALUE eMalformedFormatError, eStackError, eUnexpectedTypeError, eUnknownExtTypeError;
static VALUE eTruncatedError, eLimitError, eShapeError;
static ID id_offset, id_input, id_source, id_path, id_record_path;

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

/*
 * Avoids rb_exc_new_str: with YJIT, Ruby 4.0 may push another method's frame there, and the receiver of the running
 * method would no longer be the reader of the input.
 */
VALUE
mp_error_new(VALUE klass, VALUE words)
{
    return rb_class_new_instance(1, &words, klass);
}

/* --- where an error is -------------------------------------------------------------------------------- */

/* How much of a block an error copies. Objects after that have no path. */
enum { COPY_MAX = 4096 };

static VALUE
block_copy(const uint8_t *start, const uint8_t *end)
{
    return rb_obj_freeze(rb_str_new((const char *)start, end - start < COPY_MAX ? end - start : COPY_MAX));
}

mp_message
mp_message_of(VALUE source, const uint8_t *start, const uint8_t *end, size_t before, size_t origin, size_t offset)
{
    const uint8_t *message;

    if (origin > offset ? origin - offset > before : offset - origin > (size_t)(end - start)) return MP_NO_MESSAGE;
    message = origin > offset ? start - (origin - offset) : start + (offset - origin);
    if (!source) return (mp_message){.source = block_copy(message, end), .offset = offset};
    return (mp_message){.source = source, .start = (size_t)(message - (const uint8_t *)RSTRING_PTR(source)),
                        .offset = offset};
}

/* Stores the message in the error: #path is computed from it on demand. */
static void
set_message(VALUE error, size_t offset, mp_message message)
{
    if (message.source) {
        rb_ivar_set(error, id_source, rb_str_new_frozen(message.source));
        rb_ivar_set(error, rb_intern("message_start"), SIZET2NUM(message.start));
        rb_ivar_set(error, rb_intern("at"), SIZET2NUM(message.start + (offset - message.offset)));
    } else if (RTEST(rb_ivar_defined(error, id_source))) {
        rb_ivar_set(error, id_source, Qnil);
        rb_ivar_set(error, id_path, Qnil);
    }
}

/* Sets the offset in the input of the current method. */
static void
set_offset(VALUE error, size_t offset)
{
    rb_ivar_set(error, id_offset, SIZET2NUM(offset));
    rb_ivar_set(error, id_input, input_of(rb_current_receiver()));
}

/*
 * call-seq: error.path -> String or nil
 *
 * Returns the place of the offending object in the message, in the syntax of Path. An object in a map key has the path
 * of the map, an object in the body of an ext the path of the ext. Returns nil if the error has no such place, as with
 * extra bytes after the message, or if the bytes of the message are gone.
 *
 * The first call walks through the message to find the path. Until then the error keeps the bytes: a String is kept
 * alive and not copied. An error of an Unpacker has a path only if the Unpacker still had all bytes of the current
 * message, as when they came in one piece.
 *
 * A key that no Path can express, an array, a map, an ext or NaN, is shown as its type. A key of more than 128 bytes is
 * cut. A path of more than 128 steps is shown without its middle.
 *
 *   begin
 *     Manypack.unpack("\x81\xA5users\x92\x01\xC1")
 *   rescue Manypack::DecodeError => error
 *     error.path #=> "$.users[1]"
 *   end
 */
static VALUE
rb_decode_error_path(VALUE self)
{
    VALUE source = rb_attr_get(self, id_source), path;

    if (NIL_P(source)) {
        path = rb_attr_get(self, id_path);
        return NIL_P(path) ? rb_attr_get(self, id_record_path) : path; /* set here, or by YAML */
    }
    path = mp_error_path_of(source, NUM2SIZET(rb_attr_get(self, rb_intern("message_start"))),
                            NUM2SIZET(rb_attr_get(self, rb_intern("at"))));
    if (OBJ_FROZEN(self)) return path;
    rb_ivar_set(self, id_path, path);
    rb_ivar_set(self, id_source, Qnil);
    return path;
}

/* A RecordError has it in @path, other errors in a hidden variable. */
void
mp_error_set_path(VALUE error, VALUE path)
{
    bool record = RTEST(rb_ivar_defined(error, id_record_path));

    rb_ivar_set(error, id_source, Qnil);
    rb_ivar_set(error, record ? id_record_path : id_path, path);
}

/* --- raising ------------------------------------------------------------------------------------------ */

VALUE
mp_error_at(VALUE klass, VALUE words, size_t offset)
{
    VALUE error = mp_error_new(klass, words);

    set_offset(error, offset);
    return error;
}

/* A new error with the message "WORDS, at byte OFFSET". Changes words. */
static VALUE
error_at(VALUE klass, VALUE words, size_t offset)
{
    rb_str_catf(words, ", at byte %" PRIuSIZE, offset);
    return mp_error_at(klass, words, offset);
}

NORETURN(static void raise_at(VALUE klass, VALUE words, size_t offset, mp_message message));

static void
raise_at(VALUE klass, VALUE words, size_t offset, mp_message message)
{
    VALUE error = error_at(klass, words, offset);

    set_message(error, offset, message);
    rb_exc_raise(error);
}

/* Says which bytes are missing after blame.at. */
static VALUE
truncated_message(mp_blame blame)
{
    size_t left = (size_t)(blame.end - blame.at) + blame.bytes_after;
    mp_wire_row row;
    mp_head head = {.kind = MP_NEVER};

    if (left == 0) return rb_str_new_cstr("unexpected end of input");
    row = MP_WIRE[*blame.at];
    if (left < row.head) {
        return rb_sprintf("incomplete %s head: got %" PRIuSIZE " of %d bytes", mp_kind_name((mp_kind)row.kind), left,
                          row.head);
    }
    mp_head_read(blame.at, blame.end, &head);
    return rb_sprintf("incomplete %s: got %" PRIuSIZE " of %" PRIu32 " bytes", mp_kind_name(head.kind),
                      left - (size_t)(head.payload - blame.at), head.n);
}

/*
 * A new error for the end of the input. Its cause is the EOFError that the io raised, if any. With of_gem, raises that
 * EOFError itself, with an offset added, as the msgpack gem does.
 */
static VALUE
error_at_end(mp_blame blame, VALUE klass, VALUE words, size_t offset)
{
    bool ended = blame.eof && !NIL_P(blame.eof);
    VALUE error;

    if (blame.of_gem && ended) {
        if (!OBJ_FROZEN(blame.eof)) set_offset(blame.eof, offset);
        rb_exc_raise(blame.eof);
    }
    error = error_at(klass, words, offset);
    if (ended) rb_ivar_set(error, rb_intern("cause"), blame.eof);
    return error;
}

NORETURN(static void raise_truncated(mp_blame blame, size_t offset));

static void
raise_truncated(mp_blame blame, size_t offset)
{
    VALUE klass = blame.of_gem ? rb_eEOFError : eTruncatedError;
    VALUE error = error_at_end(blame, klass, truncated_message(blame), offset);

    set_message(error, offset, blame.message);
    rb_ivar_set(error, rb_intern("@start"), SIZET2NUM(blame.complete));
    rb_exc_raise(error);
}

void
mp_raise_no_more_objects(mp_blame blame, size_t offset)
{
    rb_exc_raise(error_at_end(blame, rb_eEOFError, rb_str_new_cstr("no more objects"), offset));
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
    rb_exc_raise(mp_error_new(eMalformedFormatError, timestamp_message(status, size)));
}

void
mp_raise_unknown_ext(int type, size_t offset, mp_message message)
{
    const char *way = type == MP_TIMESTAMP_TYPE ? "timestamp: true unpacks it as a Time"
                                                : "allow_unknown_ext: true keeps its bytes";

    raise_at(eUnknownExtTypeError, rb_sprintf("ext type %d is not registered; %s", type, way), offset, message);
}

void
mp_raise_unexpected(mp_kind expected, mp_kind found, size_t offset, mp_message message)
{
    raise_at(eUnexpectedTypeError,
             rb_sprintf("expected %s, got %s", mp_kind_name(expected), mp_kind_name(found)), offset, message);
}

NORETURN(static void raise_with_path(VALUE klass, VALUE words, size_t offset, mp_message message));

/* Raises a new error with the message "WORDS, at PATH, byte OFFSET". Changes words. */
static void
raise_with_path(VALUE klass, VALUE words, size_t offset, mp_message message)
{
    VALUE path = mp_error_path_of(message.source, message.start, message.start + (offset - message.offset)), error;

    if (!NIL_P(path)) rb_str_catf(words, ", at %" PRIsVALUE, mp_error_path_shown(path));
    rb_str_catf(words, NIL_P(path) ? ", at byte %" PRIuSIZE : ", byte %" PRIuSIZE, offset);
    error = mp_error_at(klass, words, offset);
    set_message(error, offset, message);
    rb_exc_raise(error);
}

void
mp_raise_shape(const char *expected, VALUE found, size_t offset, mp_message message)
{
    raise_with_path(eShapeError, rb_enc_sprintf(mp_utf8, "expected %s, got %" PRIsVALUE, expected, found), offset,
                    message);
}

void
mp_raise_not_in_json(VALUE words, size_t offset, mp_message message)
{
    raise_with_path(eUnexpectedTypeError, words, offset, message);
}

void
mp_raise_past_body(int type, size_t offset, mp_message message)
{
    VALUE words = rb_sprintf("the unpacker of ext type %d read past the end of its body", type);
    VALUE error = error_at(eMalformedFormatError, words, offset);

    set_message(error, offset - 1, message); /* the last byte of the ext */
    rb_exc_raise(error);
}

void
mp_raise_unread_body(int type, size_t left, size_t offset, mp_message message)
{
    raise_at(eMalformedFormatError,
             rb_sprintf("the unpacker of ext type %d left %" PRIuSIZE " byte%s of its body unread", type, left,
                        left == 1 ? "" : "s"),
             offset, message);
}

VALUE
mp_likeness(VALUE input)
{
    if (!input || !RSTRING_LEN(input) || RSTRING_PTR(input)[0] & 0x80) return rb_str_new(NULL, 0);
    return rb_funcall(rb_const_get(mp_mManypack, rb_intern("Likeness")), rb_intern("of"), 1, input);
}

void
mp_raise_extra_bytes(size_t extra, size_t offset, VALUE input)
{
    VALUE likeness = mp_likeness(input);
    VALUE words = rb_sprintf("%" PRIuSIZE " extra bytes after the deserialized object, at byte %" PRIuSIZE, extra,
                             offset);

    if (RSTRING_LEN(likeness)) rb_str_append(words, likeness);
    else rb_str_cat_cstr(words, "; Manypack.split reads many messages, Manypack.foreach a file of them");
    rb_exc_raise(mp_error_at(eMalformedFormatError, words, offset));
}

void
mp_raise_malformed(const char *what, size_t offset, mp_message message)
{
    raise_at(eMalformedFormatError, rb_str_new_cstr(what), offset, message);
}

/* found_text describes the number found in the input, for the error's message. */
NORETURN(static void raise_limit(const char *limit, uint64_t allowed, uint64_t found, VALUE found_text, size_t offset,
                                 mp_message message));

static void
raise_limit(const char *limit, uint64_t allowed, uint64_t found, VALUE found_text, size_t offset, mp_message message)
{
    VALUE words = rb_sprintf("%s is %" PRIu64 ", but the input has %" PRIsVALUE, limit, allowed, found_text);
    VALUE error = error_at(eLimitError, words, offset);

    set_message(error, offset, message);
    rb_ivar_set(error, rb_intern("@limit"), ID2SYM(rb_intern(limit)));
    rb_ivar_set(error, rb_intern("@value"), ULL2NUM(found));
    rb_exc_raise(error);
}

void
mp_raise_max_bytes(size_t allowed, size_t found, size_t offset, mp_message message)
{
    raise_limit(MP_OPTION_NAME(max_bytes), allowed, found, rb_sprintf("at least %" PRIuSIZE " bytes", found), offset,
                message);
}

void
mp_raise_same_hash(size_t allowed, size_t offset)
{
    VALUE text = rb_sprintf("a map with at least %" PRIuSIZE " different keys that have the same hash", allowed + 1);

    raise_limit("max_same_hash", allowed, allowed + 1, text, offset, MP_NO_MESSAGE);
}

void
mp_raise_max_looks(uint64_t allowed, const char *found, size_t offset, mp_message message)
{
    raise_limit("max_looks", allowed, allowed + 1, rb_str_new_cstr(found), offset, message);
}

void
mp_raise_max_path_bytes(size_t allowed, uint64_t found, mp_message message)
{
    VALUE text = rb_sprintf("paths of at least %" PRIu64 " bytes, more than %d times as many", found,
                            MP_PATHS_PER_BYTE);

    raise_limit(MP_OPTION_NAME(max_bytes), allowed, found, text, 0, message);
}

typedef struct {
    const char *option, *unit;
} limit_words;

#define LIMIT_WORDS(X, STATUS, field, type, option, untrusted, unit, text) {option, unit},
static const limit_words words_of_limits[] = {MP_LIMITS_EACH(LIMIT_WORDS, )};

#define LIMIT_VALUE(limits, STATUS, field, type, option, untrusted, unit, text) (limits)->field,

NORETURN(static void raise_declared(mp_status status, mp_blame blame, size_t offset));

/* LimitError for a size or count that a head declares. */
static void
raise_declared(mp_status status, mp_blame blame, size_t offset)
{
    const uint64_t allowed[] = {MP_LIMITS_EACH(LIMIT_VALUE, blame.limits)};
    unsigned limit = mp_limit_of(status);
    const limit_words *words = &words_of_limits[limit];
    mp_head head = {.kind = MP_NEVER};
    const char *article;

    if (status == MP_E_MAX_OBJECTS) {
        raise_limit(words->option, allowed[limit], blame.objects,
                    rb_sprintf("at least %" PRIu64 " %s", blame.objects, words->unit), offset, blame.message);
    }
    mp_head_read(blame.at, blame.end, &head);
    article = head.kind == MP_ARRAY || head.kind == MP_EXT ? "an" : "a";
    raise_limit(words->option, allowed[limit], head.n,
                rb_sprintf("%s %s of %" PRIu32 " %s", article, mp_kind_name(head.kind), head.n, words->unit), offset,
                blame.message);
}

void
mp_raise_status(mp_status status, mp_blame blame)
{
    size_t offset = blame.origin + (size_t)(blame.at - blame.start);
    mp_head head = {.kind = MP_NEVER};

    switch (status) {
      case MP_E_TRUNCATED:
        raise_truncated(blame, offset);
      case MP_E_DEPTH:
      case MP_E_KEY_DEPTH:
        raise_at(eStackError, rb_str_new_cstr(mp_status_text(status)), offset, blame.message);
      case MP_E_TIMESTAMP_SIZE:
      case MP_E_TIMESTAMP_NSEC:
        mp_head_read(blame.at, blame.end, &head);
        raise_at(eMalformedFormatError, timestamp_message(status, head.n), offset, blame.message);
      default:
        if (mp_limit_p(status)) raise_declared(status, blame, offset);
        raise_at(eMalformedFormatError, rb_str_new_cstr(mp_status_text(status)), offset, blame.message);
    }
}

/* rb_str_intern raises the EncodingError that becomes the cause of ours. */
void
mp_raise_malformed_symbol(const uint8_t *p, size_t len, size_t offset, mp_message message)
{
    int raised;

    rb_protect(rb_str_intern, rb_enc_str_new((const char *)p, (long)len, mp_utf8), &raised);
    raise_at(eMalformedFormatError, rb_str_new_cstr("a map key is not valid UTF-8 and cannot become a Symbol"), offset,
             message);
}

void
mp_raise_no_data(void)
{
    raise_at(rb_eEOFError, rb_str_new_cstr("expected a String or an IO, got nil"), 0, MP_NO_MESSAGE);
}

/* --- errors of handlers ----------------------------------------------------------------------------- */

bool
mp_decode_error_p(VALUE error)
{
    if (RTEST(rb_obj_is_kind_of(error, mDecodeError))) return true;
    return rb_obj_class(error) == rb_eEOFError && !NIL_P(rb_attr_get(error, id_input)); /* under MessagePack */
}

bool
mp_error_of_p(VALUE error, VALUE reader)
{
    return rb_attr_get(error, id_input) == input_of(reader);
}

static VALUE
unfrozen(VALUE error)
{
    VALUE options;

    if (!OBJ_FROZEN(error)) return error;
    options = rb_hash_new();
    rb_hash_aset(options, ID2SYM(rb_intern("freeze")), Qfalse);
    return rb_funcallv_kw(error, rb_intern("clone"), 1, &options, RB_PASS_KEYWORDS);
}

VALUE
mp_error_message(VALUE error)
{
    VALUE message = rb_obj_as_string(error);

    if (rb_enc_asciicompat(rb_enc_get(message))) return message;
    return rb_str_encode(message, rb_enc_from_encoding(mp_utf8), ECONV_INVALID_REPLACE | ECONV_UNDEF_REPLACE, Qnil);
}

VALUE
mp_error_with_words(VALUE error, VALUE words)
{
    VALUE copy = rb_funcall(unfrozen(error), rb_intern("exception"), 1, words);

    rb_set_errinfo(Qnil); /* otherwise Ruby makes the original the cause of its copy */
    return copy;
}

/* The error's message, with the offset of the ext to blame appended. */
static VALUE
message_with_ext(VALUE error, int type, size_t offset)
{
    VALUE message = mp_error_message(error);

    return NIL_P(rb_attr_get(error, id_offset))
        ? rb_sprintf("%" PRIsVALUE ", at byte %" PRIuSIZE, message, offset)
        : rb_sprintf("%" PRIsVALUE ", in the unpacker of ext type %d, at byte %" PRIuSIZE, message, type, offset);
}

/*
 * A copy of an error with new words and another offset, because the user may raise the original again. The copy keeps
 * its path unless a message is given. A TruncatedError becomes the cause of an error of another class: it is about
 * other bytes, and must not be mistaken for the end of this input.
 */
static VALUE
blaming(VALUE error, VALUE words, size_t offset, const mp_message *message)
{
    bool ends = RTEST(rb_obj_is_kind_of(error, rb_eEOFError));
    VALUE copy = ends ? mp_error_new(eMalformedFormatError, words) : mp_error_with_words(error, words);

    set_offset(copy, offset);
    if (message) set_message(copy, offset, *message);
    return copy;
}

void
mp_raise_handler_error(VALUE error, int type, VALUE body, size_t offset, mp_message message)
{
    if (rb_attr_get(error, id_input) != input_of(body)) {
        rb_exc_raise(blaming(error, message_with_ext(error, type, offset), offset, &message));
    }
    error = unfrozen(error);
    set_offset(error, NUM2SIZET(rb_attr_get(error, id_offset)));
    set_message(error, offset, message);
    rb_set_errinfo(Qnil);
    rb_exc_raise(error);
}

/* True for a RecordError without a cause: its backtrace tells nothing about user code. */
static bool
plain_record_error_p(VALUE error)
{
    return RTEST(rb_ivar_defined(error, id_record_path)) && NIL_P(rb_funcall(error, rb_intern("cause"), 0));
}

void
mp_error_copy_record(VALUE error, VALUE copy)
{
    static const char *const names[] = {"@path", "@longer_path", "@record", "@member", "@errors", "@line", "@column",
                                        "@code", "@expected", "@got", "@reason"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        VALUE value = rb_attr_get(error, rb_intern(names[i]));

        if (!NIL_P(value)) rb_ivar_set(copy, rb_intern(names[i]), value);
    }
}

/*
 * A copy of a RecordError with new words and no backtrace: raising an error again makes Ruby format its backtrace,
 * which would take longer than everything else.
 */
static VALUE
record_error_anew(VALUE error, VALUE words)
{
    VALUE copy = mp_error_new(rb_obj_class(error), words);

    mp_error_copy_record(error, copy);
    rb_set_errinfo(Qnil); /* otherwise Ruby makes the original the cause of its copy */
    return copy;
}

/* Copies an error about the message that starts at `start` of a stream, with its offset in the stream. */
static VALUE
in_stream(VALUE error, size_t start)
{
    VALUE offset = rb_attr_get(error, id_offset), message = mp_error_message(error), words, copy;
    size_t in_all = start + (NIL_P(offset) ? 0 : NUM2SIZET(offset));

    words = rb_sprintf("%" PRIsVALUE ", in the message at byte %" PRIuSIZE, message, start);
    if (!plain_record_error_p(error)) return blaming(error, words, in_all, NULL);
    copy = record_error_anew(error, words);
    set_offset(copy, in_all);
    return copy;
}

void
mp_raise_message_error(VALUE error, size_t start)
{
    VALUE moved = in_stream(error, start), errors = rb_attr_get(error, rb_intern("@errors")), all;
    long i;

    if (RB_TYPE_P(errors, T_ARRAY)) {
        all = rb_ary_new();
        for (i = 0; i < RARRAY_LEN(errors); i++) rb_ary_push(all, in_stream(rb_ary_entry(errors, i), start));
        rb_ivar_set(moved, rb_intern("@errors"), all);
    }
    rb_exc_raise(moved);
}

void
mp_raise_in_use(const char *what)
{
    rb_raise(rb_eRuntimeError, "%s is in use by another call: give each Thread, Fiber and handler its own", what);
}

void
mp_raise_torn(const char *what)
{
    rb_raise(rb_eRuntimeError, "an exception interrupted the io's read or write, so it is not known how many bytes "
             "passed: clear or reset the %s, which discards them, to go on", what);
}

void
Init_manypack_error(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE mError = rb_define_module_under(mManypack, "DecodeError");

    mDecodeError = mp_const("Manypack::DecodeError");
    eMalformedFormatError = mp_const("Manypack::MalformedFormatError");
    eStackError = mp_const("Manypack::StackError");
    eUnexpectedTypeError = mp_const("Manypack::UnexpectedTypeError");
    eShapeError = mp_const("Manypack::ShapeError");
    eUnknownExtTypeError = mp_const("Manypack::UnknownExtTypeError");
    eTruncatedError = mp_const("Manypack::TruncatedError");
    eLimitError = mp_const("Manypack::LimitError");
    id_offset = rb_intern("@offset");
    id_input = rb_intern("input"); /* no @: Ruby code cannot see it, nor those of the path */
    id_source = rb_intern("source");
    id_path = rb_intern("path");
    id_record_path = rb_intern("@path");

    rb_define_method(mError, "path", rb_decode_error_path, 0);
}
