/* Compiles shapes from the nodes that Ruby code makes of a type. */
#include "record/shape.h"

#include "pack/encode.h"

typedef void (*visitor)(VALUE *reference, VALUE owner);

/* --- storage ---------------------------------------------------------------------------------------- */

static void
visit_range(VALUE *first, const VALUE *last, visitor visit, VALUE owner)
{
    for (; first <= last; first++) visit(first, owner);
}

/* Calls visit with each reference from a shape to an object. */
static void
each_reference(mp_shapes *shapes, visitor visit, VALUE owner)
{
    uint32_t i, j;

    for (i = 0; i < shapes->count; i++) {
        mp_shape *shape = &shapes->shapes[i];
        mp_record *record = shape->record;
        mp_rule *rules = shape->rules.rules;

        visit_range(&shape->words, &shape->classes, visit, owner);
        for (j = 0; j < shape->rules.count; j++) visit_range(&rules[j].object, &rules[j].code, visit, owner);
        for (j = 0; j < shape->choices.count; j++) visit(&shape->choices.all[j].misread, owner);
        if (!record) continue;
        visit_range(&record->object, &record->maker, visit, owner);
        for (j = 0; j < record->count; j++) {
            visit_range(&record->fields[j].name, &record->fields[j].omitted, visit, owner);
        }
    }
}

static void
mark(VALUE *reference, VALUE owner)
{
    rb_gc_mark_movable(*reference);
}

static void
update(VALUE *reference, VALUE owner)
{
    *reference = rb_gc_location(*reference);
}

static void
reference_written(VALUE *reference, VALUE owner)
{
    RB_OBJ_WRITTEN(owner, Qundef, *reference);
}

void
mp_shapes_mark(mp_shapes *shapes)
{
    each_reference(shapes, mark, 0);
}

void
mp_shapes_compact(mp_shapes *shapes)
{
    each_reference(shapes, update, 0);
}

static void
free_record(mp_record *record)
{
    mp_field_table_free(&record->keys);
    mp_field_table_free(&record->dump_only);
    xfree(record->fields);
    xfree(record);
}

void
mp_shapes_free(mp_shapes *shapes)
{
    uint32_t i;

    for (i = 0; i < shapes->count; i++) {
        xfree(shapes->shapes[i].parts);
        mp_rules_free(&shapes->shapes[i].rules);
        mp_choices_free(&shapes->shapes[i].choices);
        if (shapes->shapes[i].record) free_record(shapes->shapes[i].record);
    }
    xfree(shapes->shapes);
}

size_t
mp_shapes_memsize(const mp_shapes *shapes)
{
    size_t size = shapes->count * sizeof(mp_shape);
    uint32_t i;

    for (i = 0; i < shapes->count; i++) {
        const mp_record *record = shapes->shapes[i].record;

        size += shapes->shapes[i].count * sizeof(mp_shape *);
        size += mp_rules_memsize(&shapes->shapes[i].rules);
        size += mp_choices_memsize(&shapes->shapes[i].choices);
        if (!record) continue;
        size += sizeof(mp_record) + record->count * sizeof(mp_field) + mp_field_table_memsize(&record->keys) +
                mp_field_table_memsize(&record->dump_only);
    }
    return size;
}

/* --- nodes ------------------------------------------------------------------------------------------ */

static bool
symbol_p(VALUE object, const char *name)
{
    return object == ID2SYM(rb_intern(name));
}

static const mp_shape *
part_at(const mp_shapes *shapes, VALUE index)
{
    const mp_shape *shape = &shapes->shapes[NUM2UINT(index)];

    return shape->kind == MP_SHAPE_SHARED ? shape->parts[0] : shape;
}

static const mp_shape *
part_or_null(const mp_shapes *shapes, VALUE index)
{
    return NIL_P(index) ? NULL : part_at(shapes, index);
}

static void
set_parts(const mp_shapes *shapes, mp_shape *shape, VALUE indices)
{
    long i, n = RARRAY_LEN(indices);

    shape->parts = ALLOC_N(const mp_shape *, n ? n : 1);
    for (i = 0; i < n; i++) shape->parts[i] = part_at(shapes, rb_ary_entry(indices, i));
    shape->count = (uint32_t)n;
}

