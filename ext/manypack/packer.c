/* Manypack::Packer: packs piece by piece into a Buffer. */
#include "packer.h"

#include "buffer.h"
#include "encode.h"
#include "error.h"
#include "io.h"
#include "ractor.h"
#include "wire.h"

typedef struct {
    VALUE buffer;
    uint32_t depth;  /* levels of nesting open around it; above 0 while it is lent to user code */
    uint32_t epoch;  /* counts the loans that were not returned as they should */
    VALUE thread;    /* whose user code it is; alive while it is lent, and only compared */
    size_t rollback; /* of the Buffer when the outermost loan began */
    mp_codec codec;
} mp_packer;

MP_STATIC_ASSERT(packer_fits_a_slot_of_320, sizeof(mp_packer) <= 288);
MP_STATIC_ASSERT(packer_is_hot_in_one_cache_line, offsetof(mp_packer, codec) <= 32);

static void
packer_mark(void *ptr)
{
    const mp_packer *packer = ptr;

    if (packer->buffer) rb_gc_mark_movable(packer->buffer);
    if (packer->codec.object) rb_gc_mark_movable(packer->codec.object);
}

static void
packer_compact(void *ptr)
{
    mp_packer *packer = ptr;

    if (packer->buffer) packer->buffer = rb_gc_location(packer->buffer);
    if (packer->codec.object) packer->codec.object = rb_gc_location(packer->codec.object);
}

static void
packer_free(void *ptr)
{
    mp_typed_free(ptr);
}

static size_t
packer_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_packer));
}

