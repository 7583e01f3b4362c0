/*
 * Makes objects of given shapes from Ruby objects, by the rules of load.c and with its Records, defaults and errors. A
 * Symbol is text here, as in packed bytes. Calls no method of the given objects, unless it has to pack them (from_any):
 * it walks over Hashes without looking keys up, so that no default proc and no hash or eql? of a key runs.
 */
#include "record/from.h"

#include "pack/encode.h"
#include "record/from_text.h"
#include "record/load.h"
#include "record/load_scalar.h"
#include "record/record_error.h"
#include "record/record_made.h"
#include "unpack/decode.h"
#include "unpack/objects.h"
#include "view/view.h"

static VALUE from_value(mp_loader *l, const mp_shape *shape, VALUE object);
static VALUE from_accepted(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object, bool exact);

/* --- errors ----------------------------------------------------------------------------------------- */

static MP_NOINLINE VALUE
wrong_object(mp_loader *l, const mp_shape *shape, VALUE object)
{
    l->given = object;
    if (!mp_load_report_broken(l, shape, mp_given_kind(object), NULL)) mp_record_wrong_type(l, shape, NULL);
    return Qnil;
}

/* Refuses a String or a container above a limit, as if it were in a message. */
static void
check_size(mp_loader *l, mp_kind kind, size_t n)
{
    const mp_limits *limits = &mp_loader_options(l)->limits;
    uint32_t size = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;

    if (MP_LIKELY(!mp_loader_options(l)->limited && n <= UINT32_MAX)) return;
    if (n <= UINT32_MAX && mp_limits_pass(limits, kind, size, &l->d.others) == MP_OK) return;
    mp_record_beyond(l, rb_sprintf("has %" PRIuSIZE " %s, which are more than a limit allows", n,
                                   kind == MP_MAP ? "pairs" : kind == MP_ARRAY ? "elements" : "bytes"));
}

NORETURN(static void raise_depth(mp_loader *l));

static void
raise_depth(mp_loader *l)
{
    mp_record_beyond(l, rb_sprintf("is nested too deeply: max_depth is %" PRIu32, l->d.max_depth));
}

/*
 * Checks the depth and the limits before a container of n elements is opened. Refuses one that is too deep, such as
 * one in a cycle.
 */
static void
check_given_container(mp_loader *l, mp_kind kind, size_t n)
{
    uint32_t depth = l->depth + 1;

    check_size(l, kind, n);
    if (MP_UNLIKELY((depth > l->d.max_depth && n) || mp_stack_too_deep_p(depth))) raise_depth(l);
}

/* RuntimeError if user code that ran meanwhile has changed the container. */
static void
check_unchanged(mp_loader *l, const char *kind, size_t before, size_t after)
{
    if (MP_LIKELY(before == after)) return;
    rb_raise(rb_eRuntimeError, "%s was modified while an object was made from it, at %" PRIsVALUE, kind,
             mp_error_path_shown(mp_error_path(l->place)));
}

/* --- text ------------------------------------------------------------------------------------------- */

/*
 * The text of a String or a Symbol: a String of UTF-8 or of bytes, as it would be packed. Qundef if it cannot be
 * converted, or if the options refuse its bytes.
 */
static VALUE
text_as_packed(mp_loader *l, VALUE object)
{
    VALUE text = RB_SYMBOL_P(object) ? rb_sym2str(object) : object;
    int index = RB_ENCODING_GET(text);

    check_size(l, MP_STR, (size_t)RSTRING_LEN(text));
    if (MP_UNLIKELY(!mp_utf8_index_p(index) && index != mp_binary_index && !rb_enc_str_asciionly_p(text))) {
        text = rb_str_conv_enc(text, rb_enc_from_index(index), mp_utf8);
        if (RB_ENCODING_GET(text) != mp_utf8_index) return Qundef;
    }
    if (MP_LIKELY(!mp_loader_options(l)->strict_utf8) || index == mp_binary_index) return text;
    return rb_enc_str_coderange(text) == ENC_CODERANGE_BROKEN ? Qundef : text;
}

