/* Bytes to objects of given shapes: a recursive walk, whose depth the limits and the C stack bound. */
#include "load.h"

#include "error.h"
#include "instance.h"
#include "key_flood.h"
#include "load_scalar.h"
#include "objects.h"
#include "record_error.h"
#include "view_index.h"

static VALUE load_any_kind(mp_loader *l, const mp_shape *shape);

/* A str or an Integer of its shape and far from the end, without a call; Qundef for anything else. */
MP_INLINE VALUE
load_at_once(mp_loader *l, const mp_shape *shape)
{
    const mp_options *options = mp_loader_options(l);
    const uint8_t *p = l->d.at, *payload;
    mp_wire_row row;
    uint32_t size;
    int64_t n;

    if (!mp_ahead_p(p, l->d.end)) return Qundef;
    row = mp_row_ahead(p);
    if (shape->kind == MP_SHAPE_STRING && row.kind == MP_STR) {
        size = mp_row_count(p, row);
        payload = p + row.head;
        if (!mp_payload_present_p(payload, size, l->d.end)) return Qundef;
        l->d.at = payload + size;
        return mp_str_new(&l->d, options->freeze || options->shareable, payload, size);
    }
    if (shape->kind != MP_SHAPE_INTEGER || row.kind < MP_FIXINT || row.kind > MP_INT) return Qundef;
    n = mp_int_ahead(p, row);
    if ((row.kind == MP_UINT && n < 0) || n < shape->min || n > shape->max || !RB_FIXABLE(n)) return Qundef;
    l->d.at = p + row.head;
    return LONG2FIX((long)n);
}

/* The object at the next head, of that shape. */
MP_INLINE VALUE
load_value(mp_loader *l, const mp_shape *shape)
{
    VALUE object = load_at_once(l, shape);

    return MP_LIKELY(object != Qundef) ? object : load_any_kind(l, shape);
}

/* The error of an object that is not of its shape. If it is kept for later, passes over the object, which is nil. */
static MP_NOINLINE VALUE
mismatch(mp_loader *l, const mp_shape *shape, const uint8_t *at)
{
    mp_record_mismatch(l, shape->words, at);
    l->d.at = at;
    mp_loader_skip(l);
    return Qnil;
}

/* --- containers ------------------------------------------------------------------------------------- */

static VALUE
load_list(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t i, n = mp_row_count(l->d.at, row);
    size_t first = l->count;
    mp_place place = {.key = Qundef};
    VALUE array;

    mp_loader_open(l, &place, l->d.at);
    l->d.at += row.head;
    for (i = 0; i < n; i++) {
        place.index = i;
        mp_loader_push(l, load_value(l, shape->parts[0]));
    }
    mp_loader_close(l, &place);
    array = mp_array_new(mp_loader_options(l), n, l->d.stack.values + first);
    l->count = first;
    return array;
}

/* Strings are the frozen ones that unpacking has as keys, too. */
static VALUE
load_key(mp_loader *l, const mp_shape *shape)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);

    if (shape->kind != MP_SHAPE_STRING) return load_value(l, shape);
    if (row.kind == MP_STR) return mp_load_cached(l, row, MP_KEY_STRING);
    if (row.kind == MP_BIN) {
        uint32_t n = mp_row_count(at, row);

        return mp_seal(mp_loader_options(l), rb_obj_freeze(rb_str_new((const char *)mp_loader_payload(l, row, n), n)));
    }
    return mismatch(l, shape, at);
}

static VALUE
load_map(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t i, n = mp_row_count(l->d.at, row);
    size_t first = l->count;
    mp_place place = {.key = Qnil};
    VALUE hash;

    mp_loader_open(l, &place, l->d.at);
    l->tags = NULL; /* the key by which a union chose the map is in the map itself */
    l->d.at += row.head;
    for (i = 0; i < n; i++) {
        l->place = place.up; /* what is wrong with a key is wrong with the map */
        mp_loader_push(l, place.key = load_key(l, shape->parts[0]));
        l->place = &place;
        mp_loader_push(l, load_value(l, shape->parts[1]));
    }
    mp_loader_close(l, &place);
    hash = mp_hash_new(&l->d, l->count - first, l->d.stack.values + first);
    l->count = first;
    return hash;
}

/* --- Records ---------------------------------------------------------------------------------------- */

