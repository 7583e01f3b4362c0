/* The errors of packing, which remember their message and the path in it. */
#include "base/pack_error.h"

#include "base/error.h"
#include "base/error_path.h"
#include "base/lenient.h"
#include "base/user_code.h"

static VALUE mEncodeError, eNestingError;
static ID id_place, id_record_path;

/* EncodeError has a class of the same name below some of Ruby's. */
VALUE
mp_encode_error_class(VALUE klass, bool of_gem)
{
    ID name = rb_intern_str(rb_class_name(klass));

    return !of_gem && rb_const_defined_at(mEncodeError, name) ? rb_const_get_at(mEncodeError, name) : klass;
}

void
mp_raise_pack_error(VALUE error, VALUE words, VALUE path, bool of_gem)
{
    rb_ivar_set(error, rb_intern("words"), words);
    rb_ivar_set(error, id_place, path);
    /* An exception of other code keeps its class. */
    if (!of_gem && !RTEST(rb_obj_is_kind_of(error, mEncodeError))) rb_extend_object(error, mEncodeError);
    rb_exc_raise(error);
}

void
mp_raise_encode_error(VALUE klass, VALUE words, VALUE path, bool of_gem)
{
    mp_raise_pack_error(mp_error_new(mp_encode_error_class(klass, of_gem), words), words, path, of_gem);
}

/*
 * call-seq: error.path -> String
 *
 * Returns where in the packed object the error is.
 *
 *   begin
 *     Manypack.pack({"users" => [Object.new]})
 *   rescue Manypack::EncodeError => error
 *     error.path #=> "$.users[0]"
 *   end
 */
static VALUE
rb_encode_error_path(VALUE self)
{
    VALUE path = rb_attr_get(self, id_place);

    return NIL_P(path) ? rb_attr_get(self, id_record_path) : path; /* Ruby code sets @path */
}

bool
mp_pack_error_p(VALUE error)
{
    return !NIL_P(error) && !NIL_P(rb_attr_get(error, id_place));
}

/* The offset of the last occurrence of a String in another; -1 if there is none. */
static long
last_index(VALUE string, VALUE part)
{
    long at = RSTRING_LEN(string) - RSTRING_LEN(part);

    while (at >= 0 && memcmp(RSTRING_PTR(string) + at, RSTRING_PTR(part), (size_t)RSTRING_LEN(part)) != 0) at--;
    return at;
}

/* The message with its old path replaced, or with the new path at its end if it does not contain the old one. */
static VALUE
words_with_path(VALUE message, VALUE old, VALUE path)
{
    VALUE words = rb_enc_str_new(NULL, 0, mp_utf8);
    VALUE before = rb_enc_sprintf(mp_utf8, ", at %" PRIsVALUE, mp_error_path_shown(old));
    long at = last_index(message, before), rest;

    if (at < 0) {
        return rb_enc_sprintf(mp_utf8, "%" PRIsVALUE ", at %" PRIsVALUE, message, mp_error_path_shown(path));
    }
    rest = at + RSTRING_LEN(before);
    rb_str_cat(words, RSTRING_PTR(message), at);
    rb_str_catf(words, ", at %" PRIsVALUE, mp_error_path_shown(path));
    rb_str_cat(words, RSTRING_PTR(message) + rest, RSTRING_LEN(message) - rest);
    RB_GC_GUARD(message);
    return words;
}

void
mp_raise_pack_error_below(VALUE error, VALUE place, bool of_gem)
{
    VALUE inner = rb_attr_get(error, id_place), path = mp_error_path_join(place, inner);
    VALUE words = words_with_path(rb_attr_get(error, rb_intern("words")), inner, path);
    VALUE copy = mp_error_with_words(error, words);

    if (mp_decode_error_p(copy)) mp_error_set_path(copy, path);
    mp_raise_pack_error(copy, words, path, of_gem);
}

void
mp_raise_unplaced(VALUE klass, VALUE words)
{
    mp_raise_encode_error(klass, words, rb_utf8_str_new_cstr("$"), mp_receiver_of_gem_p());
}

/* call-seq: Internal.raise_type_error(words): raises a handler's TypeError, which gets a path */
static VALUE
rb_internal_raise_type_error(VALUE self, VALUE words)
{
    mp_raise_unplaced(rb_eTypeError, StringValue(words));
    UNREACHABLE_RETURN(Qnil);
}

/*
 * Calls a function of Ruby. An exception that it raises becomes an error of packing, with a path. If checks_bytes, only
 * a DecodeError does, with its own path in the packed bytes. A frozen exception stays as it is.
 */
MP_INLINE VALUE
pack_call(VALUE (*call)(VALUE), VALUE arg, const bool checks_bytes)
{
    int state;
    VALUE result = rb_protect(call, arg, &state), error, path = Qnil;

    if (MP_LIKELY(!state)) return result;
    error = mp_user_error();
    if (NIL_P(error) || OBJ_FROZEN(error)) rb_jump_tag(state);
    if (checks_bytes) {
        if (!mp_decode_error_p(error)) rb_jump_tag(state);
        path = rb_funcall(error, rb_intern("path"), 0);
    }
    mp_raise_pack_error(error, mp_error_message(error), NIL_P(path) ? rb_utf8_str_new_cstr("$") : path,
                        mp_receiver_of_gem_p());
}

VALUE
mp_pack_call(VALUE (*call)(VALUE), VALUE arg)
{
    return pack_call(call, arg, false);
}

void
mp_pack_check(VALUE (*check)(VALUE), VALUE arg)
{
    pack_call(check, arg, true);
}

void
mp_raise_nesting(unsigned long max_depth, VALUE path, bool of_gem)
{
    VALUE words = rb_enc_sprintf(mp_utf8, "nested more than %lu containers deep (max_depth: allows more), at "
                                 "%" PRIsVALUE, max_depth, mp_error_path_shown(path));

    mp_raise_encode_error(of_gem ? rb_eSysStackError : eNestingError, words, path, of_gem);
}

void
Init_manypack_pack_error(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE mEncode = rb_define_module_under(mManypack, "EncodeError");

    mEncodeError = mp_const("Manypack::EncodeError");
    eNestingError = mp_const("Manypack::NestingError");
    id_place = rb_intern("place"); /* no @: Ruby code cannot see it */
    id_record_path = rb_intern("@path");

    rb_define_method(mEncode, "path", rb_encode_error_path, 0);
    MP_DEFINE_INTERNAL("raise_type_error", rb_internal_raise_type_error, 1);
}
