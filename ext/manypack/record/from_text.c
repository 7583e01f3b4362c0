/* Converts text to what a type wants. It takes time in proportion to the text, and calls no method of it. */
#include "record/from_text.h"

#include "json/json_cursor.h"
#include "record/load_scalar.h"
#include "unpack/objects.h"

bool
mp_empty_is_nil_p(const mp_shape *shape, VALUE object)
{
    if (!RB_TYPE_P(object, T_STRING) || RSTRING_LEN(object) || !(shape->accepts & mp_kind_bit(MP_NIL))) return false;
    return shape->kind == MP_SHAPE_SPECIAL || shape->kind == MP_SHAPE_ENUM || shape->kind == MP_SHAPE_ANY_OF;
}

static bool
says_p(VALUE text, const char *word)
{
    return RSTRING_LEN(text) == (long)strlen(word) && memcmp(RSTRING_PTR(text), word, strlen(word)) == 0;
}

/* nil, true or false; Qundef for any other text. */
static VALUE
special_of(VALUE text)
{
    if (!RSTRING_LEN(text)) return Qnil;
    if (says_p(text, "true") || says_p(text, "1") || says_p(text, "on")) return Qtrue;
    return says_p(text, "false") || says_p(text, "0") || says_p(text, "off") ? Qfalse : Qundef;
}

/* Reads the whole text as a number of JSON. */
static bool
number_of(VALUE text, mp_json_number *number)
{
    const uint8_t *p = (const uint8_t *)RSTRING_PTR(text);
    mp_json_cursor cursor = {.end = p + RSTRING_LEN(text)};
    bool whole;

    if (p == cursor.end || (*p != '-' && (*p < '0' || *p > '9'))) return false;
    whole = mp_json_read_number(&cursor, p, number) == cursor.end;
    RB_GC_GUARD(text);
    return whole && number->kind != MP_JSON_BIGNUM;
}

static VALUE
integer_new(const mp_json_number *number)
{
    if (number->kind == MP_JSON_UINT) return ULL2NUM(number->magnitude);
    return LL2NUM((int64_t)(0 - number->magnitude));
}

static VALUE
integer_of(const mp_shape *shape, VALUE text)
{
    mp_json_number number;

    if (!number_of(text, &number) || number.kind == MP_JSON_REAL) return Qundef;
    if (!mp_takes_integer_p(shape, number.kind == MP_JSON_NEGATIVE, number.magnitude)) return Qundef;
    return integer_new(&number);
}

static VALUE
text_float(const mp_shape *shape, VALUE text)
{
    mp_json_number number;

    if (!number_of(text, &number)) return Qundef;
    if (number.kind != MP_JSON_REAL &&
        !mp_exact_real(number.kind == MP_JSON_NEGATIVE, number.magnitude, &number.real)) {
        return Qundef;
    }
    return mp_takes_real_p(shape, number.real) ? DBL2NUM(number.real) : Qundef;
}

static bool
number_is_p(const mp_json_number *number, VALUE literal)
{
    if (RB_FLOAT_TYPE_P(literal)) {
        return number->kind == MP_JSON_REAL && number->real == RFLOAT_VALUE(literal);
    }
    return RB_INTEGER_TYPE_P(literal) && number->kind != MP_JSON_REAL && rb_eql(literal, integer_new(number));
}

VALUE
mp_literal_of_text(VALUE literals, VALUE text)
{
    VALUE special = special_of(text);
    mp_json_number number;
    bool numeric = number_of(text, &number);
    long i;

    for (i = 0; i < RARRAY_LEN(literals); i++) {
        VALUE literal = RARRAY_AREF(literals, i);

        if (literal == special || (numeric && number_is_p(&number, literal))) return literal;
    }
    return Qundef;
}

VALUE
mp_from_text(mp_loader *l, const mp_shape *shape, VALUE text)
{
    VALUE found = Qundef;
    uint32_t i;

    switch (shape->kind) {
      case MP_SHAPE_SPECIAL:
      case MP_SHAPE_ENUM: return mp_literal_of_text(shape->objects, text);
      case MP_SHAPE_INTEGER: return mp_number(mp_loader_options(l), integer_of(shape, text));
      case MP_SHAPE_FLOAT: return mp_number(mp_loader_options(l), text_float(shape, text));
      case MP_SHAPE_ANY_OF:
        for (i = 0; i < shape->count && found == Qundef; i++) found = mp_from_text(l, shape->parts[i], text);
        return found;
      default: return Qundef;
    }
}
