/* The messages of RecordErrors, which a person can send back to whoever made the bytes. */
#include "record/record_error.h"

#include "base/error.h"
#include "base/pack_error.h"
#include "core/utf8.h"
#include "unpack/decode.h"

/*
 * How many bytes of a str an error shows, how many errors a summary quotes, how many errors are kept, and how many
 * bytes of paths. A hostile message can have an error in each byte, and an error takes hundreds of bytes.
 */
enum { TEXT_SHOWN = 40, ERRORS_SHOWN = 3, ERRORS_KEPT = 1000, PATH_BYTES_KEPT = 256 * 1024 };

static VALUE eRecordError, mExcerpt;

/*
 * Describes what is wrong, for programs that show or translate it. The words are UTF-8 Strings for the sender of the
 * message: they name no class of the program and no type of MessagePack. Unused members are 0.
 */
typedef struct {
    const char *code; /* such as "length": RecordError#code */
    VALUE expected;   /* continues "must be": "1..20 characters", "a multiple of 5" */
    VALUE got;        /* continues "is": "25 characters"; see got_at */
    VALUE reason;     /* instead of `expected` and `got`: the whole, such as "must be even" */
    const mp_place *missing; /* the missing field, which has no place in the message; else NULL */
} record_fault;

/* --- text ------------------------------------------------------------------------------------------- */

static VALUE
utf8_words(const char *words)
{
    return rb_utf8_str_new_cstr(words);
}

/* Appends text. rb_sprintf would take several times as long, and an error consists of five such pieces. */
static VALUE
joined(VALUE text, const char *between, VALUE more)
{
    rb_str_cat_cstr(text, between);
    return rb_str_append(text, more);
}

static void
append_number(VALUE text, const char *before, size_t number)
{
    char digits[24];

    rb_str_cat_cstr(text, before);
    rb_str_cat(text, digits, snprintf(digits, sizeof(digits), "%" PRIuSIZE, number));
}

/* --- what is there ---------------------------------------------------------------------------------- */

/* An object that an error is about: of a message, of the JSON text behind it, or a Ruby object (from.c). */
typedef struct {
    mp_kind kind;
    VALUE object;        /* a given one or a number; of a Symbol, its text; else nil */
    const uint8_t *text; /* of a str, bin or String */
    size_t present;      /* bytes of text: the message may end before them all */
    size_t n;            /* of a str, bin, array or map */
    int ext_type;
} seen_object;

static seen_object
see_given(VALUE given)
{
    seen_object seen = {.kind = mp_given_kind(given), .object = RB_SYMBOL_P(given) ? rb_sym2str(given) : given};

    if (seen.kind == MP_MAP) seen.n = RHASH_SIZE(given);
    if (seen.kind == MP_ARRAY) seen.n = (size_t)RARRAY_LEN(given);
    if (RB_TYPE_P(seen.object, T_STRING)) {
        seen.text = (const uint8_t *)RSTRING_PTR(seen.object);
        seen.present = seen.n = (size_t)RSTRING_LEN(seen.object);
    }
    return seen;
}

static seen_object
see(mp_loader *l, const uint8_t *at)
{
    seen_object seen = {.object = Qnil};
    size_t left;
    mp_head head;

    if (l->given != Qundef) return see_given(l->given);
    if (mp_head_read(at, l->d.end, &head) != MP_OK) mp_decoder_raise(&l->d, MP_E_TRUNCATED, at);
    left = (size_t)(l->d.end - head.payload);
    seen.kind = head.kind;
    seen.n = head.n;
    seen.text = head.payload;
    seen.present = head.n < left ? head.n : left;
    seen.ext_type = head.ext_type;
    if (mp_kind_bit(head.kind) & (MP_KIND_BITS_INTEGER | MP_KIND_BITS_FLOAT)) {
        seen.object = mp_decode_short(mp_loader_options(l), &at, l->d.end);
    }
    return seen;
}

