/* Dumps objects of given types: keys were packed when the type was compiled, the encoder packs the values. */
#include "record/dump.h"

#include "core/utf8.h"
#include "core/wire.h"
#include "pack/encode.h"
#include "pack/foreign.h"
#include "record/instance.h"
#include "record/lazy_record.h"
#include "record/load.h"
#include "record/record_error.h"

/* The state of a dump. The encoder comes first, so that a pointer to it also points to the dump. */
typedef struct {
    mp_encoder e;
    bool doubtful; /* loading may refuse the written bytes */
} typed_dump;

static void dump_value(mp_encoder *e, const mp_shape *shape, VALUE object);

/* --- what loading may refuse ------------------------------------------------------------------------ */

static void
doubt(mp_encoder *e)
{
    ((typed_dump *)e)->doubtful = true;
}

/*
 * The kinds of head with which the object may be packed; all scalars count as one kind. 0 if only packing shows that.
 */
MP_INLINE uint32_t
packed_heads(VALUE object)
{
    if (NIL_P(object)) return mp_kind_bit(MP_NIL);
    if (RB_SPECIAL_CONST_P(object)) return MP_KIND_BITS_SCALAR;
    switch (RB_BUILTIN_TYPE(object)) {
      case T_STRING:
      case T_SYMBOL:
      case T_FLOAT:
      case T_BIGNUM: return MP_KIND_BITS_SCALAR;
      case T_ARRAY: return mp_kind_bit(MP_ARRAY);
      case T_HASH: return mp_kind_bit(MP_MAP);
      default: return 0;
    }
}

/* True if the shape loads the object as mp_encode packs it. The values of scalars are not checked. */
MP_INLINE bool
fits_p(const mp_shape *shape, VALUE object)
{
    return shape->dumps & (packed_heads(object) | MP_KIND_BIT_ANY);
}

/*
 * fits_p for a CLASS: true for its objects, unless packed_heads returns 0 and the class, such as Numeric, takes more
 * than exts: to_msgpack may pack anything.
 */
static bool
fits_class_p(const mp_shape *shape, VALUE object)
{
    if (!RTEST(rb_obj_is_kind_of(object, shape->klass))) return false;
    return shape->accepts == mp_kind_bit(MP_EXT) || packed_heads(object);
}

/* fits_p for any shape. */
static bool
loads_p(const mp_shape *shape, VALUE object)
{
    return fits_p(shape, object) || (shape->kind == MP_SHAPE_CLASS && fits_class_p(shape, object));
}

/* Packs an object as mp_encode does. ArgumentError for the name of a type that does not exist. */
static void
dump_plain(mp_encoder *e, const mp_shape *shape, VALUE object)
{
    if (MP_UNLIKELY(!loads_p(shape, object))) {
        if (shape->kind == MP_SHAPE_UNNAMED) rb_raise(rb_eArgError, "%" PRIsVALUE, shape->words);
        doubt(e);
    }
    mp_encode(e, object);
}

/* --- containers ------------------------------------------------------------------------------------- */

static void
put_head(mp_encoder *e, uint8_t *put(uint8_t *p, uint32_t n), VALUE object, size_t n)
{
    uint32_t length = mp_encoder_length(e, object, n);

    mp_out_commit(&e->out, put(mp_out_reserve(&e->out, MP_HEAD_MAX), length));
}

/*
 * An Array for a LIST, or one of the right length for a TUPLE. Raises if user code changes it during the dump, because
 * the head with its length is already written.
 */
static void
dump_array(mp_encoder *e, const mp_shape *shape, VALUE array)
{
    long i, n = RARRAY_LEN(array);
    const mp_shape **part = shape->parts;
    mp_place place = {.key = Qundef};

    put_head(e, mp_put_array_head, array, (size_t)n);
    if (!n) return;
    mp_encoder_open(e, &place);
    for (i = 0; i < n; i++, part += shape->kind == MP_SHAPE_TUPLE) {
        place.index = i;
        dump_value(e, *part, RARRAY_AREF(array, i));
        if (MP_UNLIKELY(RARRAY_LEN(array) != n)) mp_encoder_raise_modified(e, "Array");
    }
    mp_encoder_close(e, &place);
    RB_GC_GUARD(array);
}

