/*
 * Manypack::Type: the type of an object, and how such objects are loaded and dumped. The Ruby half parses a program's
 * description of the type; this half reads and writes bytes.
 */
#include "base/pack_error.h"
#include "json/from_json.h"
#include "pack/canonical_form.h"
#include "pack/foreign.h"
#include "pack/packer.h"
#include "record/dump.h"
#include "record/from.h"
#include "record/load.h"
#include "stream/body_unpacker.h"
#include "view/view.h"

typedef struct {
    VALUE codec; /* 0 until the shapes are compiled */
    VALUE nodes; /* the nodes that they are compiled from */
    VALUE base;  /* DefaultFactory's codec from which `codec` was made, to notice changes; or nil */
    mp_shapes shapes;
    bool checks;   /* by default, dump checks what it wrote */
    bool collects; /* all errors of a message are reported */
} compiled_type;

static VALUE mDumping; /* of attached.rb; set once, while Record is loaded */

static void
type_mark(void *ptr)
{
    compiled_type *type = ptr;

    rb_gc_mark_movable(type->codec);
    rb_gc_mark_movable(type->nodes);
    rb_gc_mark_movable(type->base);
    mp_shapes_mark(&type->shapes);
}

static void
type_compact(void *ptr)
{
    compiled_type *type = ptr;

    type->codec = rb_gc_location(type->codec);
    type->nodes = rb_gc_location(type->nodes);
    type->base = rb_gc_location(type->base);
    mp_shapes_compact(&type->shapes);
}

static void
type_free(void *ptr)
{
    compiled_type *type = ptr;

    mp_shapes_free(&type->shapes);
    xfree(type);
}

static size_t
type_memsize(const void *ptr)
{
    const compiled_type *type = ptr;

    return sizeof(compiled_type) + mp_shapes_memsize(&type->shapes);
}