/* A Record that is being loaded. */
typedef struct {
    const mp_record *record;
    const mp_record *outer;  /* to go back to */
    uint32_t outer_field;
    const mp_field_key *next; /* the key that is expected next, or the end of them */
    uint32_t absent;         /* fields that have no value yet */
    size_t first;            /* its values on the value stack: Qundef where there is none yet */
    const uint8_t *at;       /* its head */
    const mp_tag *tags;      /* as in mp_loader */
    bool keys_may_collide;   /* those of the pairs that no field is for */
    long errors;             /* that were kept before */
    mp_place place;
} record_walk;

static long
errors_kept(const mp_loader *l)
{
    return l->errors ? RARRAY_LEN(l->errors) : 0;
}

static void
record_open(mp_loader *l, record_walk *walk, const mp_record *record)
{
    VALUE *values;
    uint32_t i;

    *walk = (record_walk){.record = record, .outer = l->record, .outer_field = l->field, .first = l->count,
                          .next = record->keys.keys, .absent = record->count, .at = l->d.at, .tags = l->tags,
                          .errors = errors_kept(l), .place = {.key = Qundef}};
    mp_loader_open(l, &walk->place, l->d.at);
    l->tags = NULL;
    l->record = record;
    l->field = MP_FIELD_NONE;
    while (MP_UNLIKELY(l->d.stack.capacity - l->count < record->count)) mp_decoder_grow_stack(&l->d, l->count);
    values = l->d.stack.values + l->count;
    for (i = 0; i < record->count; i++) values[i] = Qundef;
    l->count += record->count;
}

static void
record_close(mp_loader *l, const record_walk *walk)
{
    mp_loader_close(l, &walk->place);
    l->record = walk->outer;
    l->field = walk->outer_field;
    l->count = walk->first;
}

MP_INLINE VALUE *
record_values(const mp_loader *l, const record_walk *walk)
{
    return l->d.stack.values + walk->first;
}

MP_INLINE void
set_value(mp_loader *l, record_walk *walk, uint32_t field, VALUE value)
{
    VALUE *place = &record_values(l, walk)[field];

    if (MP_LIKELY(*place == Qundef)) walk->absent--;
    *place = value;
}

/* The key with that text; a bin is the same key as a str if it is ASCII, as it is in a Hash. NULL without one. */
static const mp_field_key *
search_text(const mp_field_table *keys, mp_wire_row row, const uint8_t *payload, uint32_t n)
{
    uint32_t i;

    for (i = 0; row.kind == MP_BIN && i < n; i++) {
        if (payload[i] >= 0x80) return NULL;
    }
    return mp_field_table_text(keys, payload, n);
}

/* The key at the next object, which it moves past; NULL if it is none of the Record's. */
static MP_NOINLINE const mp_field_key *
search_key(mp_loader *l, const mp_field_table *keys)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);

    if (row.kind == MP_STR || row.kind == MP_BIN) {
        uint32_t n = mp_row_count(at, row);

        return search_text(keys, row, mp_loader_payload(l, row, n), n);
    }
    mp_loader_skip(l);
    if (row.kind == MP_UINT && mp_row_uint(at, row) > INT64_MAX) return NULL;
    if (row.kind == MP_UINT) return mp_field_table_number(keys, (int64_t)mp_row_uint(at, row));
    if (row.kind != MP_INT && row.kind != MP_FIXINT) return NULL;
    return mp_field_table_number(keys, mp_row_sint(at, row));
}

/* The next key, which it moves past; NULL if no field has it. Most messages have them in the order of the members. */
MP_INLINE const mp_field_key *
next_key(mp_loader *l, record_walk *walk)
{
    const mp_field_table *keys = &walk->record->keys;
    const mp_field_key *key = walk->next;

    if (key < keys->keys + keys->count && mp_ahead_p(l->d.at, l->d.end) && mp_field_key_at_p(key, l->d.at, l->d.end)) {
        l->d.at += key->size;
    } else {
        key = search_key(l, keys);
        if (!key) return NULL;
    }
    walk->next = key + 1;
    return key;
}

/* A key that is no str or bin, with the limits that unpacking has in keys: Hashes compare them. */
static VALUE
load_other_key(mp_loader *l, record_walk *walk)
{
    uint32_t limit = l->d.max_depth, in_key = l->depth + MP_KEY_DEPTH_MAX;
    VALUE key;

    l->d.outer_keys = 1;
    if (in_key < limit) l->d.max_depth = in_key;
    key = mp_load_any(l);
    l->d.outer_keys = 0;
    l->d.max_depth = limit;
    if (!RB_INTEGER_TYPE_P(key)) walk->keys_may_collide = true;
    return key;
}

