/* Reads and compares values for the conditions of a Path. */
#include "path/compare.h"

#include <math.h>

#include "core/timestamp.h"
#include "core/utf8.h"
#include "view/view.h"

/* --- reading ---------------------------------------------------------------------------------------- */

static mp_value
number_read(const uint8_t *p, mp_wire_row row)
{
    int64_t sint;

    if (row.kind == MP_UINT) return (mp_value){.kind = MP_VALUE_UINT, .bits = mp_row_uint(p, row)};
    if (row.kind == MP_FLOAT32 || row.kind == MP_FLOAT64) {
        return (mp_value){.kind = MP_VALUE_REAL, .bits = mp_bits_of_double(mp_row_real(p, row))};
    }
    sint = mp_row_sint(p, row);
    return (mp_value){.kind = sint < 0 ? MP_VALUE_INT : MP_VALUE_UINT, .bits = (uint64_t)sint};
}

mp_value
mp_value_read(mp_peek *peek, size_t at)
{
    static const mp_value_kind kinds[] = {
        [MP_NIL] = MP_VALUE_NIL, [MP_FALSE] = MP_VALUE_FALSE, [MP_TRUE] = MP_VALUE_TRUE, [MP_STR] = MP_VALUE_STR,
        [MP_BIN] = MP_VALUE_BIN, [MP_EXT] = MP_VALUE_EXT, [MP_ARRAY] = MP_VALUE_CONTAINER,
        [MP_MAP] = MP_VALUE_CONTAINER,
    };
    const uint8_t *p = peek->look.bytes + at, *end = peek->look.bytes + peek->look.size, *next;
    mp_head head;

    peek->look.blame = at;
    mp_peek_check(peek, mp_head_over(p, end, &head, &next));
    switch (head.kind) {
      case MP_FIXINT:
      case MP_UINT:
      case MP_INT:
      case MP_FLOAT32:
      case MP_FLOAT64:
        return number_read(p, MP_WIRE[*p]);
      case MP_STR:
      case MP_BIN:
      case MP_EXT:
        return (mp_value){.kind = kinds[head.kind], .ext_type = head.ext_type, .n = head.n, .head = at,
                          .at = (size_t)(head.payload - peek->look.bytes)};
      default:
        return (mp_value){.kind = kinds[head.kind], .head = at};
    }
}

/* A frozen copy, which shares the bytes: another function may change the String before it is compared. */
static mp_value
string_value(VALUE obj)
{
    mp_value_kind kind = ENCODING_GET(obj) == mp_binary_index ? MP_VALUE_BIN : MP_VALUE_STR;

    obj = rb_str_new_frozen(obj);
    return (mp_value){.kind = kind, .object = obj, .n = (size_t)RSTRING_LEN(obj)};
}

mp_value
mp_value_of(VALUE obj, VALUE nothing)
{
    if (obj == nothing) return (mp_value){.kind = MP_VALUE_NOTHING};
    if (NIL_P(obj)) return (mp_value){.kind = MP_VALUE_NIL};
    if (obj == Qtrue || obj == Qfalse) return (mp_value){.kind = obj == Qtrue ? MP_VALUE_TRUE : MP_VALUE_FALSE};
    if (RB_TYPE_P(obj, T_STRING)) return string_value(obj);
    if (RB_FLOAT_TYPE_P(obj)) {
        return (mp_value){.kind = MP_VALUE_REAL, .bits = mp_bits_of_double(RFLOAT_VALUE(obj))};
    }
    if (RB_INTEGER_TYPE_P(obj) && mp_int64_p(obj)) {
        int64_t n = NUM2LL(obj);

        return (mp_value){.kind = n < 0 ? MP_VALUE_INT : MP_VALUE_UINT, .bits = (uint64_t)n};
    }
    return (mp_value){.kind = MP_VALUE_OBJECT, .object = obj};
}

/* The object of a literal, which has no place in the message. */
static VALUE
literal_object(const mp_value *value)
{
    switch (value->kind) {
      case MP_VALUE_NIL: return Qnil;
      case MP_VALUE_FALSE: return Qfalse;
      case MP_VALUE_TRUE: return Qtrue;
      case MP_VALUE_INT: return LL2NUM((int64_t)value->bits);
      case MP_VALUE_UINT: return ULL2NUM(value->bits);
      case MP_VALUE_REAL: return DBL2NUM(mp_double_of_bits(value->bits));
      default: return rb_enc_str_new((const char *)value->bytes, (long)value->n, mp_utf8);
    }
}

VALUE
mp_value_object(mp_peek *peek, VALUE root, const mp_value *value, VALUE nothing)
{
    if (value->kind == MP_VALUE_NOTHING) return nothing;
    if (value->object) return value->object;
    if (value->kind == MP_VALUE_CONTAINER) return mp_view_value_at(peek, root, value->head, 0);
    if (value->kind >= MP_VALUE_STR && value->kind <= MP_VALUE_EXT && !value->bytes) {
        return mp_peek_object(peek, value->head);
    }
    return literal_object(value);
}

/* --- numbers ---------------------------------------------------------------------------------------- */

static bool
number_p(const mp_value *value)
{
    return value->kind == MP_VALUE_INT || value->kind == MP_VALUE_UINT || value->kind == MP_VALUE_REAL;
}