typedef struct {
    mp_pairs pairs;
    const mp_shape *shape;
} map_walk;

static int
dump_pair(VALUE key, VALUE value, VALUE arg)
{
    map_walk *walk = (map_walk *)arg;

    mp_pairs_next(&walk->pairs, key);
    dump_value(walk->pairs.e, walk->shape->parts[0], key);
    dump_value(walk->pairs.e, walk->shape->parts[1], value);
    return mp_pairs_passed(&walk->pairs, key);
}

static void
dump_map(mp_encoder *e, const mp_shape *shape, VALUE hash)
{
    map_walk walk = {.shape = shape};

    mp_pairs_init(&walk.pairs, e, RHASH_SIZE(hash));
    put_head(e, mp_put_map_head, hash, walk.pairs.left);
    if (!walk.pairs.left) return;
    mp_encoder_open(e, &walk.pairs.place);
    mp_pairs_each(&walk.pairs, hash, dump_pair);
    mp_encoder_close(e, &walk.pairs.place);
}

/* --- rules ------------------------------------------------------------------------------------------ */

/* Writes a String of any encoding as a bin. */
static void
dump_bytes(mp_encoder *e, VALUE string)
{
    VALUE bytes = string;

    if (ENCODING_GET(string) != mp_binary_index) bytes = rb_enc_associate_index(rb_str_dup(string), mp_binary_index);
    mp_encode(e, bytes);
    RB_GC_GUARD(bytes);
}

typedef struct {
    const mp_rule *via;
    VALUE object, error;
} conversion;

static VALUE
convert(VALUE arg)
{
    const conversion *call = (const conversion *)arg;

    return rb_funcall(call->via->dump, rb_intern("call"), 1, call->object);
}

static VALUE
not_converted(VALUE arg, VALUE error)
{
    return ((conversion *)arg)->error = error;
}

static VALUE
converted(VALUE arg)
{
    return rb_rescue2(convert, arg, not_converted, arg, rb_eStandardError, (VALUE)0);
}

/*
 * Converts the object and dumps the result. TypeError for an object of another class, or if there is no converter;
 * RecordError for an exception of the converter.
 */
static void
dump_converted(mp_encoder *e, const mp_shape *shape, VALUE object)
{
    conversion call = {mp_rules_via(&shape->rules), object, 0};
    VALUE value;

    if (!RTEST(rb_obj_is_kind_of(object, call.via->klass))) {
        mp_encoder_raise(e, rb_eTypeError, NULL, "expected %" PRIsVALUE ", got %" PRIsVALUE, call.via->klass,
                         rb_obj_class(object));
    }
    if (NIL_P(call.via->dump)) {
        mp_encoder_raise(e, rb_eTypeError, NULL, "the type of %" PRIsVALUE " only loads: Type.via got no dump:",
                         call.via->klass);
    }
    value = mp_encoder_call_placed(e, converted, (VALUE)&call);
    if (MP_UNLIKELY(call.error != 0)) mp_record_unconverted(call.via, call.error, e->place, e->codec->options.of_gem);
    dump_value(e, shape->parts[0], value);
    RB_GC_GUARD(value);
}

/* --- Records ---------------------------------------------------------------------------------------- */

static void
check_class(const mp_encoder *e, const mp_record *record, VALUE object)
{
    if (MP_LIKELY(!RB_SPECIAL_CONST_P(object) && RBASIC_CLASS(object) == record->klass)) return;
    if (RTEST(rb_obj_is_kind_of(object, record->klass))) return;
    mp_encoder_raise(e, rb_eTypeError, NULL, "expected %" PRIsVALUE ", got %" PRIsVALUE, record->klass,
                     rb_obj_class(object));
}

typedef struct {
    mp_pairs pairs;
    const mp_record *record;
    VALUE tag_key; /* the tag key of the union; Qundef outside */
} rest_walk;

