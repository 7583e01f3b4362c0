/* Reads and writes only through Ruby's methods, so that other Threads, Ractors and scheduled Fibers run meanwhile. */
#include "base/io.h"

static ID id_readpartial, id_read, id_write, id_append;

VALUE mp_cStringIO;

bool
mp_new_string_io_p(VALUE obj)
{
    VALUE klass = RBASIC_CLASS(obj);

    if (!RTYPEDDATA_P(obj) || strcmp(RTYPEDDATA_TYPE(obj)->wrap_struct_name, "strio")) return false;
    if (rb_class_superclass(klass) != rb_cObject) return false;
    if (mp_cStringIO) return true;
    mp_cStringIO = klass;
    return true;
}

/* Like respond_to?, but fast if the class has the method. respond_to? takes as long as packing a small message. */
static bool
answers_p(VALUE obj, ID method)
{
    return rb_method_boundp(CLASS_OF(obj), method, 1) || rb_respond_to(obj, method);
}

/* True for an IO or StringIO: both are known to have all methods of an io. */
static bool
ruby_io_p(VALUE obj)
{
    return RB_TYPE_P(obj, T_FILE) || mp_string_io_p(obj);
}

/* True for a Pathname and the like, whose read and write open the file again each time. */
static bool
path_p(VALUE obj)
{
    return !answers_p(obj, rb_intern("close")) && answers_p(obj, rb_intern("to_path")); /* most ios have close */
}

bool
mp_io_p(VALUE obj)
{
    if (ruby_io_p(obj)) return true;
    return (rb_respond_to(obj, id_readpartial) || rb_respond_to(obj, id_read)) && !path_p(obj);
}

VALUE
mp_convert_to_bytes(VALUE obj)
{
    VALUE string = rb_check_string_type(obj);

    if (!NIL_P(string)) return string;
    if (mp_io_p(obj)) {
        rb_raise(rb_eTypeError, "expected a String of packed bytes, got %" PRIsVALUE ": pass io.read, or use "
                 "Manypack.unpack(io), as: :view or a Record, or Manypack::Unpacker.new(io)", rb_obj_class(obj));
    }
    if (RB_TYPE_P(obj, T_HASH) || RB_TYPE_P(obj, T_ARRAY)) {
        rb_raise(rb_eTypeError, "expected a String of packed bytes, got %" PRIsVALUE ": Manypack.pack makes one of it",
                 rb_obj_class(obj));
    }
    return StringValue(obj); /* raises */
}

mp_io_way
mp_io_way_of(VALUE io)
{
    if (mp_string_io_p(io)) return MP_BY_STRING_IO;
    if (RB_TYPE_P(io, T_FILE) && RBASIC_CLASS(io) == rb_cFile &&
        rb_method_basic_definition_p(rb_cFile, id_readpartial)) {
        return MP_BY_FILE;
    }
    return rb_respond_to(io, id_readpartial) ? MP_BY_READPARTIAL : MP_BY_READ;
}

/* One call of readpartial or read. */
typedef struct {
    VALUE io;
    ID method;
    size_t size;
    VALUE into; /* 0 without one */
} io_read;

static VALUE
call_read(VALUE arg)
{
    const io_read *read = (const io_read *)arg;
    VALUE arguments[] = {SIZET2NUM(read->size), read->into};

    return rb_funcallv(read->io, read->method, read->into ? 2 : 1, arguments);
}

static VALUE
at_end(VALUE arg, VALUE error)
{
    mp_io_end *end = (mp_io_end *)arg;

    if (!end->of_any_class && rb_obj_class(error) != rb_eEOFError) rb_exc_raise(error);
    end->error = error;
    return Qnil;
}