/* Compares an integer with a float exactly, even if no float64 equals the integer. */
static int
integer_with_real(const mp_value *integer, double real)
{
    double floor_of = floor(real);
    uint64_t bits;

    if (real >= 18446744073709551616.0) return -1;
    if (real < -9223372036854775808.0) return 1;
    if (integer->kind == MP_VALUE_INT) {
        if (real >= 0) return -1;
        bits = (uint64_t)(int64_t)floor_of;
    } else {
        if (real < 0) return 1;
        bits = (uint64_t)floor_of;
    }
    if (integer->bits != bits) return integer->bits < bits ? -1 : 1;
    return floor_of < real ? -1 : 0;
}

/* Compares two numbers. MP_APART if one is a NaN. */
static mp_order
numbers_order(const mp_value *a, const mp_value *b)
{
    double x = a->kind == MP_VALUE_REAL ? mp_double_of_bits(a->bits) : 0;
    double y = b->kind == MP_VALUE_REAL ? mp_double_of_bits(b->bits) : 0;

    if (isnan(x) || isnan(y)) return MP_APART;
    if (a->kind == b->kind && a->kind != MP_VALUE_REAL) {
        return MP_ORDER_OF(a->bits, b->bits); /* two's complement keeps the order of negative ones */
    }
    if (a->kind == MP_VALUE_REAL && b->kind == MP_VALUE_REAL) return MP_ORDER_OF(x, y);
    if (a->kind == MP_VALUE_REAL) return MP_ORDER_OF(0, integer_with_real(b, x));
    if (b->kind == MP_VALUE_REAL) return MP_ORDER_OF(integer_with_real(a, y), 0);
    return a->kind == MP_VALUE_INT ? MP_BELOW : MP_ABOVE;
}

/* --- payloads --------------------------------------------------------------------------------------- */

static bool
value_text_p(const mp_value *value)
{
    return value->kind == MP_VALUE_STR || value->kind == MP_VALUE_BIN;
}

static mp_order
bytes_order(const mp_peek *peek, const mp_value *a, const mp_value *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(mp_value_bytes(peek, a), mp_value_bytes(peek, b), n) : 0;

    return order ? MP_ORDER_OF(order, 0) : MP_ORDER_OF(a->n, b->n);
}

/* Compares as Ruby compares Strings: a str and a bin are equal only if their bytes are ASCII. */
static mp_order
texts_order(const mp_peek *peek, const mp_value *a, const mp_value *b)
{
    mp_order order = bytes_order(peek, a, b);
    bool equal = order == MP_SAME && mp_ascii_p(mp_value_bytes(peek, a), a->n);

    if (a->kind == b->kind) return order;
    return equal ? MP_SAME : MP_APART;
}

/* Compares exts: the times of two well-formed timestamps, otherwise types and bytes. */
static mp_order
exts_order(const mp_peek *peek, const mp_value *a, const mp_value *b)
{
    mp_timestamp x, y;

    if (a->ext_type != b->ext_type) return MP_APART;
    if (a->ext_type == MP_TIMESTAMP_TYPE && mp_timestamp_read(mp_value_bytes(peek, a), a->n, &x) == MP_OK
        && mp_timestamp_read(mp_value_bytes(peek, b), b->n, &y) == MP_OK) {
        return x.sec != y.sec ? MP_ORDER_OF(x.sec, y.sec) : MP_ORDER_OF(x.nsec, y.nsec);
    }
    return bytes_order(peek, a, b) == MP_SAME ? MP_SAME : MP_APART;
}

/* --- containers and objects ------------------------------------------------------------------------- */

/* True if two containers of the message cannot be equal, because their kinds or sizes differ. */
static bool
differ_p(const mp_peek *peek, const mp_value *a, const mp_value *b)
{
    const uint8_t *bytes = peek->look.bytes, *end = bytes + peek->look.size;
    mp_head x, y;

    return mp_head_read(bytes + a->head, end, &x) == MP_OK && mp_head_read(bytes + b->head, end, &y) == MP_OK
        && (x.kind != y.kind || (x.kind == MP_ARRAY && x.n != y.n));
}

/* The whole object: a container is unpacked. */
static VALUE
whole_object(mp_peek *peek, const mp_value *value)
{
    if (value->kind == MP_VALUE_CONTAINER) return mp_peek_object(peek, value->head);
    return mp_value_object(peek, 0, value, Qundef);
}

static mp_order
objects_order(mp_peek *peek, const mp_value *a, const mp_value *b)
{
    VALUE x, y;
    bool equal;

    x = whole_object(peek, a);
    y = whole_object(peek, b);
    equal = rb_equal(x, y) == Qtrue;
    mp_peek_refresh(peek);
    RB_GC_GUARD(x);
    return equal ? MP_SAME : MP_APART;
}

/* --- comparing -------------------------------------------------------------------------------------- */

mp_order
mp_value_order(mp_peek *peek, const mp_value *a, const mp_value *b, bool equality)
{
    if (number_p(a) && number_p(b)) return numbers_order(a, b);
    if (value_text_p(a) && value_text_p(b)) return texts_order(peek, a, b);
    if (a->kind == MP_VALUE_NOTHING || b->kind == MP_VALUE_NOTHING) return a->kind == b->kind ? MP_SAME : MP_APART;
    if (a->kind == MP_VALUE_OBJECT || b->kind == MP_VALUE_OBJECT) {
        return equality ? objects_order(peek, a, b) : MP_APART;
    }
    if (a->kind != b->kind) return MP_APART;
    if (a->kind == MP_VALUE_EXT) return exts_order(peek, a, b);
    if (a->kind != MP_VALUE_CONTAINER) return MP_SAME;
    return equality && !differ_p(peek, a, b) ? objects_order(peek, a, b) : MP_APART;
}