/* Packs the key of a pair by itself. */
static VALUE
pack_key(VALUE arg)
{
    const rest_walk *walk = (const rest_walk *)arg;

    return mp_encode_whole(walk->pairs.place.key, walk->pairs.e->codec);
}

/* True for the key of a member or the tag key. */
static bool
key_taken_p(const rest_walk *walk, const mp_key *key)
{
    mp_key tag_key;

    if (mp_record_find_key(walk->record, key)) return true;
    if (walk->tag_key == Qundef) return false;
    tag_key = mp_tag_key_read(walk->tag_key);
    return mp_key_compare(key, &tag_key) == 0;
}

NORETURN(static void raise_key_taken(const mp_encoder *e, VALUE key, const mp_key *packed));

/* Raises for the key of a member. If the key is not of a core class, shows its packed form. */
static void
raise_key_taken(const mp_encoder *e, VALUE key, const mp_key *packed)
{
    if (!packed_heads(key) && mp_key_integer_p(packed)) key = LL2NUM((int64_t)packed->bits);
    else if (!packed_heads(key)) key = rb_enc_str_new((const char *)packed->bytes, (long)packed->n, mp_utf8);
    mp_encoder_raise(e, rb_eArgError, NULL, "%" PRIsVALUE " in the Hash of unknown keys is the key of a member",
                     rb_inspect(key));
}

/* Encodings, ext types and user code decide how a key is packed, so the packed bytes are checked. */
static void
dump_rest_key(rest_walk *walk)
{
    mp_encoder *e = walk->pairs.e;
    VALUE key = walk->pairs.place.key, packed;
    mp_key read;

    if (RB_TYPE_P(key, T_ARRAY) || RB_TYPE_P(key, T_HASH)) {
        mp_encode(e, key);
        return;
    }
    packed = mp_encoder_call_placed(e, pack_key, (VALUE)walk);
    read = mp_key_read((const uint8_t *)RSTRING_PTR(packed), (const uint8_t *)RSTRING_END(packed));
    if (MP_UNLIKELY(key_taken_p(walk, &read))) raise_key_taken(e, key, &read);
    mp_out_write(&e->out, RSTRING_PTR(packed), (size_t)RSTRING_LEN(packed));
    RB_GC_GUARD(packed);
}

static int
dump_rest_pair(VALUE key, VALUE value, VALUE arg)
{
    rest_walk *walk = (rest_walk *)arg;

    mp_pairs_next(&walk->pairs, key);
    dump_rest_key(walk);
    if (walk->record->rest && !fits_p(walk->record->rest->parts[0], key)) doubt(walk->pairs.e);
    if (walk->record->rest) dump_value(walk->pairs.e, walk->record->rest->parts[1], value);
    else mp_encode(walk->pairs.e, value);
    return mp_pairs_passed(&walk->pairs, key);
}

/*
 * Writes the pairs that had unknown keys when the object was loaded: exactly `pairs`, the number in the head.
 * ArgumentError if such a key is the key of a member or the tag key: readers would take its value for the member or the
 * tag.
 */
static void
dump_rest(mp_encoder *e, const mp_record *record, VALUE tag_key, VALUE rest, size_t pairs)
{
    const mp_place *outer = e->place;
    rest_walk walk = {.record = record, .tag_key = tag_key};

    mp_pairs_init(&walk.pairs, e, pairs);
    walk.pairs.place = *outer;
    e->place = &walk.pairs.place;
    mp_pairs_each(&walk.pairs, rest, dump_rest_pair);
    e->place = outer;
}

/*
 * Writes a pair of any kind, and nothing for a field without a key. The packed key may have a head that
 * compatibility_mode does not know.
 */
static MP_NOINLINE void
dump_pair_of(mp_encoder *e, const mp_field *field, VALUE value)
{
    if (!field->written) return;
    if (MP_UNLIKELY(e->codec->options.compatibility_mode)) mp_encode(e, field->key);
    else mp_out_write(&e->out, field->written->packed, field->written->size);
    dump_value(e, field->shape, value);
}