/* The first bytes of a text, in quotes. */
static VALUE
quoted_text(const seen_object *seen)
{
    long n = (long)(seen->present < TEXT_SHOWN ? seen->present : TEXT_SHOWN);
    VALUE text = rb_enc_str_new((const char *)seen->text, n, mp_utf8), valid = rb_str_scrub(text, Qnil);

    return rb_inspect(NIL_P(valid) ? text : valid);
}

static VALUE
shown_text(const seen_object *seen)
{
    VALUE text = quoted_text(seen);

    return seen->present <= TEXT_SHOWN ? text : rb_sprintf("%" PRIsVALUE "... of %" PRIuSIZE " bytes", text, seen->n);
}

static VALUE
shown_number(VALUE number)
{
    if (RB_INTEGER_TYPE_P(number) && rb_absint_size(number, NULL) > sizeof(uint64_t)) {
        return utf8_words("Integer of more than 64 bits");
    }
    return rb_sprintf("%" PRIsVALUE " %" PRIsVALUE, rb_obj_class(number), rb_inspect(number));
}

static VALUE
shown_ext(const mp_loader *l, const seen_object *seen)
{
    if (l->given != Qundef) return rb_str_dup(rb_class_path(rb_obj_class(seen->object)));
    return l->json ? utf8_words("Integer of more than 64 bits") : rb_sprintf("ext of type %d", seen->ext_type);
}

/*
 * Describes an object of a message: "str \"12\"", "map of 3", "Integer 12"; of JSON "string \"12\"", "object of 3"; a
 * Ruby object: "String \"12\"", "Hash of 3", "Time", without a call of its methods.
 */
static VALUE
describe(mp_loader *l, const uint8_t *at)
{
    seen_object seen = see(l, at);
    bool given = l->given != Qundef;
    VALUE words;

    switch (seen.kind) {
      case MP_NIL: return utf8_words(l->json ? "null" : "nil");
      case MP_TRUE: return utf8_words("true");
      case MP_FALSE: return utf8_words("false");
      case MP_EXT: return shown_ext(l, &seen);
      case MP_MAP: return rb_sprintf("%s of %" PRIuSIZE, given ? "Hash" : l->json ? "object" : "map", seen.n);
      case MP_ARRAY: return rb_sprintf("%s of %" PRIuSIZE, given ? "Array" : "array", seen.n);
      case MP_BIN:
        if (!given) return rb_sprintf("bin of %" PRIuSIZE " bytes", seen.n);
        /* fall through */
      case MP_STR:
        words = utf8_words(given ? RB_SYMBOL_P(l->given) ? "Symbol" : "String" : l->json ? "string" : "str");
        words = joined(words, " ", shown_text(&seen));
        RB_GC_GUARD(seen.object);
        return words;
      default: return shown_number(seen.object);
    }
}

/* Describes a key. A str is shown without the word "str", because most keys are strs. */
static VALUE
key_text(mp_loader *l, const uint8_t *at)
{
    seen_object seen = see(l, at);
    bool text = l->given != Qundef ? RB_TYPE_P(l->given, T_STRING) : seen.kind == MP_STR;

    return text ? shown_text(&seen) : describe(l, at);
}

/* True for a String in another encoding that has more than ASCII. */
static bool
seen_binary_p(const seen_object *seen)
{
    return !mp_utf8_index_p(RB_ENCODING_GET(seen->object)) && !mp_ascii_p(seen->text, seen->n);
}

/* An object in words for `got`, for whoever sent it: "null", "12", "\"text\"", "an array". */
static VALUE
got_at(mp_loader *l, const uint8_t *at)
{
    seen_object seen = see(l, at);
    VALUE text;

    switch (seen.kind) {
      case MP_NIL: return utf8_words("null");
      case MP_TRUE: return utf8_words("true");
      case MP_FALSE: return utf8_words("false");
      case MP_MAP: return utf8_words("an object");
      case MP_ARRAY: return utf8_words("an array");
      case MP_EXT: return utf8_words(l->json ? "a large integer" : "something else");
      case MP_BIN:
      case MP_STR: break;
      default: return RB_TYPE_P(seen.object, T_BIGNUM) ? utf8_words("a large integer") : rb_inspect(seen.object);
    }
    if (l->given == Qundef ? seen.kind == MP_BIN : seen_binary_p(&seen)) return utf8_words("binary data");
    text = quoted_text(&seen);
    RB_GC_GUARD(seen.object);
    return seen.present <= TEXT_SHOWN ? text : rb_str_cat_cstr(text, "...");
}