/* Not embeddable: it owns the arrays of its shapes, and is freed with them. */
static const rb_data_type_t type_type = {
    .wrap_struct_name = "Manypack::Type",
    .function = {.dmark = type_mark, .dfree = type_free, .dsize = type_memsize, .dcompact = type_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE
type_alloc(VALUE klass)
{
    compiled_type *type;

    return TypedData_Make_Struct(klass, compiled_type, &type_type, type);
}

/* ArgumentError for a Type that is not compiled yet. */
static const compiled_type *
type_get(VALUE self)
{
    compiled_type *type;

    TypedData_Get_Struct(self, compiled_type, &type_type, type);
    if (!type->codec) rb_raise(rb_eArgError, "uninitialized %" PRIsVALUE, rb_obj_class(self));
    return type;
}

static VALUE
identity_hash(void)
{
    return rb_obj_hide(rb_funcall(rb_hash_new(), rb_intern("compare_by_identity"), 0));
}

/*
 * The Hash of this Ractor's renewed Types. Under nil it has the codec that they were made for, and under false the Hash
 * of laid_over_types; registering another type empties it. Ractors cannot share it, because a Type is not shareable if
 * its codec is not. Few Ractors need one.
 */
static VALUE
renewed_types(VALUE base)
{
    VALUE types = mp_ractor_seldom()->types;

    if (types && rb_hash_lookup(types, Qnil) == base) return types;
    types = identity_hash();
    rb_hash_aset(types, Qnil, base);
    mp_ractor_seldom()->types = types;
    return types;
}

/* Lets `to`, a new Type that no other Ractor has seen, report all errors if `from` does. */
static void
copy_collects(VALUE from, VALUE to)
{
    ((compiled_type *)type_get(to))->collects = type_get(from)->collects;
}

static MP_NOINLINE VALUE
renewed(VALUE self, VALUE base)
{
    VALUE types = renewed_types(base), type = rb_hash_lookup(types, self);

    if (!NIL_P(type)) return type;
    type = rb_funcall(self, rb_intern("renewed"), 0);
    copy_collects(self, type);
    rb_hash_aset(types, self, type);
    return type;
}

/*
 * Sets *self to the Type with the current ext types. If the Type has no Codec and types were registered on
 * DefaultFactory since it was made, that is another Type, and making it runs user code.
 */
static const compiled_type *
up_to_date(VALUE *self)
{
    const compiled_type *type = type_get(*self);

    if (MP_LIKELY(NIL_P(type->base) || type->base == mp_default_codec()->object)) return type;
    *self = renewed(*self, mp_default_codec()->object);
    return type_get(*self);
}

/*
 * ArgumentError if the Type contains a name that no class has. The flag is only ever cleared, so Ractors may share it.
 */
static MP_NOINLINE void
check_names(VALUE self, const compiled_type *type)
{
    rb_funcall(self, rb_intern("check_names"), 0);
    ((compiled_type *)type)->shapes.named = false;
}

/* Calls up_to_date and, if needed, check_names: for loading or dumping. */
static const compiled_type *
current(VALUE *self)
{
    const compiled_type *type = up_to_date(self);

    if (MP_UNLIKELY(type->shapes.named)) check_names(*self, type);
    return type;
}

/* How many combined Types are kept for each Type, and for how many Types. */
enum { FRONTS_MAX = 4, TYPES_MAX = 256 };

/*
 * This Ractor's Hash from a Type to an Array of combined Types: the same Type, with the codec of a caller laid over its
 * own.
 */
static VALUE
laid_over_types(void)
{
    VALUE types = renewed_types(mp_default_codec()->object), laid = rb_hash_lookup(types, Qfalse);

    if (!NIL_P(laid)) return laid;
    laid = identity_hash();
    rb_hash_aset(types, Qfalse, laid);
    return laid;
}

/* True if a Codec object has the types and options of `other`, and `called` as its default. */
static bool
same_codec_p(VALUE codec, const mp_codec *other, VALUE called)
{
    const mp_codec *one = mp_codec_get(codec);

    return one->types == other->types && mp_codec_called(codec) == called &&
           !memcmp(&one->options, &other->options, sizeof(mp_options));
}

static MP_NOINLINE VALUE
with_codec(VALUE self, const mp_codec *codec, VALUE called)
{
    VALUE all = laid_over_types(), own = rb_hash_lookup(all, self), type;
    long i;

    if (NIL_P(own)) {
        if (RHASH_SIZE(all) >= TYPES_MAX) rb_hash_clear(all);
        rb_hash_aset(all, self, own = rb_ary_new());
    }
    for (i = 0; i < RARRAY_LEN(own); i++) {
        type = RARRAY_AREF(own, i);
        if (same_codec_p(type_get(type)->codec, codec, called)) return type;
    }
    type = rb_funcall(self, rb_intern("laid_over"), 1, mp_codec_made_of(codec, called));
    copy_collects(self, type);
    if (RARRAY_LEN(own) >= FRONTS_MAX) rb_ary_shift(own);
    rb_ary_push(own, type);
    return type;
}

/* True if the codec of a caller is only a default: it has the ext types of DefaultFactory or none, and no options. */
static bool
default_p(const mp_codec *front)
{
    return !front->options.explicit && (!front->types || front->types == mp_default_codec()->types);
}

/*
 * Like `current`, but lays the codec of a caller over the Type's own, as Arguments.loader does: the ext types of
 * DefaultFactory change nothing.
 */
static const compiled_type *
current_within(VALUE *self, const mp_codec *front)
{
    const compiled_type *type = current(self);
    mp_codec codec = *mp_codec_get(type->codec);
    VALUE called = mp_codec_called(type->codec);

    if (MP_LIKELY(default_p(front))) return type;
    if (mp_options_called_p(&front->options)) called = mp_codec_called(front->object);
    if (front->types && front->types != mp_default_codec()->types) {
        codec.types = front->types;
        codec.object = front->object;
    }
    mp_options_overlay(&codec.options, &front->options);
    if (same_codec_p(type->codec, &codec, called)) return type;
    *self = with_codec(*self, &codec, called);
    return type_get(*self);
}

/* call-seq: Internal.current_type(type) -> type: with the current ext types */
static VALUE
rb_internal_current_type(VALUE self, VALUE type)
{
    up_to_date(&type);
    return type;
}

static const mp_shapes *
shapes_of(VALUE type)
{
    return &type_get(type)->shapes;
}

/*
 * call-seq: Internal.shared_shapes?(type, codec) -> true or false
 *
 * Returns true if another Type with that codec can use the compiled shapes of this one: no name in them depends on what
 * is around it.
 */
static VALUE
rb_internal_shared_shapes_p(VALUE self, VALUE type_object, VALUE codec)
{
    const compiled_type *type;

    TypedData_Get_Struct(type_object, compiled_type, &type_type, type);
    return type->codec && type->codec == codec && !type->shapes.unnamed ? Qtrue : Qfalse;
}

/*
 * call-seq: type.compile(nodes, codec, base, checks) -> nil: compiles the nodes that Type::Compiler made, once
 *
 * base is the codec of DefaultFactory from which the codec was made, or nil. The Type keeps the nodes, which keep the
 * objects of the shapes alive, until it is compiled; after a failure, for good.
 */
static VALUE
rb_type_compile(VALUE self, VALUE nodes, VALUE codec, VALUE base, VALUE checks)
{
    compiled_type *type;

    rb_check_frozen(self);
    TypedData_Get_Struct(self, compiled_type, &type_type, type);
    if (type->nodes || type->codec) rb_raise(rb_eArgError, "already initialized");
    mp_codec_get(codec);
    if (!NIL_P(base)) mp_codec_get(base);
    Check_Type(nodes, T_ARRAY);
    RB_OBJ_WRITE(self, &type->base, base);
    RB_OBJ_WRITE(self, &type->nodes, nodes);
    mp_shapes_compile(&type->shapes, nodes, self, shapes_of);
    RB_OBJ_WRITE(self, &type->codec, codec);
    type->checks = RTEST(checks);
    type->nodes = 0;
    return Qnil;
}

/* The whole of a String, or of an object that converts to one. */
static mp_load_part
part_of(VALUE bytes)
{
    VALUE message = mp_view_message(bytes);

    return (mp_load_part){.message = message, .end = (size_t)RSTRING_LEN(message)};
}

/* Loads the single object in a part of a message. */
static VALUE
load_part(VALUE self, const compiled_type *type, mp_load_part part, bool collect)
{
    VALUE object;

    mp_view_check_size(part.message, part.start, part.end, &mp_codec_get(type->codec)->options);
    object = mp_load_whole(part, self, &type->shapes, type->codec, collect || type->collects);
    RB_GC_GUARD(self);
    RB_GC_GUARD(part.message);
    return object;
}

/*
 * call-seq: type.read(bytes, start, end, collect) -> object
 *
 * Loads the single object in a part of the bytes, up to their end if end is nil. Offsets in errors count from the start
 * of the bytes.
 */
static VALUE
rb_type_read(VALUE self, VALUE bytes, VALUE start, VALUE end, VALUE collect)
{
    const compiled_type *type = current(&self);
    mp_load_part part = part_of(bytes);
    size_t size = part.end;

    part.start = NUM2SIZET(start);
    if (!NIL_P(end)) part.end = NUM2SIZET(end);
    if (part.start > part.end || part.end > size) rb_raise(rb_eRangeError, "no such part of the bytes");
    return load_part(self, type, part, RTEST(collect));
}

/* call-seq: type.take(object, lax, collect) -> object: makes an object of another one, such as a Hash */
static VALUE
rb_type_take(VALUE self, VALUE object, VALUE lax, VALUE collect)
{
    const compiled_type *type = current(&self);
    VALUE made = mp_from_whole(object, self, &type->shapes, type->codec, RTEST(lax), RTEST(collect));

    RB_GC_GUARD(self);
    return made;
}

static void
set_places(mp_json_places *places, VALUE text, VALUE origin)
{
    *places = (mp_json_places){.text = text};
    if (NIL_P(origin)) return;
    places->origin = (mp_json_origin){
        .offset = NUM2SIZET(rb_ary_entry(origin, 0)), .line = NUM2SIZET(rb_ary_entry(origin, 1)),
        .column = NUM2SIZET(rb_ary_entry(origin, 2)), .texts = NUM2SIZET(rb_ary_entry(origin, 3)), .stream = true,
    };
}

/*
 * call-seq: type.read_json(text, bytes, origin, collect) -> object
 *
 * Loads the object of a JSON text. bytes is the packed text, or nil if it is not packed yet; origin is the position of
 * the text in an io, as from Internal.json_texts, or nil. The bytes may be longer than max_bytes allows, which bounds
 * the text.
 */
static VALUE
rb_type_read_json(VALUE self, VALUE text, VALUE bytes, VALUE origin, VALUE collect)
{
    const compiled_type *type = current(&self);
    mp_codec codec = *mp_codec_get(type->codec);
    mp_json_places places;
    mp_load_part part;
    VALUE object;

    if (!NIL_P(origin)) Check_Type(origin, T_ARRAY);
    StringValue(text);
    text = mp_json_utf8(text);
    set_places(&places, text, origin);
    codec.options.canonical = false; /* in the order of the text, so that errors are found in it */
    part = part_of(NIL_P(bytes) ? rb_obj_freeze(mp_json_packed(text, &codec)) : bytes); /* frozen, it is not copied */
    places.packed = part.message;
    part.json = &places;
    object = mp_load_whole(part, self, &type->shapes, type->codec, RTEST(collect) || type->collects);
    RB_GC_GUARD(self);
    RB_GC_GUARD(text);
    RB_GC_GUARD(part.message);
    return object;
}

typedef struct {
    VALUE type, bytes;
} packed_bytes;

/* Loads the bytes as a check, including all fields of LazyRecords. Raises what loading raises. */
static VALUE
check_bytes(VALUE arg)
{
    const packed_bytes *packed = (const packed_bytes *)arg;
    mp_load_part part = part_of(packed->bytes);

    part.eager = true;
    load_part(packed->type, type_get(packed->type), part, false);
    return Qnil;
}

static VALUE
load_quietly(VALUE tag, VALUE arg, int argc, const VALUE *argv, VALUE block)
{
    const packed_bytes *packed = (const packed_bytes *)arg;
    mp_load_part part = part_of(packed->bytes);

    part.refusal = tag;
    load_part(packed->type, type_get(packed->type), part, false);
    return Qtrue;
}

/*
 * call-seq: type.loads?(bytes) -> true or false
 *
 * Returns false, without making an error, if reading would raise a RecordError. Raises the other DecodeErrors.
 */
static VALUE
rb_type_loads_p(VALUE self, VALUE bytes)
{
    packed_bytes packed = {.type = self, .bytes = bytes};

    current(&packed.type);
    return rb_catch_obj(self, load_quietly, (VALUE)&packed);
}

/*
 * The maximum depth for loading or dumping inside of `depth` levels: what the caller allows (most) and, unless the
 * caller set max_depth itself, no more than the Type allows below `depth`.
 */
static uint32_t
max_depth_within(const mp_options *own, const mp_options *front, uint32_t most, uint32_t depth)
{
    if (!own->max_depth || mp_options_set_p(front, offsetof(mp_options, max_depth))) return most;
    return own->max_depth + depth < most ? own->max_depth + depth : most;
}

/*
 * call-seq: Internal.load_body(type, unpacker) -> object
 *
 * Loads the body of an ext by the codec of its Unpacker, whose limits count what encloses the body. RuntimeError after
 * the end of the body, ArgumentError for an Unpacker of anything else.
 */
static VALUE
rb_internal_load_body(VALUE self, VALUE type_object, VALUE unpacker)
{
    const compiled_type *type;
    const mp_options *options;
    mp_load_part part;
    VALUE owner, object;
    uint64_t before;
    mp_body body;

    current(&type_object); /* runs user code, which may use the Unpacker */
    body = mp_unpacker_take_body(unpacker);
    owner = body.codec.object;
    type = current_within(&type_object, &body.codec);
    options = &mp_codec_get(type->codec)->options;
    body.outer.max_depth = max_depth_within(options, &body.codec.options, body.outer.max_depth, body.outer.depth);
    /* the Type's own limit counts only the objects in the body */
    if (options->limits.objects != body.codec.options.limits.objects) body.outer.objects = 0;
    before = body.outer.objects;
    part = part_of(body.bytes);
    part.outer = &body.outer;
    object = load_part(type_object, type, part, false);
    mp_unpacker_count_in_body(unpacker, body.number, body.outer.objects - before);
    RB_GC_GUARD(owner);
    return object;
}

/* call-seq: Internal.collects?(type) -> true or false */
static VALUE
rb_internal_collects_p(VALUE self, VALUE type)
{
    return type_get(type)->collects ? Qtrue : Qfalse;
}

/* call-seq: Internal.collecting(type) -> type: lets a new Type report all errors, and returns it */
static VALUE
rb_internal_collecting(VALUE self, VALUE type)
{
    ((compiled_type *)type_get(type))->collects = true;
    return type;
}

/*
 * call-seq: Internal.read_view(type, view, collect) -> object
 *
 * Loads the part of the message that a View shows, with the codec of the View laid over that of the Type.
 */
static VALUE
rb_internal_read_view(VALUE self, VALUE type_object, VALUE view, VALUE collect)
{
    mp_slice slice = mp_view_slice(view);
    mp_load_part part = {.message = slice.source, .start = slice.offset, .end = slice.offset + slice.size,
                         .root = mp_view_root(view)};
    const compiled_type *type = current_within(&type_object, mp_codec_get(mp_view_data(view)->codec));
    VALUE object = load_part(type_object, type, part, RTEST(collect));

    RB_GC_GUARD(view);
    return object;
}

/* Packs an object inside of `depth` levels, and loads the bytes if `check` or if the object looks doubtful. */
static VALUE
dumped(VALUE self, const compiled_type *type, VALUE object, const mp_codec *codec, uint32_t depth, bool check,
       mp_notes *notes)
{
    bool doubtful;
    packed_bytes packed = {.type = self};

    packed.bytes = mp_dump_whole(object, &type->shapes, codec, depth, &doubtful, notes);
    if (codec->options.canonical) packed.bytes = mp_canonical_packed(packed.bytes);
    if (doubtful || check) mp_pack_check(check_bytes, (VALUE)&packed);
    RB_GC_GUARD(self);
    return packed.bytes;
}

/*
 * Packs an object inside of `depth` levels, with the codec of the caller laid over that of the Type. Loads the bytes as
 * a check if the Type checks anyway or if check is true.
 */
static VALUE
dumped_within(VALUE self, VALUE object, const mp_codec *front, uint32_t depth, bool body, bool check, mp_notes *notes)
{
    VALUE owner = front->object, bytes;
    const compiled_type *type;
    mp_codec codec;

    check = check || type_get(self)->checks;
    type = current_within(&self, front);
    codec = *mp_codec_get(type->codec);
    codec.options.max_depth = max_depth_within(&codec.options, &front->options, mp_encoder_containers(front), depth);
    /* the caller sorts its whole message later, except the bodies of exts */
    if (!body && front->options.canonical) codec.options.canonical = false;
    bytes = dumped(self, type, object, &codec, depth, check, codec.options.canonical ? NULL : notes);
    RB_GC_GUARD(owner);
    return bytes;
}

/* Appends packed bytes to a Packer, with the notes on them. */
static void
append(VALUE packer, VALUE bytes, mp_notes notes)
{
    VALUE self = mp_packer_get(packer)->buffer;
    const mp_buffer *buffer = mp_buffer_checked(self);
    size_t start = buffer->bytes.size;

    mp_buffer_append(self, bytes, mp_loan_idle_p(&buffer->loan) ? buffer->write_reference_threshold : SIZE_MAX);
    if (notes && buffer->loan.depth) {
        mp_notes_move(notes, start);
        mp_packer_set_notes(packer, mp_notes_join(mp_packer_get(packer)->notes, notes));
    }
    RB_GC_GUARD(self);
}

/*
 * call-seq: Internal.dump_within(type, object, packer, body, check) -> true or nil
 *
 * Packs an object with the codec and at the depth of a Packer, for to_msgpack or, if `body`, as the body of an ext, and
 * appends the bytes. Returns nil if the Packer is of another library.
 */
static VALUE
rb_internal_dump_within(VALUE self, VALUE type, VALUE object, VALUE packer, VALUE body, VALUE check)
{
    VALUE bytes;
    mp_notes notes = 0;
    uint32_t depth;
    mp_codec front;

    if (!mp_packer_p(packer)) return Qnil;
    front = mp_packer_get(packer)->codec;
    depth = mp_buffer_get(mp_packer_get(packer)->buffer)->loan.depth - mp_packer_calls(mp_packer_get(packer));
    bytes = dumped_within(type, object, &front, depth, RTEST(body), RTEST(check), &notes);
    append(packer, bytes, notes);
    return Qtrue;
}

/* The Type that is attached to the class of an object; Qfalse if the object has a to_msgpack of its own. */
static VALUE
attached_type(VALUE object)
{
    VALUE method;

    if (!rb_method_boundp(CLASS_OF(object), rb_intern("to_msgpack"), 0)) return Qfalse;
    method = rb_obj_method(object, ID2SYM(rb_intern("to_msgpack")));
    if (rb_funcall(method, rb_intern("owner"), 0) != mDumping) return Qfalse;
    return rb_funcall(object, rb_intern("__manypack_record__"), 0);
}

static VALUE
dump_attached(VALUE type, VALUE object, const mp_codec *codec, uint32_t depth, mp_notes *notes)
{
    return dumped_within(type, object, codec, depth, false, false, notes);
}

/* call-seq: Internal.attach_by(module) -> nil: objects with an attached Record get its to_msgpack */
static VALUE
rb_internal_attach_by(VALUE self, VALUE module)
{
    Check_Type(module, T_MODULE);
    if (mDumping) rb_raise(rb_eArgError, "already known");
    mDumping = module;
    mp_foreign_set_attached(module, attached_type, dump_attached);
    return Qnil;
}

/*
 * call-seq: type.write(object, check) -> bytes: loads the bytes as a check if check is true or the object looks
 * doubtful
 */
static VALUE
rb_type_write(VALUE self, VALUE object, VALUE check)
{
    const compiled_type *type = current(&self);

    return dumped(self, type, object, mp_codec_get(type->codec), 0, RTEST(check), NULL);
}

void
Init_manypack_type(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cType;

    cType = rb_define_class_under(mManypack, "Type", rb_cObject);
    rb_define_alloc_func(cType, type_alloc);
    rb_undef_method(cType, "initialize_copy");
    rb_define_private_method(cType, "compile", rb_type_compile, 4);
    rb_define_private_method(cType, "read", rb_type_read, 4);
    rb_define_protected_method(cType, "read_json", rb_type_read_json, 4);
    rb_define_protected_method(cType, "take", rb_type_take, 3);
    rb_define_private_method(cType, "loads?", rb_type_loads_p, 1);
    rb_define_private_method(cType, "write", rb_type_write, 2);
    MP_DEFINE_INTERNAL("attach_by", rb_internal_attach_by, 1);
    MP_DEFINE_INTERNAL("current_type", rb_internal_current_type, 1);
    MP_DEFINE_INTERNAL("dump_within", rb_internal_dump_within, 5);
    MP_DEFINE_INTERNAL("load_body", rb_internal_load_body, 2);
    MP_DEFINE_INTERNAL("read_view", rb_internal_read_view, 3);
    MP_DEFINE_INTERNAL("collecting", rb_internal_collecting, 1);
    MP_DEFINE_INTERNAL("collects?", rb_internal_collects_p, 1);
    MP_DEFINE_INTERNAL("shared_shapes?", rb_internal_shared_shapes_p, 2);
}