/* TypeError unless the value of the field of unknown pairs is a Hash or nil. */
static void
check_rest_hash(const mp_encoder *e, const mp_record *record, VALUE rest)
{
    if (NIL_P(rest) || RB_TYPE_P(rest, T_HASH)) return;
    mp_encoder_raise(e, rb_eTypeError, NULL,
                     "expected a Hash of unknown keys, got %" PRIsVALUE " (%" PRIsVALUE "#%" PRIsVALUE ")",
                     rb_obj_class(rest), record->klass, record->fields[record->into].name);
}

/* True if a field of the Record holds the unknown pairs. That field has no key of its own. */
static bool
rest_p(const mp_record *record)
{
    return record->into != MP_FIELD_NONE && record->form != MP_FORM_ARRAY;
}

/* Writes the fields by key. The Record is a map without a field for unknown pairs. */
static void
dump_pairs(mp_encoder *e, const mp_record *record, VALUE object, mp_place *place)
{
    const mp_field *field = record->fields, *last = field + record->count;

    for (; field < last; field++) {
        VALUE value = mp_instance_get(record, object, field);

        place->key = field->key;
        if (MP_LIKELY(fits_p(field->shape, value))) {
            mp_encode_pair(e, field->written->packed, field->written->size, value);
        } else {
            dump_pair_of(e, field, value);
        }
    }
}

/* --- Records that choose their fields --------------------------------------------------------------- */

typedef struct {
    const mp_record *record;
    const mp_field *field;
    VALUE object;
} field_read;

static VALUE
call_reader(VALUE arg)
{
    const field_read *read = (const field_read *)arg;

    if (!mp_instance_read_p(read->record) || rb_obj_respond_to(read->object, read->field->reader, 0)) {
        return mp_instance_get(read->record, read->object, read->field);
    }
    return Qundef;
}

/* The values of all fields, each read once, in an Array. */
static VALUE
values_of(mp_encoder *e, const mp_record *record, VALUE object)
{
    VALUE values = rb_obj_hide(rb_ary_new_capa(record->count));
    mp_place place = {.up = e->place, .key = Qundef};
    uint32_t i;

    e->place = &place;
    for (i = 0; i < record->count; i++) {
        field_read read = {.record = record, .field = &record->fields[i], .object = object};
        VALUE value = Qnil;

        place.index = i;
        if (record->form != MP_FORM_ARRAY) place.key = read.field->key;
        if (!read.field->load_only) value = mp_encoder_call_placed(e, call_reader, (VALUE)&read);
        if (value == Qundef) {
            mp_encoder_raise(e, rb_eTypeError, NULL,
                             "%" PRIsVALUE " has no public method %" PRIsVALUE ", by which dump reads the member",
                             rb_obj_class(object), read.field->name);
        }
        rb_ary_push(values, value);
    }
    e->place = place.up;
    return values;
}

static VALUE
eql(VALUE arg)
{
    const VALUE *pair = (const VALUE *)arg;

    return rb_eql(pair[0], pair[1]) ? Qtrue : Qfalse;
}

/* True if dump leaves a field out because of its value. */
static bool
omitted_p(mp_encoder *e, const mp_field *field, VALUE value)
{
    VALUE pair[2] = {field->omitted, value};

    if (field->load_only || value == field->omitted) return true;
    if (field->omitted == Qundef || RB_SPECIAL_CONST_P(field->omitted)) return false;
    return rb_obj_class(value) == rb_obj_class(field->omitted) && RTEST(mp_encoder_call_placed(e, eql, (VALUE)pair));
}

/*
 * Returns how many values are written. In a map, sets each value that is left out to Qundef. In an array, only the last
 * values can be left out.
 */
static uint32_t
choose(mp_encoder *e, const mp_record *record, VALUE values, uint32_t replaced)
{
    bool array = record->form == MP_FORM_ARRAY;
    uint32_t i, count = 0, length = 0;

    for (i = 0; i < record->count; i++) {
        const mp_field *field = &record->fields[i];

        if (i != replaced && (array || field->written) && !omitted_p(e, field, RARRAY_AREF(values, i))) {
            count++;
            length = i + 1;
        } else if (!array) {
            rb_ary_store(values, (long)i, Qundef);
        }
    }
    return array ? length : count;
}