/* The kinds of head that a literal may have. */
static uint32_t
literal_heads(VALUE object)
{
    if (NIL_P(object)) return mp_kind_bit(MP_NIL);
    if (object == Qtrue) return mp_kind_bit(MP_TRUE);
    if (object == Qfalse) return mp_kind_bit(MP_FALSE);
    if (RB_INTEGER_TYPE_P(object)) return MP_KIND_BITS_INTEGER;
    if (RB_FLOAT_TYPE_P(object)) return MP_KIND_BITS_FLOAT | MP_KIND_BITS_INTEGER;
    return MP_KIND_BITS_TEXT;
}

static void
set_literals(mp_shape *shape)
{
    long i;

    shape->takes_exts = shape->kind == MP_SHAPE_SPECIAL;
    for (i = 0; i < RARRAY_LEN(shape->objects); i++) {
        VALUE literal = RARRAY_AREF(shape->objects, i);

        shape->accepts |= literal_heads(literal);
        if (RB_SYMBOL_P(literal)) shape->takes_exts = true;
        if (RB_FLOAT_TYPE_P(literal)) shape->widens = true;
        if (RB_SYMBOL_P(literal)) literal = rb_sym2str(literal);
        if (RB_TYPE_P(literal, T_STRING) && RSTRING_LEN(literal) > (long)shape->longest) {
            shape->longest = (uint32_t)RSTRING_LEN(literal);
        }
    }
}

/*
 * The kinds of head, except MP_EXT, that become objects of a class or module; MP_EXT if there are none. If there are
 * some, mp_load_ext tries exts last.
 */
static uint32_t
heads_of_class(VALUE klass)
{
    const struct { VALUE klass; uint32_t heads; } types[] = {
        {rb_cNilClass, mp_kind_bit(MP_NIL)}, {rb_cTrueClass, mp_kind_bit(MP_TRUE)},
        {rb_cFalseClass, mp_kind_bit(MP_FALSE)}, {rb_cInteger, MP_KIND_BITS_INTEGER},
        {rb_cFloat, MP_KIND_BITS_FLOAT}, {rb_cString, MP_KIND_BITS_TEXT}, {rb_cArray, mp_kind_bit(MP_ARRAY)},
        {rb_cHash, mp_kind_bit(MP_MAP)},
    };
    uint32_t heads = 0;
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (RTEST(rb_class_inherited_p(types[i].klass, klass))) heads |= types[i].heads;
    }
    return heads ? heads : mp_kind_bit(MP_EXT);
}

static void
set_integers(mp_shape *shape, VALUE node)
{
    shape->min = NUM2LL(mp_node_get(node, "min"));
    shape->max = NUM2LL(mp_node_get(node, "max"));
    shape->above_min = NUM2ULL(mp_node_get(node, "above_min"));
    shape->above_max = NUM2ULL(mp_node_get(node, "above_max"));
    shape->accepts = MP_KIND_BITS_INTEGER;
    shape->takes_exts = shape->min == INT64_MIN && shape->above_max == UINT64_MAX;
}

static void
set_floats(mp_shape *shape, VALUE node)
{
    VALUE min = mp_node_get(node, "min"), max = mp_node_get(node, "max");

    shape->ranged = !NIL_P(min) || !NIL_P(max);
    shape->least = NIL_P(min) ? -HUGE_VAL : NUM2DBL(min);
    shape->most = NIL_P(max) ? HUGE_VAL : NUM2DBL(max);
    shape->below_most = RTEST(mp_node_get(node, "below_max"));
    shape->accepts = MP_KIND_BITS_FLOAT | MP_KIND_BITS_INTEGER;
    shape->takes_exts = !shape->ranged;
    shape->widens = true;
}

/* --- Records ---------------------------------------------------------------------------------------- */

const mp_field_key *
mp_record_find_key(const mp_record *record, const mp_key *key)
{
    const mp_field_key *found = mp_field_table_find(&record->keys, key);

    return found ? found : mp_field_table_find(&record->dump_only, key);
}

mp_build
mp_build_of(VALUE name)
{
    if (symbol_p(name, "struct")) return MP_BUILD_STRUCT;
    if (symbol_p(name, "data")) return MP_BUILD_DATA;
    if (symbol_p(name, "ivars")) return MP_BUILD_IVARS;
    return symbol_p(name, "new") ? MP_BUILD_NEW : MP_BUILD_KEYWORDS;
}