/* A key as unpacking makes it. */
static VALUE
load_unknown_key(mp_loader *l, record_walk *walk)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);
    VALUE key;

    if (row.kind == MP_BIN) {
        uint32_t n = mp_row_count(at, row);

        return mp_bin_key_new(&l->d, mp_loader_payload(l, row, n), n);
    }
    if (row.kind != MP_STR) return load_other_key(l, walk);
    key = mp_load_cached(l, row, mp_loader_options(l)->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING);
    if (!key) mp_decoder_raise(&l->d, MP_E_UTF8, at);
    return key;
}

/* True for a key by which unions chose the Record. */
static bool
tag_p(const record_walk *walk, VALUE key)
{
    const mp_tag *tag = walk->tags;

    if (tag && RB_SYMBOL_P(key)) key = rb_sym2str(key);
    while (tag && !rb_eql(tag->key, key)) tag = tag->up;
    return tag != NULL;
}

/* A pair whose key at that place no field has. */
static MP_NOINLINE void
unknown_pair(mp_loader *l, record_walk *walk, const uint8_t *key_at)
{
    const mp_record *record = walk->record;
    const uint8_t *value_at = l->d.at;
    VALUE key;

    if (record->unknown == MP_UNKNOWN_SKIP) {
        mp_loader_skip(l);
        return;
    }
    l->d.at = key_at;
    key = load_unknown_key(l, walk);
    walk->place.key = key;
    if (tag_p(walk, key) || record->unknown == MP_UNKNOWN_RAISE) {
        if (!tag_p(walk, key)) mp_record_unknown_key(l, key_at);
        l->d.at = value_at;
        mp_loader_skip(l);
        return;
    }
    mp_loader_push(l, key);
    mp_loader_push(l, mp_load_any(l)); /* above the values of the fields, until load_rest */
}

/* Makes the Hash of the pairs that no field is for. */
static void
load_rest(mp_loader *l, record_walk *walk)
{
    const mp_record *record = walk->record;
    size_t first = walk->first + record->count, n = l->count - first;
    int exceeded = 0;
    VALUE rest;

    if (record->into == MP_FIELD_NONE || record_values(l, walk)[record->into] != Qundef) return;
    if (MP_UNLIKELY(walk->keys_may_collide)) exceeded = mp_same_hash_exceeded(n, l->d.stack.values + first);
    if (exceeded) mp_raise_same_hash((size_t)exceeded, mp_decoder_offset(&l->d, l->d.at));
    rest = mp_hash_new(&l->d, n, l->d.stack.values + first);
    set_value(l, walk, record->into, rest);
    l->count = first;
}

/* Called for a field's second key: its alias, if keys must be unique, because the same key twice does not come here. */
static MP_NOINLINE void
check_twice(mp_loader *l, const record_walk *walk)
{
    if (mp_loader_options(l)->unique_keys) mp_decoder_raise(&l->d, MP_E_DUPLICATE_KEY, walk->at);
}

/* Loads the values of a map into the places of their fields. */
static void
load_pairs(mp_loader *l, record_walk *walk, uint32_t n)
{
    for (; n; n--) {
        const uint8_t *key_at = l->d.at;
        const mp_field_key *key = next_key(l, walk);
        const mp_field *field;

        if (MP_UNLIKELY(!key)) {
            unknown_pair(l, walk, key_at);
            continue;
        }
        if (MP_UNLIKELY(record_values(l, walk)[key->field] != Qundef)) check_twice(l, walk);
        field = &walk->record->fields[key->field];
        l->field = key->field;
        walk->place.key = field->key;
        set_value(l, walk, key->field, load_value(l, field->shape));
        l->field = MP_FIELD_NONE;
    }
}

/* The same for an array: elements that no field is for are newer than this Record. */
static void
load_elements(mp_loader *l, record_walk *walk, uint32_t n)
{
    uint32_t i, count = walk->record->count;

    for (i = 0; i < n; i++) {
        walk->place.index = i;
        if (i >= count) {
            if (walk->record->unknown == MP_UNKNOWN_RAISE && i == count) mp_record_unknown_element(l, count, l->d.at);
            mp_loader_skip(l);
            continue;
        }
        l->field = i;
        set_value(l, walk, i, load_value(l, walk->record->fields[i].shape));
    }
    l->field = MP_FIELD_NONE;
}

