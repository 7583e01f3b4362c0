/* Manypack::Packer: packs piece by piece. Its output is one String, held by one writer at a time. */
#include "packer.h"

#include "encode.h"
#include "wire.h"

typedef struct {
    VALUE str;          /* the output; 0 while a write has it, or before and after the Packer is in use */
    mp_options options;
    uint32_t depth;     /* levels of nesting that are open around it; above 0 while it is lent to a callback */
} mp_packer;

static void
packer_mark(void *ptr)
{
    mp_packer *packer = ptr;

    if (packer->str) rb_gc_mark_movable(packer->str);
}

static void
packer_compact(void *ptr)
{
    mp_packer *packer = ptr;

    if (packer->str) packer->str = rb_gc_location(packer->str);
}

static size_t
packer_memsize(const void *ptr)
{
    return sizeof(mp_packer);
}

static const rb_data_type_t packer_type = {
    .wrap_struct_name = "Manypack::Packer",
    .function = {.dmark = packer_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = packer_memsize, .dcompact = packer_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static VALUE cPacker;

static mp_packer *
packer_get(VALUE self)
{
    mp_packer *packer;

    TypedData_Get_Struct(self, mp_packer, &packer_type, packer);
    return packer;
}

static void
packer_set_str(VALUE self, VALUE str)
{
    mp_packer *packer = packer_get(self);

    if (str) RB_OBJ_WRITE(self, &packer->str, str);
    else packer->str = 0;
}

static VALUE
packer_allocate(VALUE klass)
{
    mp_packer *packer;
    VALUE self = TypedData_Make_Struct(klass, mp_packer, &packer_type, packer);

    packer->str = 0;
    packer->depth = 0;
    packer->options = mp_default_options;
    return self;
}

VALUE
mp_packer_new(const mp_options *options)
{
    VALUE self = packer_allocate(cPacker);

    packer_get(self)->options = *options;
    return self;
}

void
mp_packer_lend(VALUE self, VALUE str, uint32_t depth)
{
    packer_get(self)->depth = depth;
    packer_set_str(self, str);
}

VALUE
mp_packer_take(VALUE self)
{
    VALUE str = packer_get(self)->str;

    if (!str) rb_raise(rb_eRuntimeError, "Packer is in use or was not given anything to write to");
    rb_check_frozen(self);
    packer_set_str(self, 0);
    return str;
}

void
mp_packer_close(VALUE self)
{
    packer_set_str(self, 0);
}

/* --- writing ---------------------------------------------------------------------------------------- */

/* One call of a write method. */
typedef struct {
    VALUE self, argument, other;
    void (*body)(mp_encoder *e, VALUE argument, VALUE other);
    long size;          /* of the output before it */
    uint32_t depth;
    mp_options options;
    mp_encoder e;
} packer_write;

static VALUE
write_body(VALUE arg)
{
    packer_write *write = (packer_write *)arg;

    write->body(&write->e, write->argument, write->other);
    write->size = (long)mp_out_size(&write->e.out);
    return write->self;
}

/* Gives the output back, cut to what was there before when the body raised. */
static VALUE
write_ensure(VALUE arg)
{
    packer_write *write = (packer_write *)arg;

    rb_str_set_len(write->e.str, write->size);
    mp_packer_lend(write->self, write->e.str, write->depth);
    return Qnil;
}

static VALUE
packer_write_with(VALUE self, void (*body)(mp_encoder *, VALUE, VALUE), VALUE argument, VALUE other)
{
    packer_write write = {.self = self, .argument = argument, .other = other, .body = body};
    VALUE str = mp_packer_take(self);

    write.depth = packer_get(self)->depth;
    write.options = packer_get(self)->options;
    write.size = RSTRING_LEN(str);
    mp_encoder_init_str(&write.e, str, &write.options);
    write.e.packer = self;
    write.e.depth = write.depth;
    return rb_ensure(write_body, (VALUE)&write, write_ensure, (VALUE)&write);
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
 * Appends an object, as Manypack.pack does, with its errors. What an object had written before it failed is taken back.
 *
 *   Manypack::Packer.new.write([1]).write(nil).to_s #=> "\x91\x01\xC0"
 */
static VALUE
rb_packer_write(VALUE self, VALUE obj)
{
    return packer_write_with(self, body_value, obj, Qnil);
}

/* call-seq: packer.write_nil -> packer */
static VALUE
rb_packer_write_nil(VALUE self)
{
    return packer_write_with(self, body_value, Qnil, Qnil);
}

/* call-seq: packer.write_true -> packer */
static VALUE
rb_packer_write_true(VALUE self)
{
    return packer_write_with(self, body_value, Qtrue, Qnil);
}

/* call-seq: packer.write_false -> packer */
static VALUE
rb_packer_write_false(VALUE self)
{
    return packer_write_with(self, body_value, Qfalse, Qnil);
}

/*
 * call-seq: packer.write_int(integer) -> packer
 *
 * Appends an Integer. TypeError for anything else, RangeError above 64 bits.
 */
static VALUE
rb_packer_write_int(VALUE self, VALUE obj)
{
    if (!RB_INTEGER_TYPE_P(obj)) rb_raise(rb_eTypeError, "Integer expected, not %" PRIsVALUE, rb_obj_class(obj));
    return packer_write_with(self, body_value, obj, Qnil);
}

/*
 * call-seq: packer.write_float(numeric) -> packer
 *
 * Appends a number as float64. TypeError when it is none.
 */
static VALUE
rb_packer_write_float(VALUE self, VALUE obj)
{
    return packer_write_with(self, body_value, rb_float_new(NUM2DBL(obj)), Qnil);
}

static void
body_float32(mp_encoder *e, VALUE obj, VALUE unused)
{
    mp_out_commit(&e->out, mp_put_float32(mp_encoder_reserve(e, MP_HEAD_MAX), (float)NUM2DBL(obj)));
}

/*
 * call-seq: packer.write_float32(numeric) -> packer
 *
 * Appends a number as float32, which may round it. ArgumentError when it is none.
 */
static VALUE
rb_packer_write_float32(VALUE self, VALUE obj)
{
    if (!RTEST(rb_obj_is_kind_of(obj, rb_cNumeric))) rb_raise(rb_eArgError, "Expected numeric");
    return packer_write_with(self, body_float32, rb_float_new(NUM2DBL(obj)), Qnil);
}

/*
 * call-seq: packer.write_string(string) -> packer
 *
 * Appends a String as str, or as bin when its encoding is BINARY. TypeError for anything else.
 */
static VALUE
rb_packer_write_string(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRING);
    return packer_write_with(self, body_value, obj, Qnil);
}

static void
body_bin(mp_encoder *e, VALUE string, VALUE unused)
{
    mp_encode_bin(e, string);
}

/*
 * call-seq: packer.write_bin(string) -> packer
 *
 * Appends a String as bin. TypeError for anything else, EncodingError when it does not convert to BINARY.
 */
static VALUE
rb_packer_write_bin(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRING);
    obj = rb_str_encode(obj, rb_enc_from_encoding(rb_ascii8bit_encoding()), 0, Qnil);
    return packer_write_with(self, body_bin, obj, Qnil);
}

/* call-seq: packer.write_array(array) -> packer */
static VALUE
rb_packer_write_array(VALUE self, VALUE obj)
{
    Check_Type(obj, T_ARRAY);
    return packer_write_with(self, body_value, obj, Qnil);
}

/* call-seq: packer.write_hash(hash) -> packer */
static VALUE
rb_packer_write_hash(VALUE self, VALUE obj)
{
    Check_Type(obj, T_HASH);
    return packer_write_with(self, body_value, obj, Qnil);
}

/* call-seq: packer.write_symbol(symbol) -> packer */
static VALUE
rb_packer_write_symbol(VALUE self, VALUE obj)
{
    if (!RB_SYMBOL_P(obj)) rb_raise(rb_eTypeError, "Symbol expected, not %" PRIsVALUE, rb_obj_class(obj));
    return packer_write_with(self, body_value, obj, Qnil);
}

/* A length or count of 32 bits as an Integer; RangeError, TypeError. */
static VALUE
header_count(VALUE n)
{
    unsigned long long count;

    if (!RB_FLOAT_TYPE_P(n) && !RB_INTEGER_TYPE_P(n)) rb_raise(rb_eTypeError, "no implicit conversion into Integer");
    count = RTEST(rb_funcall(n, '<', 1, INT2FIX(0))) ? ULLONG_MAX : NUM2ULL(n);
    if (count > UINT32_MAX) rb_raise(rb_eRangeError, "a count is 0..4294967295, not %" PRIsVALUE, n);
    return ULL2NUM(count);
}

static void
body_array_header(mp_encoder *e, VALUE n, VALUE unused)
{
    mp_out_commit(&e->out, mp_put_array_head(mp_encoder_reserve(e, MP_HEAD_MAX), NUM2UINT(n)));
}

/*
 * call-seq: packer.write_array_header(n) -> packer
 *
 * Announces an array of n elements, which the caller writes next. RangeError outside 0..4294967295.
 *
 *   packer.write_array_header(2).write(1).write(2)
 */
static VALUE
rb_packer_write_array_header(VALUE self, VALUE n)
{
    return packer_write_with(self, body_array_header, header_count(n), Qnil);
}

static void
body_map_header(mp_encoder *e, VALUE n, VALUE unused)
{
    mp_out_commit(&e->out, mp_put_map_head(mp_encoder_reserve(e, MP_HEAD_MAX), NUM2UINT(n)));
}

/*
 * call-seq: packer.write_map_header(n) -> packer
 *
 * Announces a map of n pairs, which the caller writes next, key and value in turn. RangeError outside 0..4294967295.
 *
 *   packer.write_map_header(1).write("key").write("value")
 */
static VALUE
rb_packer_write_map_header(VALUE self, VALUE n)
{
    return packer_write_with(self, body_map_header, header_count(n), Qnil);
}

static void
body_bin_header(mp_encoder *e, VALUE n, VALUE unused)
{
    mp_out_commit(&e->out, mp_put_bin_head(mp_encoder_reserve(e, MP_HEAD_MAX), NUM2UINT(n)));
}

/* call-seq: packer.write_bin_header(n) -> packer */
static VALUE
rb_packer_write_bin_header(VALUE self, VALUE n)
{
    return packer_write_with(self, body_bin_header, header_count(n), Qnil);
}

static void
body_ext(mp_encoder *e, VALUE type, VALUE payload)
{
    mp_encode_ext(e, FIX2INT(type), payload);
}

/*
 * call-seq: packer.write_ext(type, payload) -> packer
 *
 * Appends an ext of a type in -128..127 (RangeError) with the bytes of a String (TypeError).
 */
static VALUE
rb_packer_write_ext(VALUE self, VALUE type, VALUE payload)
{
    return packer_write_with(self, body_ext, INT2FIX(mp_ext_type(type)), StringValue(payload));
}

/*
 * call-seq: packer.write_extension(struct) -> packer
 *
 * Appends an ext from any Struct whose first members are the type and the payload, such as ExtensionValue.
 */
static VALUE
rb_packer_write_extension(VALUE self, VALUE obj)
{
    Check_Type(obj, T_STRUCT);
    return rb_packer_write_ext(self, rb_struct_aref(obj, INT2FIX(0)), rb_struct_aref(obj, INT2FIX(1)));
}

/* --- output ----------------------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Packer.new(options = nil) -> packer
 *
 * A Packer with an output of its own. Options as for Manypack.pack.
 */
static VALUE
rb_packer_initialize(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 0, 1);
    rb_check_frozen(self);
    if (packer_get(self)->str) rb_raise(rb_eRuntimeError, "Packer is initialized already");
    mp_options_init(&packer_get(self)->options, argc ? argv[0] : Qnil);
    packer_set_str(self, rb_str_buf_new(0));
    return self;
}