/* For a broken LENGTH: the number of elements, pairs or bytes, or the text itself. */
static VALUE
got_size(mp_loader *l, const uint8_t *at)
{
    seen_object seen = see(l, at);
    VALUE size = rb_utf8_str_new(NULL, 0);

    if (seen.kind != MP_MAP && seen.kind != MP_ARRAY && (seen.kind != MP_BIN || l->given != Qundef)) {
        return got_at(l, at);
    }
    append_number(size, "", seen.n);
    return size;
}

/* --- raising ---------------------------------------------------------------------------------------- */

/* The name of a member; nil for MP_FIELD_NONE. */
static VALUE
member_of(const mp_record *record, uint32_t field)
{
    return field == MP_FIELD_NONE ? Qnil : record->fields[field].name;
}

/*
 * Appends " (User#name)", or " (User)" outside of a field; nothing outside of a Record. Omits a class without a name:
 * nobody recognises its address.
 */
static void
append_blamed(VALUE text, VALUE klass, VALUE member)
{
    VALUE name = NIL_P(klass) ? Qnil : rb_mod_name(klass);

    if (NIL_P(klass) || (NIL_P(name) && NIL_P(member))) return;
    rb_str_cat_cstr(text, " (");
    if (!NIL_P(name)) rb_str_append(text, name);
    if (!NIL_P(member)) joined(text, "#", rb_sym2str(member));
    rb_str_cat_cstr(text, ")");
}

/* Turns a path that begins at l->from into one that begins at the start of the message. */
static VALUE
whole_path(const mp_loader *l, VALUE path)
{
    VALUE way;

    if (!l->from) return path;
    way = mp_error_path_of(l->d.source, 0, l->from);
    return NIL_P(way) ? path : mp_error_path_join(way, path);
}

/* Sets the path and, if that lacks its middle, a longer one for the pointer. */
static void
set_record_path(VALUE error, const mp_loader *l, const mp_place *place)
{
    VALUE path = mp_error_path(place), longer = mp_error_path_longer(place);

    rb_ivar_set(error, rb_intern("@path"), whole_path(l, path));
    if (RSTRING_LEN(path) != RSTRING_LEN(longer)) rb_ivar_set(error, rb_intern("@longer_path"), whole_path(l, longer));
}

/* Says where in the text an object is. Leaves out the class, which the sender of the text does not know. */
static VALUE
error_in_json(const mp_loader *l, VALUE what, const uint8_t *at)
{
    mp_json_origin place = {.offset = 0};
    bool known = mp_json_place(l->json, (size_t)(at - l->d.start), &place);
    VALUE error;

    if (known) {
        append_number(what, ", line ", place.line + 1);
        append_number(what, ", column ", place.column + 1);
    }
    mp_json_append_whole(what, &l->json->origin);
    error = mp_error_at(eRecordError, what, place.offset);
    if (!known) return error;
    rb_ivar_set(error, rb_intern("@line"), SIZET2NUM(place.line + 1));
    rb_ivar_set(error, rb_intern("@column"), SIZET2NUM(place.column + 1));
    return error;
}

/* Says where in the bytes an object is, and which class and member it is for. A Ruby object has no offset. */
static VALUE
error_in_bytes(const mp_loader *l, VALUE what, uint32_t field, const uint8_t *at)
{
    bool given = l->given != Qundef;
    size_t offset = given ? 0 : mp_decoder_offset(&l->d, at);

    if (!given) append_number(what, ", byte ", offset);
    if (l->record) append_blamed(what, l->record->klass, member_of(l->record, field));
    if (!given && !offset && l->d.source) rb_str_append(what, mp_likeness(l->d.source));
    return mp_error_at(eRecordError, what, offset);
}