/* Converts the io's answer to a String. */
static VALUE
answer_string(const io_read *read, VALUE answer)
{
    VALUE bytes;

    if (MP_LIKELY(RB_TYPE_P(answer, T_STRING))) return answer;
    bytes = rb_check_string_type(answer);
    if (!NIL_P(bytes)) return bytes;
    rb_raise(rb_eTypeError, "%" PRIsVALUE " of %" PRIsVALUE " must return a String, got %" PRIsVALUE,
             rb_id2str(read->method), rb_obj_class(read->io), rb_obj_class(answer));
}

VALUE
mp_io_read(VALUE io, mp_io_way way, size_t size, uint64_t needed, VALUE into, mp_io_end *end)
{
    io_read read = {.io = io, .method = id_readpartial, .size = size, .into = into};
    VALUE bytes;

    if (way == MP_BY_READ || way == MP_BY_STRING_IO) read.method = id_read;
    if (way == MP_BY_READ && needed < size) read.size = (size_t)needed;
    end->error = Qnil;
    if (way == MP_BY_STRING_IO) bytes = call_read((VALUE)&read);
    else bytes = rb_rescue2(call_read, (VALUE)&read, at_end, (VALUE)end, rb_eEOFError, (VALUE)0);
    if (NIL_P(bytes)) return Qnil;
    bytes = answer_string(&read, bytes);
    return RSTRING_LEN(bytes) ? bytes : Qnil;
}

/* True for an IO whose readpartial is Ruby's own. */
static bool
reads_plainly_p(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && rb_method_basic_definition_p(CLASS_OF(io), id_readpartial);
}

bool
mp_io_reads_into_p(VALUE io, mp_io_way way)
{
    return way == MP_BY_STRING_IO || (way != MP_BY_READ && reads_plainly_p(io));
}

bool
mp_io_takes_back_p(VALUE io)
{
    return reads_plainly_p(io) || mp_string_io_p(io);
}

void
mp_io_take_back(VALUE io, VALUE bytes)
{
    if (RB_TYPE_P(io, T_FILE)) rb_io_ungetbyte(io, bytes);
    else rb_funcall(io, rb_intern("seek"), 2, LONG2NUM(-RSTRING_LEN(bytes)), INT2FIX(SEEK_CUR));
}

/* A String has <<, but a caller who passes a String means a path, or has confused the arguments. */
static bool
sink_p(VALUE obj)
{
    if (ruby_io_p(obj) || (answers_p(obj, id_write) && !path_p(obj))) return true;
    return !RB_TYPE_P(obj, T_STRING) && answers_p(obj, id_append);
}

bool
mp_io_writable_p(VALUE obj)
{
    return ruby_io_p(obj) || answers_p(obj, id_write);
}

NORETURN(static void raise_no_io(VALUE obj, const char *methods, const char *instead));

static void
raise_no_io(VALUE obj, const char *methods, const char *instead)
{
    if (RB_TYPE_P(obj, T_STRING)) rb_raise(rb_eTypeError, "expected an IO, got a String: %s", instead);
    rb_raise(rb_eTypeError, "expected an IO that responds to %s, got %" PRIsVALUE, methods, rb_obj_class(obj));
}

/* Refuses a Packer, ours or the msgpack gem's, as an io: it would pack the bytes again, as a bin. */
static void
check_no_packer(VALUE io)
{
    if (ruby_io_p(io) || !rb_method_boundp(CLASS_OF(io), rb_intern("write_map_header"), 1)) return;
    rb_raise(rb_eTypeError, "expected an IO, got %" PRIsVALUE ": call packer.write(object)", rb_obj_class(io));
}

bool
mp_need_sink(VALUE io, int api)
{
    VALUE none = Qnil;
    bool writable;

    if (ruby_io_p(io)) return true;
    check_no_packer(io);
    writable = answers_p(io, id_write);
    if (writable && !path_p(io)) return true;
    if (sink_p(io)) return writable;
    if (mp_lenient_p(api) && !writable) rb_funcallv(io, id_write, 1, &none);
    raise_no_io(io, "write or <<", "pass File.open(path, \"wb\") or a StringIO");
}