/* Never shareable: it changes with every call. */
static const rb_data_type_t packer_type = {
    .wrap_struct_name = "Manypack::Packer",
    .function = {.dmark = packer_mark, .dfree = packer_free, .dsize = packer_memsize, .dcompact = packer_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static VALUE cPacker;

/* Valid while the caller has self on its stack. RuntimeError before initialize and after mp_packer_close. */
MP_INLINE mp_packer *
packer_get(VALUE self)
{
    mp_packer *packer = mp_typed_data(self);

    if (MP_UNLIKELY(!packer->buffer)) {
        rb_raise(rb_eRuntimeError, "Packer cannot be used: its block or handler has ended, or it is not initialized");
    }
    return packer;
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
    VALUE self = packer_allocate(cPacker);

    *buffer = mp_buffer_new(Qnil, Qnil);
    mp_buffer_get(*buffer)->write_reference_threshold = SIZE_MAX; /* the result is one String, not chunks */
    packer_init(self, codec, *buffer);
    return self;
}

VALUE
mp_packer_with_codec(VALUE codec_object, int argc, const VALUE *argv, int api)
{
    VALUE self = packer_allocate(cPacker), io, options;
    mp_codec codec;

    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_sink(io, api);
    mp_codec_override(&codec, codec_object, options, api | MP_WITH_BUFFER);
    packer_init(self, &codec, mp_buffer_new(io, options));
    return self;
}

VALUE
mp_packer_borrow(VALUE codec)
{
    VALUE self = mp_spare_take(&mp_ractor_current()->spares.packer);
    mp_packer *packer;

    if (MP_UNLIKELY(!self)) {
        self = packer_allocate(cPacker);
        packer_init(self, mp_codec_get(codec), mp_buffer_new(Qnil, Qnil));
        return rb_obj_freeze(self); /* for a block alone: it takes no types and no instance variables */
    }
    packer = mp_typed_data(self);
    mp_buffer_reopen(packer->buffer);
    if (MP_UNLIKELY(packer->codec.object != codec)) packer_init(self, mp_codec_get(codec), packer->buffer);
    return self;
}

void
mp_packer_give_back(VALUE self)
{
    const mp_packer *packer = rb_check_typeddata(self, &packer_type);

    /* Above 0, epoch tells of a write that a Fiber left: its user code may still go on. */
    if (packer->depth || packer->epoch || !mp_buffer_reusable_p(packer->buffer)) return;
    mp_buffer_set_aside(packer->buffer);
    mp_ractor_current()->spares.packer = self;
}

mp_loan
mp_packer_lend(VALUE self, uint32_t depth)
{
    mp_packer *packer = packer_get(self);
    mp_buffer *buffer = mp_buffer_get(packer->buffer);
    mp_loan loan = {
        .depth = packer->depth, .epoch = packer->epoch, .thread = packer->thread, .rollback = buffer->rollback};

    if (!loan.depth) packer->rollback = loan.rollback;
    packer->depth = depth;
    packer->thread = rb_thread_current();
    buffer->append_only = true;
    buffer->rollback = 0;
    return loan;
}

bool
mp_packer_return(VALUE self, uint32_t depth, mp_loan loan)
{
    mp_packer *packer;
    mp_buffer *buffer;
    bool well;

    if (mp_packer_epoch(self) != loan.epoch) return false; /* one inside or around it has not returned as it should */
    packer = packer_get(self);
    buffer = mp_buffer_get(packer->buffer);
    mp_buffer_rollback(packer->buffer);
    well = packer->depth == depth && !buffer->taken;
    if (well) {
        packer->depth = loan.depth;
        packer->thread = loan.thread;
        buffer->rollback = loan.rollback;
    } else { /* with it all loans around it are void, and what was written since the outermost began goes */
        packer->epoch++;
        packer->depth = 0;
        packer->thread = 0;
        buffer->rollback = packer->rollback;
    }
    buffer->taken = false;
    buffer->append_only = packer->depth > 0;
    return well;
}

uint32_t
mp_packer_epoch(VALUE self)
{
    const mp_packer *packer = mp_typed_data(self);

    return packer->epoch;
}

void
mp_packer_close(VALUE self)
{
    mp_packer *packer = packer_get(self);
    VALUE buffer = packer->buffer;

    packer->buffer = 0;
    packer->epoch++;
    mp_buffer_close(buffer);
}

/* --- writing ---------------------------------------------------------------------------------------- */

/* Its Buffer, for this Thread to append to. */
MP_INLINE VALUE
packer_for_write(const mp_packer *packer)
{
    mp_buffer_for_append(packer->buffer);
    if (MP_UNLIKELY(packer->depth && packer->thread != rb_thread_current())) mp_raise_in_use("Packer");
    return packer->buffer;
}

/* After a write: a Packer with an io keeps no more than it has to. */
MP_INLINE VALUE
packer_written(VALUE self, VALUE buffer)
{
    if (MP_UNLIKELY(mp_buffer_get(buffer)->size >= MP_WRITE_THROUGH)) mp_buffer_write_through(buffer);
    return self;
}

/* Where the bytes of an object go that is but a head, and that they are there. */
MP_INLINE uint8_t *
head_reserve(VALUE self)
{
    size_t room;

    return mp_buffer_reserve(packer_for_write(packer_get(self)), 0, MP_HEAD_MAX, &room);
}

MP_INLINE VALUE
head_commit(VALUE self, const uint8_t *end)
{
    VALUE buffer = packer_get(self)->buffer;

    mp_buffer_commit(mp_buffer_get(buffer), (size_t)(end - mp_buffer_end(mp_buffer_get(buffer))));
    return packer_written(self, buffer);
}

/*
 * Has a body write. When it raises, what it committed is taken back by the next one to use the buffer; when it was
 * called in the middle of another write, by the return of that one's loan at the latest.
 */
static VALUE
packer_write_with(VALUE self, void (*body)(mp_encoder *, VALUE, VALUE), VALUE argument, VALUE other)
{
    const mp_packer *packer = packer_get(self);
    VALUE buffer = packer_for_write(packer), codec_object = packer->codec.object;
    mp_codec codec = packer->codec; /* a type registered meanwhile holds for the next write */
    mp_encoder e;

    mp_encoder_init_packer(&e, self, buffer, packer->depth, &codec);
    body(&e, argument, other);
    mp_encoder_commit(&e);
    mp_buffer_get(buffer)->rollback = 0;
    RB_GC_GUARD(codec_object);
    RB_GC_GUARD(self);
    return packer_written(self, buffer);
}

static void
body_value(mp_encoder *e, VALUE obj, VALUE unused)
{
    mp_encode(e, obj);
}

/*
 * call-seq:
 *   packer.write(object) -> packer
 *   packer.pack(object) -> packer
 *
 * Packs an object and appends it, as Manypack.pack does, and raises the same errors. After an error, nothing of that
 * object is left in the Packer.
 *
 *   Manypack::Packer.new.write([1]).write(nil).to_s #=> "\x91\x01\xC0"
 */
static VALUE
rb_packer_write(VALUE self, VALUE obj)
{
    if (RB_FIXNUM_P(obj)) return head_commit(self, mp_put_sint(head_reserve(self), FIX2LONG(obj)));
    return packer_write_with(self, body_value, obj, Qnil);
}

/*
 * call-seq: packer.write_nil -> packer
 *
 * Appends nil. Raises RuntimeError while another Thread writes.
 *
 *   Manypack::Packer.new.write_nil.to_s #=> "\xC0"
 */
static VALUE
rb_packer_write_nil(VALUE self)
{
    return head_commit(self, mp_put_nil(head_reserve(self)));
}

/*
 * call-seq: packer.write_true -> packer
 *
 * Appends true. Raises RuntimeError while another Thread writes.
 *
 *   Manypack::Packer.new.write_true.to_s #=> "\xC3"
 */
static VALUE
rb_packer_write_true(VALUE self)
{
    return head_commit(self, mp_put_bool(head_reserve(self), true));
}

/*
 * call-seq: packer.write_false -> packer
 *
 * Appends false. Raises RuntimeError while another Thread writes.
 *
 *   Manypack::Packer.new.write_false.to_s #=> "\xC2"
 */
static VALUE
rb_packer_write_false(VALUE self)
{
    return head_commit(self, mp_put_bool(head_reserve(self), false));
}

/*
 * call-seq: packer.write_int(integer) -> packer
 *
 * Appends an Integer. Raises TypeError for anything else, and RangeError if it needs more than 64 bits.
 *
 *   Manypack::Packer.new.write_int(300).to_s #=> "\xCD\x01\x2C"
 */
static VALUE
rb_packer_write_int(VALUE self, VALUE obj)
{
    if (RB_FIXNUM_P(obj)) return head_commit(self, mp_put_sint(head_reserve(self), FIX2LONG(obj)));
    if (!RB_INTEGER_TYPE_P(obj)) rb_raise(rb_eTypeError, "expected an Integer, got %" PRIsVALUE, rb_obj_class(obj));
    return packer_write_with(self, body_value, obj, Qnil);
}

/*
 * call-seq: packer.write_float(numeric) -> packer
 *
 * Appends a number as float64. Raises TypeError for anything else.
 *
 *   Manypack::Packer.new.write_float(1).to_s #=> "\xCB\x3F\xF0\0\0\0\0\0\0"
 */
static VALUE
rb_packer_write_float(VALUE self, VALUE obj)
{
    double number = NUM2DBL(obj);

    return head_commit(self, mp_put_float64(head_reserve(self), number));
}

/*
 * call-seq: packer.write_float32(numeric) -> packer
 *
 * Appends a number as float32, which may round it. Raises ArgumentError for anything else.
 *
 *   Manypack::Packer.new.write_float32(1.5).to_s #=> "\xCA\x3F\xC0\0\0"
 */
static VALUE
rb_packer_write_float32(VALUE self, VALUE obj)
{
    float number;

    if (!RTEST(rb_obj_is_kind_of(obj, rb_cNumeric))) rb_raise(rb_eArgError, "Expected numeric");
    number = (float)NUM2DBL(obj);
    return head_commit(self, mp_put_float32(head_reserve(self), number));
}

static void
body_string(mp_encoder *e, VALUE string, VALUE unused)
{
    mp_encode_string(e, string);
}

/*
 * call-seq: packer.write_string(string) -> packer
 *
 * Appends a String as str, or as bin if its encoding is BINARY. Raises TypeError for anything else, and EncodingError
 * if it cannot be transcoded to UTF-8.
 *
 *   Manypack::Packer.new.write_string("ab").to_s #=> "\xA2ab"
 */
static VALUE
rb_packer_write_string(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRING);
    return packer_write_with(self, body_string, obj, Qnil);
}

static void
body_bin(mp_encoder *e, VALUE string, VALUE unused)
{
    mp_encode_bin(e, string);
}

/*
 * call-seq: packer.write_bin(string) -> packer
 *
 * Appends a String as bin. Raises TypeError for anything else, and EncodingError if it cannot be converted to BINARY.
 *
 *   Manypack::Packer.new.write_bin("ab").to_s #=> "\xC4\x02ab"
 */
static VALUE
rb_packer_write_bin(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRING);
    obj = rb_str_encode(obj, rb_enc_from_encoding(rb_ascii8bit_encoding()), 0, Qnil);
    return packer_write_with(self, body_bin, obj, Qnil);
}