static bool
bytes_p(VALUE text)
{
    return RB_ENCODING_GET(text) == mp_binary_index;
}

/* Reads a key as it would be packed. False for one that no member and no tag can have. *text owns the bytes. */
static bool
read_key(mp_loader *l, VALUE object, VALUE *text, mp_key *key)
{
    *text = object;
    if (RB_INTEGER_TYPE_P(object)) {
        if (!mp_int64_p(object)) return false;
        *key = mp_key_sint(NUM2LL(object));
        return true;
    }
    if (!RB_SYMBOL_P(object) && !RB_TYPE_P(object, T_STRING)) return false;
    *text = text_as_packed(l, object);
    if (*text == Qundef) return false;
    *key = mp_key_str(RSTRING_PTR(*text), (size_t)RSTRING_LEN(*text));
    if (bytes_p(*text)) key->kind = MP_BIN;
    return true;
}

/* A String is taken as it is, and not copied, unless the options freeze it. */
static VALUE
from_string(mp_loader *l, VALUE object)
{
    const mp_options *options = mp_loader_options(l);
    VALUE text = text_as_packed(l, object), string;

    if (MP_UNLIKELY(text == Qundef)) return Qundef;
    if (MP_LIKELY(text == object && RBASIC_CLASS(text) == rb_cString && !options->freeze && !options->shareable)) {
        return text;
    }
    if (bytes_p(text)) {
        string = mp_bin_new(options, (const uint8_t *)RSTRING_PTR(text), (uint32_t)RSTRING_LEN(text));
    } else {
        string = mp_str_new(&l->d, options->freeze || options->shareable, (const uint8_t *)RSTRING_PTR(text),
                            (uint32_t)RSTRING_LEN(text));
    }
    RB_GC_GUARD(text);
    return string;
}

static VALUE
from_utf8(mp_loader *l, VALUE object)
{
    VALUE text = from_string(l, object);

    return text == Qundef || rb_enc_str_coderange(text) == ENC_CODERANGE_BROKEN ? Qundef : text;
}

/* The key or Symbol that unpacking makes of the text; Qundef if it cannot be one. */
static VALUE
cached(mp_loader *l, VALUE object, mp_string_kind kind)
{
    VALUE text = text_as_packed(l, object), found;

    if (text == Qundef || (bytes_p(text) && !rb_enc_str_asciionly_p(text))) return Qundef;
    found = mp_string_cache_fetch(&mp_decoder_ractor(&l->d)->keys, (const uint8_t *)RSTRING_PTR(text),
                                  (size_t)RSTRING_LEN(text), kind);
    RB_GC_GUARD(text);
    return found ? found : Qundef;
}

static VALUE
from_symbol(mp_loader *l, VALUE object)
{
    return RB_STATIC_SYM_P(object) ? object : cached(l, object, MP_KEY_SYMBOL);
}

/* A String that is the key of a Hash. */
static VALUE
key_string(mp_loader *l, VALUE object)
{
    VALUE text = text_as_packed(l, object), key;

    if (text == Qundef) return Qundef;
    if (!bytes_p(text)) return cached(l, text, MP_KEY_STRING);
    key = rb_obj_freeze(rb_str_new(RSTRING_PTR(text), RSTRING_LEN(text)));
    RB_GC_GUARD(text);
    return mp_seal(mp_loader_options(l), key);
}

/* --- other scalars ---------------------------------------------------------------------------------- */

/* Splits an Integer into sign and magnitude. False if it does not fit a message. */
static bool
split(VALUE integer, bool *negative, uint64_t *magnitude)
{
    if (RB_FIXNUM_P(integer) || mp_int64_p(integer)) {
        int64_t n = NUM2LL(integer);

        *negative = n < 0;
        *magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
        return true;
    }
    if (RBIGNUM_NEGATIVE_P(integer) || rb_absint_size(integer, NULL) > sizeof(uint64_t)) return false;
    *negative = false;
    *magnitude = NUM2ULL(integer);
    return true;
}

