/* Manypack::Factory: holds a Codec. Registering a type replaces the Codec, until the Factory is frozen. */
#include "base/io.h"
#include "base/lenient.h"
#include "caches/ractor.h"
#include "codec/codec.h"
#include "manypack.h"
#include "pack/packer.h"
#include "redefined.h"
#include "stream/unpacker.h"

typedef struct {
    VALUE codec;     /* a Codec; 0 before initialize, and in the default factory */
    mp_types *types; /* the Codec's, held because the Codec may be freed first; only for dsize; or NULL */
    bool is_default; /* DefaultFactory: its codec is mp_default_codec, so only `types` changes */
} mp_factory;

/* Since 3.3 it fits into a slot of 80 bytes, with the object's own words. */
MP_STATIC_ASSERT(factory_is_small, sizeof(mp_factory) <= 48);

static void
factory_mark(void *ptr)
{
    const mp_factory *factory = ptr;

    if (factory->codec) rb_gc_mark_movable(factory->codec);
}

static void
factory_compact(void *ptr)
{
    mp_factory *factory = ptr;

    if (factory->codec) factory->codec = rb_gc_location(factory->codec);
}

static void
factory_free(void *ptr)
{
    mp_types_release(((mp_factory *)ptr)->types);
    mp_typed_free(ptr);
}

static size_t
factory_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_factory)) + mp_types_memsize(((const mp_factory *)ptr)->types);
}