/* The output for reading; the Packer keeps it. */
static VALUE
packer_str(VALUE self)
{
    VALUE str = mp_packer_take(self);

    packer_set_str(self, str);
    return str;
}

/* call-seq: packer.to_s -> String, what was written so far; a copy */
static VALUE
rb_packer_to_s(VALUE self)
{
    VALUE str = packer_str(self);

    return rb_str_new(RSTRING_PTR(str), RSTRING_LEN(str));
}

/*
 * call-seq: packer.full_pack -> String
 *
 * What was written; the Packer is empty afterwards. RuntimeError in a to_msgpack, whose Packer is not its own.
 */
static VALUE
rb_packer_full_pack(VALUE self)
{
    VALUE str = packer_str(self);

    if (packer_get(self)->depth) rb_raise(rb_eRuntimeError, "Packer is in use");
    packer_set_str(self, rb_str_buf_new(0));
    return str;
}

/* call-seq: packer.reset -> nil, forgets what was written; RuntimeError as for full_pack */
static VALUE
rb_packer_reset(VALUE self)
{
    rb_packer_full_pack(self);
    return Qnil;
}

/* call-seq: packer.size -> Integer, bytes written so far */
static VALUE
rb_packer_size(VALUE self)
{
    return LONG2NUM(RSTRING_LEN(packer_str(self)));
}