/*
 * In an array, writes the first n fields, after `first` other elements. In a map, writes all fields except those with
 * the value Qundef and the one that the tag replaces. If values is 0, reads them from the object.
 */
static void
dump_fields(mp_encoder *e, const mp_record *record, VALUE object, VALUE values, mp_place *place, uint32_t n,
            uint32_t first, uint32_t replaced)
{
    uint32_t i;

    if (record->form != MP_FORM_ARRAY) n = record->count;
    for (i = 0; i < n; i++) {
        const mp_field *field = &record->fields[i];
        VALUE value = values ? RARRAY_AREF(values, i) : mp_instance_get(record, object, field);

        place->index = i + first;
        if (record->form != MP_FORM_ARRAY) place->key = field->key;
        if (record->form == MP_FORM_ARRAY) dump_value(e, field->shape, value);
        else if (value != Qundef && i != replaced) dump_pair_of(e, field, value);
    }
    RB_GC_GUARD(values);
}

/* --- any Record ------------------------------------------------------------------------------------- */

/*
 * Dumps the object of a Record. In a union, writes the tag first, where readers find it at once: it replaces a field
 * with the tag key, or is an element of the array. tag_key is Qundef outside of unions.
 */
static void
dump_record(mp_encoder *e, const mp_record *record, VALUE object, VALUE tag_key, VALUE tag)
{
    mp_place place = {.key = Qundef};
    bool tagged = tag_key != Qundef, elements = record->form == MP_FORM_ARRAY;
    uint32_t replaced = tagged ? mp_record_tag_field(record, tag_key) : MP_FIELD_NONE;
    uint32_t fields = record->count - rest_p(record) - (replaced != MP_FIELD_NONE);
    bool plain = !record->chosen && !elements && replaced == MP_FIELD_NONE && record->into == MP_FIELD_NONE &&
                 !e->codec->options.compatibility_mode;
    VALUE values = 0, rest = Qnil;
    size_t others, count;

    check_class(e, record, object);
    if (MP_UNLIKELY(record->chosen)) values = values_of(e, record, object);
    if (MP_UNLIKELY(rest_p(record))) {
        rest = values ? RARRAY_AREF(values, record->into)
            : mp_instance_get(record, object, &record->fields[record->into]);
        check_rest_hash(e, record, rest);
    }
    if (MP_UNLIKELY(values != 0)) fields = choose(e, record, values, replaced);
    others = NIL_P(rest) ? 0 : RHASH_SIZE(rest);
    count = fields + others + tagged;
    put_head(e, elements ? mp_put_array_head : mp_put_map_head, object, count);
    if (!count) return;
    mp_encoder_open(e, &place);
    if (tagged && !elements) mp_encode(e, tag_key);
    if (tagged) mp_encode(e, tag);
    if (MP_LIKELY(plain)) dump_pairs(e, record, object, &place);
    else dump_fields(e, record, object, values, &place, fields, tagged, replaced);
    if (!NIL_P(rest)) dump_rest(e, record, tag_key, rest, others);
    mp_encoder_close(e, &place);
    RB_GC_GUARD(object);
    RB_GC_GUARD(rest);
}