static void
body_array(mp_encoder *e, VALUE array, VALUE unused)
{
    mp_encode_array(e, array);
}

/*
 * call-seq: packer.write_array(array) -> packer
 *
 * Appends an Array. Raises TypeError for anything else, and the errors of write.
 *
 *   Manypack::Packer.new.write_array([1, nil]).to_s #=> "\x92\x01\xC0"
 */
static VALUE
rb_packer_write_array(VALUE self, VALUE obj)
{
    Check_Type(obj, T_ARRAY);
    return packer_write_with(self, body_array, obj, Qnil);
}

static void
body_hash(mp_encoder *e, VALUE hash, VALUE unused)
{
    mp_encode_hash(e, hash);
}

/*
 * call-seq: packer.write_hash(hash) -> packer
 *
 * Appends a Hash. Raises TypeError for anything else, and the errors of write.
 *
 *   Manypack::Packer.new.write_hash({"a" => 1}).to_s #=> "\x81\xA1a\x01"
 */
static VALUE
rb_packer_write_hash(VALUE self, VALUE obj)
{
    Check_Type(obj, T_HASH);
    return packer_write_with(self, body_hash, obj, Qnil);
}

/*
 * call-seq: packer.write_symbol(symbol) -> packer
 *
 * Appends a Symbol, as write does. Raises TypeError for anything else.
 *
 *   Manypack::Packer.new.write_symbol(:ab).to_s #=> "\xA2ab"
 */