/* Sets the attributes that a program can show and translate. */
static void
set_fault(VALUE error, const record_fault *fault, VALUE record, VALUE member)
{
    if (!NIL_P(record)) rb_ivar_set(error, rb_intern("@record"), record);
    if (!NIL_P(member)) rb_ivar_set(error, rb_intern("@member"), member);
    rb_ivar_set(error, rb_intern("@code"), ID2SYM(rb_intern(fault->code)));
    if (fault->expected) rb_ivar_set(error, rb_intern("@expected"), fault->expected);
    if (fault->got) rb_ivar_set(error, rb_intern("@got"), fault->got);
    if (fault->reason) rb_ivar_set(error, rb_intern("@reason"), fault->reason);
}

/* For a missing member, the message names the place of the map or array at `at`; the path is that of the member. */
static VALUE
error_new(mp_loader *l, const record_fault *fault, VALUE what, uint32_t field, const uint8_t *at)
{
    VALUE error;

    joined(what, ", at ", mp_error_path_shown(whole_path(l, mp_error_path(l->place))));
    error = l->json ? error_in_json(l, what, at) : error_in_bytes(l, what, field, at);
    set_record_path(error, l, fault->missing ? fault->missing : l->place);
    set_fault(error, fault, l->record ? l->record->object : Qnil, l->record ? member_of(l->record, field) : Qnil);
    return error;
}

static size_t
path_bytes(VALUE error)
{
    VALUE path = rb_attr_get(error, rb_intern("@path")), longer = rb_attr_get(error, rb_intern("@longer_path"));

    return (size_t)(RSTRING_LEN(path) + RSTRING_LEN(NIL_P(longer) ? path : longer));
}

static void
keep_or_raise(mp_loader *l, VALUE error)
{
    if (!l->errors) rb_exc_raise(error);
    rb_ary_push(l->errors, error);
    l->kept++;
    l->path_bytes += path_bytes(error);
    if (RARRAY_LEN(l->errors) == ERRORS_KEPT || l->path_bytes > PATH_BYTES_KEPT) mp_record_raise_kept(l);
}

static void
fail(mp_loader *l, const record_fault *fault, VALUE what, uint32_t field, const uint8_t *at)
{
    keep_or_raise(l, error_new(l, fault, what, field, at));
}

/* If the caller asks only whether there is an error, throws instead of making one. */
static void
refuse(const mp_loader *l)
{
    if (l->refusal) rb_throw_obj(l->refusal, Qfalse);
}

void
mp_record_duplicate(mp_loader *l, const char *reason)
{
    record_fault fault = {.code = "duplicate", .reason = utf8_words(reason)};

    fail(l, &fault, rb_str_dup(fault.reason), l->field, NULL);
}

/* The shape, or the part of it, whose Range the object is outside of; else NULL. */
static const mp_shape *
ranged_shape(const mp_shape *shape, mp_kind kind)
{
    uint32_t i;

    if (RTEST(shape->bounds) && shape->accepts & mp_kind_bit(kind)) return shape;
    for (i = 0; (shape->kind == MP_SHAPE_ANY_OF || shape->kind == MP_SHAPE_RULED) && i < shape->count; i++) {
        const mp_shape *part = ranged_shape(shape->parts[i], kind);

        if (part) return part;
    }
    return NULL;
}

/* "expected" and what the shape takes. A class may have got its name after its Record. */
static VALUE
expected(const mp_shape *shape)
{
    VALUE name = shape->kind == MP_SHAPE_RECORD ? rb_mod_name(shape->record->klass) : Qnil;

    return joined(utf8_words("expected"), " ", NIL_P(name) ? shape->words : name);
}

void
mp_record_wrong_type(mp_loader *l, const mp_shape *shape, const uint8_t *at)
{
    const mp_shape *ranged;
    record_fault fault = {.code = "type", .expected = shape->expected};
    VALUE words;

    refuse(l);
    ranged = ranged_shape(shape, see(l, at).kind);
    if (ranged) {
        fault.code = "range";
        fault.expected = ranged->bounds;
    }
    fault.got = got_at(l, at);
    words = expected(shape);
    fail(l, &fault, joined(words, ", got ", describe(l, at)), l->field, at);
}