void
mp_check_sink(VALUE io, int api)
{
    if (NIL_P(io)) return;
    check_no_packer(io);
    if (MP_UNLIKELY(!sink_p(io)) && !mp_lenient_p(api)) mp_need_sink(io, api);
}

void
mp_check_source(VALUE io, int api)
{
    if (MP_LIKELY(NIL_P(io) || mp_io_p(io)) || (mp_lenient_p(api) && !path_p(io))) return;
    raise_no_io(io, "readpartial or read", "unpack bytes by Unpacker.new.feed(bytes), or pass File.open(path, \"rb\")");
}

void
mp_check_io(VALUE io, int api)
{
    if (MP_LIKELY(NIL_P(io) || mp_io_p(io) || sink_p(io)) || mp_lenient_p(api)) return;
    raise_no_io(io, "readpartial, read, write or <<",
                "append bytes by Buffer.new << bytes, or pass File.open(path, \"rb\")");
}

VALUE
mp_io_call_write(VALUE io, VALUE bytes)
{
    return RB_TYPE_P(io, T_FILE) ? rb_io_write(io, bytes) : rb_funcallv(io, id_write, 1, &bytes);
}

VALUE
mp_io_write(VALUE io, VALUE bytes, int api)
{
    VALUE answer;

    /* Call at once: respond_to? would take as long as packing a small message. */
    if (RB_TYPE_P(io, T_FILE)) return rb_io_write(io, bytes);
    answer = rb_check_funcall(io, id_write, 1, &bytes);
    if (answer != Qundef) return answer;
    mp_check_sink(io, api);
    rb_funcallv(io, id_append, 1, &bytes);
    return Qnil;
}

size_t
mp_io_bytes_taken(VALUE io, VALUE answer, size_t len)
{
    if (!RB_FIXNUM_P(answer) || (FIX2LONG(answer) >= 0 && (size_t)FIX2LONG(answer) >= len)) return len;
    if (FIX2LONG(answer) > 0) return (size_t)FIX2LONG(answer);
    rb_raise(rb_eIOError, "write of %" PRIsVALUE " returned %" PRIsVALUE " and took none of %" PRIuSIZE " bytes",
             rb_obj_class(io), answer, len);
}

void
mp_io_write_all(VALUE io, VALUE bytes, int api)
{
    VALUE all = 0;
    long at = 0, len = RSTRING_LEN(bytes);

    for (;;) {
        at += (long)mp_io_bytes_taken(io, mp_io_write(io, bytes, api), (size_t)(len - at));
        if (MP_LIKELY(at == len)) return;
        if (!all) all = rb_str_new_frozen(bytes);
        if (RSTRING_LEN(all) != len) rb_raise(rb_eRuntimeError, "the io changed the String that it was to write");
        bytes = rb_str_subseq(all, at, len - at);
    }
}

void
mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options)
{
    rb_check_arity(argc, 0, 2);
    *io = argc > 0 ? argv[0] : Qnil;
    *options = argc > 1 ? argv[1] : Qnil;
    if (NIL_P(*options) && RB_TYPE_P(*io, T_HASH)) {
        *options = *io;
        *io = Qnil;
    }
    if (!NIL_P(*options)) Check_Type(*options, T_HASH);
}

/* For Manypack's own Ruby code. */
static VALUE
rb_arguments_s_check_sink(VALUE self, VALUE io)
{
    mp_need_sink(io, MP_OWN);
    return Qnil;
}

void
Init_manypack_io(void)
{
    rb_gc_register_address(&mp_cStringIO); /* register now, in the main Ractor: the first StringIO may be in another */
    rb_define_singleton_method(mp_mArguments, "check_sink", rb_arguments_s_check_sink, 1);
    id_readpartial = rb_intern("readpartial");
    id_read = rb_intern("read");
    id_write = rb_intern("write");
    id_append = rb_intern("<<");
}