static VALUE
rb_packer_write_symbol(VALUE self, VALUE obj)
{
    if (!RB_SYMBOL_P(obj)) rb_raise(rb_eTypeError, "expected a Symbol, got %" PRIsVALUE, rb_obj_class(obj));
    return packer_write_with(self, body_value, obj, Qnil);
}

/* A length or count of 32 bits; RangeError, TypeError. */
static uint32_t
header_count(VALUE n)
{
    unsigned long long count;

    if (!RB_FLOAT_TYPE_P(n) && !RB_INTEGER_TYPE_P(n)) rb_raise(rb_eTypeError, "no implicit conversion into Integer");
    if (MP_LIKELY(RB_FIXNUM_P(n))) count = FIX2LONG(n) < 0 ? ULLONG_MAX : (unsigned long long)FIX2LONG(n);
    else count = RTEST(rb_funcall(n, '<', 1, INT2FIX(0))) ? ULLONG_MAX : NUM2ULL(n);
    if (count > UINT32_MAX) rb_raise(rb_eRangeError, "a count must be in 0..4294967295, got %" PRIsVALUE, n);
    return (uint32_t)count;
}

/*
 * call-seq: packer.write_array_header(n) -> packer
 *
 * Appends the header of an array of n elements; write the elements next. Raises RangeError outside 0..4294967295, and
 * TypeError for anything that is not a number.
 *
 *   Manypack::Packer.new.write_array_header(2).write(1).write(2).to_s #=> "\x92\x01\x02"
 */