static VALUE
from_integer(const mp_loader *l, const mp_shape *shape, VALUE object)
{
    bool negative;
    uint64_t magnitude;

    if (!split(object, &negative, &magnitude) || !mp_takes_integer_p(shape, negative, magnitude)) return Qundef;
    return mp_number(mp_loader_options(l), object);
}

static VALUE
from_float(const mp_loader *l, const mp_shape *shape, VALUE object)
{
    bool negative;
    uint64_t magnitude;
    double real;

    if (RB_FLOAT_TYPE_P(object)) {
        return mp_takes_real_p(shape, RFLOAT_VALUE(object)) ? mp_number(mp_loader_options(l), object) : Qundef;
    }
    if (!split(object, &negative, &magnitude) || !mp_exact_real(negative, magnitude, &real)) return Qundef;
    return mp_takes_real_p(shape, real) ? mp_number(mp_loader_options(l), DBL2NUM(real)) : Qundef;
}

static VALUE
from_literal(mp_loader *l, const mp_shape *shape, VALUE object, bool exact)
{
    if (RB_SYMBOL_P(object) || RB_TYPE_P(object, T_STRING)) object = key_string(l, object);
    return object == Qundef ? Qundef : mp_literal(shape, object, exact);
}

/* --- any object ------------------------------------------------------------------------------------- */

/* True if the options may require another object than the given one. */
static bool
changes_p(const mp_options *options)
{
    return options->freeze || options->shareable || options->limited;
}

/*
 * An object for a type that takes anything: the given object or, if the options require more, what unpacking makes of
 * the packed object.
 */
static VALUE
from_any(mp_loader *l, VALUE object)
{
    VALUE bytes;

    if (RB_SPECIAL_CONST_P(object) || MP_LIKELY(!changes_p(mp_loader_options(l)))) return object;
    bytes = mp_encode_whole(object, l->d.codec);
    return mp_decode_whole(bytes, l->d.codec);
}

static VALUE
from_of_class(mp_loader *l, const mp_shape *shape, VALUE object)
{
    return RTEST(rb_obj_is_kind_of(object, shape->klass)) ? from_any(l, object) : Qundef;
}

static VALUE
from_view(mp_loader *l, VALUE object)
{
    if (mp_view_p(object)) return object;
    return mp_view_whole(mp_encode_whole(object, l->d.codec), l->d.codec->object);
}

/*
 * True if an object needs no conversion: it is of the shape's class, or a large Integer that the codec packs as an ext.
 */
static bool
already_p(const mp_loader *l, const mp_shape *shape, VALUE object)
{
    uint32_t i;

    switch (shape->kind) {
      case MP_SHAPE_RECORD: return RTEST(rb_obj_is_kind_of(object, shape->record->klass));
      case MP_SHAPE_CLASS: return RTEST(rb_obj_is_kind_of(object, shape->klass));
      case MP_SHAPE_INTEGER:
        return RB_TYPE_P(object, T_BIGNUM) && shape->takes_exts && l->d.codec->types &&
               mp_types_for_object(l->d.codec->types, object);
      case MP_SHAPE_ANY_OF:
      case MP_SHAPE_TAGGED:
        for (i = 0; i < shape->count; i++) {
            if (already_p(l, shape->parts[i], object)) return true;
        }
        return false;
      default: return false;
    }
}

/* --- containers ------------------------------------------------------------------------------------- */

/* An Array for a LIST, whose elements have one shape, or for a TUPLE, with a shape for each. */
static VALUE
from_array(mp_loader *l, const mp_shape *shape, VALUE array)
{
    long i, n = RARRAY_LEN(array);
    bool tuple = shape->kind == MP_SHAPE_TUPLE;
    size_t first = l->count;
    mp_place place = {.key = Qundef};
    VALUE list;

    if (tuple && n != (long)shape->count) return Qundef;
    check_given_container(l, MP_ARRAY, (size_t)n);
    mp_loader_open(l, &place, l->d.at);
    for (i = 0; i < n && i < RARRAY_LEN(array); i++) {
        place.index = i;
        mp_loader_push(l, from_value(l, shape->parts[tuple ? i : 0], RARRAY_AREF(array, i)));
    }
    mp_loader_close(l, &place);
    check_unchanged(l, "Array", (size_t)n, (size_t)RARRAY_LEN(array));
    list = mp_array_new(mp_loader_options(l), l->count - first, l->d.stack.values + first);
    l->count = first;
    RB_GC_GUARD(array);
    return list;
}