void
mp_record_wrong_tag(mp_loader *l, const mp_shape *shape, bool found, const uint8_t *at)
{
    mp_place place = {.up = l->place, .key = shape->tag_first ? Qundef : shape->tag_key};
    record_fault fault = {.code = found ? "tag" : "missing", .expected = shape->bounds};
    VALUE words;

    refuse(l);
    if (found) fault.got = got_at(l, at);
    else fault.missing = &place;
    words = joined(utf8_words("expected"), " ", shape->words);
    joined(words, ", got ", describe(l, at));
    if (found) l->place = &place;
    fail(l, &fault, words, l->field, at);
    l->place = place.up;
}

void
mp_record_beyond(mp_loader *l, VALUE reason)
{
    record_fault fault = {.code = "limit", .reason = reason};

    rb_exc_raise(error_new(l, &fault, rb_str_dup(reason), l->field, NULL));
}

void
mp_record_missing(mp_loader *l, uint32_t field, uint32_t element, const uint8_t *at)
{
    const mp_field *missing = &l->record->fields[field];
    mp_place place = {.up = l->place, .key = missing->key, .index = (long)element};
    record_fault fault = {.code = "missing", .expected = missing->shape->expected, .missing = &place};
    VALUE words;

    refuse(l);
    words = rb_sprintf("%" PRIsVALUE " is missing", rb_inspect(missing->key));
    if (!l->json && missing->shape->kind == MP_SHAPE_ANY_OF && missing->shape->accepts & mp_kind_bit(MP_NIL)) {
        rb_str_catf(words, " (with(defaults: {%" PRIsVALUE ": nil}) allows that)", rb_sym2str(missing->name));
    }
    if (l->record->form == MP_FORM_ARRAY) place.key = Qundef;
    fail(l, &fault, words, field, at);
}

void
mp_record_unknown_key(mp_loader *l, const uint8_t *at)
{
    record_fault fault = {.code = "unknown"};

    refuse(l);
    fail(l, &fault, rb_sprintf("unknown key %" PRIsVALUE, key_text(l, at)), MP_FIELD_NONE, at);
}

void
mp_record_unknown_element(mp_loader *l, uint32_t element, const uint8_t *at)
{
    record_fault fault = {.code = "unknown"};

    refuse(l);
    fail(l, &fault, rb_sprintf("expected %" PRIu32 " elements, got more", element), MP_FIELD_NONE, at);
}

/* Converts user code's text from any encoding to a new UTF-8 String, to which a path can be appended. */
static VALUE
utf8_text(VALUE text)
{
    int replace = ECONV_INVALID_REPLACE | ECONV_UNDEF_REPLACE;
    VALUE utf8 = rb_str_conv_enc_opts(text, rb_enc_get(text), mp_utf8, replace, Qnil);
    VALUE copy = rb_enc_str_new(RSTRING_PTR(utf8), RSTRING_LEN(utf8), mp_utf8), valid = rb_str_scrub(copy, Qnil);

    RB_GC_GUARD(utf8);
    return NIL_P(valid) ? copy : valid;
}

/* Raises the first of two exceptions, with the second as its cause. */
static VALUE
raise_with_cause(VALUE arg)
{
    const VALUE *errors = (const VALUE *)arg;
    VALUE argv[2] = {errors[0], rb_hash_new()};

    rb_hash_aset(argv[1], ID2SYM(rb_intern("cause")), errors[1]);
    return rb_funcallv_kw(rb_mKernel, rb_intern("raise"), 2, argv, RB_PASS_KEYWORDS);
}

static VALUE
raised(VALUE arg, VALUE error)
{
    return error;
}

/* The message of an exception, without the source lines that Ruby 3.1 adds to it. */
static VALUE
exception_message(VALUE error)
{
    VALUE message = rb_check_funcall(error, rb_intern("original_message"), 0, NULL);

    return rb_obj_as_string(message == Qundef ? error : message);
}

