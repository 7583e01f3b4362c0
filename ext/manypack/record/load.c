/*
 * Loads bytes as objects of given shapes, and checks their types. The walk recurses; the limits and the C stack bound
 * its depth. It cannot use the loop of unpack/decode.c, because it walks over bytes and shapes together; objects of any
 * type go to that loop.
 */
#include "record/load.h"

#include "base/error.h"
#include "record/load_scalar.h"
#include "record/record_error.h"
#include "record/record_made.h"
#include "record/record_walk.h"
#include "unpack/objects.h"
#include "view/view_index.h"

static VALUE load_accepted(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact);
static VALUE load_any_kind(mp_loader *l, const mp_shape *shape);

/*
 * Fast path (records/1,000 rows) for a str or Integer of the expected shape, if mp_ahead_p. Qundef: take the slow path.
 * Rows of such members take 1.13 times as long without it.
 */
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

MP_INLINE VALUE
load_value(mp_loader *l, const mp_shape *shape)
{
    VALUE object = load_at_once(l, shape);

    if (MP_LIKELY(object != Qundef)) return object;
    return load_any_kind(l, shape);
}

/* False if several alternatives take objects of that kind. Then no single rule explains what is wrong. */
static bool
sole_taker_p(const mp_shape *shape, mp_kind kind)
{
    uint32_t i, takers = 0;

    for (i = 0; shape->kind == MP_SHAPE_ANY_OF && i < shape->count; i++) {
        if (shape->parts[i]->accepts & mp_kind_bit(kind)) takers++;
    }
    return takers < 2;
}

bool
mp_load_report_broken(mp_loader *l, const mp_shape *shape, mp_kind kind, const uint8_t *at)
{
    const mp_rule *broken = l->broken;

    if (MP_LIKELY(!broken)) return false;
    l->broken = NULL;
    if (l->broken_at != at || !sole_taker_p(shape, kind)) return false;
    mp_record_broken(l, broken, l->broken_error, at);
    return true;
}

/* Reports an object of the wrong type. If the error is kept for later, skips the object and returns nil for it. */
static MP_NOINLINE VALUE
wrong_type(mp_loader *l, const mp_shape *shape, const uint8_t *at)
{
    mp_wire_row row;
    bool broken;

    mp_load_refuse_unnamed(shape);
    broken = mp_row_read(at, l->d.end, &row) == MP_OK && mp_load_report_broken(l, shape, (mp_kind)row.kind, at);
    if (!broken) mp_record_wrong_type(l, shape, at);
    l->d.at = at;
    mp_loader_skip(l);
    return Qnil;
}

void
mp_load_refuse_unnamed(const mp_shape *shape)
{
    uint32_t i;

    if (shape->kind == MP_SHAPE_UNNAMED) rb_raise(rb_eArgError, "%" PRIsVALUE, shape->words);
    if (shape->kind != MP_SHAPE_ANY_OF && shape->kind != MP_SHAPE_RULED) return;
    for (i = 0; i < shape->count; i++) mp_load_refuse_unnamed(shape->parts[i]);
}

/*
 * The object that the codec makes of an ext, or that a text of JSON stands for, if the shape takes it; otherwise
 * Qundef.
 */
static VALUE
load_foreign(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    if (row.kind == MP_EXT && shape->takes_exts) return mp_load_ext(l, shape, row);
    return l->json && row.kind == MP_STR && shape->takes_text ? mp_load_said(l, shape, row) : Qundef;
}

/*
 * Handles an object whose head the shape does not accept. Tries an ext and, in JSON, text, which may become an object
 * that the shape takes; then reports the wrong type.
 */
static MP_NOINLINE VALUE
load_wrong_head(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    VALUE object = load_foreign(l, shape, row);

    return object != Qundef ? object : wrong_type(l, shape, at);
}

/* --- rules ------------------------------------------------------------------------------------------ */

/* Loads an object and applies rules to it, unless errors in it are kept for later. */
static VALUE
load_ruled(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact)
{
    const mp_shape *part = shape->parts[0];
    const uint8_t *at = l->d.at;
    uint64_t others = l->d.others;
    long errors = l->kept;
    VALUE object = load_at_once(l, part);

    if (MP_UNLIKELY(object == Qundef)) {
        if (part->accepts & mp_kind_bit((mp_kind)row.kind)) object = load_accepted(l, part, row, exact);
        else object = load_foreign(l, part, row);
    }
    if (object == Qundef || l->kept != errors) return object;
    object = mp_load_ruled(l, &shape->rules, object, at);
    if (MP_UNLIKELY(object == Qundef)) mp_loader_back(l, at, others);
    return object;
}

