/* Converts text to the object that a type wants, in linear time and without calling methods of the text. */
#include "record/from_text.h"

#include "json/json_cursor.h"

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

VALUE
mp_number_of_text(VALUE text)
{
    const uint8_t *p = (const uint8_t *)RSTRING_PTR(text);
    mp_json_cursor cursor = {.end = p + RSTRING_LEN(text)};
    mp_json_number number;

    if (p == cursor.end || (*p != '-' && (*p < '0' || *p > '9'))) return Qundef;
    if (mp_json_read_number(&cursor, p, &number) != cursor.end) return Qundef;
    RB_GC_GUARD(text);
    switch (number.kind) {
      case MP_JSON_UINT: return ULL2NUM(number.magnitude);
      case MP_JSON_NEGATIVE: return LL2NUM((int64_t)(0 - number.magnitude));
      case MP_JSON_REAL: return DBL2NUM(number.real);
      default: return Qundef;
    }
}

VALUE
mp_literal_of_text(VALUE literals, VALUE text)
{
    VALUE special = special_of(text), number = mp_number_of_text(text);
    long i;

    for (i = 0; i < RARRAY_LEN(literals); i++) {
        VALUE literal = RARRAY_AREF(literals, i);

        if (literal == special || (number != Qundef && rb_eql(number, literal))) return literal;
    }
    return Qundef;
}
