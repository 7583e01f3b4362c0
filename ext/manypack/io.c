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

typedef struct {
    VALUE io;
    size_t size;
} partial_read;

static VALUE
read_partial(VALUE arg)
{
    const partial_read *read = (const partial_read *)arg;

    return rb_funcall(read->io, id_readpartial, 1, SIZET2NUM(read->size));
}

static VALUE
at_end(VALUE arg, VALUE error)
{
    return Qnil;
}

VALUE
mp_io_read(VALUE io, size_t size, uint64_t needed)
{
    partial_read read = {.io = io, .size = size};
    VALUE bytes;

    if (mp_io_partial_p(io)) {
        bytes = rb_rescue2(read_partial, (VALUE)&read, at_end, Qnil, rb_eEOFError, (VALUE)0);
    } else {
        bytes = rb_funcall(io, id_read, 1, SIZET2NUM(needed < size ? (size_t)needed : size));
    }
    if (NIL_P(bytes)) return Qnil;
    StringValue(bytes);
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
