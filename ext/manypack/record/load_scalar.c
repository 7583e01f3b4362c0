/* Loads and checks scalars; loads Views and objects that may be of any type, which need no check. */
#include "record/load_scalar.h"

#include "core/timestamp.h"
#include "core/utf8.h"
#include "unpack/decode.h"
#include "unpack/objects.h"
#include "view/view.h"

static VALUE mTexts;

VALUE
mp_load_string(mp_loader *l, mp_wire_row row)
{
    const mp_options *options = mp_loader_options(l);
    uint32_t n = mp_row_count(l->d.at, row);
    const uint8_t *payload = mp_loader_payload(l, row, n);

    if (row.kind == MP_BIN) return mp_bin_new(options, payload, n);
    return mp_str_new(&l->d, options->freeze || options->shareable, payload, n);
}

VALUE
mp_load_text(mp_loader *l, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    uint32_t n = mp_row_count(at, row);
    bool valid = mp_utf8_valid_p(mp_loader_payload(l, row, n), n);

    l->d.at = at;
    return valid ? mp_load_string(l, row) : Qundef;
}

VALUE
mp_load_cached(mp_loader *l, mp_wire_row row, mp_string_kind kind)
{
    uint32_t n = mp_row_count(l->d.at, row);
    const uint8_t *payload = mp_loader_payload(l, row, n);

    return mp_string_cache_fetch(&mp_decoder_ractor(&l->d)->keys, payload, n, kind);
}

/* A bin counts as text if it is ASCII, because then a binary String equals text in Ruby. */
VALUE
mp_load_symbol(mp_loader *l, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    VALUE symbol = mp_load_cached(l, row, MP_KEY_SYMBOL);

    if (symbol && (row.kind == MP_STR || mp_ascii_p(at + row.head, mp_row_count(at, row)))) return symbol;
    l->d.at = at;
    return Qundef;
}

/* The greatest magnitudes are rounded to 2**64, which no uint64_t can hold. */
bool
mp_exact_real(bool negative, uint64_t magnitude, double *real)
{
    double size = (double)magnitude;

    *real = negative ? -size : size;
    return size < 18446744073709551616.0 && (uint64_t)size == magnitude;
}

bool
mp_takes_real_p(const mp_shape *shape, double real)
{
    return !shape->ranged || (real >= shape->least && (shape->below_most ? real < shape->most : real <= shape->most));
}

bool
mp_takes_integer_p(const mp_shape *shape, bool negative, uint64_t magnitude)
{
    int64_t n = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;

    if (!negative && magnitude > INT64_MAX) return magnitude >= shape->above_min && magnitude <= shape->above_max;
    return n >= shape->min && n <= shape->max;
}