static mp_form
form_of(VALUE name)
{
    if (symbol_p(name, "array")) return MP_FORM_ARRAY;
    return symbol_p(name, "lazy") ? MP_FORM_LAZY : MP_FORM_MAP;
}

/* The text of a key as a Symbol; Qundef if there is none. */
static VALUE
symbol_of(VALUE key)
{
    bool text = RB_TYPE_P(key, T_STRING) && rb_enc_str_coderange(key) != ENC_CODERANGE_BROKEN;

    return text ? rb_str_intern(key) : Qundef;
}

/*
 * Adds the keys of a field: dump writes the first, the others are aliases. ArgumentError if another field has one of
 * them.
 */
static void
add_keys(mp_record *record, mp_field_table *table, uint32_t index, VALUE keys)
{
    mp_field *field = &record->fields[index];
    long i;

    field->key = rb_ary_entry(keys, 0);
    if (table == &record->keys) field->symbol = symbol_of(field->key);
    field->written = &table->keys[table->count];
    for (i = 0; i < RARRAY_LEN(keys); i++) {
        VALUE key = RARRAY_AREF(keys, i), packed = mp_encode_whole(key, mp_default_codec());
        const uint8_t *p = (const uint8_t *)RSTRING_PTR(packed);
        size_t size = (size_t)RSTRING_LEN(packed);
        mp_key read = mp_key_read(p, p + size);

        if (mp_record_find_key(record, &read) || !mp_field_table_add(table, p, size, index)) {
            rb_raise(rb_eArgError, "two members have the key %+" PRIsVALUE, key);
        }
        RB_GC_GUARD(packed);
    }
}

static void
set_field(const mp_shapes *shapes, mp_record *record, uint32_t index, VALUE node)
{
    mp_field *field = &record->fields[index];

    field->shape = part_at(shapes, mp_node_get(node, "part"));
    field->name = mp_node_get(node, "name");
    field->default_value = rb_hash_lookup2(node, ID2SYM(rb_intern("default")), Qundef);
    field->called = RTEST(mp_node_get(node, "called"));
    if (field->called) record->calls = true;
    field->omitted = rb_hash_lookup2(node, ID2SYM(rb_intern("omitted")), Qundef);
    field->load_only = RTEST(mp_node_get(node, "load_only"));
    if (field->omitted != Qundef || field->load_only) record->chosen = true;
    field->slot = NUM2INT(mp_node_get(node, "slot"));
    field->symbol = Qundef;
    field->reader = rb_sym2id(record->build == MP_BUILD_IVARS ? mp_node_get(node, "ivar") : field->name);
    if (RTEST(mp_node_get(node, "into"))) {
        record->into = index;
        field->key = rb_sym2str(field->name);
    } else {
        add_keys(record, RTEST(mp_node_get(node, "dump_only")) ? &record->dump_only : &record->keys, index,
                 mp_node_get(node, "keys"));
    }
}

static void
set_record(const mp_shapes *shapes, mp_shape *shape, VALUE node)
{
    VALUE fields = mp_node_get(node, "fields"), unknown = mp_node_get(node, "unknown");
    size_t dump_only = NUM2SIZET(mp_node_get(node, "dump_only_count"));
    mp_record *record = shape->record = ZALLOC(mp_record);
    uint32_t i;

    record->object = mp_node_get(node, "record");
    record->klass = mp_node_get(node, "class");
    record->reader = mp_node_get(node, "reader");
    record->tag_key = mp_node_get(node, "own_tag");
    record->build = mp_build_of(mp_node_get(node, "build"));
    record->maker = mp_node_get(node, "maker");
    record->chosen = record->build > MP_BUILD_IVARS;
    record->form = form_of(mp_node_get(node, "form"));
    record->unknown = symbol_p(unknown, "skip") ? MP_UNKNOWN_SKIP
        : symbol_p(unknown, "raise") ? MP_UNKNOWN_RAISE : MP_UNKNOWN_INTO;
    record->into = MP_FIELD_NONE;
    if (shape->rules.count) record->rules = &shape->rules;
    record->fields = ZALLOC_N(mp_field, RARRAY_LEN(fields) + 1);
    mp_field_table_init(&record->keys, NUM2SIZET(mp_node_get(node, "key_count")));
    if (dump_only) mp_field_table_init(&record->dump_only, dump_only);
    for (i = 0; i < (uint32_t)RARRAY_LEN(fields); i++) {
        record->count++; /* before the field is set, so that its objects are marked */
        set_field(shapes, record, i, RARRAY_AREF(fields, i));
    }
    shape->accepts = mp_kind_bit(record->form == MP_FORM_ARRAY ? MP_ARRAY : MP_MAP);
    shape->takes_exts = record->form != MP_FORM_LAZY;
}