/* A key of a map. Strings are the frozen objects that unpacking uses as keys. */
static VALUE
from_key(mp_loader *l, const mp_shape *shape, VALUE object)
{
    VALUE key;

    if (shape->kind == MP_SHAPE_RULED && shape->parts[0]->kind == MP_SHAPE_STRING) {
        key = mp_load_ruled(l, &shape->rules, from_key(l, shape->parts[0], object), NULL);
        return key == Qundef ? wrong_object(l, shape, object) : key;
    }
    if (shape->kind != MP_SHAPE_STRING) return from_value(l, shape, object);
    if (!RB_SYMBOL_P(object) && !RB_TYPE_P(object, T_STRING)) return wrong_object(l, shape, object);
    key = key_string(l, object);
    return key == Qundef ? wrong_object(l, shape, object) : key;
}

typedef struct {
    mp_loader *l;
    const mp_shape *shape;
    mp_place place;
} map_walk;

static int
take_pair(VALUE key, VALUE value, VALUE arg)
{
    map_walk *walk = (map_walk *)arg;
    mp_loader *l = walk->l;

    l->place = walk->place.up; /* the path of an error in a key is that of the map */
    mp_loader_push(l, walk->place.key = from_key(l, walk->shape->parts[0], key));
    l->place = &walk->place;
    mp_loader_push(l, from_value(l, walk->shape->parts[1], value));
    return ST_CONTINUE;
}

static VALUE
from_map(mp_loader *l, const mp_shape *shape, VALUE hash)
{
    size_t first = l->count, n = RHASH_SIZE(hash);
    map_walk walk = {.l = l, .shape = shape, .place = {.key = Qnil}};
    VALUE map;

    check_given_container(l, MP_MAP, n);
    mp_loader_open(l, &walk.place, l->d.at);
    l->tag_keys = NULL; /* the tag key of a union is a key like any other in a map of type {K => V} */
    rb_hash_foreach(hash, take_pair, (VALUE)&walk);
    mp_loader_close(l, &walk.place);
    check_unchanged(l, "Hash", n, RHASH_SIZE(hash));
    map = mp_hash_new(&l->d, l->count - first, l->d.stack.values + first);
    if (MP_UNLIKELY(RHASH_SIZE(map) < n) && mp_loader_options(l)->unique_keys) {
        mp_record_duplicate(l, "has two keys that are equal as text");
    }
    l->count = first;
    RB_GC_GUARD(hash);
    return map;
}

/* --- Records ---------------------------------------------------------------------------------------- */

typedef struct {
    mp_loader *l;
    mp_record_walk *walk;
    uint32_t next; /* the field whose key is expected next */
} record_pairs;

/* The entry of a key in the table; NULL without one. */
static const mp_field_key *
search_key(mp_loader *l, const mp_field_table *table, VALUE key)
{
    const mp_field_key *known = NULL;
    VALUE text = 0;
    mp_key read;

    if (table->count && read_key(l, key, &text, &read)) known = mp_field_table_find(table, &read);
    RB_GC_GUARD(text);
    return known;
}

/* True if a String is the key, as dump writes it, of a field that is read. */
MP_INLINE bool
same_field_p(const mp_field *field, VALUE key)
{
    return !RB_SPECIAL_CONST_P(key) && RB_BUILTIN_TYPE(key) == T_STRING && field->symbol != Qundef &&
           mp_utf8_index_p(RB_ENCODING_GET_INLINED(key)) && (size_t)RSTRING_LEN(key) == field->written->key.n &&
           memcmp(RSTRING_PTR(key), field->written->key.bytes, (size_t)RSTRING_LEN(key)) == 0;
}