/* call-seq: packer.empty? -> true or false */
static VALUE
rb_packer_empty_p(VALUE self)
{
    return RSTRING_LEN(packer_str(self)) == 0 ? Qtrue : Qfalse;
}

/* call-seq: packer.compatibility_mode? -> true or false */
static VALUE
rb_packer_compatibility_mode_p(VALUE self)
{
    return packer_get(self)->options.compatibility_mode ? Qtrue : Qfalse;
}

/*
 * Document-class: Manypack::Packer
 *
 * Packs piece by piece: what <code>to_msgpack</code> of a foreign object is given, and of use by itself where the whole
 * object is never there at once. One writer at a time: a call in the middle of another raises RuntimeError.
 */
void
Init_manypack_packer(void)
{
    cPacker = rb_define_class_under(mp_mManypack, "Packer", rb_cObject);
    rb_gc_register_mark_object(cPacker);
    rb_define_alloc_func(cPacker, packer_allocate);
    rb_undef_method(cPacker, "initialize_copy");

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
    rb_define_method(cPacker, "to_s", rb_packer_to_s, 0);
    rb_define_method(cPacker, "to_str", rb_packer_to_s, 0);
    rb_define_method(cPacker, "full_pack", rb_packer_full_pack, 0);
    rb_define_method(cPacker, "reset", rb_packer_reset, 0);
    rb_define_method(cPacker, "clear", rb_packer_reset, 0);
    rb_define_method(cPacker, "size", rb_packer_size, 0);
    rb_define_method(cPacker, "empty?", rb_packer_empty_p, 0);
    rb_define_method(cPacker, "compatibility_mode?", rb_packer_compatibility_mode_p, 0);
}