static VALUE
rb_packer_write_array_header(VALUE self, VALUE n)
{
    uint32_t count = header_count(n);

    return head_commit(self, mp_put_array_head(head_reserve(self), count));
}

/*
 * call-seq: packer.write_map_header(n) -> packer
 *
 * Appends the header of a map of n pairs; write the keys and values next, in turn. Raises RangeError outside
 * 0..4294967295, and TypeError for anything that is not a number.
 *
 *   Manypack::Packer.new.write_map_header(1).write("a").write(1).to_s #=> "\x81\xA1a\x01"
 */
static VALUE
rb_packer_write_map_header(VALUE self, VALUE n)
{
    uint32_t count = header_count(n);

    return head_commit(self, mp_put_map_head(head_reserve(self), count));
}

/*
 * call-seq: packer.write_bin_header(n) -> packer
 *
 * Appends the header of a bin of n bytes; write the bytes to the buffer next. Raises RangeError outside 0..4294967295,
 * and TypeError for anything that is not a number.
 *
 *   packer = Manypack::Packer.new
 *   packer.write_bin_header(2).buffer << "ab"
 *   packer.to_s #=> "\xC4\x02ab"
 */
static VALUE
rb_packer_write_bin_header(VALUE self, VALUE n)
{
    uint32_t count = header_count(n);

    return head_commit(self, mp_put_bin_head(head_reserve(self), count));
}

static void
body_ext(mp_encoder *e, VALUE type, VALUE payload)
{
    mp_encode_ext(e, FIX2INT(type), payload);
}

/*
 * call-seq: packer.write_ext(type, payload) -> packer
 *
 * Appends an ext with a type and the bytes of a String. Raises RangeError for a type outside -128..127, and TypeError
 * for a payload that is not a String.
 *
 *   Manypack::Packer.new.write_ext(5, "ab").to_s #=> "\xD5\x05ab"
 */
static VALUE
rb_packer_write_ext(VALUE self, VALUE type, VALUE payload)
{
    return packer_write_with(self, body_ext, INT2FIX(mp_ext_type(type)), StringValue(payload));
}

/*
 * call-seq: packer.write_extension(struct) -> packer
 *
 * Appends an ext from any Struct whose first two members are the type and the payload, such as ExtensionValue. Raises
 * TypeError for anything else, IndexError for a Struct with fewer members, and the errors of write_ext.
 *
 *   Manypack::Packer.new.write_extension(Manypack::ExtensionValue.new(5, "ab")).to_s #=> "\xD5\x05ab"
 */
static VALUE
rb_packer_write_extension(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRUCT);
    return rb_packer_write_ext(self, rb_struct_aref(obj, INT2FIX(0)), rb_struct_aref(obj, INT2FIX(1)));
}

/* --- output ----------------------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Packer.new(io = nil, options = nil) -> packer
 *
 * Creates a Packer that collects bytes in a Buffer. With an io, it writes whole objects to the io once they reach 12
 * KB; flush writes the rest. If the io raises, the error comes from the write that reached 12 KB. Its object counts as
 * written, and flush tries again.
 *
 * The options, a Hash, are those of Manypack.pack and Manypack::Buffer.new. Raises TypeError for an io that cannot be
 * written to, and TypeError, RangeError or ArgumentError for invalid or unknown options.
 *
 *   io = StringIO.new
 *   Manypack::Packer.new(io, compatibility_mode: true).write(1).flush
 *   io.string #=> "\x01"
 */