static const rb_data_type_t factory_type = {
    .wrap_struct_name = "Manypack::Factory",
    .function = {.dmark = factory_mark, .dfree = factory_free, .dsize = factory_memsize, .dcompact = factory_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

static mp_classes factory_classes;

static mp_factory *
factory_get(VALUE self)
{
    mp_factory *factory;

    TypedData_Get_Struct(self, mp_factory, &factory_type, factory);
    return factory;
}

/* True if the method must call other methods of the Factory, as the msgpack gem does, because one is redefined. */
static bool
by_methods_p(VALUE self, int api, int argc, const VALUE *argv)
{
    if (!mp_lenient_p(api) || MP_LIKELY(!mp_redefined_p(self))) return false;
    return argc > 0 && mp_called_by_methods_p(argc - 1, argv + 1);
}

static VALUE
factory_codec(VALUE self)
{
    const mp_factory *factory = factory_get(self);

    if (factory->is_default) return mp_default_codec()->object;
    if (!factory->codec) rb_raise(rb_eRuntimeError, "Factory is not initialized");
    return factory->codec;
}

static void
factory_set_codec(VALUE self, VALUE codec)
{
    mp_factory *factory = factory_get(self);
    mp_types *before = factory->types;

    if (factory->is_default) mp_default_codec_set(codec); /* first: it may raise */
    else RB_OBJ_WRITE(self, &factory->codec, codec);
    factory->types = mp_types_hold(mp_codec_types(codec));
    mp_types_release(before);
}

static VALUE
factory_allocate(VALUE klass)
{
    mp_factory *factory;

    return TypedData_Make_Struct(klass, mp_factory, &factory_type, factory);
}

/* Ractor::IsolationError for DefaultFactory outside the main Ractor, which alone may change it. */
static void
check_main_ractor(VALUE self)
{
    if (!factory_get(self)->is_default || mp_main_ractor_p()) return;
    rb_raise(rb_path2class("Ractor::IsolationError"),
             "DefaultFactory can be changed only in the main Ractor: create your own Factory here");
}

/* RuntimeError for a Factory that already has a Codec: only register_type may replace that. */
static void
check_new(VALUE self)
{
    check_main_ractor(self);
    rb_check_frozen(self);
    if (factory_get(self)->codec || factory_get(self)->is_default) {
        rb_raise(rb_eRuntimeError, "Factory is already initialized");
    }
}

/*
 * call-seq: Internal.default_factory(klass) -> factory
 *
 * Makes DefaultFactory. Every Ractor may use it: the object never changes, only the default codec is replaced.
 */
static VALUE
rb_internal_default_factory(VALUE self, VALUE klass)
{
    VALUE factory;

    Check_Type(klass, T_CLASS);
    factory = rb_obj_alloc(klass);
    factory_get(factory)->is_default = true;
    return mp_unfrozen_set_shareable(factory);
}

/* call-seq: Internal.watch(factory, front) -> nil: the DefaultFactory of the drop-in, and MessagePack */
static VALUE
rb_internal_watch(VALUE self, VALUE factory, VALUE front)
{
    factory_get(factory);
    mp_redefined_watch(front, factory);
    return Qnil;
}

/* call-seq: Internal.redefined?(factory) -> true or false */
static VALUE
rb_internal_redefined_p(VALUE self, VALUE factory)
{
    factory_get(factory);
    return mp_redefined_p(factory) ? Qtrue : Qfalse;
}

/*
 * call-seq: Manypack::Factory.new -> factory
 *
 * Creates a Factory without ext types.
 *
 *   Manypack::Factory.new.registered_types #=> []
 */
static VALUE
rb_factory_initialize(int argc, VALUE *argv, VALUE self)
{
    if (argc) {
        rb_raise(rb_eArgError, "wrong number of arguments (given %d, expected 0); register_common(:symbol, :time) adds "
                 "ready-made types, register_type others, and codec(**options) makes a Codec with options", argc);
    }
    mp_refuse_block(self);
    check_new(self);
    factory_set_codec(self, mp_plain_codec());
    return self;
}

/*
 * call-seq:
 *   factory.dup -> factory
 *   factory.clone -> factory
 *
 * Returns a Factory with the same ext types. Registering a type on one of the two does not affect the other.
 *
 *   factory = Manypack::Factory.new
 *   factory.dup.register_type(0, Symbol)
 *   factory.type_registered?(0) #=> false
 */
static VALUE
rb_factory_initialize_copy(VALUE self, VALUE other)
{
    check_new(self);
    factory_set_codec(self, factory_codec(other));
    return self;
}

/*
 * call-seq: factory.codec(**options) -> Codec
 *
 * Returns a Codec with the current ext types of the factory and these options. It is immutable, and shareable if its
 * handlers are. Takes the options of Manypack.pack and Manypack.unpack, and raises their errors.
 *
 *   Manypack::Factory.new.codec(symbolize_keys: true).load("\x81\xA1a\x01") #=> {a: 1}
 */
static VALUE
rb_factory_codec(int argc, VALUE *argv, VALUE self)
{
    int api = mp_api_of_object(self, &factory_classes);
    VALUE options = Qnil;

    rb_check_arity(argc, 0, 1);
    if (argc) options = argv[0];
    else if (mp_lenient_p(api)) options = rb_hash_new(); /* nil would give the Codec for calls by the name Manypack */
    return mp_codec_with_options(factory_codec(self), options, MP_CONFIGURES | MP_LOOKS | api);
}

/*
 * call-seq:
 *   factory.dump(object, io = nil, options = nil) -> String or nil
 *   factory.pack(object, io = nil, options = nil) -> String or nil
 *
 * Packs like Manypack.pack, with the ext types of the factory, and raises the same errors.
 *
 *   Manypack::Factory.new.dump([1]) #=> "\x91\x01"
 */
static VALUE
rb_factory_dump(int argc, VALUE *argv, VALUE self)
{
    VALUE io, options;
    mp_codec codec;
    int api = mp_api_of_object(self, &factory_classes);

    if (MP_UNLIKELY(by_methods_p(self, api, argc, argv))) return mp_pack_by_methods(self, argv[0], argc - 1, argv + 1);
    rb_check_arity(argc, 1, 3);
    mp_scan_io_options(argc - 1, argv + 1, &io, &options);
    mp_codec_override(&codec, factory_codec(self), options, api | MP_PACKS);
    return mp_pack(argv[0], io, &codec, api);
}

/*
 * call-seq: factory.unpack(source, options = nil) -> object
 *
 * Unpacks like Manypack.unpack, with the ext types of the factory, and raises the same errors.
 *
 *   Manypack::Factory.new.unpack("\x91\x01") #=> [1]
 */
static VALUE
rb_factory_unpack(int argc, VALUE *argv, VALUE self)
{
    int api = mp_api_of_object(self, &factory_classes);
    VALUE options = argc == 2 ? argv[1] : Qnil;

    rb_check_arity(argc, 1, 2);
    if (MP_UNLIKELY(by_methods_p(self, api, argc, argv))) return mp_unpack_by_methods(self, argv[0], options, "feed");
    return mp_unpack_with(argv[0], factory_codec(self), options, api);
}

/*
 * call-seq: factory.load(source, options = nil) -> object or nil
 *
 * Unpacks like Factory#unpack, and without options returns nil for nil, as Manypack.load does.
 *
 *   Manypack::Factory.new.load("\x91\x01") #=> [1]
 */
static VALUE
rb_factory_load(int argc, VALUE *argv, VALUE self)
{
    if (argc == 1 && NIL_P(argv[0]) && mp_api_of_object(self, &factory_classes) == MP_OWN) return Qnil;
    return rb_factory_unpack(argc, argv, self);
}

/*
 * call-seq: factory.packer(io = nil, options = nil) -> Packer
 *
 * Creates a Packer with the current ext types of the factory. Arguments and errors are those of Packer.new.
 *
 *   Manypack::Factory.new.packer.write(1).to_s #=> "\x01"
 */
static VALUE
rb_factory_packer(int argc, VALUE *argv, VALUE self)
{
    mp_refuse_block(self);
    return mp_packer_with_codec(factory_codec(self), argc, argv, mp_api_of_object(self, &factory_classes));
}

/*
 * call-seq: factory.unpacker(io = nil, options = nil) -> Unpacker
 *
 * Creates an Unpacker with the current ext types of the factory. Arguments and errors are those of Unpacker.new.
 *
 *   Manypack::Factory.new.unpacker.feed("\x01").read #=> 1
 */
static VALUE
rb_factory_unpacker(int argc, VALUE *argv, VALUE self)
{
    mp_refuse_block(self);
    return mp_unpacker_with_codec(factory_codec(self), argc, argv, mp_api_of_object(self, &factory_classes));
}

/*
 * call-seq: factory.freeze -> factory
 *
 * Freezes the factory, which then accepts no more types. Raises Ractor::IsolationError for DefaultFactory outside the
 * main Ractor.
 *
 *   Manypack::Factory.new.freeze.frozen? #=> true
 */
static VALUE
rb_factory_freeze(VALUE self)
{
    check_main_ractor(self);
    return rb_obj_freeze(self);
}

/* For register_type in lib/manypack/factory.rb. Starts again if another Thread has replaced the Codec meanwhile. */
static VALUE
rb_factory_register_type_internal(VALUE self, VALUE type, VALUE klass, VALUE packer, VALUE unpacker, VALUE options)
{
    VALUE from, codec;

    rb_check_frozen(self);
    check_main_ractor(self);
    if (!NIL_P(options)) Check_Type(options, T_HASH); /* Ruby code before this takes any object with [] */
    do {
        from = factory_codec(self);
        codec = mp_codec_with_type(from, type, klass, packer, unpacker, options);
    } while (from != factory_codec(self));
    factory_set_codec(self, codec);
    return Qnil;
}

static VALUE
rb_factory_registered_packers(VALUE self)
{
    return mp_codec_packers(factory_codec(self));
}

static VALUE
rb_factory_registered_unpackers(VALUE self)
{
    return mp_codec_unpackers(factory_codec(self));
}

void
Init_manypack_factory(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cFactory = rb_define_class_under(mManypack, "Factory", rb_cObject);

    mp_two_classes(&factory_classes, cFactory);
    rb_define_alloc_func(cFactory, factory_allocate);
    MP_DEFINE_INTERNAL("default_factory", rb_internal_default_factory, 1);
    MP_DEFINE_INTERNAL("redefined?", rb_internal_redefined_p, 1);
    MP_DEFINE_INTERNAL("watch", rb_internal_watch, 2);

    rb_define_method(cFactory, "initialize", rb_factory_initialize, -1);
    rb_define_method(cFactory, "initialize_copy", rb_factory_initialize_copy, 1);
    rb_define_method(cFactory, "freeze", rb_factory_freeze, 0);
    rb_define_method(cFactory, "codec", rb_factory_codec, -1);
    rb_define_method(cFactory, "dump", rb_factory_dump, -1);
    rb_define_method(cFactory, "pack", rb_factory_dump, -1);
    rb_define_method(cFactory, "load", rb_factory_load, -1);
    rb_define_method(cFactory, "unpack", rb_factory_unpack, -1);
    rb_define_method(cFactory, "packer", rb_factory_packer, -1);
    rb_define_method(cFactory, "unpacker", rb_factory_unpacker, -1);
    rb_define_private_method(cFactory, "register_type_internal", rb_factory_register_type_internal, 5);
    rb_define_private_method(cFactory, "registered_packers", rb_factory_registered_packers, 0);
    rb_define_private_method(cFactory, "registered_unpackers", rb_factory_registered_unpackers, 0);
}
