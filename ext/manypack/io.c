/* IO through Ruby methods only, so that other threads, Ractors and a Fiber scheduler go on meanwhile. */
#include "io.h"

static ID id_readpartial, id_read, id_write, id_append;

bool
mp_io_p(VALUE obj)
{
    return mp_io_partial_p(obj) || rb_respond_to(obj, id_read);
}

bool
mp_io_partial_p(VALUE obj)
{
    return rb_respond_to(obj, id_readpartial);
}

/* One call of readpartial or read. */
typedef struct {
    VALUE io;
    ID method;
    size_t size;
} io_read;

static VALUE
call_read(VALUE arg)
{
    const io_read *read = (const io_read *)arg;

    return rb_funcall(read->io, read->method, 1, SIZET2NUM(read->size));
}

static VALUE
at_end(VALUE arg, VALUE error)
{
    return Qnil;
}

/* What the io returned as a String. */
static VALUE
string_of(const io_read *read, VALUE answer)
{
    VALUE bytes = rb_check_string_type(answer);

    if (!NIL_P(bytes)) return bytes;
    rb_raise(rb_eTypeError, "%" PRIsVALUE " of %" PRIsVALUE " returned %" PRIsVALUE ", not String",
             rb_id2str(read->method), rb_obj_class(read->io), rb_obj_class(answer));
}

VALUE
mp_io_read(VALUE io, size_t size, uint64_t needed)
{
    io_read read = {.io = io, .method = id_readpartial, .size = size};
    VALUE bytes;

    if (!mp_io_partial_p(io)) {
        read.method = id_read;
        if (needed < size) read.size = (size_t)needed;
    }
    bytes = rb_rescue2(call_read, (VALUE)&read, at_end, Qnil, rb_eEOFError, (VALUE)0);
    if (NIL_P(bytes)) return Qnil;
    bytes = string_of(&read, bytes);
    return RSTRING_LEN(bytes) ? bytes : Qnil;
}

bool
mp_io_writable_p(VALUE obj)
{
    return rb_respond_to(obj, id_write);
}

/* To ask takes as long as to pack a small message: an IO has it. */
void
mp_io_write(VALUE io, VALUE bytes, bool writable)
{
    if (RB_TYPE_P(io, T_FILE)) rb_io_write(io, bytes);
    else if (writable) rb_funcallv(io, id_write, 1, &bytes);
    else if (rb_check_funcall(io, id_write, 1, &bytes) == Qundef) rb_funcallv(io, id_append, 1, &bytes);
}

void
mp_scan_io_options(int argc, const VALUE *argv, VALUE *io, VALUE *options)
{
    rb_check_arity(argc, 0, 2);
    *io = *options = Qnil;
    if (argc == 2) {
        *io = argv[0];
        *options = argv[1];
    } else if (argc == 1) {
        *(RB_TYPE_P(argv[0], T_HASH) ? options : io) = argv[0];
    }
    if (!NIL_P(*options)) Check_Type(*options, T_HASH);
}

void
Init_manypack_io(void)
{
    id_readpartial = rb_intern("readpartial");
    id_read = rb_intern("read");
    id_write = rb_intern("write");
    id_append = rb_intern("<<");
}
