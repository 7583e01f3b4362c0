/* The methods by which a Packer writes. Each appends an object or a header, and then decides whether to flush. */
#include "pack/packer.h"

#include "base/error.h"
#include "base/pack_error.h"
#include "buffer/buffer_io.h"
#include "caches/ractor.h"
#include "core/wire.h"
#include "pack/encode.h"
#include "pack/foreign.h"

/* The Buffer to append to. RuntimeError while another Thread writes. */
MP_INLINE VALUE
packer_for_write(const mp_packer *packer)
{
    if (MP_UNLIKELY(!mp_loan_writer_p(&mp_buffer_checked(packer->buffer)->loan))) mp_raise_in_use("Packer");
    return packer->buffer;
}

/*
 * Ends a write. Here a Packer with an io decides to flush: from MP_FLUSH_SIZE bytes on, or if to_msgpack or a handler
 * has called flush.
 */
MP_INLINE VALUE
packer_written(VALUE self, VALUE buffer)
{
    const mp_buffer *b = mp_buffer_get(buffer);

    if (MP_UNLIKELY(b->bytes.size >= MP_FLUSH_SIZE || b->flush_due)) mp_buffer_flush_if_idle(buffer);
    return self;
}

/* A write of an object that needs no encoder, because nothing in it can raise. */
typedef struct {
    VALUE self, buffer;
    mp_bytes *bytes;
    mp_chunk *tail;
    uint8_t *start;
} short_write;

/* The slow path of short_reserve: all checks, and room for n bytes. */
static MP_NOINLINE void
short_prepare(VALUE self, size_t n)
{
    VALUE buffer = packer_for_write(mp_packer_get(self));
    mp_bytes *bytes = &mp_buffer_get(buffer)->bytes;

    if (mp_bytes_room(bytes) < n) mp_bytes_expand(buffer, bytes, 0, n);
    RB_GC_GUARD(self);
}

/* Starts a write to the Buffer, which has room for it. */
MP_INLINE short_write
short_write_on(VALUE self, VALUE buffer)
{
    mp_bytes *bytes = &mp_buffer_get(buffer)->bytes;
    mp_chunk *tail = mp_bytes_last(bytes);

    return (short_write){.self = self, .buffer = buffer, .bytes = bytes, .tail = tail,
                         .start = tail->block + tail->at + tail->len};
}

/* True if there is nothing to check and room for n bytes. */
MP_INLINE bool
short_ready_p(VALUE buffer, size_t n)
{
    mp_buffer *b = mp_buffer_get(buffer);

    return MP_LIKELY(mp_buffer_ready_p(buffer, b)) && MP_LIKELY(mp_bytes_room(&b->bytes) >= n);
}

/* Starts a write of up to n bytes; short_commit ends it. In between, nothing may allocate. */
MP_INLINE short_write
short_reserve(VALUE self, size_t n)
{
    VALUE buffer = mp_packer_get(self)->buffer;

    if (!short_ready_p(buffer, n)) short_prepare(self, n);
    return short_write_on(self, buffer);
}

MP_INLINE short_write
head_reserve(VALUE self)
{
    return short_reserve(self, MP_HEAD_MAX);
}

static MP_NOINLINE VALUE
flush_after(VALUE self, VALUE buffer)
{
    mp_buffer_flush_if_idle(buffer);
    return self;
}

/* Commits the bytes from start to end. */
MP_INLINE VALUE
short_commit(const short_write *w, const uint8_t *end)
{
    size_t n = (size_t)(end - w->start);

    w->tail->len += n;
    w->bytes->size += n;
    return MP_LIKELY(w->bytes->size < MP_FLUSH_SIZE) ? w->self : flush_after(w->self, w->buffer);
}

/* Appends the payload of a short String after its head, which ends at p. */
MP_INLINE VALUE
payload_commit(const short_write *w, uint8_t *p, VALUE string, size_t n)
{
    memcpy(p, RSTRING_PTR(string), n);
    RB_GC_GUARD(string);
    return short_commit(w, p + n);
}

static VALUE
write_fixnum(VALUE self, VALUE number)
{
    short_write w = head_reserve(self);

    return short_commit(&w, mp_put_sint(w.start, FIX2LONG(number)));
}

