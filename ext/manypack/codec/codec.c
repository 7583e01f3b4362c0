/* Manypack::Codec: the object that holds options and ext types, and how a Codec is made from another. */
#include "codec/codec.h"

#include "caches/ractor.h"


/* --- the object ------------------------------------------------------------------------------------- */

typedef struct {
    mp_codec codec;
    mp_types *types; /* never NULL; codec.types is the same, or NULL if there are none */
    VALUE owner;     /* the Codec that has the same types and marks them; 0 if this one does */
    VALUE called;    /* the option `default`; 0 without one */
} codec_object;

/* Every pack and unpack reads these fields; the limits only if `limited`. */
MP_STATIC_ASSERT(codec_is_hot_in_one_cache_line,
                 offsetof(codec_object, codec) == 0 && offsetof(mp_codec, options.limits) <= 64);

static void
codec_mark(void *ptr)
{
    const codec_object *object = ptr;

    if (object->owner) rb_gc_mark_movable(object->owner);
    else mp_types_mark(object->types);
    if (object->called) rb_gc_mark_movable(object->called);
}

static void
codec_compact(void *ptr)
{
    codec_object *object = ptr;

    object->codec.object = rb_gc_location(object->codec.object);
    if (object->owner) object->owner = rb_gc_location(object->owner);
    else mp_types_compact(object->types);
    if (object->called) object->called = rb_gc_location(object->called);
}

static void
codec_free(void *ptr)
{
    mp_types_release(((codec_object *)ptr)->types);
    xfree(ptr);
}

static size_t
codec_memsize(const void *ptr)
{
    return sizeof(codec_object) + mp_types_memsize(((const codec_object *)ptr)->types);
}