/* --- compiling -------------------------------------------------------------------------------------- */

/* Fills in a shape, except `accepts` of an ANY_OF, whose parts may not be filled in yet. */
static void
set_shape(const mp_shapes *shapes, mp_shape *shape, VALUE node)
{
    switch (shape->kind) {
      case MP_SHAPE_ANY:
      case MP_SHAPE_VIEW:
      case MP_SHAPE_SHARED: shape->accepts = UINT32_MAX & ~mp_kind_bit(MP_NEVER); break;
      case MP_SHAPE_RULED:
      case MP_SHAPE_ANY_OF: break; /* set_of_parts does it when all shapes are filled in */
      case MP_SHAPE_UNNAMED: shape->takes_exts = !NIL_P(shape->klass); break;
      case MP_SHAPE_SPECIAL:
      case MP_SHAPE_ENUM: set_literals(shape); break;
      case MP_SHAPE_INTEGER: set_integers(shape, node); break;
      case MP_SHAPE_FLOAT: set_floats(shape, node); break;
      case MP_SHAPE_STRING:
      case MP_SHAPE_SYMBOL:
        shape->accepts = MP_KIND_BITS_TEXT;
        shape->takes_exts = true;
        break;
      case MP_SHAPE_TEXT: shape->accepts = mp_kind_bit(MP_STR); break;
      case MP_SHAPE_BYTES: shape->accepts = mp_kind_bit(MP_BIN); break;
      case MP_SHAPE_CLASS:
        shape->accepts = heads_of_class(shape->klass);
        shape->takes_exts = true;
        break;
      case MP_SHAPE_TUPLE:
      case MP_SHAPE_LIST: shape->accepts = mp_kind_bit(MP_ARRAY); break;
      case MP_SHAPE_MAP: shape->accepts = mp_kind_bit(MP_MAP); break;
      case MP_SHAPE_TAGGED: shape->accepts = mp_kind_bit(shape->tag_first ? MP_ARRAY : MP_MAP); break;
      case MP_SHAPE_RECORD: set_record(shapes, shape, node); break;
    }
    if (shape->kind != MP_SHAPE_RECORD && shape->kind != MP_SHAPE_SHARED) {
        set_parts(shapes, shape, mp_node_get(node, "parts"));
    }
    if (shape->kind == MP_SHAPE_ANY_OF) mp_choices_init(&shape->choices, mp_node_get(node, "choices"), shape->parts);
    if (shape->kind == MP_SHAPE_TAGGED) {
        shape->otherwise = part_or_null(shapes, mp_node_get(node, "otherwise"));
        shape->untagged = part_or_null(shapes, mp_node_get(node, "untagged"));
    }
    shape->takes_text = shape->kind == MP_SHAPE_BYTES || (shape->kind == MP_SHAPE_CLASS && shape->klass == rb_cTime);
}

static mp_shape_kind
shape_kind(VALUE name)
{
    static const char *const names[] = {
        [MP_SHAPE_ANY] = "any", [MP_SHAPE_VIEW] = "view", [MP_SHAPE_SPECIAL] = "special",
        [MP_SHAPE_INTEGER] = "integer", [MP_SHAPE_FLOAT] = "float", [MP_SHAPE_STRING] = "string",
        [MP_SHAPE_TEXT] = "text", [MP_SHAPE_BYTES] = "bytes", [MP_SHAPE_SYMBOL] = "symbol",
        [MP_SHAPE_CLASS] = "class", [MP_SHAPE_ENUM] = "enum", [MP_SHAPE_LIST] = "list", [MP_SHAPE_TUPLE] = "tuple",
        [MP_SHAPE_MAP] = "map", [MP_SHAPE_ANY_OF] = "any_of", [MP_SHAPE_RECORD] = "record",
        [MP_SHAPE_RULED] = "ruled", [MP_SHAPE_TAGGED] = "tagged", [MP_SHAPE_UNNAMED] = "unnamed",
        [MP_SHAPE_SHARED] = "shared",
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (symbol_p(name, names[i])) return (mp_shape_kind)i;
    }
    rb_raise(rb_eArgError, "%+" PRIsVALUE " is no kind of type", name);
}