static VALUE
write_float64(VALUE self, double number)
{
    short_write w = head_reserve(self);

    return short_commit(&w, mp_put_float64(w.start, number));
}

static VALUE
write_nil(VALUE self)
{
    short_write w = head_reserve(self);

    return short_commit(&w, mp_put_nil(w.start));
}

static VALUE
write_bool(VALUE self, bool b)
{
    short_write w = head_reserve(self);

    return short_commit(&w, mp_put_bool(w.start, b));
}

/* Appends a short String that is UTF-8 already. Qundef for any other, which needs an encoder. */
static VALUE
write_short_str(VALUE self, VALUE string)
{
    size_t n = (size_t)RSTRING_LEN(string);
    bool compatible = mp_packer_get(self)->codec.options.compatibility_mode;
    short_write w;

    if (n >= MP_WRITE_REFERENCE_MIN || !mp_utf8_index_p(RB_ENCODING_GET_INLINED(string))) return Qundef;
    w = short_reserve(self, MP_HEAD_MAX + n);
    return payload_commit(&w, mp_put_str_head(w.start, (uint32_t)n, compatible), string, n);
}

/* Appends a short String as bin. */
static VALUE
write_short_bin(VALUE self, VALUE string)
{
    uint32_t n = (uint32_t)RSTRING_LEN(string);
    bool compatible = mp_packer_get(self)->codec.options.compatibility_mode;
    short_write w = short_reserve(self, MP_HEAD_MAX + n);

    return payload_commit(&w, compatible ? mp_put_str_head(w.start, n, true) : mp_put_bin_head(w.start, n), string, n);
}

/* Appends a Symbol whose packed form is known. Qundef for any other, and if Symbols have an ext type. */
static VALUE
write_short_symbol(VALUE self, VALUE symbol)
{
    const mp_types *types = mp_packer_get(self)->codec.types;
    const mp_packed_symbol *packed;
    short_write w;
    VALUE name;

    if (!RB_STATIC_SYM_P(symbol) || (types && types->symbol)) return Qundef;
    packed = mp_packed_symbols_find(&mp_ractor_current()->symbols, symbol, &name);
    if (!packed) return Qundef;
    w = short_reserve(self, MP_PACKED_SYMBOL_MAX);
    return short_commit(&w, mp_put_packed_symbol(w.start, packed));
}

/* Appends an object other than a Fixnum, if its packed form does not depend on options. Otherwise returns Qundef. */
MP_INLINE VALUE
write_short(VALUE self, VALUE obj)
{
    if (RB_FLONUM_P(obj)) return write_float64(self, rb_float_value(obj));
    if (NIL_P(obj)) return write_nil(self);
    if (obj == Qtrue || obj == Qfalse) return write_bool(self, obj == Qtrue);
    if (RB_STATIC_SYM_P(obj)) return write_short_symbol(self, obj);
    return !RB_SPECIAL_CONST_P(obj) && RBASIC_CLASS(obj) == rb_cString ? write_short_str(self, obj) : Qundef;
}

/*
 * Runs encode with an encoder on the Buffer. If it raises, the next user of the Buffer cleans up, at the latest when a
 * loan returns.
 */
static VALUE
packer_write_with(VALUE self, void (*encode)(mp_encoder *, VALUE), VALUE argument)
{
    const mp_packer *packer = mp_packer_get(self);
    VALUE buffer = packer_for_write(packer), codec_object = packer->codec.object;
    mp_codec codec = packer->codec; /* a type registered meanwhile applies from the next write */
    mp_encoder e;

    mp_encoder_init_packer(&e, self, buffer, &codec, mp_packer_calls(packer));
    encode(&e, argument);
    mp_encoder_commit(&e);
    if (MP_UNLIKELY(e.notes != 0)) mp_packer_set_notes(self, mp_notes_join(packer->notes, e.notes));
    mp_loan_end(&mp_buffer_get(buffer)->loan);
    RB_GC_GUARD(codec_object);
    RB_GC_GUARD(self);
    return packer_written(self, buffer);
}