/* Gives fields that did not come their default. A class that makes its own objects knows what to do without them. */
static void
fill_missing(mp_loader *l, const record_walk *walk)
{
    const mp_record *record = walk->record;
    VALUE *values = record_values(l, walk);
    uint32_t i;

    if (MP_LIKELY(!walk->absent)) return;
    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef) continue;
        values[i] = record->fields[i].missing;
        if (values[i] != Qundef || record->build == MP_BUILD_NEW || record->build == MP_BUILD_KEYWORDS) continue;
        mp_record_missing(l, i, walk->at);
        values[i] = Qnil;
    }
}

typedef struct {
    mp_loader *l;
    const record_walk *walk;
} instance_call;

static VALUE
new_instance(VALUE arg)
{
    const instance_call *call = (const instance_call *)arg;

    return mp_instance_new(call->walk->record, record_values(call->l, call->walk));
}

/* What initialize refuses is not of the Record's type either. */
static VALUE
refused(VALUE arg, VALUE error)
{
    const instance_call *call = (const instance_call *)arg;

    mp_record_refused(call->l, error, call->walk->at);
    return Qnil;
}

static VALUE
make_instance(mp_loader *l, const record_walk *walk)
{
    const mp_options *options = mp_loader_options(l);
    mp_build build = walk->record->build;
    instance_call call = {l, walk};

    if (MP_UNLIKELY(errors_kept(l) != walk->errors)) return Qnil; /* user code gets no wrong values */
    if (build == MP_BUILD_STRUCT || build == MP_BUILD_DATA) return mp_seal(options, new_instance((VALUE)&call));
    if (build == MP_BUILD_IVARS) return mp_seal_foreign(options, new_instance((VALUE)&call));
    return mp_seal_foreign(options, rb_rescue2(new_instance, (VALUE)&call, refused, (VALUE)&call, rb_eArgError,
                                               rb_eTypeError, rb_eRangeError, (VALUE)0));
}

/*
 * The same as load_offsets for pairs that are leaves and come in the order of the members, as long as they do. Returns
 * how many are left. Nothing can raise here, so all that it needs is in registers.
 */
static uint32_t
load_offsets_in_order(mp_loader *l, record_walk *walk, uint32_t n)
{
    const mp_field_table *keys = &walk->record->keys;
    const mp_field_key *key = walk->next, *last = keys->keys + keys->count;
    const uint8_t *at = l->d.at, *start = l->d.start, *end = l->d.end;
    VALUE *values = record_values(l, walk);
    uint32_t before = n;
    uint64_t held;

    for (; n && key < last && values[key->field] == Qundef; n--, key++) {
        const uint8_t *value = at + key->size, *next = value;

        if (!mp_ahead_p(at, end) || !mp_field_key_at_p(key, at, end)) break;
        if (!mp_ahead_p(value, end) || mp_step_over(&next, end, &held) != MP_STEP_LEAF) break;
        values[key->field] = LONG2FIX((long)(value - start));
        at = next;
    }
    l->d.at = at;
    walk->next = key;
    walk->absent -= before - n;
    return n;
}

/* Loads where the values of a map are, as Fixnums, into the places of their fields. */
static void
load_offsets(mp_loader *l, record_walk *walk, uint32_t n)
{
    while ((n = load_offsets_in_order(l, walk, n)) > 0) {
        const uint8_t *key_at = l->d.at;
        const mp_field_key *key = next_key(l, walk);

        n--;
        if (MP_UNLIKELY(!key)) {
            unknown_pair(l, walk, key_at);
            continue;
        }
        if (MP_UNLIKELY(record_values(l, walk)[key->field] != Qundef)) check_twice(l, walk);
        set_value(l, walk, key->field, LONG2FIX((long)(l->d.at - l->d.start)));
        mp_loader_skip(l);
    }
}