/*
 * An ANY_OF accepts what its parts accept. ArgumentError if two parts accept arrays, or maps without being Records:
 * loading would have to try both, and again in each container inside them.
 */
static void
set_any_of(mp_shape *shape)
{
    uint32_t i, arrays = 0, maps = 0;

    shape->accepts = 0;
    for (i = 0; i < shape->count; i++) {
        const mp_shape *part = shape->parts[i];

        shape->accepts |= part->accepts;
        arrays += (part->accepts & mp_kind_bit(MP_ARRAY)) != 0;
        maps += (part->accepts & mp_kind_bit(MP_MAP)) != 0;
        if (arrays > 1 || (maps > 1 && maps > shape->choices.count)) {
            rb_raise(rb_eArgError, "two of the types in %" PRIsVALUE " may be a map or an array: Records as maps are "
                     "told apart by their members, and Record.union tells Records apart by a tag", shape->words);
        }
        if (part->widens) shape->widens = true;
        if (part->takes_exts) shape->takes_exts = true;
        if (part->takes_text) shape->takes_text = true;
        if (part->converts) shape->converts = true;
    }
}

/*
 * A RULED accepts what its part accepts, and an ext that the codec may turn into such an object. It is dumped as its
 * part, unless it converts objects.
 */
static void
set_ruled(mp_shape *shape)
{
    const mp_shape *part = shape->parts[0];

    shape->accepts = part->accepts | (part->takes_exts ? mp_kind_bit(MP_EXT) : 0);
    if (part->takes_text) shape->accepts |= mp_kind_bit(MP_STR);
    shape->converts = shape->rules.converts || part->converts;
    shape->dumps = shape->converts ? 0 : part->dumps;
}

/*
 * Sets the fields that a shape derives from its parts, those of the parts first. Recurses, because in a recursive type
 * a part may have a lower index than the shape.
 */
static void
set_of_parts(mp_shape *shape)
{
    uint32_t i;

    if (shape->accepts || (shape->kind != MP_SHAPE_ANY_OF && shape->kind != MP_SHAPE_RULED)) return;
    for (i = 0; i < shape->count; i++) set_of_parts((mp_shape *)shape->parts[i]);
    if (shape->kind == MP_SHAPE_ANY_OF) set_any_of(shape);
    else set_ruled(shape);
}

/*
 * ArgumentError if the type for a tag is not a map and so cannot contain the tag, for example a positional Record given
 * by name.
 */
static void
check_tagged(const mp_shape *shape)
{
    uint32_t i, tags = (uint32_t)RARRAY_LEN(shape->objects);

    for (i = 0; i < tags; i++) {
        const mp_shape *part = shape->parts[i];

        if (part->accepts & shape->accepts || part->kind == MP_SHAPE_UNNAMED) continue;
        if (shape->tag_first) rb_raise(rb_eArgError, "%" PRIsVALUE " is no Record as an array", part->words);
        rb_raise(rb_eArgError, "%" PRIsVALUE " is no map, and has no key for the tag", part->words);
    }
}

const mp_record *
mp_shape_record(const mp_shape *shape)
{
    uint32_t i;

    while (shape->kind == MP_SHAPE_RULED) shape = shape->parts[0];
    for (i = 0; shape->kind == MP_SHAPE_ANY_OF && i < shape->count; i++) {
        if (shape->parts[i]->record && shape->parts[i]->record->form != MP_FORM_ARRAY) return shape->parts[i]->record;
    }
    return shape->record;
}

/* True for an object that a Hash can look up without calling user code. */
static bool
plain_tag_p(VALUE value)
{
    if (RB_SPECIAL_CONST_P(value)) return true;
    if (RB_TYPE_P(value, T_STRING)) return rb_obj_class(value) == rb_cString;
    return RB_TYPE_P(value, T_BIGNUM) || RB_TYPE_P(value, T_FLOAT);
}