/* The sign and the magnitude of the integer at the next head. */
static uint64_t
magnitude_at(const mp_loader *l, mp_wire_row row, bool *negative)
{
    int64_t n = row.kind == MP_UINT ? 0 : mp_row_sint(l->d.at, row);

    *negative = n < 0;
    if (row.kind == MP_UINT) return mp_row_uint(l->d.at, row);
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

VALUE
mp_load_integer(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    bool negative;
    uint64_t magnitude = magnitude_at(l, row, &negative);

    if (!mp_takes_integer_p(shape, negative, magnitude)) return Qundef;
    l->d.at += row.head;
    return mp_number(mp_loader_options(l), negative ? LL2NUM((int64_t)(0 - magnitude)) : ULL2NUM(magnitude));
}

/* Converts the number at the next head to *real; true if that is exact. */
static bool
real_at(const mp_loader *l, mp_wire_row row, double *real)
{
    bool negative;
    uint64_t magnitude;

    if (row.kind == MP_FLOAT64 || row.kind == MP_FLOAT32) {
        *real = mp_row_real(l->d.at, row);
        return true;
    }
    magnitude = magnitude_at(l, row, &negative);
    return mp_exact_real(negative, magnitude, real);
}

VALUE
mp_load_float(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    double real;

    if (!real_at(l, row, &real) || !mp_takes_real_p(shape, real)) return Qundef;
    l->d.at += row.head;
    return mp_float_new(&l->d, real);
}

VALUE
mp_load_key(mp_loader *l, mp_wire_row row)
{
    uint32_t n;

    if (row.kind == MP_STR) return mp_load_cached(l, row, MP_KEY_STRING);
    n = mp_row_count(l->d.at, row);
    return mp_seal(mp_loader_options(l), rb_obj_freeze(rb_str_new((const char *)mp_loader_payload(l, row, n), n)));
}

VALUE
mp_literal(const mp_shape *shape, VALUE object, bool exact)
{
    VALUE literal = rb_hash_lookup2(shape->table, object, Qundef);

    if (literal != Qundef || exact || !RB_INTEGER_TYPE_P(object)) return literal;
    if (rb_absint_size(object, NULL) > 128) return Qundef; /* above all Floats; NUM2DBL would warn */
    literal = rb_hash_lookup2(shape->table, DBL2NUM(NUM2DBL(object)), Qundef);
    return literal == Qundef || RTEST(rb_equal(literal, object)) ? literal : Qundef;
}

VALUE
mp_load_literal(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact)
{
    const uint8_t *at = l->d.at;
    bool text = row.kind == MP_STR || row.kind == MP_BIN;
    VALUE object, literal = Qundef;

    if (text && mp_row_count(at, row) > shape->longest) {
        mp_loader_payload(l, row, mp_row_count(at, row)); /* raises if it is incomplete */
    } else {
        object = text ? mp_load_key(l, row) : mp_decode_short(mp_loader_options(l), &l->d.at, l->d.end);
        literal = mp_literal(shape, object, exact);
    }
    if (literal == Qundef) l->d.at = at;
    return literal;
}

VALUE
mp_load_any(mp_loader *l)
{
    VALUE object = Qundef;

    if (!mp_loader_options(l)->limited) object = mp_decode_short(mp_loader_options(l), &l->d.at, l->d.end);
    return object == Qundef ? mp_decode_inside(&l->d, l->count, l->depth) : object;
}

VALUE
mp_load_of_class(mp_loader *l, const mp_shape *shape)
{
    const uint8_t *at = l->d.at;
    uint64_t others = l->d.others;
    VALUE object = mp_load_any(l);

    if (RTEST(rb_obj_is_kind_of(object, shape->klass))) return object;
    mp_loader_back(l, at, others);
    return Qundef;
}

/* True if unpacking makes an object of the ext whose head is row, and does not refuse it. */
static bool
ext_known_p(const mp_loader *l, mp_wire_row row)
{
    const mp_types *types = l->d.codec->types;
    int id = mp_row_ext_type(l->d.at, row);

    if (mp_loader_options(l)->allow_unknown_ext || (types && mp_types_for_ext(types, id))) return true;
    return mp_loader_options(l)->timestamp && id == MP_TIMESTAMP_TYPE;
}

/* True if an object made from an ext is of the class that a shape stands for. The shape takes exts. */
static bool
of_class_p(const mp_shape *shape, VALUE object)
{
    uint32_t i;

    switch (shape->kind) {
      case MP_SHAPE_STRING: return RB_TYPE_P(object, T_STRING);
      case MP_SHAPE_SYMBOL: return RB_SYMBOL_P(object);
      case MP_SHAPE_FLOAT: return RB_FLOAT_TYPE_P(object);
      case MP_SHAPE_INTEGER: return RB_INTEGER_TYPE_P(object);
      case MP_SHAPE_SPECIAL: return object == RARRAY_AREF(shape->objects, 0);
      case MP_SHAPE_ENUM:
        return RB_SYMBOL_P(object) && mp_literal(shape, object, true) != Qundef;
      case MP_SHAPE_RECORD: return RTEST(rb_obj_is_kind_of(object, shape->record->klass));
      case MP_SHAPE_ANY_OF:
        for (i = 0; i < shape->count; i++) {
            if (shape->parts[i]->takes_exts && of_class_p(shape->parts[i], object)) return true;
        }
        return false;
      default: return RTEST(rb_obj_is_kind_of(object, shape->klass));
    }
}

VALUE
mp_load_ext(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    uint64_t others = l->d.others;
    VALUE object;

    if (!ext_known_p(l, row)) return Qundef;
    object = mp_load_any(l);
    if (of_class_p(shape, object)) return object;
    mp_loader_back(l, at, others);
    return Qundef;
}

VALUE
mp_load_said(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    uint32_t n = mp_row_count(at, row), i = 0;
    VALUE text, object;

    while (shape->kind == MP_SHAPE_ANY_OF && !shape->parts[i]->takes_text) i++;
    if (shape->kind == MP_SHAPE_ANY_OF) shape = shape->parts[i];
    text = rb_enc_str_new((const char *)mp_loader_payload(l, row, n), n, mp_utf8);
    object = rb_funcall(mTexts, rb_intern(shape->kind == MP_SHAPE_BYTES ? "load_base64" : "load_time"), 1, text);
    if (!NIL_P(object)) return mp_seal_foreign(mp_loader_options(l), object);
    l->d.at = at;
    return Qundef;
}

VALUE
mp_load_ruled(mp_loader *l, const mp_rules *rules, VALUE object, const uint8_t *at)
{
    VALUE error = 0;
    const mp_rule *broken = mp_rules_apply(rules, &object, &error);

    if (MP_LIKELY(!broken)) return rules->converts ? mp_seal_foreign(mp_loader_options(l), object) : object;
    l->broken = broken;
    l->broken_at = at;
    l->broken_error = error;
    return Qundef;
}

void
Init_manypack_load_scalar(void)
{
    mTexts = mp_const("Manypack::Type::Texts");
}

VALUE
mp_load_view_root(mp_loader *l)
{
    if (!l->view) l->view = mp_view_root_for(l->origin, l->d.source, l->d.codec->object);
    return l->view;
}

VALUE
mp_load_view(mp_loader *l)
{
    size_t offset = (size_t)(l->d.at - l->d.start);

    mp_loader_skip(l);
    return mp_view_part(mp_load_view_root(l), offset, (size_t)(l->d.at - l->d.start), l->d.codec->object);
}