/* Writes a LazyRecord as the bytes it was loaded from. */
static void
dump_lazy(mp_encoder *e, VALUE lazy)
{
    VALUE bytes = mp_lazy_record_bytes(lazy);

    mp_out_write(&e->out, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
}

/* True if part i of a union is the Record of the LazyRecord. */
static bool
lazy_part_p(const mp_shape *shape, uint32_t i, VALUE lazy)
{
    const mp_record *record = mp_shape_record(shape->parts[i]);

    return record && mp_lazy_record_of_p(lazy, record);
}

/* True if the first tag in the bytes of a LazyRecord equals the packed tag. */
static bool
tagged_p(const mp_shape *shape, VALUE lazy, VALUE packed)
{
    const mp_lazy_record *part = mp_lazy_record_get(lazy);
    mp_key tag = mp_key_read((const uint8_t *)RSTRING_PTR(packed), (const uint8_t *)RSTRING_END(packed));
    mp_value_words words;
    mp_loader l;
    bool same;

    mp_loader_init(&l, &words, part->message, part->start, part->type, part->codec);
    same = mp_load_find_tag(&l, shape);
    if (same) {
        const uint8_t *at = l.d.at;
        mp_key value;

        mp_loader_skip(&l);
        value = mp_key_read(at, l.d.at);
        same = mp_key_compare(&value, &tag) == 0;
    }
    mp_loader_end(&l);
    RB_GC_GUARD(packed);
    return same;
}

/* Writes a LazyRecord as the bytes it was loaded from. ArgumentError unless they have the tag of its Record. */
static MP_NOINLINE void
dump_lazy_tagged(mp_encoder *e, const mp_shape *shape, VALUE lazy, uint32_t number)
{
    VALUE tag = RARRAY_AREF(shape->objects, number);

    if (!tagged_p(shape, lazy, mp_encode_whole(tag, e->codec))) {
        mp_encoder_raise(e, rb_eArgError, NULL,
                         "the LazyRecord of %" PRIsVALUE " was not loaded by the union: it has no tag %+" PRIsVALUE
                         " under %+" PRIsVALUE ", so dump what its load returns",
                         mp_lazy_record_get(lazy)->record->klass, tag, shape->tag_key);
    }
    dump_lazy(e, lazy);
}

/*
 * The number of the tag for objects of exactly this class, or for LazyRecords of this Record; MP_FIELD_NONE without
 * one.
 */
static uint32_t
tag_of(const mp_shape *shape, VALUE object)
{
    VALUE number = rb_hash_lookup(shape->classes, rb_obj_class(object));
    uint32_t i, tags = RB_TYPE_P(object, T_DATA) ? (uint32_t)RARRAY_LEN(shape->objects) : 0;

    if (!NIL_P(number)) return FIX2UINT(number);
    for (i = 0; i < tags; i++) {
        if (lazy_part_p(shape, i, object)) return i;
    }
    return MP_FIELD_NONE;
}

/* --- alternatives ----------------------------------------------------------------------------------- */

/* True if the Record can dump the object. */
static bool
of_record_p(const mp_record *record, VALUE object)
{
    return RTEST(rb_obj_is_kind_of(object, record->klass)) || mp_lazy_record_of_p(object, record);
}

/*
 * True if the first of two Records that can dump an object is the better one. The Record of the nearer class wins; for
 * one class, a Record that loads objects wins over one that loads LazyRecords. The second Record may be NULL.
 */
static bool
nearer_p(const mp_record *record, const mp_record *other)
{
    if (!other) return true;
    if (record->klass != other->klass) return RTEST(rb_class_inherited_p(record->klass, other->klass));
    return other->form == MP_FORM_LAZY && record->form != MP_FORM_LAZY;
}

static const mp_shape *taker(const mp_shape *shape, VALUE object);

/* The part of a TAGGED that dumps objects whose class has no tag; NULL without one. */
static const mp_shape *
part_without_tag(const mp_shape *shape, VALUE object)
{
    if (shape->untagged && (!shape->otherwise || taker(shape->untagged, object))) return shape->untagged;
    return shape->otherwise;
}

/* The best part that has its own way to dump an object; NULL without one. Sets *found to the taker in that part. */
static const mp_shape *
best_of(const mp_shape *shape, VALUE object, const mp_shape **found)
{
    const mp_shape *best = NULL;
    uint32_t i;

    *found = NULL;
    for (i = 0; i < shape->count && (shape->converts || !RB_SPECIAL_CONST_P(object)); i++) {
        const mp_shape *other = taker(shape->parts[i], object);

        if (!other || (best && !(other->record && nearer_p(other->record, (*found)->record)))) continue;
        best = shape->parts[i];
        *found = other;
    }
    return best;
}

/* The shape, or the part in its unions, that dumps the object otherwise than mp_encode packs it; NULL without one. */
static const mp_shape *
taker(const mp_shape *shape, VALUE object)
{
    const mp_shape *part;
    uint32_t i;

    switch (shape->kind) {
      case MP_SHAPE_RECORD: return of_record_p(shape->record, object) ? shape : NULL;
      case MP_SHAPE_BYTES: return RB_TYPE_P(object, T_STRING) ? shape : NULL;
      case MP_SHAPE_TUPLE:
      case MP_SHAPE_LIST: return RB_TYPE_P(object, T_ARRAY) ? shape : NULL;
      case MP_SHAPE_MAP: return RB_TYPE_P(object, T_HASH) ? shape : NULL;
      case MP_SHAPE_RULED:
        if (!shape->rules.converts) return taker(shape->parts[0], object);
        return RTEST(rb_obj_is_kind_of(object, mp_rules_via(&shape->rules)->klass)) ? shape : NULL;
      case MP_SHAPE_TAGGED:
        i = tag_of(shape, object);
        part = i == MP_FIELD_NONE ? part_without_tag(shape, object) : shape->parts[i];
        return part ? taker(part, object) : NULL;
      case MP_SHAPE_ANY_OF:
        best_of(shape, object, &part);
        return part;
      default: return NULL;
    }
}

/* The index of the tag that equals a value, which may be the tag as a Symbol; MP_FIELD_NONE without one. */
static uint32_t
number_of_tag(const mp_shape *shape, VALUE value)
{
    return mp_shape_tag_number(shape, RB_SYMBOL_P(value) ? rb_sym2str(value) : value);
}

/* The value of the member whose key is the tag key; nil without such a member. */
static VALUE
own_tag(const mp_shape *shape, const mp_record *record, VALUE object)
{
    uint32_t field = mp_record_tag_field(record, shape->tag_key);

    return field == MP_FIELD_NONE ? Qnil : mp_instance_get(record, object, &record->fields[field]);
}

/* The tag inside an object that `else` dumps; nil without one, Qundef if that is not known. */
static VALUE
tag_within(const mp_shape *shape, const mp_shape *other, VALUE object)
{
    const mp_shape *part = taker(other, object);
    const mp_record *record = part ? part->record : NULL;
    VALUE tag = Qnil;

    if (shape->tag_first) {
        if (RB_TYPE_P(object, T_ARRAY)) return rb_ary_entry(object, 0);
        if (!record || record->form != MP_FORM_ARRAY) return Qundef;
        return record->count ? mp_instance_get(record, object, record->fields) : Qnil;
    }
    if (record && !mp_lazy_record_of_p(object, record)) return own_tag(shape, record, object);
    if (!RB_TYPE_P(object, T_HASH)) return Qundef;
    tag = rb_hash_lookup(object, shape->tag_key);
    if (!NIL_P(tag) || !RB_TYPE_P(shape->tag_key, T_STRING)) return tag;
    return rb_hash_lookup(object, rb_str_intern(shape->tag_key));
}

/*
 * ArgumentError if an object for `else` contains a tag of the union, because loading would choose that tag's class; or
 * if one for `untagged` contains any tag, because loading would choose `else`.
 */
static void
check_else_object(mp_encoder *e, const mp_shape *shape, const mp_shape *other, VALUE object)
{
    VALUE tag = tag_within(shape, other, object);

    if (tag == Qundef) doubt(e);
    if (tag == Qundef || NIL_P(tag)) return;
    if (other == shape->untagged) {
        mp_encoder_raise(e, rb_eArgError, NULL,
                         "%" PRIsVALUE " has the tag %" PRIsVALUE ", so it would not be read as what has none",
                         rb_obj_class(object), rb_inspect(tag));
    }
    if (number_of_tag(shape, tag) == MP_FIELD_NONE) return;
    mp_encoder_raise(e, rb_eArgError, NULL,
                     "%" PRIsVALUE " has the tag %" PRIsVALUE ", which belongs to another class in the union",
                     rb_obj_class(object), rb_inspect(tag));
}

static void
dump_tagged(mp_encoder *e, const mp_shape *shape, VALUE object)
{
    uint32_t i = tag_of(shape, object);
    const mp_shape *other = i == MP_FIELD_NONE ? part_without_tag(shape, object) : NULL;

    if (i != MP_FIELD_NONE && lazy_part_p(shape, i, object)) {
        dump_lazy_tagged(e, shape, object, i);
    } else if (i != MP_FIELD_NONE) {
        dump_record(e, mp_shape_record(shape->parts[i]), object, shape->tag_key, RARRAY_AREF(shape->objects, i));
    } else if (other) {
        check_else_object(e, shape, other, object);
        dump_value(e, other, object);
    } else {
        mp_encoder_raise(e, rb_eTypeError, NULL,
                         "%" PRIsVALUE " is none of the classes of the union: each class needs a tag of its own",
                         rb_obj_class(object));
    }
}

/* ArgumentError if loading would choose another class for the part's objects, by their members. */
static void
check_choice(mp_encoder *e, const mp_shape *shape, const mp_shape *part)
{
    uint32_t i;

    for (i = 0; i < shape->choices.count; i++) {
        const mp_choice *choice = &shape->choices.all[i];

        if (choice->shape != part || NIL_P(choice->misread)) continue;
        mp_encoder_raise(e, rb_eArgError, NULL,
                         "%" PRIsVALUE " has all required members of %" PRIsVALUE ", so it would be read as that: "
                         "Record.union tells them apart by a tag", part->record->klass, choice->misread);
    }
}

/* Dumps by the best part that has its own way to dump the object; without one, packs it as mp_encode does. */
static void
dump_any_of(mp_encoder *e, const mp_shape *shape, VALUE object)
{
    const mp_shape *found, *best = best_of(shape, object, &found);
    uint32_t i;

    if (best) {
        check_choice(e, shape, best);
        dump_value(e, best, object);
        return;
    }
    for (i = 0; i < shape->count && !loads_p(shape->parts[i], object); i++);
    if (i == shape->count) doubt(e);
    mp_encode(e, object);
}

/* --- any shape -------------------------------------------------------------------------------------- */

static void
dump_value(mp_encoder *e, const mp_shape *shape, VALUE object)
{
    switch (shape->kind) {
      case MP_SHAPE_RECORD:
        if (mp_lazy_record_of_p(object, shape->record)) {
            dump_lazy(e, object);
            return;
        }
        dump_record(e, shape->record, object, Qundef, Qundef);
        return;
      case MP_SHAPE_LIST:
      case MP_SHAPE_TUPLE:
        if (!RB_TYPE_P(object, T_ARRAY)) break;
        if (shape->kind == MP_SHAPE_TUPLE && RARRAY_LEN(object) != (long)shape->count) break;
        dump_array(e, shape, object);
        return;
      case MP_SHAPE_BYTES:
        if (!RB_TYPE_P(object, T_STRING)) break;
        dump_bytes(e, object);
        return;
      case MP_SHAPE_RULED:
        if (shape->rules.converts) dump_converted(e, shape, object);
        else dump_value(e, shape->parts[0], object);
        return;
      case MP_SHAPE_MAP:
        if (!RB_TYPE_P(object, T_HASH)) break;
        dump_map(e, shape, object);
        return;
      case MP_SHAPE_ANY_OF:
        dump_any_of(e, shape, object);
        return;
      case MP_SHAPE_TAGGED:
        dump_tagged(e, shape, object);
        return;
      default:
        break;
    }
    dump_plain(e, shape, object);
}

VALUE
mp_dump_whole(VALUE object, const mp_shapes *shapes, const mp_codec *codec, uint32_t depth, bool *doubtful,
              mp_notes *notes)
{
    uint8_t block[MP_ENCODER_BLOCK];
    typed_dump dump;
    mp_encoder *e = &dump.e;
    VALUE codec_object = codec->object, result;

    mp_encoder_init(e, block, sizeof(block), codec);
    e->depth = depth;
    e->keeps_notes = notes != NULL;
    dump.doubtful = false;
    dump_value(e, &shapes->shapes[0], object);
    result = mp_encoder_result(e);
    if (MP_UNLIKELY(e->packer != 0)) mp_foreign_end(e);
    *doubtful = dump.doubtful;
    if (notes) *notes = e->notes;
    RB_GC_GUARD(object);
    RB_GC_GUARD(codec_object);
    return result;
}