/* Finds the field of a key. Most Hashes have keys in the members' order. */
MP_INLINE uint32_t
field_of(record_pairs *pairs, VALUE key)
{
    const mp_record *record = pairs->walk->record;
    const mp_field *field = &record->fields[pairs->next];
    const mp_field_key *found;

    if (MP_LIKELY(pairs->next < record->count) && (key == field->symbol || same_field_p(field, key))) {
        return pairs->next++;
    }
    found = search_key(pairs->l, &record->keys, key);
    if (!found) return MP_FIELD_NONE;
    pairs->next = found->field + 1;
    return found->field;
}

/* The key that unpacking makes of an unknown key. */
static VALUE
unknown_key(mp_loader *l, mp_record_walk *walk, VALUE key)
{
    VALUE text;

    if (RB_SYMBOL_P(key) || RB_TYPE_P(key, T_STRING)) {
        text = mp_loader_options(l)->symbolize_keys ? from_symbol(l, key) : key_string(l, key);
        return text == Qundef ? key : text;
    }
    if (!RB_INTEGER_TYPE_P(key)) walk->keys_may_collide = true;
    return key;
}

/* Skips, keeps or refuses an unknown pair, as mp_record_unknown_pair does. */
static MP_NOINLINE void
take_unknown(mp_loader *l, mp_record_walk *walk, VALUE key, VALUE value)
{
    const mp_record *record = walk->record;

    if (record->unknown == MP_UNKNOWN_SKIP) return;
    if (record->unknown == MP_UNKNOWN_INTO && search_key(l, &record->dump_only, key)) return;
    walk->place.key = l->given = unknown_key(l, walk, key);
    if (mp_record_tag_key_p(walk, walk->place.key)) return;
    if (record->unknown == MP_UNKNOWN_RAISE) {
        mp_record_unknown_key(l, NULL);
        return;
    }
    if (!record->rest) {
        mp_loader_push(l, walk->place.key); /* they stay above the fields' values until the object is made */
        mp_loader_push(l, from_any(l, value));
        return;
    }
    l->field = record->into;
    l->place = walk->place.up;
    mp_loader_push(l, walk->place.key = from_key(l, record->rest->parts[0], key));
    l->place = &walk->place;
    mp_loader_push(l, from_value(l, record->rest->parts[1], value));
    l->field = MP_FIELD_NONE;
}

/* True if the second value of a field is to be ignored. */
static MP_NOINLINE bool
skip_second(mp_loader *l)
{
    const mp_options *options = mp_loader_options(l);

    if (options->unique_keys) mp_record_duplicate(l, "comes twice, under keys that are equal as text");
    return options->unique_keys || options->first_key;
}

static int
take_field(VALUE key, VALUE value, VALUE arg)
{
    record_pairs *pairs = (record_pairs *)arg;
    mp_loader *l = pairs->l;
    mp_record_walk *walk = pairs->walk;
    uint32_t number = field_of(pairs, key);
    const mp_field *field;

    if (MP_UNLIKELY(number == MP_FIELD_NONE)) {
        take_unknown(l, walk, key, value);
        return ST_CONTINUE;
    }
    field = &walk->record->fields[number];
    walk->place.key = field->key;
    if (MP_UNLIKELY(mp_record_values(l, walk)[number] != Qundef) && skip_second(l)) return ST_CONTINUE;
    l->field = number;
    mp_record_set(l, walk, number, from_value(l, field->shape, value));
    l->field = MP_FIELD_NONE;
    return ST_CONTINUE;
}

static void
take_elements(mp_loader *l, mp_record_walk *walk, VALUE array)
{
    uint32_t count = walk->record->count;
    long i, tag = walk->tag_keys != NULL, n = RARRAY_LEN(array) - tag;

    for (i = 0; i < n && i + tag < RARRAY_LEN(array); i++) {
        walk->place.index = i + tag;
        if (i >= (long)count) {
            if (walk->record->unknown == MP_UNKNOWN_RAISE) mp_record_unknown_element(l, count + (uint32_t)tag, NULL);
            break;
        }
        l->field = (uint32_t)i;
        mp_record_set(l, walk, (uint32_t)i, from_value(l, walk->record->fields[i].shape, RARRAY_AREF(array, i + tag)));
    }
    l->field = MP_FIELD_NONE;
}