/* A LazyRecord; nil if errors of it were kept. */
static VALUE
make_lazy(mp_loader *l, const record_walk *walk)
{
    mp_lazy_part part = {.message = l->d.source, .type = l->type, .codec = l->d.codec->object,
                         .start = (size_t)(walk->at - l->d.start), .end = (size_t)(l->d.at - l->d.start)};
    uint32_t i;

    for (i = 0; walk->absent && i < walk->record->count; i++) {
        bool there = record_values(l, walk)[i] != Qundef;

        if (!there && walk->record->fields[i].missing == Qundef) mp_record_missing(l, i, walk->at);
    }
    if (MP_UNLIKELY(errors_kept(l) != walk->errors)) return Qnil;
    /* Message and Type may not be shareable. */
    return mp_seal_foreign(mp_loader_options(l), mp_lazy_record_new(walk->record, &part, record_values(l, walk)));
}

static VALUE
load_record(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t n = mp_row_count(l->d.at, row);
    record_walk walk;
    VALUE object;

    record_open(l, &walk, shape->record);
    l->d.at += row.head;
    switch (shape->record->form) {
      case MP_FORM_MAP: load_pairs(l, &walk, n); break;
      case MP_FORM_ARRAY: load_elements(l, &walk, n); break;
      case MP_FORM_LAZY: load_offsets(l, &walk, n); break;
    }
    l->place = walk.place.up; /* what is wrong from here on is wrong with the Record as a whole */
    if (shape->record->form == MP_FORM_LAZY) {
        object = make_lazy(l, &walk);
    } else {
        load_rest(l, &walk);
        fill_missing(l, &walk);
        object = make_instance(l, &walk);
    }
    l->place = &walk.place;
    record_close(l, &walk);
    return object;
}

/* --- alternatives ----------------------------------------------------------------------------------- */

/* The object as the first of several types that takes it; at most one of them takes a map, and one an array. */
static VALUE
load_any_of(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t i;

    for (i = 0; i < shape->count; i++) {
        const mp_shape *part = shape->parts[i];
        VALUE object = Qundef;

        if (!(part->accepts & mp_kind_bit((mp_kind)row.kind))) continue;
        switch (part->kind) {
          case MP_SHAPE_SYMBOL: object = mp_load_symbol(l, row); break;
          case MP_SHAPE_INTEGER: object = mp_load_integer(l, part, row); break;
          case MP_SHAPE_FLOAT: object = mp_load_float(l, part, row); break;
          case MP_SHAPE_SPECIAL:
          case MP_SHAPE_ENUM: object = mp_load_literal(l, part, row); break;
          case MP_SHAPE_CLASS: object = mp_load_of_class(l, part); break;
          default: return load_value(l, part);
        }
        if (object != Qundef) return object;
    }
    return mismatch(l, shape, l->d.at);
}

/* Moves to the value of a map's tag; false without one. */
static bool
find_tag(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t n = mp_row_count(l->d.at, row);

    l->d.at += row.head;
    for (; n; n--) {
        const uint8_t *key_at = l->d.at;

        mp_loader_skip(l);
        if (mp_shape_tag_at_p(shape, key_at, l->d.at)) return true;
        mp_loader_skip(l);
    }
    return false;
}

/* The type of a tag: that of a value that is not listed is the last one, if there is one more than values. */
static const mp_shape *
tagged_part(const mp_shape *shape, VALUE value)
{
    uint32_t i, tags = (uint32_t)RARRAY_LEN(shape->objects);

    for (i = 0; i < tags && value != Qundef; i++) {
        if (rb_eql(RARRAY_AREF(shape->objects, i), value)) return shape->parts[i];
    }
    return tags < shape->count ? shape->parts[tags] : NULL;
}

static VALUE
load_tagged(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    const uint8_t *at = l->d.at, *value_at = at;
    bool found = find_tag(l, shape, row);
    const mp_shape *part;
    mp_place place = {.up = l->place, .key = shape->tag};
    mp_tag tag = {.up = l->tags, .key = shape->tag};
    VALUE object;

    if (found) value_at = l->d.at;
    part = tagged_part(shape, found ? mp_load_any(l) : Qundef);
    l->d.at = at;
    if (part) {
        if (found) l->tags = &tag;
        object = load_value(l, part);
        l->tags = NULL;
        return object;
    }
    if (found) l->place = &place;
    mp_record_mismatch(l, shape->words, value_at);
    l->place = place.up;
    mp_loader_skip(l);
    return Qnil;
}

NORETURN(static void raise_unnamed(const mp_shape *shape));