uint32_t
mp_shape_tag_number(const mp_shape *shape, VALUE value)
{
    uint32_t i, tags = (uint32_t)RARRAY_LEN(shape->objects);

    if (plain_tag_p(value)) {
        VALUE number = rb_hash_lookup(shape->table, value);

        return NIL_P(number) ? MP_FIELD_NONE : FIX2UINT(number);
    }
    for (i = 0; i < tags; i++) {
        if (rb_eql(RARRAY_AREF(shape->objects, i), value)) return i;
    }
    return MP_FIELD_NONE;
}

uint32_t
mp_record_tag_field(const mp_record *record, VALUE tag_key)
{
    const mp_field_key *found = NULL;

    if (!RB_SYMBOL_P(tag_key)) {
        mp_key key = mp_tag_key_read(tag_key);

        found = mp_record_find_key(record, &key);
    }
    return found ? found->field : MP_FIELD_NONE;
}

NORETURN(static void raise_two_tags(VALUE klass, VALUE tag, VALUE other));

static void
raise_two_tags(VALUE klass, VALUE tag, VALUE other)
{
    rb_raise(rb_eArgError, "%" PRIsVALUE " is in the union as %+" PRIsVALUE " and as %" PRIsVALUE ", so dump could not "
             "tell which tag to write: give each tag a class of its own, such as a subclass", klass, tag, other);
}

/* ArgumentError if a class with a tag is also in else, which may itself be a union. */
static void
check_else(const mp_shape *shape, const mp_shape *other)
{
    uint32_t i;
    VALUE number;

    for (i = 0; i < other->count && (other->kind == MP_SHAPE_TAGGED || other->kind == MP_SHAPE_ANY_OF); i++) {
        check_else(shape, other->parts[i]);
    }
    if (!other->record) return;
    number = rb_hash_lookup(shape->classes, other->record->klass);
    if (NIL_P(number)) return;
    raise_two_tags(other->record->klass, RARRAY_AREF(shape->objects, FIX2LONG(number)), rb_str_new_cstr("else"));
}

/* Makes the Hash from classes to tags, for dumping. ArgumentError if a class has several tags. */
static void
set_classes(mp_shape *shape, VALUE owner)
{
    VALUE classes = rb_funcall(rb_hash_new(), rb_intern("compare_by_identity"), 0), number;
    uint32_t i, tags = (uint32_t)RARRAY_LEN(shape->objects);

    for (i = 0; i < tags; i++) {
        const mp_record *record = mp_shape_record(shape->parts[i]);

        if (!record) continue;
        number = rb_hash_lookup(classes, record->klass);
        if (!NIL_P(number)) {
            raise_two_tags(record->klass, RARRAY_AREF(shape->objects, FIX2LONG(number)),
                           rb_inspect(RARRAY_AREF(shape->objects, i)));
        }
        rb_hash_aset(classes, record->klass, UINT2NUM(i));
    }
    RB_OBJ_WRITE(owner, &shape->classes, rb_obj_freeze(classes));
    for (; i < shape->count; i++) check_else(shape, shape->parts[i]);
}

mp_key
mp_tag_key_read(VALUE tag_key)
{
    if (!RB_TYPE_P(tag_key, T_STRING)) return mp_key_sint(NUM2LL(tag_key));
    return mp_key_str(RSTRING_PTR(tag_key), (size_t)RSTRING_LEN(tag_key));
}

bool
mp_shape_tag_key_at_p(const mp_shape *shape, const uint8_t *at, const uint8_t *end)
{
    mp_key key = mp_key_read(at, end), tag = mp_tag_key_read(shape->tag_key);

    return mp_key_compare(&key, &tag) == 0;
}

/* The MAP among the types of the field that takes unknown pairs; NULL without one. */
static const mp_shape *
rest_of(const mp_record *record)
{
    const mp_shape *shape = record->into == MP_FIELD_NONE ? NULL : record->fields[record->into].shape;
    uint32_t i;

    while (shape && shape->kind == MP_SHAPE_RULED) shape = shape->parts[0];
    if (!shape || shape->kind == MP_SHAPE_MAP) return shape;
    for (i = 0; shape->kind == MP_SHAPE_ANY_OF && i < shape->count; i++) {
        const mp_shape *part = shape->parts[i];

        while (part->kind == MP_SHAPE_RULED) part = part->parts[0];
        if (part->kind == MP_SHAPE_MAP) return part;
    }
    return NULL;
}

