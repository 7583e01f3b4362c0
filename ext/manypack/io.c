/* IO in: through Ruby methods only, so that other threads, Ractors and a Fiber scheduler go on meanwhile. */
#include "io.h"

#include "error.h"
#include "skip.h"

/* As much as a read asks for at a time. */
enum { READ_BYTES = 32768 };

static ID id_readpartial, id_read;


bool
mp_io_p(VALUE obj)
{
    return rb_respond_to(obj, id_readpartial) || rb_respond_to(obj, id_read);
}

typedef struct {
    VALUE io;
    size_t want;
} io_read;

static VALUE
read_some(VALUE arg)
{
    io_read *read = (io_read *)arg;

    return rb_funcall(read->io, id_readpartial, 1, SIZET2NUM(read->want));
}

static VALUE
read_end(VALUE arg, VALUE error)
{
    return Qnil;
}

/*
 * At least one byte more, nil at the end. readpartial takes what is there; read waits for all that it is
 * asked for, and is therefore asked for no more than the message needs.
 */
static VALUE
io_more(VALUE io, size_t needed)
{
    io_read read = {.io = io, .want = READ_BYTES};
    VALUE piece;

    if (rb_respond_to(io, id_readpartial)) {
        piece = rb_rescue2(read_some, (VALUE)&read, read_end, Qnil, rb_eEOFError, (VALUE)0);
    } else {
        piece = rb_funcall(io, id_read, 1, SIZET2NUM(needed < READ_BYTES ? needed : READ_BYTES));
    }
    if (!NIL_P(piece)) Check_Type(piece, T_STRING);
    return piece;
}

VALUE
mp_io_read_message(VALUE io, const mp_options *options)
{
    VALUE bytes = rb_str_buf_new(0), left_owner = 0, piece;
    size_t max_depth = options->max_depth ? options->max_depth : MP_UNPACK_MAX_DEPTH, passed = 0;
    uint64_t *left = ALLOCV_N(uint64_t, left_owner, max_depth);
    mp_status status = MP_E_TRUNCATED;
    mp_walk walk;

    mp_walk_init(&walk, left, max_depth);
    while ((size_t)RSTRING_LEN(bytes) <= options->max_bytes) {
        const uint8_t *start = (const uint8_t *)RSTRING_PTR(bytes), *p = start + passed;
        const uint8_t *end = start + RSTRING_LEN(bytes);

        status = mp_skip(&walk, &p, end);
        passed = (size_t)(p - start);
        if (status != MP_E_TRUNCATED) break;
        piece = io_more(io, (size_t)mp_walk_missing(&walk, p, end));
        if (NIL_P(piece)) break;
        rb_str_cat(bytes, RSTRING_PTR(piece), RSTRING_LEN(piece));
        RB_GC_GUARD(piece);
    }
    ALLOCV_END(left_owner);
    return bytes; /* where it is not one good message, decoding it says best what is wrong */
}

void
Init_manypack_io(void)
{
    id_readpartial = rb_intern("readpartial");
    id_read = rb_intern("read");
}