/* --- containers ------------------------------------------------------------------------------------- */

/* An Array for a LIST, whose elements have one shape, or for a TUPLE, with a shape for each. */
static VALUE
load_array(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t i, n = mp_row_count(l->d.at, row), next = shape->kind == MP_SHAPE_TUPLE;
    const mp_shape **part = shape->parts;
    size_t first = l->count;
    mp_place place = {.key = Qundef};
    VALUE array;

    if (next && n != shape->count) return Qundef;
    mp_loader_open(l, &place, l->d.at);
    l->d.at += row.head;
    for (i = 0; i < n; i++, part += next) {
        place.index = i;
        mp_loader_push(l, load_value(l, *part));
    }
    mp_loader_close(l, &place);
    array = mp_array_new(mp_loader_options(l), n, l->d.stack.values + first);
    l->count = first;
    return array;
}

/* Loads a key. Strings are the same frozen objects that unpacking uses as keys. */
static VALUE
load_key(mp_loader *l, const mp_shape *shape)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);

    if (shape->kind == MP_SHAPE_RULED) {
        long errors = l->kept;
        VALUE key = load_key(l, shape->parts[0]);

        if (l->kept == errors) key = mp_load_ruled(l, &shape->rules, key, at);
        return MP_LIKELY(key != Qundef) ? key : wrong_type(l, shape, at);
    }
    if (shape->kind != MP_SHAPE_STRING) return load_value(l, shape);
    return row.kind == MP_STR || row.kind == MP_BIN ? mp_load_key(l, row) : load_wrong_head(l, shape, row);
}