static VALUE
rb_packer_initialize(int argc, VALUE *argv, VALUE self)
{
    mp_packer *packer;
    VALUE io, options, buffer;
    mp_codec codec;

    rb_check_frozen(self);
    TypedData_Get_Struct(self, mp_packer, &packer_type, packer);
    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_sink(io, MP_SHARED);
    mp_codec_override(&codec, mp_plain_codec(), options, MP_SHARED | MP_WITH_BUFFER);
    buffer = mp_buffer_new(io, options);
    /* Not sooner: the io, which was asked what it responds to, may have initialized it. */
    if (packer->buffer) rb_raise(rb_eRuntimeError, "Packer is already initialized");
    packer_init(self, &codec, buffer);
    return self;
}

/*
 * call-seq: packer.buffer -> Buffer
 *
 * The Buffer that the Packer appends to.
 *
 *   Manypack::Packer.new.write(1).buffer.size #=> 1
 */
static VALUE
rb_packer_buffer(VALUE self)
{
    return packer_get(self)->buffer;
}

/*
 * call-seq: packer.flush -> packer
 *
 * Writes the collected bytes to the io; does nothing without an io. Raises RuntimeError inside to_msgpack, and the
 * errors of the io.
 *
 *   io = StringIO.new
 *   Manypack::Packer.new(io).write(1).flush.empty? #=> true
 *   io.string #=> "\x01"
 */
static VALUE
rb_packer_flush(VALUE self)
{
    mp_buffer_flush(packer_get(self)->buffer);
    return self;
}

/*
 * call-seq:
 *   packer.to_s -> String
 *   packer.to_str -> String
 *
 * The collected bytes as a binary String; they stay in the Packer. Raises RuntimeError while they are being flushed.
 *
 *   Manypack::Packer.new.write(1).to_s #=> "\x01"
 */
static VALUE
rb_packer_to_s(VALUE self)
{
    VALUE buffer = packer_get(self)->buffer;

    mp_buffer_for_append(buffer);
    return mp_buffer_to_s(buffer);
}

/*
 * call-seq: packer.to_a -> Array of Strings
 *
 * The collected bytes as Strings, long ones by reference; they stay in the Packer. Raises RuntimeError while they are
 * being flushed.
 *
 *   Manypack::Packer.new.write(1).to_a #=> ["\x01"]
 */
static VALUE
rb_packer_to_a(VALUE self)
{
    return mp_buffer_to_a(packer_get(self)->buffer);
}

/*
 * call-seq: packer.full_pack -> String or nil
 *
 * Returns the collected bytes and empties the Packer. With an io, writes them to the io and returns nil. Raises
 * RuntimeError inside to_msgpack, which does not own its Packer.
 *
 *   packer = Manypack::Packer.new.write(1)
 *   packer.full_pack #=> "\x01"
 *   packer.full_pack #=> ""
 */
static VALUE
rb_packer_full_pack(VALUE self)
{
    VALUE buffer = packer_get(self)->buffer;

    if (!NIL_P(mp_buffer_for_change(buffer)->io)) {
        mp_buffer_flush(buffer);
        return Qnil;
    }
    return mp_buffer_take_all(buffer);
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
    VALUE buffer = packer_get(self)->buffer;

    mp_buffer_for_change(buffer);
    mp_buffer_clear(buffer);
    return Qnil;
}

/*
 * call-seq: packer.size -> Integer
 *
 * The number of bytes collected. Raises RuntimeError while they are being flushed.
 *
 *   Manypack::Packer.new.write("ab").size #=> 3
 */
static VALUE
rb_packer_size(VALUE self)
{
    return SIZET2NUM(mp_buffer_for_append(packer_get(self)->buffer)->size);
}

/*
 * call-seq: packer.empty? -> true or false
 *
 * True if no bytes are collected. Raises RuntimeError while bytes are being flushed.
 *
 *   Manypack::Packer.new.write(nil).empty? #=> false
 */
static VALUE
rb_packer_empty_p(VALUE self)
{
    return mp_buffer_for_append(packer_get(self)->buffer)->size ? Qfalse : Qtrue;
}