/* Not embeddable: others have pointers to the struct, so compaction must not move it. */
static const rb_data_type_t codec_type = {
    .wrap_struct_name = "Manypack::Codec",
    .function = {.dmark = codec_mark, .dfree = codec_free, .dsize = codec_memsize, .dcompact = codec_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE cCodec, eIsolationError;

/* The Codec without options and types. */
static VALUE plain_codec;

/*
 * The Codec of DefaultFactory, and its twin for calls by the name MessagePack. The main Ractor replaces each with a
 * single store, while other Ractors may load it. Both are always shareable: handlers that cannot be shared are only in
 * main_codec and main_codec_of_gem, for the main Ractor. Since Ruby 4.1, no Ractor may refer to an object of another
 * one that is not shareable.
 */
static VALUE default_codec, default_codec_of_gem, main_codec, main_codec_of_gem;

/* Procs that pack and unpack a Time as a timestamp, which the extension does without calling them. */
static VALUE time_packer, time_unpacker;

static codec_object *
codec_get(VALUE self)
{
    codec_object *object;

    TypedData_Get_Struct(self, codec_object, &codec_type, object);
    return object;
}

const mp_codec *
mp_codec_get(VALUE self)
{
    return &codec_get(self)->codec;
}

VALUE
mp_codec_called(VALUE self)
{
    return codec_get(self)->called;
}

mp_types *
mp_codec_types(VALUE self)
{
    return codec_get(self)->types;
}

/* The shared default codec; in the main Ractor *of_main, if handlers are withheld from the shared one. */
static const mp_codec *
codec_here(VALUE shared, const VALUE *of_main)
{
    const mp_codec *codec = mp_codec_get(shared);

    if (MP_LIKELY(!codec->types || !codec->types->withheld) || !mp_main_ractor_p()) return codec;
    return mp_codec_get(*of_main);
}

const mp_codec *
mp_default_codec(void)
{
    return codec_here(MP_LOAD_ACQUIRE(&default_codec), &main_codec);
}

const mp_codec *
mp_default_codec_for(int api)
{
    if (MP_LIKELY(!mp_lenient_p(api))) return mp_default_codec();
    return codec_here(MP_LOAD_ACQUIRE(&default_codec_of_gem), &main_codec_of_gem);
}

VALUE
mp_plain_codec(void)
{
    return plain_codec;
}

VALUE
mp_codec_by_default(int api)
{
    return mp_lenient_p(api) ? plain_codec : mp_default_codec()->object;
}

/* TypeError for anything but a Codec. It names the way to get a Codec from the object. */
static void
check_codec(VALUE given)
{
    if (rb_typeddata_is_kind_of(given, &codec_type)) return;
    rb_funcall(mp_mArguments, rb_intern("check_codec"), 1, given);
}

static VALUE codec_with(VALUE from, const mp_options *options, VALUE called);

void
mp_codec_override(mp_codec *codec, VALUE self, VALUE options, int api)
{
    VALUE given, called = 0;

    *codec = *mp_codec_get(self);
    if (mp_lenient_p(api)) codec->options.of_gem = true;
    if (NIL_P(options)) return;
    given = mp_options_read(&codec->options, options, api, &called);
    if (MP_UNLIKELY(!NIL_P(given))) {
        check_codec(given);
        *codec = *mp_codec_get(given);
        codec->options.of_gem = mp_lenient_p(api);
        if (RHASH_SIZE(options) > 1) mp_options_read(&codec->options, options, api, &called); /* over its options */
    }
    if (MP_UNLIKELY(called != 0)) *codec = *mp_codec_get(codec_with(codec->object, &codec->options, called));
}

/* The write barrier for types that were copied into the struct. */
static void
types_written(VALUE self)
{
    const mp_types *types = codec_get(self)->types;
    size_t i;

    for (i = 0; i < types->count; i++) {
        const mp_handler *handler = &types->all[i].handler;

        RB_OBJ_WRITTEN(self, Qundef, types->all[i].klass);
        if (handler->receiver == Qundef) continue;
        RB_OBJ_WRITTEN(self, Qundef, handler->receiver);
        RB_OBJ_WRITTEN(self, Qundef, handler->proc);
    }
}

/*
 * A Codec that the caller fills and then seals. It starts with the options and types of `from`, unless `from` is 0. It
 * refers to the owner of the types instead of to each of them, so it costs the same whatever the number of types.
 */
static VALUE
codec_new(VALUE from)
{
    codec_object *object;
    VALUE self = TypedData_Make_Struct(cCodec, codec_object, &codec_type, object);

    object->codec.object = self;
    object->types = mp_types_hold(from ? codec_get(from)->types : &mp_no_types);
    mp_options_init(&object->codec.options);
    if (from) {
        object->codec.options = codec_get(from)->codec.options;
        RB_OBJ_WRITE(self, &object->owner, codec_get(from)->owner ? codec_get(from)->owner : from);
        if (codec_get(from)->called) RB_OBJ_WRITE(self, &object->called, codec_get(from)->called);
    }
    return self;
}

/* Gives a Codec that is not sealed its own copy of the types, which the caller may change. */
static mp_types *
own_types(VALUE self)
{
    codec_object *object = codec_get(self);
    mp_types *shared = object->types;

    object->types = mp_types_new();
    mp_types_copy(object->types, shared);
    object->owner = 0;
    mp_types_release(shared);
    types_written(self);
    return object->types;
}

static bool
types_shareable_p(const codec_object *object)
{
    return object->owner ? RB_OBJ_SHAREABLE_P(object->owner) : mp_types_shareable_p(object->types);
}

void
mp_codec_check_shareable(VALUE self)
{
    VALUE called = codec_get(self)->called;

    mp_types_check_shareable(codec_get(self)->types);
    if (!called || rb_ractor_shareable_p(called)) return;
    rb_raise(eIsolationError, "default: cannot be shared between Ractors: give a Proc from Ractor.shareable_proc or "
             "Ractor.make_shareable");
}

/* Makes the Codec immutable, and shareable unless one of its handlers is not. */
static VALUE
codec_seal(VALUE self)
{
    codec_object *object = codec_get(self);

    if (object->types->count) object->codec.types = object->types;
    RB_OBJ_FREEZE(self);
    if (object->called && !rb_ractor_shareable_p(object->called)) return self;
    return types_shareable_p(object) ? mp_obj_set_shareable(self) : self;
}

/*
 * True if the Codec that the Ractor made last has the types of `from`, these options and `called`: a program that
 * passes the same options to each call gets the same Codec.
 */
static bool
made_last_p(VALUE recent, VALUE from, const mp_options *options, VALUE called)
{
    return recent && codec_get(recent)->types == codec_get(from)->types && codec_get(recent)->called == called &&
           !memcmp(&codec_get(recent)->codec.options, options, sizeof(mp_options));
}

/* A new Codec with these options and this `called`; if it is 0, with that of `from`. */
static VALUE
codec_of_options(VALUE from, const mp_options *options, VALUE called)
{
    VALUE self = codec_new(from);

    codec_get(self)->codec.options = *options;
    if (called) RB_OBJ_WRITE(self, &codec_get(self)->called, called);
    return codec_seal(self);
}

/* Like codec_of_options. The Ractor keeps the last Codec, because programs pass the same options to each call. */
static VALUE
codec_with(VALUE from, const mp_options *options, VALUE called)
{
    VALUE recent = mp_ractor_seldom()->recent_codec;

    if (made_last_p(recent, from, options, called)) return recent;
    return mp_ractor_seldom()->recent_codec = codec_of_options(from, options, called);
}

/* A Codec for calls by the name MessagePack, with the types and options of another. */
static VALUE
codec_of_gem(VALUE codec)
{
    mp_options options = codec_get(codec)->codec.options;

    options.of_gem = true;
    return codec_of_options(codec, &options, 0);
}

/* call-seq: Internal.codec_of_gem(codec) -> Codec: its types and options, for a call by the name MessagePack */
static VALUE
rb_internal_codec_of_gem(VALUE self, VALUE codec)
{
    check_codec(codec);
    return codec_of_gem(codec);
}

/* A Codec for other Ractors: itself if it is shareable, else a copy without the handlers that cannot be shared. */
static VALUE
shareable_codec(VALUE codec)
{
    VALUE self;

    if (RB_OBJ_SHAREABLE_P(codec)) return codec;
    self = codec_new(codec);
    mp_types_withhold(own_types(self));
    return codec_seal(self);
}

void
mp_default_codec_set(VALUE codec)
{
    VALUE of_gem = codec_of_gem(codec), shared = shareable_codec(codec);
    VALUE shared_of_gem = shared == codec ? of_gem : codec_of_gem(shared);

    main_codec = codec;
    main_codec_of_gem = of_gem;
    MP_STORE_RELEASE(&default_codec, shared);
    MP_STORE_RELEASE(&default_codec_of_gem, shared_of_gem);
}

VALUE
mp_codec_with_options(VALUE from, VALUE options, int api)
{
    mp_codec changed;

    if (NIL_P(options)) return from;
    mp_codec_override(&changed, from, options, api);
    from = changed.object;
    if (api & MP_PACKS && api & MP_UNPACKS) return codec_of_options(from, &changed.options, 0);
    if (!memcmp(&codec_get(from)->codec.options, &changed.options, sizeof(mp_options))) return from;
    return codec_with(from, &changed.options, codec_get(from)->called);
}

VALUE
mp_codec_made_of(const mp_codec *codec, VALUE called)
{
    return codec_with(codec->object, &codec->options, called);
}

VALUE
mp_codec_overlaid(VALUE codec, VALUE over)
{
    const mp_options options = mp_codec_get(over)->options; /* before codec: TypeError for anything else */
    VALUE self = codec_new(over);

    codec_get(self)->codec.options = mp_codec_get(codec)->options;
    mp_options_overlay(&codec_get(self)->codec.options, &options);
    if (!codec_get(self)->called) RB_OBJ_WRITE(self, &codec_get(self)->called, codec_get(codec)->called);
    return codec_seal(self);
}

static bool
option_p(VALUE options, VALUE name)
{
    return !NIL_P(options) && RTEST(rb_hash_lookup(options, name));
}

VALUE
mp_codec_with_type(VALUE from, VALUE id, VALUE klass, VALUE packer, VALUE unpacker, VALUE options)
{
    VALUE self = codec_new(from);
    mp_types *types = own_types(self);
    mp_type type = {.klass = klass, .type = (int8_t)mp_ext_type(id)};

    type.recursive = option_p(options, ID2SYM(rb_intern("recursive")));
    type.oversized_integer = option_p(options, ID2SYM(rb_intern("oversized_integer_extension")));
    type.optimized_symbol = option_p(options, ID2SYM(rb_intern("optimized_symbols_parsing"))) && klass == rb_cSymbol;
    if (!NIL_P(packer)) {
        type.handler = mp_handler_init(packer, Qundef);
        type.timestamp = packer == time_packer;
        mp_types_add_packer(types, type);
        types_written(self);
    }
    if (!NIL_P(unpacker)) {
        type.handler = mp_handler_init(unpacker, klass);
        type.timestamp = unpacker == time_unpacker;
        mp_types_add_unpacker(types, type);
        types_written(self);
    }
    return codec_seal(self);
}

/* Hashes that describe the types from an index to another. Each has the handler under its name. */
static VALUE
type_list(VALUE self, size_t from, size_t to, VALUE handler_name)
{
    const mp_types *types = codec_get(self)->types;
    VALUE list = rb_ary_new_capa((long)(to - from));

    for (; from < to; from++) {
        const mp_type *type = &types->all[from];
        VALUE hash = rb_hash_new();

        mp_type_check(type);
        rb_hash_aset(hash, ID2SYM(rb_intern("type")), INT2FIX(type->type));
        rb_hash_aset(hash, ID2SYM(rb_intern("class")), type->klass);
        rb_hash_aset(hash, handler_name, mp_handler_proc(&type->handler));
        rb_ary_push(list, hash);
    }
    RB_GC_GUARD(self);
    return list;
}

VALUE
mp_codec_packers(VALUE self)
{
    return type_list(self, 0, codec_get(self)->types->packers, ID2SYM(rb_intern("packer")));
}

VALUE
mp_codec_unpackers(VALUE self)
{
    const mp_types *types = codec_get(self)->types;

    return type_list(self, types->packers, types->count, ID2SYM(rb_intern("unpacker")));
}

/* --- Manypack::Codec -------------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Codec.new(**options) -> codec
 *
 * Creates a frozen configuration that every Ractor can use, from the options of Manypack.pack and Manypack.unpack. It
 * has the ext types that are registered on DefaultFactory at that time; Factory#codec creates a Codec with other types.
 * Raises TypeError, RangeError or ArgumentError for invalid or unknown options. A Codec works in both directions, so
 * it takes the options of both: some have an effect only on packing, others only on unpacking.
 *
 *   CODEC = Manypack::Codec.new(symbolize_keys: true)
 *   CODEC.unpack(CODEC.pack({id: 1})) #=> {id: 1}
 */
static VALUE
rb_codec_s_new(int argc, VALUE *argv, VALUE klass)
{
    rb_check_arity(argc, 0, 1);
    mp_refuse_block(klass);
    return mp_codec_with_options(mp_default_codec()->object, argc ? argv[0] : Qnil, MP_CONFIGURES | MP_LOOKS);
}

/*
 * call-seq: codec.with(**options) -> codec
 *
 * Returns a Codec with the same ext types and some options changed. Takes the options of Codec.new. Other options stay
 * as they are, and so does a limit that is nil. If <code>untrusted</code> changes, the limits that were never set
 * change with it. Without options it returns the codec itself. Raises TypeError, RangeError or ArgumentError for
 * invalid or unknown options.
 *
 *   codec = Manypack::Codec.new(symbolize_keys: true)
 *   codec.with(max_bytes: 1_000) #=> #<Manypack::Codec symbolize_keys: true, max_bytes: 1000>
 */
static VALUE
rb_codec_with(int argc, VALUE *argv, VALUE self)
{
    VALUE options;

    rb_scan_args(argc, argv, ":", &options);
    mp_refuse_block(self);
    return mp_codec_with_options(self, options, MP_CONFIGURES | MP_LOOKS);
}

/*
 * call-seq: codec.options -> Hash
 *
 * Returns the options that were set, in a form that Codec.new takes. Includes options that were set to their defaults:
 * they also override those of another Codec.
 *
 *   Manypack::Codec.new(symbolize_keys: true, max_bytes: 1_000).options
 *   #=> {symbolize_keys: true, max_bytes: 1000}
 */
static VALUE
rb_codec_options(VALUE self)
{
    return mp_options_said(&mp_codec_get(self)->options, mp_codec_called(self));
}

/*
 * call-seq: Internal.codec_for(codec, options, packs, unpacks, looks) -> codec
 *
 * Returns the Codec with changed options. Accepts the options of a method that packs, unpacks or looks into bytes.
 */
static VALUE
rb_internal_codec_for(VALUE self, VALUE codec, VALUE options, VALUE packs, VALUE unpacks, VALUE looks)
{
    int api = (RTEST(packs) ? MP_PACKS : 0) | (RTEST(unpacks) ? MP_UNPACKS : 0) | (RTEST(looks) ? MP_LOOKS : 0);

    mp_codec_get(codec); /* raises for anything else */
    Check_Type(options, T_HASH);
    return mp_codec_with_options(codec, RHASH_EMPTY_P(options) ? Qnil : options, api);
}

/* call-seq: Internal.codec_with_type(codec, type, klass, packer, unpacker, options) -> codec: see mp_codec_with_type */
static VALUE
rb_internal_codec_with_type(VALUE self, VALUE codec, VALUE type, VALUE klass, VALUE packer, VALUE unpacker,
                            VALUE options)
{
    mp_codec_get(codec); /* raises for anything else */
    if (!NIL_P(options)) Check_Type(options, T_HASH);
    return mp_codec_with_type(codec, type, klass, packer, unpacker, options);
}

/* call-seq: Internal.codec_overlaid(codec, over) -> codec: see mp_codec_overlaid */
static VALUE
rb_internal_codec_overlaid(VALUE self, VALUE codec, VALUE over)
{
    return mp_codec_overlaid(codec, over);
}

/* call-seq: Internal.time_handlers(packer, unpacker) -> nil: codec/time.rb passes its two Procs when it is loaded */
static VALUE
rb_internal_time_handlers(VALUE self, VALUE packer, VALUE unpacker)
{
    time_packer = packer;
    time_unpacker = unpacker;
    rb_gc_register_mark_object(packer);
    rb_gc_register_mark_object(unpacker);
    return Qnil;
}

static bool
module_p(VALUE object)
{
    return RB_TYPE_P(object, T_CLASS) || RB_TYPE_P(object, T_MODULE);
}

/* Pairs of type and class. Omits the handlers, which the current Ractor may be forbidden to see. */
static VALUE
class_list(VALUE codec, size_t from, size_t to)
{
    const mp_types *types = codec_get(codec)->types;
    VALUE classes = rb_ary_new_capa((long)(to - from));

    for (; from < to; from++) {
        rb_ary_push(classes, rb_assoc_new(INT2FIX(types->all[from].type), types->all[from].klass));
    }
    RB_GC_GUARD(codec);
    return classes;
}

static VALUE
rb_codec_packer_classes(VALUE self)
{
    return class_list(self, 0, codec_get(self)->types->packers);
}

/* call-seq: Internal.unpacker_classes(codec) -> [[type, class], ...] */
static VALUE
rb_internal_unpacker_classes(VALUE self, VALUE codec)
{
    const mp_types *types = codec_get(codec)->types;

    return class_list(codec, types->packers, types->count);
}

/* True if a registration is for this ext type or this class or, unless `exact`, for an ancestor of the class. */
static bool
registers_p(const mp_type *type, VALUE klass_or_type, bool exact)
{
    if (RB_INTEGER_TYPE_P(klass_or_type)) return INT2FIX(type->type) == klass_or_type;
    if (type->klass == klass_or_type) return true;
    return !exact && module_p(type->klass) && RTEST(rb_class_inherited_p(klass_or_type, type->klass));
}

/*
 * call-seq: Internal.registers?(codec, klass_or_type, packers, unpackers, exact) -> true or false
 *
 * Returns true if the packers or the unpackers, as asked for, have the ext type, an Integer, or the class. Without
 * exact, a class that inherits or includes a registered one counts, too. ArgumentError for anything else.
 */
static VALUE
rb_internal_registers_p(VALUE self, VALUE codec, VALUE klass_or_type, VALUE packers, VALUE unpackers, VALUE exact)
{
    const mp_types *types = codec_get(codec)->types;
    size_t i = RTEST(packers) ? 0 : types->packers, end = RTEST(unpackers) ? types->count : types->packers;

    if (!RB_INTEGER_TYPE_P(klass_or_type) && !module_p(klass_or_type)) {
        rb_raise(rb_eArgError, "expected a class or type id, got %" PRIsVALUE, rb_obj_class(klass_or_type));
    }
    while (i < end && !registers_p(&types->all[i], klass_or_type, RTEST(exact))) i++;
    RB_GC_GUARD(codec);
    return i < end ? Qtrue : Qfalse;
}

/* call-seq: codec.same_types?(other) -> true or false: compares the handlers, too */
static VALUE
rb_codec_same_types_p(VALUE self, VALUE other)
{
    return mp_types_same_p(codec_get(self)->types, codec_get(other)->types) ? Qtrue : Qfalse;
}

/*
 * Document-class: Manypack::Codec
 *
 * Options and ext types, fixed once, to pack and unpack with. A Codec never changes, so every Ractor can use it.
 * Manypack::Codec.new creates a Codec from options, Factory#codec from a Factory's types, and Codec#with from another
 * Codec.
 */
void
Init_manypack_codec(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    cCodec = rb_define_class_under(mManypack, "Codec", rb_cObject);
    rb_gc_register_mark_object(cCodec);
    eIsolationError = mp_const("Ractor::IsolationError"); /* which Ruby never frees */
    rb_undef_alloc_func(cCodec);
    rb_undef_method(cCodec, "initialize_copy");
    rb_define_singleton_method(cCodec, "new", rb_codec_s_new, -1);
    rb_define_method(cCodec, "with", rb_codec_with, -1);
    rb_define_method(cCodec, "options", rb_codec_options, 0);
    rb_define_private_method(cCodec, "packer_classes", rb_codec_packer_classes, 0);
    rb_define_private_method(cCodec, "same_types?", rb_codec_same_types_p, 1);
    MP_DEFINE_INTERNAL("time_handlers", rb_internal_time_handlers, 2);
    MP_DEFINE_INTERNAL("codec_for", rb_internal_codec_for, 5);
    MP_DEFINE_INTERNAL("codec_of_gem", rb_internal_codec_of_gem, 1);
    MP_DEFINE_INTERNAL("codec_overlaid", rb_internal_codec_overlaid, 2);
    MP_DEFINE_INTERNAL("codec_with_type", rb_internal_codec_with_type, 6);
    MP_DEFINE_INTERNAL("registers?", rb_internal_registers_p, 5);
    MP_DEFINE_INTERNAL("unpacker_classes", rb_internal_unpacker_classes, 1);

    rb_gc_register_address(&default_codec);
    rb_gc_register_address(&default_codec_of_gem);
    rb_gc_register_address(&plain_codec);
    rb_gc_register_address(&main_codec);
    rb_gc_register_address(&main_codec_of_gem);
    plain_codec = codec_seal(codec_new(0));
    mp_default_codec_set(plain_codec);
}