static VALUE
from_record(mp_loader *l, const mp_shape *shape, VALUE object)
{
    bool array = shape->record->form == MP_FORM_ARRAY;
    size_t n = array ? (size_t)RARRAY_LEN(object) : RHASH_SIZE(object);
    mp_record_walk walk;
    record_pairs pairs = {.l = l, .walk = &walk};
    VALUE instance;

    check_given_container(l, array ? MP_ARRAY : MP_MAP, n);
    mp_record_open(l, &walk, shape->record);
    if (array) take_elements(l, &walk, object);
    else rb_hash_foreach(object, take_field, (VALUE)&pairs);
    l->place = walk.place.up;
    check_unchanged(l, array ? "Array" : "Hash", n, array ? (size_t)RARRAY_LEN(object) : RHASH_SIZE(object));
    l->given = object;
    instance = mp_record_made(l, &walk);
    mp_record_close(l, &walk);
    RB_GC_GUARD(object);
    return instance;
}

/* --- rules ------------------------------------------------------------------------------------------ */

static VALUE other_object(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object);

/* An object that is already of the converter's class stays as it is, and skips the rules in front of the converter. */
static VALUE
from_ruled(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object, bool exact)
{
    const mp_rule *via = mp_rules_via(&shape->rules);
    mp_rules rules = shape->rules;
    const mp_shape *part = shape->parts[0];
    long errors = l->kept;
    VALUE value = Qundef;

    if (via && RTEST(rb_obj_is_kind_of(object, via->klass))) {
        value = mp_loader_options(l)->shareable ? rb_ractor_make_shareable_copy(object) : object;
        rules.count -= (uint32_t)(via + 1 - rules.rules);
        rules.rules = (mp_rule *)via + 1;
    } else {
        if (part->kind == MP_SHAPE_RULED || part->accepts & mp_kind_bit(kind)) {
            value = from_accepted(l, part, kind, object, exact);
        }
        if (value == Qundef) value = other_object(l, part, kind, object);
    }
    if (value == Qundef || l->kept != errors) return value;
    l->given = object;
    return mp_load_ruled(l, &rules, value, NULL);
}

/* True for a shape that also takes objects whose heads it does not accept. Its rules hold for those, too. */
static bool
takes_others_p(const mp_shape *shape)
{
    uint32_t i;

    for (i = 0; shape->kind == MP_SHAPE_ANY_OF && i < shape->count; i++) {
        if (takes_others_p(shape->parts[i])) return true;
    }
    return shape->kind == MP_SHAPE_RULED;
}

/* --- alternatives ----------------------------------------------------------------------------------- */

typedef struct {
    mp_loader *l;
    const mp_choices *choices;
    uint64_t *state;
} choice_search;

static int
note_member(VALUE key, VALUE value, VALUE arg)
{
    const choice_search *search = (const choice_search *)arg;
    VALUE text;
    mp_key read;
    uint32_t i;

    if (!read_key(search->l, key, &text, &read)) return ST_CONTINUE;
    for (i = 0; i < search->choices->count; i++) {
        const mp_field_key *found = mp_field_table_find(&search->choices->all[i].shape->record->keys, &read);

        if (found) mp_choices_found(search->choices, search->state, i, found->field);
    }
    RB_GC_GUARD(text);
    return ST_CONTINUE;
}

/* Chooses the Record whose required members the Hash has, as choose_record in load.c does for a map. */
static MP_NOINLINE const mp_shape *
choose_for_hash(mp_loader *l, const mp_choices *choices, VALUE hash)
{
    choice_search search = {.l = l, .choices = choices};
    const mp_shape *chosen;
    VALUE memory;

    search.state = ALLOCV_N(uint64_t, memory, choices->size);
    mp_choices_begin(choices, search.state);
    rb_hash_foreach(hash, note_member, (VALUE)&search);
    chosen = mp_choices_made(choices, search.state);
    ALLOCV_END(memory);
    return chosen;
}