/* --- arguments: inside to_msgpack, the encoder that called it adds its path to errors ------------------------ */

NORETURN(static void raise_expected(const char *what, VALUE obj));

static void
raise_expected(const char *what, VALUE obj)
{
    mp_raise_unplaced(rb_eTypeError,
                      rb_enc_sprintf(mp_utf8, "expected %s, got %" PRIsVALUE, what, rb_obj_class(obj)));
}

static VALUE
call_check_type(VALUE pair)
{
    Check_Type(RARRAY_AREF(pair, 0), FIX2INT(RARRAY_AREF(pair, 1)));
    return Qnil;
}

static void
check_type(VALUE obj, int type)
{
    if (MP_UNLIKELY(!RB_TYPE_P(obj, type))) mp_pack_call(call_check_type, rb_assoc_new(obj, INT2FIX(type)));
}

static VALUE
call_to_float(VALUE number)
{
    return DBL2NUM(NUM2DBL(number));
}

static double
float_of(VALUE number)
{
    if (MP_LIKELY(RB_FLOAT_TYPE_P(number))) return rb_float_value(number);
    return rb_float_value(mp_pack_call(call_to_float, number));
}

static VALUE
call_to_binary(VALUE string)
{
    return rb_str_encode(string, rb_enc_from_encoding(rb_ascii8bit_encoding()), 0, Qnil);
}

static VALUE
call_to_str(VALUE obj)
{
    return rb_str_to_str(obj);
}

static VALUE
call_ext_type(VALUE type)
{
    return INT2FIX(mp_ext_type(type));
}

static bool
binary_p(VALUE obj)
{
    return RB_TYPE_P(obj, T_STRING) && RB_ENCODING_GET(obj) == mp_binary_index;
}

/* Packs a binary String. Not inline, because few objects are binary Strings. */
static MP_NOINLINE VALUE
write_binary(VALUE self, VALUE string)
{
    if ((size_t)RSTRING_LEN(string) < MP_WRITE_REFERENCE_MIN && RBASIC_CLASS(string) == rb_cString) {
        return write_short_bin(self, string);
    }
    return packer_write_with(self, mp_encode, string);
}

/* --- writing ---------------------------------------------------------------------------------------- */

/*
 * call-seq:
 *   packer.write(object) -> packer
 *   packer.pack(object) -> packer
 *
 * Packs an object as Manypack.pack does and appends it. Raises the errors of Manypack.pack. After an error, nothing of
 * that object is left in the Packer.
 *
 *   Manypack::Packer.new.write([1]).write(nil).to_s #=> "\x91\x01\xC0"
 */
static VALUE
rb_packer_write(VALUE self, VALUE obj)
{
    VALUE written;

    if (RB_FIXNUM_P(obj)) return write_fixnum(self, obj); /* here, so that it is no more than a jump */
    written = write_short(self, obj);
    if (MP_LIKELY(written != Qundef)) return written;
    if (MP_UNLIKELY(binary_p(obj))) return write_binary(self, obj);
    return packer_write_with(self, mp_encode, obj);
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
    return write_nil(self);
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
    return write_bool(self, true);
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
    return write_bool(self, false);
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
    if (RB_FIXNUM_P(obj)) return write_fixnum(self, obj);
    if (!RB_INTEGER_TYPE_P(obj)) raise_expected("an Integer", obj);
    return packer_write_with(self, mp_encode, obj);
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
    return write_float64(self, float_of(obj));
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
    short_write w;
    float number;

    if (MP_UNLIKELY(!RB_FLOAT_TYPE_P(obj)) && !RTEST(rb_obj_is_kind_of(obj, rb_cNumeric))) {
        mp_raise_unplaced(rb_eArgError, rb_utf8_str_new_cstr("Expected numeric"));
    }
    number = (float)float_of(obj);
    w = head_reserve(self);
    return short_commit(&w, mp_put_float32(w.start, number));
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
    VALUE written;

    check_type(obj, T_STRING);
    written = write_short_str(self, obj);
    return written != Qundef ? written : packer_write_with(self, mp_encode_string, obj);
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
    check_type(obj, T_STRING);
    if (!binary_p(obj) && !rb_enc_str_asciionly_p(obj)) obj = mp_pack_call(call_to_binary, obj);
    if ((size_t)RSTRING_LEN(obj) < MP_WRITE_REFERENCE_MIN) return write_short_bin(self, obj);
    return packer_write_with(self, mp_encode_bin, obj);
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
    check_type(obj, T_ARRAY);
    return packer_write_with(self, mp_encode_array, obj);
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
    check_type(obj, T_HASH);
    return packer_write_with(self, mp_encode_hash, obj);
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
    VALUE written;

    if (!RB_SYMBOL_P(obj)) raise_expected("a Symbol", obj);
    written = write_short_symbol(self, obj);
    return written != Qundef ? written : packer_write_with(self, mp_encode, obj);
}