static VALUE
load_map(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    uint32_t i, n = mp_row_count(l->d.at, row);
    size_t first = l->count;
    mp_place place = {.key = Qnil};
    VALUE hash;

    mp_loader_open(l, &place, l->d.at);
    l->tag_keys = NULL; /* the tag key of a union is a key like any other in a map of type {K => V} */
    l->d.at += row.head;
    for (i = 0; i < n; i++) {
        l->place = place.up; /* the path of an error in a key is that of the map */
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

/* Loads an unknown pair by the type of the field that takes it. It stays on the stack until the object is made. */
static MP_NOINLINE void
load_rest_pair(mp_loader *l, mp_record_walk *walk)
{
    const mp_shape *rest = walk->record->rest;

    l->field = walk->record->into;
    l->place = walk->place.up; /* the path of an error in a key is that of the map */
    mp_loader_push(l, walk->place.key = load_key(l, rest->parts[0]));
    l->place = &walk->place;
    mp_loader_push(l, load_value(l, rest->parts[1]));
    l->field = MP_FIELD_NONE;
}

/* Checks a value that a later value of the same key replaces, as eager loading does. */
static void
check_replaced(mp_loader *l, mp_record_walk *walk, uint32_t field)
{
    const uint8_t *at = l->d.at;
    uint64_t others = l->d.others;

    l->d.at = l->d.start + FIX2LONG(mp_record_values(l, walk)[field]);
    l->field = field;
    walk->place.key = walk->record->fields[field].key;
    load_value(l, walk->record->fields[field].shape);
    l->field = MP_FIELD_NONE;
    mp_loader_back(l, at, others);
}

/* Skips a value, and returns its offset as a Fixnum. */
static VALUE
skip_value(mp_loader *l)
{
    VALUE offset = LONG2FIX((long)(l->d.at - l->d.start));

    mp_loader_skip(l);
    return offset;
}

/*
 * Loads the values of a map, each into the slot of its field; if lazy, only their offsets. In each call, lazy is a
 * constant.
 */
MP_INLINE void
load_pairs(mp_loader *l, mp_record_walk *walk, uint32_t n, bool lazy)
{
    for (; n; n--) {
        const uint8_t *key_at = l->d.at;
        const mp_field_key *key = mp_record_next_key(l, walk);
        const mp_field *field;

        if (MP_UNLIKELY(!key) && !(l->eager && (key = mp_record_dump_only_key(l, walk, key_at)))) {
            if (mp_record_unknown_pair(l, walk, key_at)) load_rest_pair(l, walk);
            continue;
        }
        if (MP_UNLIKELY(mp_record_values(l, walk)[key->field] != Qundef)) {
            if (mp_record_skip_second(l, walk)) continue;
            if (lazy) check_replaced(l, walk, key->field);
        }
        field = &walk->record->fields[key->field];
        l->field = key->field;
        walk->place.key = field->key;
        mp_record_set(l, walk, key->field, lazy ? skip_value(l) : load_value(l, field->shape));
        l->field = MP_FIELD_NONE;
    }
}

/*
 * Like load_pairs, for an array, whose first element is the tag if a union chose the Record. Surplus elements come from
 * a newer version of the Record.
 */
static void
load_elements(mp_loader *l, mp_record_walk *walk, uint32_t n)
{
    uint32_t i, tag = walk->tag_keys != NULL, count = walk->record->count;

    if (MP_UNLIKELY(tag)) mp_loader_skip(l);
    for (i = 0; i < n - tag; i++) {
        walk->place.index = i + tag;
        if (i >= count) {
            if (walk->record->unknown == MP_UNKNOWN_RAISE && i == count) {
                mp_record_unknown_element(l, count + tag, l->d.at);
            }
            mp_loader_skip(l);
            continue;
        }
        l->field = i;
        mp_record_set(l, walk, i, load_value(l, walk->record->fields[i].shape));
    }
    l->field = MP_FIELD_NONE;
}

static VALUE
load_record(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    bool lazy = shape->record->form == MP_FORM_LAZY && !l->eager;
    uint32_t n = mp_row_count(l->d.at, row);
    mp_record_walk walk;
    VALUE object;

    mp_record_open(l, &walk, shape->record);
    l->d.at += row.head;
    if (shape->record->form == MP_FORM_ARRAY) load_elements(l, &walk, n);
    else if (lazy) load_pairs(l, &walk, n, true);
    else load_pairs(l, &walk, n, false);
    object = lazy ? mp_record_made_lazy(l, &walk) : mp_record_made(l, &walk);
    mp_record_close(l, &walk);
    return object;
}

/* --- alternatives ----------------------------------------------------------------------------------- */

/*
 * Called before a search for a tag or for members. If unions are nested and their tags come last, each level searches
 * the same bytes again. From the second level on, an Index remembers where containers end, unless the message is short.
 */
static void
prepare_to_find(mp_loader *l)
{
    size_t at = (size_t)(l->d.at - l->d.start), end = (size_t)(l->d.end - l->d.start);

    if (MP_LIKELY(at >= l->tags_passed) || l->passed) return;
    l->passed_part = rb_str_subseq(l->d.source, (long)l->from, (long)(end - l->from));
    l->passed = mp_view_index_new(l->passed_part, l->d.max_depth);
    if (!l->passed) l->tags_passed = 0;
}

/* Skips a container by the Index. False if the Index lacks it: then the bytes are malformed, and a walk says where. */
static bool
skip_by_index(mp_loader *l)
{
    mp_tape *tape = mp_view_index_tape(l->passed, l->passed_part);
    uint32_t near = 0;
    size_t end;

    if (mp_tape_over(tape, (size_t)(l->d.at - l->d.start) - l->from, &near, &end) != MP_OK) return false;
    l->d.at = l->d.start + l->from + end;
    return true;
}

/* Skips a value that may contain a tag. */
static void
skip_in_search(mp_loader *l)
{
    mp_wire_row row;
    bool container = l->passed && mp_row_read(l->d.at, l->d.end, &row) == MP_OK &&
                     (row.kind == MP_ARRAY || row.kind == MP_MAP) && mp_row_count(l->d.at, row);

    if (!container || !skip_by_index(l)) mp_loader_skip(l);
}

/* Remembers how far a search went. */
static void
note_passed(mp_loader *l)
{
    if ((size_t)(l->d.at - l->d.start) > l->tags_passed) l->tags_passed = (size_t)(l->d.at - l->d.start);
}

/* Notes the next key for each choice that has a member for it, and moves past it. */
static void
note_key(mp_loader *l, const mp_choices *choices, uint64_t *state)
{
    const uint8_t *at = l->d.at;
    uint32_t i;

    for (i = 0; i < choices->count; i++) {
        const mp_field_key *key;

        l->d.at = at;
        key = mp_record_search_key(l, &choices->all[i].shape->record->keys);
        if (key) mp_choices_found(choices, state, i, key->field);
    }
}

/* The Record whose required members the next map has; NULL without one. */
static MP_NOINLINE const mp_shape *
choose_record(mp_loader *l, const mp_choices *choices, mp_wire_row row)
{
    const uint8_t *at = l->d.at;
    const mp_shape *chosen;
    VALUE memory;
    uint64_t *state = ALLOCV_N(uint64_t, memory, choices->size);
    uint32_t n = mp_row_count(at, row);

    mp_choices_begin(choices, state);
    prepare_to_find(l);
    l->d.at += row.head;
    for (; n && state[0]; n--) { /* the first Record is complete, so the others do not matter */
        note_key(l, choices, state);
        skip_in_search(l);
    }
    note_passed(l);
    l->d.at = at;
    chosen = mp_choices_made(choices, state);
    ALLOCV_END(memory);
    return chosen;
}

/*
 * Loads the object by the first part that takes it; Qundef if none does. At most one part takes arrays, and one takes
 * maps, unless they are Records.
 */
static VALUE
load_first(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact)
{
    VALUE object = Qundef;
    uint32_t i;

    if (MP_UNLIKELY(shape->choices.count) && row.kind == MP_MAP) {
        const mp_shape *chosen = choose_record(l, &shape->choices, row);

        return chosen ? load_record(l, chosen, row) : Qundef;
    }
    for (i = 0; i < shape->count && object == Qundef; i++) {
        const mp_shape *part = shape->parts[i];

        if (part->accepts & mp_kind_bit((mp_kind)row.kind)) object = load_accepted(l, part, row, exact);
    }
    return object;
}

/* An integer becomes a Float only if no type keeps it an Integer. */
static VALUE
load_any_of(mp_loader *l, const mp_shape *shape, mp_wire_row row)
{
    bool exact = shape->widens && mp_kind_bit((mp_kind)row.kind) & MP_KIND_BITS_INTEGER;
    VALUE object = load_first(l, shape, row, exact);

    if (MP_UNLIKELY(exact && object == Qundef)) object = load_first(l, shape, row, false);
    return object == Qundef ? load_foreign(l, shape, row) : object;
}

bool
mp_load_find_tag(mp_loader *l, const mp_shape *shape)
{
    mp_wire_row row = mp_loader_row(l);
    uint32_t n = mp_row_count(l->d.at, row);

    l->d.at += row.head;
    for (; n; n--) {
        const uint8_t *key_at = l->d.at;

        mp_loader_skip(l);
        if (mp_shape_tag_key_at_p(shape, key_at, l->d.at)) return true;
        skip_in_search(l);
    }
    return false;
}

/* Moves to the tag, if there is one. */
static bool
search_tag(mp_loader *l, const mp_shape *shape)
{
    bool found;

    if (shape->tag_first) {
        mp_wire_row row = mp_loader_row(l);

        found = mp_row_count(l->d.at, row) > 0;
        l->d.at += row.head;
        return found;
    }
    prepare_to_find(l);
    found = mp_load_find_tag(l, shape);
    note_passed(l);
    return found;
}

const mp_shape *
mp_load_tagged_part(const mp_shape *shape, VALUE value)
{
    uint32_t number;

    if (value == Qundef) return shape->untagged ? shape->untagged : shape->otherwise;
    number = mp_shape_tag_number(shape, value);
    return number == MP_FIELD_NONE ? shape->otherwise : shape->parts[number];
}

static VALUE
load_tagged(mp_loader *l, const mp_shape *shape)
{
    const uint8_t *at = l->d.at, *value_at = at;
    bool found = search_tag(l, shape);
    const mp_shape *part;
    mp_tag_key tag_key = {.up = l->tag_keys, .key = shape->tag_key};
    uint64_t others = l->d.others;
    VALUE object;

    /* Nested else unions recurse without increasing depth, so check the C stack here. */
    if (mp_stack_used_up_p()) mp_decoder_raise(&l->d, MP_E_DEPTH, at);
    if (found) value_at = l->d.at;
    part = mp_load_tagged_part(shape, found ? mp_load_any(l) : Qundef);
    mp_loader_back(l, at, others);
    if (part) {
        if (found && !(shape->tag_first && part == shape->otherwise)) l->tag_keys = &tag_key;
        object = load_value(l, part);
        l->tag_keys = NULL;
        return object;
    }
    mp_record_wrong_tag(l, shape, found, value_at);
    mp_loader_skip(l);
    return Qnil;
}

/* --- any shape -------------------------------------------------------------------------------------- */

/*
 * Loads an object whose head the shape accepts. Returns Qundef and does not move if it is a scalar that the shape does
 * not take, or an integer that would not be exact.
 */
static VALUE
load_accepted(mp_loader *l, const mp_shape *shape, mp_wire_row row, bool exact)
{
    switch (shape->kind) {
      case MP_SHAPE_ANY: return mp_load_any(l);
      case MP_SHAPE_VIEW: return mp_load_view(l);
      case MP_SHAPE_STRING: return mp_load_string(l, row);
      case MP_SHAPE_TEXT: return mp_load_text(l, row);
      case MP_SHAPE_BYTES: return mp_load_string(l, row);
      case MP_SHAPE_LIST:
      case MP_SHAPE_TUPLE: return load_array(l, shape, row);
      case MP_SHAPE_RULED: return load_ruled(l, shape, row, exact);
      case MP_SHAPE_MAP: return load_map(l, shape, row);
      case MP_SHAPE_RECORD: return load_record(l, shape, row);
      case MP_SHAPE_ANY_OF: return load_any_of(l, shape, row);
      case MP_SHAPE_TAGGED: return load_tagged(l, shape);
      case MP_SHAPE_SYMBOL: return mp_load_symbol(l, row);
      case MP_SHAPE_INTEGER: return mp_load_integer(l, shape, row);
      case MP_SHAPE_FLOAT: return exact ? Qundef : mp_load_float(l, shape, row);
      case MP_SHAPE_CLASS: return mp_load_of_class(l, shape);
      case MP_SHAPE_SPECIAL:
        l->d.at += row.head;
        return RARRAY_AREF(shape->objects, 0);
      default: return mp_load_literal(l, shape, row, exact);
    }
}

static VALUE
load_any_kind(mp_loader *l, const mp_shape *shape)
{
    mp_wire_row row = mp_loader_row(l);
    VALUE object;

    if (MP_UNLIKELY(!(shape->accepts & mp_kind_bit((mp_kind)row.kind)))) return load_wrong_head(l, shape, row);
    object = load_accepted(l, shape, row, false);
    return MP_LIKELY(object != Qundef) ? object : wrong_type(l, shape, l->d.at);
}

VALUE
mp_load_value(mp_loader *l, const mp_shape *shape)
{
    return load_value(l, shape);
}

/* --- starting --------------------------------------------------------------------------------------- */

/*
 * Raises the errors of strictness and of the limits. In the body of an ext, this does not build exts: each would check
 * its own body first, so bodies nested n deep would be checked 2**n times.
 */
static void
check_part(const mp_load_part *part, const mp_codec *codec)
{
    mp_codec inside = *codec;

    if (part->outer) {
        inside.options.max_depth = mp_outer_room(part->outer);
        inside.options.allow_unknown_ext = true;
        inside.types = NULL;
    }
    mp_view_check_part(part->message, part->start, part->end, &inside);
}

VALUE
mp_load_whole(mp_load_part part, VALUE type, const mp_shapes *shapes, VALUE codec, bool collect)
{
    const mp_options *options = &mp_codec_get(codec)->options;
    mp_value_words words;
    mp_loader l;
    VALUE object;

    if (options->limited || (options->shareable && shapes->views)) {
        check_part(&part, mp_codec_get(codec));
    }
    mp_loader_init(&l, &words, part.message, part.start, type, codec);
    if (part.outer) mp_loader_enclose(&l, *part.outer);
    l.d.end = l.d.start + part.end;
    l.origin = part.root;
    l.eager = part.eager;
    l.refusal = part.refusal;
    l.json = part.json;
    if (collect) l.errors = rb_ary_new();
    object = load_value(&l, &shapes->shapes[0]);
    if (MP_UNLIKELY(l.d.at != l.d.end)) {
        mp_raise_extra_bytes((size_t)(l.d.end - l.d.at), mp_decoder_offset(&l.d, l.d.at),
                             part.start ? 0 : part.message);
    }
    mp_record_raise_kept(&l);
    if (part.outer) part.outer->objects = l.d.others;
    mp_loader_end(&l);
    RB_GC_GUARD(codec);
    return object;
}