/*
 * call-seq: packer.write_to(io) -> Integer
 *
 * Writes the collected bytes to an io, removes them, and returns how many there were. Raises RuntimeError inside
 * to_msgpack, TypeError for an io that cannot be written to, and the errors of the io.
 *
 *   Manypack::Packer.new.write(1).write_to(StringIO.new) #=> 1
 */
static VALUE
rb_packer_write_to(VALUE self, VALUE io)
{
    mp_need_sink(io);
    return SIZET2NUM(mp_buffer_write_to(packer_get(self)->buffer, io));
}

/*
 * call-seq: packer.compatibility_mode? -> true or false
 *
 * True if the option compatibility_mode is set.
 *
 *   Manypack::Packer.new(compatibility_mode: true).compatibility_mode? #=> true
 */
static VALUE
rb_packer_compatibility_mode_p(VALUE self)
{
    return packer_get(self)->codec.options.compatibility_mode ? Qtrue : Qfalse;
}

/* What lib/manypack/packer.rb builds register_type on. */
static VALUE
rb_packer_register_type_internal(VALUE self, VALUE type, VALUE klass, VALUE handler)
{
    mp_packer *packer = packer_get(self);
    VALUE codec;

    rb_check_frozen(self);
    codec = mp_codec_with_type(packer->codec.object, type, klass, handler, Qnil, Qnil);
    packer = packer_get(self);
    packer->codec.types = mp_codec_get(codec)->types;
    RB_OBJ_WRITE(self, &packer->codec.object, codec);
    return Qnil;
}

static VALUE
rb_packer_registered_types_internal(VALUE self)
{
    return mp_codec_packers(packer_get(self)->codec.object);
}

/*
 * Document-class: Manypack::Packer
 *
 * Packs objects piece by piece. An object's own <code>to_msgpack</code> receives a Packer; create one yourself to write
 * a stream, or an object that is never in memory as a whole. One Thread at a time may write: a write in the middle of
 * another Thread's raises RuntimeError. A write that fails leaves nothing behind.
 */
void
Init_manypack_packer(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    cPacker = rb_define_class_under(mManypack, "Packer", rb_cObject);
    rb_gc_register_mark_object(cPacker);
    rb_define_alloc_func(cPacker, packer_allocate);
    rb_undef_method(cPacker, "initialize_copy");
    rb_undef_method(cPacker, "dup");
    rb_undef_method(cPacker, "clone");

    rb_define_method(cPacker, "initialize", rb_packer_initialize, -1);
    rb_define_method(cPacker, "write", rb_packer_write, 1);
    rb_define_method(cPacker, "pack", rb_packer_write, 1);
    rb_define_method(cPacker, "write_nil", rb_packer_write_nil, 0);
    rb_define_method(cPacker, "write_true", rb_packer_write_true, 0);
    rb_define_method(cPacker, "write_false", rb_packer_write_false, 0);
    rb_define_method(cPacker, "write_int", rb_packer_write_int, 1);
    rb_define_method(cPacker, "write_float", rb_packer_write_float, 1);
    rb_define_method(cPacker, "write_float32", rb_packer_write_float32, 1);
    rb_define_method(cPacker, "write_string", rb_packer_write_string, 1);
    rb_define_method(cPacker, "write_bin", rb_packer_write_bin, 1);
    rb_define_method(cPacker, "write_array", rb_packer_write_array, 1);
    rb_define_method(cPacker, "write_hash", rb_packer_write_hash, 1);
    rb_define_method(cPacker, "write_symbol", rb_packer_write_symbol, 1);
    rb_define_method(cPacker, "write_array_header", rb_packer_write_array_header, 1);
    rb_define_method(cPacker, "write_map_header", rb_packer_write_map_header, 1);
    rb_define_method(cPacker, "write_bin_header", rb_packer_write_bin_header, 1);
    rb_define_method(cPacker, "write_ext", rb_packer_write_ext, 2);
    rb_define_method(cPacker, "write_extension", rb_packer_write_extension, 1);
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
    rb_define_private_method(cPacker, "registered_types_internal", rb_packer_registered_types_internal, 0);
}