/* Converts a length or count to 32 bits. RangeError, TypeError. */
static uint32_t
header_count(VALUE n)
{
    unsigned long long count;

    if (!RB_FLOAT_TYPE_P(n) && !RB_INTEGER_TYPE_P(n)) {
        mp_raise_unplaced(rb_eTypeError, rb_utf8_str_new_cstr("no implicit conversion into Integer"));
    }
    if (MP_LIKELY(RB_FIXNUM_P(n))) count = FIX2LONG(n) < 0 ? ULLONG_MAX : (unsigned long long)FIX2LONG(n);
    else count = RTEST(rb_funcall(n, '<', 1, INT2FIX(0))) ? ULLONG_MAX : NUM2ULL(n);
    if (count > UINT32_MAX) {
        mp_raise_unplaced(rb_eRangeError,
                          rb_enc_sprintf(mp_utf8, "a count must be in 0..4294967295, got %" PRIsVALUE, n));
    }
    return (uint32_t)count;
}

/* Appends the header of an array, a map or a bin. */
MP_INLINE VALUE
write_header(VALUE self, VALUE n, uint8_t *(*put)(uint8_t *p, uint32_t n))
{
    uint32_t count = header_count(n);
    short_write w = head_reserve(self);

    return short_commit(&w, put(w.start, count));
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
    return write_header(self, n, mp_put_array_head);
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
    return write_header(self, n, mp_put_map_head);
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
    return write_header(self, n, mp_put_bin_head);
}

typedef struct {
    int type;
    VALUE payload;
} ext_parts;

static void
encode_ext(mp_encoder *e, VALUE argument)
{
    const ext_parts *parts = (const ext_parts *)argument;

    mp_encode_ext(e, parts->type, parts->payload);
}

/*
 * call-seq: packer.write_ext(type, payload) -> packer
 *
 * Appends an ext with a type and the bytes of a String. Raises RangeError for a type outside -128..127, and TypeError
 * for a type that is not an Integer and for a payload that is not a String.
 *
 *   Manypack::Packer.new.write_ext(5, "ab").to_s #=> "\xD5\x05ab"
 */
static VALUE
rb_packer_write_ext(VALUE self, VALUE type, VALUE payload)
{
    ext_parts parts = {.type = FIX2INT(MP_LIKELY(mp_ext_type_p(type)) ? type : mp_pack_call(call_ext_type, type)),
                       .payload = RB_TYPE_P(payload, T_STRING) ? payload : mp_pack_call(call_to_str, payload)};

    return packer_write_with(self, encode_ext, (VALUE)&parts);
}

/*
 * call-seq: packer.write_extension(struct) -> packer
 *
 * Appends an ext that a Struct describes: its first two members are the type and the payload, as in ExtensionValue.
 * Raises TypeError for anything else, IndexError for a Struct with fewer members, and the errors of write_ext.
 *
 *   Manypack::Packer.new.write_extension(Manypack::ExtensionValue.new(5, "ab")).to_s #=> "\xD5\x05ab"
 */
static VALUE
rb_packer_write_extension(VALUE self, VALUE obj)
{
    check_type(obj, T_STRUCT);
    return rb_packer_write_ext(self, rb_struct_aref(obj, INT2FIX(0)), rb_struct_aref(obj, INT2FIX(1)));
}

void
Init_manypack_packer_write(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cPacker = rb_define_class_under(mManypack, "Packer", rb_cObject);

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
}