static void
raise_unnamed(const mp_shape *shape)
{
    rb_raise(rb_eArgError, "%" PRIsVALUE, shape->words);
}

/* --- all of them ------------------------------------------------------------------------------------ */

static VALUE
load_any_kind(mp_loader *l, const mp_shape *shape)
{
    mp_wire_row row = mp_loader_row(l);
    VALUE object;

    if (MP_UNLIKELY(!(shape->accepts & mp_kind_bit((mp_kind)row.kind)))) return mismatch(l, shape, l->d.at);
    switch (shape->kind) {
      case MP_SHAPE_ANY: return mp_load_any(l);
      case MP_SHAPE_VIEW: return mp_load_view(l);
      case MP_SHAPE_STRING: return mp_load_string(l, row);
      case MP_SHAPE_LIST: return load_list(l, shape, row);
      case MP_SHAPE_MAP: return load_map(l, shape, row);
      case MP_SHAPE_RECORD: return load_record(l, shape, row);
      case MP_SHAPE_ANY_OF: return load_any_of(l, shape, row);
      case MP_SHAPE_TAGGED: return load_tagged(l, shape, row);
      case MP_SHAPE_UNNAMED: raise_unnamed(shape);
      case MP_SHAPE_SYMBOL: object = mp_load_symbol(l, row); break;
      case MP_SHAPE_INTEGER: object = mp_load_integer(l, shape, row); break;
      case MP_SHAPE_FLOAT: object = mp_load_float(l, shape, row); break;
      case MP_SHAPE_CLASS: object = mp_load_of_class(l, shape); break;
      default: object = mp_load_literal(l, shape, row); break;
    }
    return MP_LIKELY(object != Qundef) ? object : mismatch(l, shape, l->d.at);
}

/* --- starting --------------------------------------------------------------------------------------- */

VALUE
mp_load_whole(mp_load_part part, VALUE type, const mp_shapes *shapes, VALUE codec, bool collect)
{
    const mp_options *options = &mp_codec_get(codec)->options;
    mp_value_words words;
    mp_loader l;
    VALUE object;

    if (options->limited) mp_view_check_part(part.message, part.start, part.end, mp_codec_get(codec));
    mp_loader_init(&l, &words, part.message, part.start, type, codec);
    l.d.end = l.d.start + part.end;
    if (collect) l.errors = rb_ary_new();
    object = load_value(&l, &shapes->shapes[0]);
    if (MP_UNLIKELY(l.d.at != l.d.end)) {
        mp_raise_extra_bytes((size_t)(l.d.end - l.d.at), mp_decoder_offset(&l.d, l.d.at));
    }
    mp_record_raise_kept(&l);
    mp_loader_end(&l);
    RB_GC_GUARD(codec);
    return object;
}

/* A str that becomes a new String, the most frequent field, without a loader; Qundef for anything else. */
MP_INLINE VALUE
load_field_at_once(const mp_lazy_field *field, const mp_shape *shape)
{
    const mp_options *options = &mp_codec_get(field->part.codec)->options;
    const uint8_t *start = (const uint8_t *)RSTRING_PTR(field->part.message);
    const uint8_t *p = start + field->offset, *end = start + field->part.end;
    mp_wire_row row;
    uint32_t n;

    if (shape->kind != MP_SHAPE_STRING || options->freeze || options->shareable) return Qundef;
    if (mp_row_read(p, end, &row) != MP_OK || row.kind != MP_STR) return Qundef;
    n = mp_row_count(p, row);
    if (!mp_payload_present_p(p + row.head, n, end)) return Qundef;
    return rb_enc_str_new((const char *)p + row.head, n, mp_utf8);
}

VALUE
mp_load_field(VALUE lazy, const mp_lazy_field *field, uint32_t number)
{
    const mp_record *record = field->record;
    mp_place place = {.key = record->fields[number].key};
    VALUE object = load_field_at_once(field, record->fields[number].shape);
    mp_value_words words;
    mp_loader l;

    if (MP_LIKELY(object != Qundef)) return object;

    mp_loader_init(&l, &words, field->part.message, field->part.start, field->part.type, field->part.codec);
    l.d.at = l.d.start + field->offset;
    l.place = &place;
    l.record = record;
    l.field = number;
    object = load_value(&l, record->fields[number].shape);
    mp_loader_end(&l);
    RB_GC_GUARD(lazy);
    return object;
}