static VALUE
from_first(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object, bool exact)
{
    VALUE found = Qundef;
    uint32_t i;

    if (MP_UNLIKELY(shape->choices.count) && kind == MP_MAP) {
        const mp_shape *chosen = choose_for_hash(l, &shape->choices, object);

        return chosen ? from_record(l, chosen, object) : Qundef;
    }
    for (i = 0; i < shape->count && found == Qundef; i++) {
        if (shape->parts[i]->accepts & mp_kind_bit(kind)) {
            found = from_accepted(l, shape->parts[i], kind, object, exact);
        }
    }
    return found;
}

static VALUE
from_any_of(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object)
{
    bool exact = shape->widens && kind == MP_INT;
    VALUE found = from_first(l, shape, kind, object, exact);
    uint32_t i;

    if (exact && found == Qundef) found = from_first(l, shape, kind, object, false);
    for (i = 0; i < shape->count && found == Qundef; i++) {
        const mp_shape *part = shape->parts[i];

        if (part->accepts & mp_kind_bit(kind) || !takes_others_p(part)) continue;
        found = from_accepted(l, part, kind, object, false);
    }
    if (found != Qundef) l->broken = NULL;
    return found;
}

typedef struct {
    mp_loader *l;
    mp_key tag_key;
    VALUE value; /* Qundef until it is found */
} tag_search;

static int
look_for_tag(VALUE key, VALUE value, VALUE arg)
{
    tag_search *search = (tag_search *)arg;
    VALUE text;
    mp_key read;
    bool same = read_key(search->l, key, &text, &read) && mp_key_compare(&read, &search->tag_key) == 0;

    RB_GC_GUARD(text);
    if (same) search->value = value;
    return same ? ST_STOP : ST_CONTINUE;
}

/* The tag of a Hash, under a String or a Symbol; Qundef without one. */
static VALUE
tag_in(mp_loader *l, const mp_shape *shape, VALUE hash, VALUE *given)
{
    tag_search search = {.l = l, .value = Qundef};
    VALUE tag, text;

    if (!shape->tag_first) {
        search.tag_key = mp_tag_key_read(shape->tag_key);
        rb_hash_foreach(hash, look_for_tag, (VALUE)&search);
    } else if (RARRAY_LEN(hash)) {
        search.value = RARRAY_AREF(hash, 0);
    }
    tag = *given = search.value;
    if (tag == Qundef || (!RB_SYMBOL_P(tag) && !RB_TYPE_P(tag, T_STRING))) return tag;
    text = text_as_packed(l, tag);
    if (text == Qundef) return tag;
    if (mp_shape_tag_number(shape, text) != MP_FIELD_NONE || !l->lax) return text;
    tag = mp_literal_of_text(shape->objects, text);
    return tag == Qundef ? text : tag;
}

static VALUE
from_tagged(mp_loader *l, const mp_shape *shape, VALUE hash)
{
    VALUE given, tag = tag_in(l, shape, hash, &given), object;
    const mp_shape *part = mp_load_tagged_part(shape, tag);
    mp_tag_key tag_key = {.up = l->tag_keys, .key = shape->tag_key};

    if (mp_stack_used_up_p()) raise_depth(l); /* nested else unions open no level */
    if (part) {
        if (tag != Qundef && !(shape->tag_first && part == shape->otherwise)) l->tag_keys = &tag_key;
        object = from_value(l, part, hash);
        l->tag_keys = NULL;
        return object;
    }
    l->given = tag == Qundef ? hash : given;
    mp_record_wrong_tag(l, shape, tag != Qundef, NULL);
    return Qnil;
}

/* --- any shape -------------------------------------------------------------------------------------- */