/* Returns the exception's message, shortened. That of an ArgumentError also becomes the reason for the sender. */
static VALUE
explain(record_fault *fault, VALUE error)
{
    VALUE text = utf8_text(exception_message(error));

    text = rb_funcall(mExcerpt, rb_intern("of"), 1, text); /* shortens a long quote */
    if (RTEST(rb_obj_is_kind_of(error, rb_eArgError))) fault->reason = joined(utf8_words("is not valid"), ": ", text);
    return text;
}

/* Raises the error and rescues it again, because only raising sets its cause. */
static VALUE
with_cause(VALUE error, VALUE cause)
{
    VALUE errors[2] = {error, cause};

    return rb_rescue2(raise_with_cause, (VALUE)errors, raised, 0, eRecordError, (VALUE)0);
}

/* The exception's message may be user code. */
void
mp_record_refused(mp_loader *l, const char *code, VALUE error, const uint8_t *at)
{
    record_fault fault = {.code = code};
    VALUE text;

    refuse(l);
    text = explain(&fault, error);
    keep_or_raise(l, with_cause(error_new(l, &fault, text, l->field, at), error));
}

void
mp_record_unconverted(const mp_rule *via, VALUE error, const mp_place *place, bool of_gem)
{
    record_fault fault = {.code = "conversion"};
    VALUE text = explain(&fault, error), path = mp_error_path(place), made;

    joined(text, ", at ", mp_error_path_shown(path));
    if (!NIL_P(via->record)) append_blamed(text, rb_funcall(via->record, rb_intern("klass"), 0), via->member);
    made = mp_error_at(eRecordError, text, 0);
    rb_ivar_set(made, rb_intern("@path"), path);
    set_fault(made, &fault, via->record, via->member);
    mp_raise_pack_error(with_cause(made, error), text, path, of_gem);
}

void
mp_record_broken(mp_loader *l, const mp_rule *rule, VALUE error, const uint8_t *at)
{
    record_fault fault = {.code = rb_id2name(SYM2ID(rule->code))};
    VALUE words;

    if (error) {
        mp_record_refused(l, fault.code, error, at);
        return;
    }
    refuse(l);
    if (rule->kind == MP_RULE_CHECK) {
        fault.reason = rule->words;
        fail(l, &fault, rb_str_dup(rule->words), l->field, at);
        return;
    }
    if (rule->kind == MP_RULE_VIA && !rule->min) fault.reason = utf8_words("is not valid"); /* names no class of ours */
    else fault.expected = rule->words;
    fault.got = rule->kind == MP_RULE_LENGTH ? got_size(l, at) : got_at(l, at);
    words = joined(utf8_words("expected"), " ", rule->words);
    fail(l, &fault, joined(words, ", got ", describe(l, at)), l->field, at);
}

void
mp_record_raise_kept(mp_loader *l)
{
    VALUE first, message;
    long i, n = l->errors ? RARRAY_LEN(l->errors) : 0;

    if (!n) return;
    first = rb_ary_entry(l->errors, 0);
    if (n == 1) rb_exc_raise(first);
    message = rb_sprintf("%ld errors: ", n);
    for (i = 0; i < n && i < ERRORS_SHOWN; i++) {
        if (i) rb_str_cat_cstr(message, "; ");
        rb_str_append(message, rb_obj_as_string(rb_ary_entry(l->errors, i)));
    }
    if (n > ERRORS_SHOWN) rb_str_cat_cstr(message, "; ...");
    first = mp_error_at(eRecordError, message, NUM2SIZET(rb_funcall(first, rb_intern("offset"), 0)));
    mp_error_copy_record(rb_ary_entry(l->errors, 0), first);
    rb_ivar_set(first, rb_intern("@errors"), l->errors);
    rb_exc_raise(first);
}

void
Init_manypack_record_error(void)
{
    eRecordError = mp_const("Manypack::RecordError");
    mExcerpt = mp_const("Manypack::Excerpt");
}
