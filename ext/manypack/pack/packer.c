/* Manypack::Packer: packs piece by piece into a Buffer. packer_write.c has the methods that write. */
#include "pack/packer.h"

#include "base/io.h"
#include "base/lenient.h"
#include "buffer/buffer_io.h"
#include "caches/ractor.h"
#include "pack/canonical_form.h"
#include "pack/encode.h"

MP_STATIC_ASSERT(packer_fits_a_slot_of_320, sizeof(mp_packer) <= 288);

static void
packer_mark(void *ptr)
{
    const mp_packer *packer = ptr;

    if (packer->buffer) rb_gc_mark_movable(packer->buffer);
    if (packer->notes) rb_gc_mark_movable(packer->notes);
    if (packer->codec.object) rb_gc_mark_movable(packer->codec.object);
}

static void
packer_compact(void *ptr)
{
    mp_packer *packer = ptr;

    if (packer->buffer) packer->buffer = rb_gc_location(packer->buffer);
    if (packer->notes) packer->notes = rb_gc_location(packer->notes);
    if (packer->codec.object) packer->codec.object = rb_gc_location(packer->codec.object);
}

static size_t
packer_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_packer));
}

/* Never shareable: it changes with every call. */
static const rb_data_type_t packer_type = {
    .wrap_struct_name = "Manypack::Packer",
    .function =
        {.dmark = packer_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = packer_memsize, .dcompact = packer_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static mp_classes packer_classes;

bool
mp_packer_p(VALUE obj)
{
    return rb_typeddata_is_kind_of(obj, &packer_type);
}

static VALUE
packer_allocate(VALUE klass)
{
    mp_packer *packer;

    return TypedData_Make_Struct(klass, mp_packer, &packer_type, packer);
}

static void
packer_init(VALUE self, const mp_codec *codec, VALUE buffer)
{
    mp_packer *packer = mp_typed_data(self);

    packer->codec = *codec;
    RB_OBJ_WRITTEN(self, Qundef, codec->object);
    RB_OBJ_WRITE(self, &packer->buffer, buffer);
    mp_buffer_get(buffer)->owner = MP_OF_PACKER;
}

VALUE
mp_packer_new(const mp_codec *codec, VALUE *buffer)
{
    VALUE self = packer_allocate(mp_class_of(&packer_classes, codec->options.of_gem));

    *buffer = mp_buffer_new(Qnil, Qnil, codec->options.of_gem);
    mp_buffer_get(*buffer)->write_reference_threshold = UINT32_MAX; /* the result is one String */
    packer_init(self, codec, *buffer);
    return self;
}

/* A Packer cannot write canonical bytes: the order of keys is known only at the end of a message. */
static void
check_not_canonical(const mp_codec *codec)
{
    if (!codec->options.canonical) return;
    rb_raise(rb_eArgError, "a Packer cannot be %s, because it writes piece by piece: use pack or dump for each message",
             MP_OPTION_NAME(canonical));
}

/* Initializes a Packer with the arguments io and options. The options override those of a Codec. */
static void
packer_set_up(VALUE self, VALUE codec_object, int argc, const VALUE *argv, int api)
{
    VALUE io, options, buffer;
    mp_codec codec;

    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_sink(io, api);
    mp_codec_override(&codec, codec_object, options, api | MP_PACKS | MP_WITH_BUFFER);
    check_not_canonical(&codec);
    buffer = mp_buffer_new(io, options, codec.options.of_gem);
    /* Check this last: asking the io what it responds to may run user code, which may initialize the Packer. */
    if (((mp_packer *)mp_typed_data(self))->buffer) rb_raise(rb_eRuntimeError, "Packer is already initialized");
    packer_init(self, &codec, buffer);
}

VALUE
mp_packer_with_codec(VALUE codec, int argc, const VALUE *argv, int api)
{
    bool of_gem = mp_lenient_p(api) || mp_codec_get(codec)->options.of_gem;
    VALUE self = packer_allocate(mp_class_of(&packer_classes, of_gem));

    packer_set_up(self, codec, argc, argv, api);
    return self;
}

/* For Pool#packer: a frozen Packer with the codec of a Codec object, the spare one of the Ractor or a new one. */
static VALUE
rb_pool_borrow_packer(VALUE pool, VALUE codec_object)
{
    const mp_codec *codec = mp_codec_get(codec_object);
    VALUE klass = mp_class_of(&packer_classes, codec->options.of_gem), self;
    mp_packer *packer;

    check_not_canonical(codec);
    self = mp_spare_take(&mp_ractor_current()->spares.packer);
    if (MP_UNLIKELY(!self || RBASIC_CLASS(self) != klass)) {
        self = packer_allocate(klass);
        packer_init(self, codec, mp_buffer_new(Qnil, Qnil, codec->options.of_gem));
        return rb_obj_freeze(self); /* frozen: a block may not register types or set instance variables */
    }
    packer = mp_typed_data(self);
    mp_buffer_reopen(packer->buffer, Qnil);
    if (MP_UNLIKELY(packer->codec.object != codec_object)) packer_init(self, codec, packer->buffer);
    return self;
}

/* Makes it the spare Packer, unless user code still uses it. */
static VALUE
rb_pool_give_back_packer(VALUE pool, VALUE self)
{
    const mp_packer *packer = rb_check_typeddata(self, &packer_type);

    if (packer->buffer && mp_buffer_set_aside(packer->buffer)) mp_ractor_current()->spares.packer = self;
    return Qnil;
}

mp_notes
mp_packer_set_notes(VALUE self, mp_notes notes)
{
    mp_packer *packer = mp_typed_data(self);
    mp_notes before = packer->notes;

    if (notes) RB_OBJ_WRITE(self, &packer->notes, notes);
    else packer->notes = 0;
    return before;
}

void
mp_packer_set_calls(VALUE self, uint32_t calls)
{
    ((mp_packer *)mp_typed_data(self))->calls = calls;
}

uint32_t
mp_packer_calls(const mp_packer *packer)
{
    /* outside a loan, `calls` may be left over from a call that never ended */
    return mp_buffer_get(packer->buffer)->loan.depth ? packer->calls : 0;
}

void
mp_packer_close(VALUE self)
{
    mp_packer *packer = mp_packer_get(self);
    VALUE buffer = packer->buffer;

    packer->buffer = 0;
    mp_buffer_close(buffer);
}

/* --- output ----------------------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Packer.new(io = nil, options = nil) -> packer
 *
 * Creates a Packer that collects bytes in a Buffer. With an io, it flushes after each object that makes the Buffer
 * reach 12 KB; flush writes the rest. If the io takes only a part of the bytes and returns how many, it gets the rest
 * next.
 *
 * If the io raises, the write that reached 12 KB raises that error, and its object counts as written. The Packer cannot
 * know how many bytes the io took, so it sends none of them again: it raises RuntimeError until reset, but to_s and
 * size still work. After IO::WaitWritable, which means that the io took nothing, flush tries again.
 *
 * options is a Hash with options of Manypack.pack, such as <code>codec:</code>, and of Manypack::Buffer.new. Raises
 * TypeError for an io that cannot be written to, and TypeError, RangeError or ArgumentError for invalid or unknown
 * options. Raises ArgumentError for canonical, because a Packer writes before it has the whole message.
 *
 *   io = StringIO.new
 *   Manypack::Packer.new(io, compatibility_mode: true).write(1).flush
 *   io.string #=> "\x01"
 */
static VALUE
rb_packer_initialize(int argc, VALUE *argv, VALUE self)
{
    int api;

    rb_check_frozen(self);
    if (argc) mp_refuse_block(self);
    rb_check_typeddata(self, &packer_type);
    api = mp_api_of_object(self, &packer_classes);
    packer_set_up(self, mp_codec_by_default(api), argc, argv, api | MP_WITH_CODEC);
    return self;
}

/*
 * call-seq: packer.buffer -> Buffer
 *
 * Returns the Buffer that the Packer appends to.
 *
 *   Manypack::Packer.new.write(1).buffer.size #=> 1
 */
static VALUE
rb_packer_buffer(VALUE self)
{
    return mp_buffer_show(mp_packer_get(self)->buffer);
}

/*
 * call-seq: Internal.canonical_bytes(packer, object) -> String or nil
 *
 * Returns the canonical form of a part of an ext body, or nil unless canonical: is set. For handlers of ready-made ext
 * types.
 */
static VALUE
rb_internal_canonical_bytes(VALUE self, VALUE packer, VALUE object)
{
    volatile VALUE owner;
    mp_codec codec;
    VALUE form;

    rb_check_typeddata(packer, &packer_type);
    codec = mp_packer_get(packer)->codec;
    owner = codec.object;
    if (!codec.options.canonical) return Qnil;
    form = mp_canonical_packed(mp_encode_whole(object, &codec));
    RB_GC_GUARD(owner);
    return form;
}

/*
 * call-seq: packer.flush -> packer
 *
 * Writes the collected bytes to the io. Does nothing without an io. Inside to_msgpack, the io gets the bytes when
 * the outermost write is complete. Raises the errors of the io.
 *
 *   io = StringIO.new
 *   Manypack::Packer.new(io).write(1).flush.empty? #=> true
 *   io.string #=> "\x01"
 */
static VALUE
rb_packer_flush(VALUE self)
{
    VALUE buffer = mp_packer_get(self)->buffer;

    if (MP_LIKELY(!mp_buffer_flush_later(buffer))) mp_buffer_flush(buffer);
    return self;
}

/*
 * call-seq:
 *   packer.to_s -> String
 *   packer.to_str -> String
 *
 * Returns the collected bytes as a binary String. They stay in the Packer. Raises RuntimeError while they are being
 * flushed.
 *
 *   Manypack::Packer.new.write(1).to_s #=> "\x01"
 */
static VALUE
rb_packer_to_s(VALUE self)
{
    return mp_buffer_to_s(mp_packer_get(self)->buffer);
}

/*
 * call-seq: packer.to_a -> Array of Strings
 *
 * Returns the collected bytes as an Array of Strings, in which long Strings are not copied. They stay in the Packer.
 * Raises RuntimeError while they are being flushed.
 *
 *   Manypack::Packer.new.write(1).to_a #=> ["\x01"]
 */
static VALUE
rb_packer_to_a(VALUE self)
{
    return mp_buffer_to_a(mp_packer_get(self)->buffer);
}

/*
 * call-seq: packer.full_pack -> String or nil
 *
 * Returns the collected bytes and empties the Packer. With an io, does what flush does and returns nil. Without an io,
 * raises RuntimeError inside to_msgpack, which does not own its Packer.
 *
 *   packer = Manypack::Packer.new.write(1)
 *   packer.full_pack #=> "\x01"
 *   packer.full_pack #=> ""
 */
static VALUE
rb_packer_full_pack(VALUE self)
{
    const mp_packer *packer = mp_packer_get(self);
    VALUE buffer = packer->buffer;
    bool to_io = packer->codec.options.to_io || !NIL_P(mp_buffer_checked(buffer)->io);

    if (!to_io) return mp_buffer_take_all(buffer);
    if (!mp_buffer_flush_later(buffer)) mp_buffer_flush(buffer);
    return Qnil;
}

/*
 * call-seq:
 *   packer.reset -> nil
 *   packer.clear -> nil
 *
 * Discards the collected bytes. Raises RuntimeError inside to_msgpack, which does not own its Packer.
 *
 *   packer = Manypack::Packer.new.write(1)
 *   packer.reset #=> nil
 *   packer.to_s #=> ""
 */
static VALUE
rb_packer_reset(VALUE self)
{
    mp_buffer_clear(mp_packer_get(self)->buffer);
    return Qnil;
}

/*
 * call-seq: packer.size -> Integer
 *
 * Returns the number of bytes collected. Raises RuntimeError while they are being flushed.
 *
 *   Manypack::Packer.new.write("ab").size #=> 3
 */
static VALUE
rb_packer_size(VALUE self)
{
    return SIZET2NUM(mp_buffer_to_look_at(mp_packer_get(self)->buffer)->bytes.size);
}

/*
 * call-seq: packer.empty? -> true or false
 *
 * Returns true if no bytes are collected. Raises RuntimeError while bytes are being flushed.
 *
 *   Manypack::Packer.new.write(nil).empty? #=> false
 */
static VALUE
rb_packer_empty_p(VALUE self)
{
    return mp_buffer_to_look_at(mp_packer_get(self)->buffer)->bytes.size ? Qfalse : Qtrue;
}

/*
 * call-seq: packer.write_to(io) -> Integer
 *
 * Writes the collected bytes to an io, removes them, and returns how many they were. Raises RuntimeError inside
 * to_msgpack, TypeError for an io that cannot be written to, and the errors of the io.
 *
 *   Manypack::Packer.new.write(1).write_to(StringIO.new) #=> 1
 */
static VALUE
rb_packer_write_to(VALUE self, VALUE io)
{
    return SIZET2NUM(mp_buffer_write_to(mp_packer_get(self)->buffer, io));
}

/*
 * call-seq: packer.compatibility_mode? -> true or false
 *
 * Returns true if the option compatibility_mode is set.
 *
 *   Manypack::Packer.new(compatibility_mode: true).compatibility_mode? #=> true
 */
static VALUE
rb_packer_compatibility_mode_p(VALUE self)
{
    return mp_packer_get(self)->codec.options.compatibility_mode ? Qtrue : Qfalse;
}

/*
 * Basis of register_type in lib/manypack/packer.rb. Does not affect a running write, which has a copy of the codec and
 * keeps its types alive.
 */
static VALUE
rb_packer_register_type_internal(VALUE self, VALUE type, VALUE klass, VALUE handler)
{
    VALUE codec = mp_packer_get(self)->codec.object;
    mp_packer *packer;

    rb_check_frozen(self);
    codec = mp_codec_with_type(codec, type, klass, handler, Qnil, Qnil);
    packer = mp_packer_get(self); /* again: a compaction may have moved it */
    packer->codec.types = mp_codec_get(codec)->types;
    RB_OBJ_WRITE(self, &packer->codec.object, codec);
    return Qnil;
}

/* call-seq: packer.types -> codec with the Packer's ext types */
static VALUE
rb_packer_types(VALUE self)
{
    return mp_packer_get(self)->codec.object;
}

static VALUE
rb_packer_registered_types_internal(VALUE self)
{
    return mp_codec_packers(mp_packer_get(self)->codec.object);
}

/*
 * Document-class: Manypack::Packer
 *
 * Packs objects piece by piece. An object's own <code>to_msgpack</code> receives a Packer. Create a Packer yourself to
 * write a stream, or an object that is never in memory as a whole. One Thread at a time may write: a write in the
 * middle of another Thread's write raises RuntimeError. A write that fails leaves nothing behind.
 */
void
Init_manypack_packer(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cPacker = rb_define_class_under(mManypack, "Packer", rb_cObject);
    VALUE cPool = rb_define_class_under(rb_define_class_under(mManypack, "Factory", rb_cObject), "Pool", rb_cObject);

    mp_two_classes(&packer_classes, cPacker);
    rb_define_alloc_func(cPacker, packer_allocate);
    mp_undef_copies(cPacker);

    rb_define_method(cPacker, "initialize", rb_packer_initialize, -1);
    rb_define_method(cPacker, "buffer", rb_packer_buffer, 0);
    rb_define_method(cPacker, "flush", rb_packer_flush, 0);
    rb_define_method(cPacker, "full_pack", rb_packer_full_pack, 0);
    rb_define_method(cPacker, "reset", rb_packer_reset, 0);
    rb_define_method(cPacker, "clear", rb_packer_reset, 0);
    rb_define_method(cPacker, "size", rb_packer_size, 0);
    rb_define_method(cPacker, "empty?", rb_packer_empty_p, 0);
    rb_define_method(cPacker, "write_to", rb_packer_write_to, 1);
    rb_define_method(cPacker, "to_s", rb_packer_to_s, 0);
    rb_define_method(cPacker, "to_str", rb_packer_to_s, 0);
    rb_define_method(cPacker, "to_a", rb_packer_to_a, 0);
    rb_define_method(cPacker, "compatibility_mode?", rb_packer_compatibility_mode_p, 0);
    rb_define_private_method(cPacker, "register_type_internal", rb_packer_register_type_internal, 3);
    rb_define_private_method(cPacker, "types", rb_packer_types, 0);
    rb_define_private_method(cPacker, "registered_types_internal", rb_packer_registered_types_internal, 0);
    rb_define_private_method(cPool, "borrow_packer", rb_pool_borrow_packer, 1);
    rb_define_private_method(cPool, "give_back_packer", rb_pool_give_back_packer, 1);
    MP_DEFINE_INTERNAL("canonical_bytes", rb_internal_canonical_bytes, 2);
}