/* An object whose kind the shape accepts; Qundef if it is a scalar that the shape does not take. */
static VALUE
from_accepted(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object, bool exact)
{
    switch (shape->kind) {
      case MP_SHAPE_ANY: return from_any(l, object);
      case MP_SHAPE_VIEW: return from_view(l, object);
      case MP_SHAPE_STRING:
      case MP_SHAPE_BYTES: return from_string(l, object);
      case MP_SHAPE_TEXT: return from_utf8(l, object);
      case MP_SHAPE_LIST:
      case MP_SHAPE_TUPLE: return from_array(l, shape, object);
      case MP_SHAPE_RULED: return from_ruled(l, shape, kind, object, exact);
      case MP_SHAPE_MAP: return from_map(l, shape, object);
      case MP_SHAPE_RECORD: return from_record(l, shape, object);
      case MP_SHAPE_ANY_OF: return from_any_of(l, shape, kind, object);
      case MP_SHAPE_TAGGED: return from_tagged(l, shape, object);
      case MP_SHAPE_SYMBOL: return from_symbol(l, object);
      case MP_SHAPE_INTEGER: return from_integer(l, shape, object);
      case MP_SHAPE_FLOAT: return exact ? Qundef : from_float(l, shape, object);
      case MP_SHAPE_CLASS: return from_of_class(l, shape, object);
      case MP_SHAPE_SPECIAL: return object;
      default: return from_literal(l, shape, object, exact);
    }
}

/* Converts text to the number or the literal that it stands for. Qundef if the shape takes none, or not this one. */
static VALUE
from_text(mp_loader *l, const mp_shape *shape, VALUE text)
{
    VALUE found = Qundef;
    uint32_t i;

    switch (shape->kind) {
      case MP_SHAPE_SPECIAL:
      case MP_SHAPE_ENUM: return mp_literal_of_text(shape->objects, text);
      case MP_SHAPE_INTEGER:
      case MP_SHAPE_FLOAT:
        found = mp_number_of_text(text);
        if (found == Qundef || !(shape->accepts & mp_kind_bit(mp_given_kind(found)))) return Qundef;
        return from_accepted(l, shape, mp_given_kind(found), found, false);
      case MP_SHAPE_ANY_OF:
        for (i = 0; i < shape->count && found == Qundef; i++) found = from_text(l, shape->parts[i], text);
        return found;
      default: return Qundef;
    }
}

/* Converts an instance of the shape's class, or text, whose kind the shape does not accept. Qundef if that fails. */
static VALUE
other_object(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object)
{
    VALUE other;

    if (already_p(l, shape, object)) {
        return mp_loader_options(l)->shareable ? rb_ractor_make_shareable_copy(object) : object;
    }
    if (kind == MP_EXT && shape->accepts & mp_kind_bit(MP_MAP)) {
        other = rb_funcall(mp_mArguments, rb_intern("parameters"), 1, object);
        if (RB_TYPE_P(other, T_HASH)) return from_value(l, shape, other);
    }
    return l->lax && RB_TYPE_P(object, T_STRING) ? from_text(l, shape, object) : Qundef;
}

static MP_NOINLINE VALUE
from_other(mp_loader *l, const mp_shape *shape, mp_kind kind, VALUE object)
{
    VALUE other = other_object(l, shape, kind, object);

    if (other != Qundef) return other;
    mp_load_refuse_unnamed(shape);
    return wrong_object(l, shape, object);
}

static VALUE
from_value(mp_loader *l, const mp_shape *shape, VALUE object)
{
    mp_kind kind = mp_given_kind(object);
    VALUE found = Qundef;

    if (MP_UNLIKELY(l->lax) && mp_empty_is_nil_p(shape, object)) return Qnil;
    if (MP_LIKELY(shape->accepts & mp_kind_bit(kind)) || takes_others_p(shape)) {
        found = from_accepted(l, shape, kind, object, false);
    }
    return MP_LIKELY(found != Qundef) ? found : from_other(l, shape, kind, object);
}

VALUE
mp_from_whole(VALUE object, VALUE type, const mp_shapes *shapes, VALUE codec, bool lax, bool collect)
{
    mp_value_words words;
    mp_loader l;
    VALUE made;

    mp_loader_init_given(&l, &words, type, codec);
    l.lax = lax;
    l.d.others = 1; /* objects so far, for max_objects; the outermost is the first */
    if (collect) l.errors = rb_ary_new();
    made = from_value(&l, &shapes->shapes[0], object);
    mp_record_raise_kept(&l);
    mp_loader_end(&l);
    RB_GC_GUARD(codec);
    RB_GC_GUARD(object);
    return made;
}