/* The value of `dumps` for a shape. For a CLASS, see fits_class_p in dump.c. */
static uint32_t
dumps_of(const mp_shape *shape)
{
    switch (shape->kind) {
      case MP_SHAPE_ANY:
      case MP_SHAPE_VIEW: return UINT32_MAX;
      case MP_SHAPE_SPECIAL:
      case MP_SHAPE_INTEGER:
      case MP_SHAPE_FLOAT:
      case MP_SHAPE_STRING:
      case MP_SHAPE_TEXT:
      case MP_SHAPE_SYMBOL:
      case MP_SHAPE_ENUM: return shape->accepts | (shape->accepts & MP_KIND_BITS_SCALAR ? MP_KIND_BITS_SCALAR : 0);
      default: return 0;
    }
}

/* Sets the fields of mp_shapes and of its Records that depend on all shapes. */
static void
set_summary(mp_shapes *shapes, const mp_shapes *shapes_of(VALUE type))
{
    uint32_t i;

    for (i = 0; i < shapes->count; i++) {
        const mp_shape *shape = &shapes->shapes[i];

        if (shape->kind == MP_SHAPE_VIEW) shapes->views = true;
        if (shape->kind == MP_SHAPE_UNNAMED) shapes->unnamed = true;
        if (shape->kind == MP_SHAPE_UNNAMED && NIL_P(shape->klass)) shapes->named = true;
        if (shape->kind == MP_SHAPE_SHARED && shapes_of(shape->objects)->views) shapes->views = true;
    }
    for (i = 0; i < shapes->count; i++) {
        mp_record *record = shapes->shapes[i].record;

        if (!record) continue;
        record->views = shapes->views;
        record->rest = rest_of(record);
    }
}

/* Sets the fields that every shape has, and completes SHARED shapes, because nodes refer to them. */
static void
start_shape(mp_shape *shape, VALUE node, const mp_shapes *shapes_of(VALUE type))
{
    shape->kind = shape_kind(mp_node_get(node, "kind"));
    shape->words = mp_node_get(node, "words");
    shape->expected = mp_node_get(node, "expected");
    shape->bounds = rb_hash_lookup2(node, ID2SYM(rb_intern("bounds")), 0);
    shape->klass = mp_node_get(node, "class");
    shape->objects = mp_node_get(node, "objects");
    shape->tag_key = rb_hash_lookup2(node, ID2SYM(rb_intern("tag")), 0);
    shape->tag_first = shape->tag_key && RB_SYMBOL_P(shape->tag_key);
    shape->table = rb_hash_lookup2(node, ID2SYM(rb_intern("table")), 0);
    mp_rules_init(&shape->rules, mp_node_get(node, "rules"));
    if (shape->kind != MP_SHAPE_SHARED) return;
    shape->parts = ALLOC_N(const mp_shape *, 1);
    shape->parts[0] = &shapes_of(shape->objects)->shapes[0];
    shape->count = 1;
}

void
mp_shapes_compile(mp_shapes *shapes, VALUE nodes, VALUE owner, const mp_shapes *shapes_of(VALUE type))
{
    uint32_t i, n = (uint32_t)RARRAY_LEN(nodes);

    shapes->shapes = ZALLOC_N(mp_shape, n);
    shapes->count = n;
    for (i = 0; i < n; i++) start_shape(&shapes->shapes[i], rb_ary_entry(nodes, i), shapes_of);
    for (i = 0; i < n; i++) set_shape(shapes, &shapes->shapes[i], rb_ary_entry(nodes, i));
    for (i = 0; i < n; i++) shapes->shapes[i].dumps = dumps_of(&shapes->shapes[i]);
    for (i = 0; i < n; i++) set_of_parts(&shapes->shapes[i]);
    for (i = 0; i < n; i++) {
        mp_shape *shape = &shapes->shapes[i];

        if (shape->kind != MP_SHAPE_TAGGED) continue;
        check_tagged(shape);
        set_classes(shape, owner);
    }
    set_summary(shapes, shapes_of);
    each_reference(shapes, reference_written, owner); /* now, while the nodes still keep all references alive */
    RB_GC_GUARD(nodes);
}
