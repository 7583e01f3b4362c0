/* Manypack::Bigint: Integers of any size as the body of an ext: a sign byte and 32-bit chunks. */
#include "base/support.h"

enum { CHUNK_BYTES = 4 };

/* The least significant chunk first; in each chunk, the most significant byte first. */
enum { CHUNKS = INTEGER_PACK_LSWORD_FIRST | INTEGER_PACK_MSBYTE_FIRST };

/*
 * call-seq: Manypack::Bigint.to_msgpack_ext(integer) -> String
 *
 * Returns the ext body for an Integer, in linear time. Raises TypeError for anything else.
 *
 *   Manypack::Bigint.to_msgpack_ext(-5) #=> "\x01\0\0\0\x05"
 */
static VALUE
rb_bigint_to_msgpack_ext(VALUE self, VALUE integer)
{
    size_t chunks;
    VALUE body;
    int sign;

    Check_Type(integer, RB_FIXNUM_P(integer) ? T_FIXNUM : T_BIGNUM);
    chunks = rb_absint_numwords(integer, CHUNK_BYTES * 8, NULL);
    body = rb_str_new(NULL, (long)(1 + chunks * CHUNK_BYTES));
    mp_poison(RSTRING_PTR(body), 1 + chunks * CHUNK_BYTES);
    sign = rb_integer_pack(integer, RSTRING_PTR(body) + 1, chunks, CHUNK_BYTES, 0, CHUNKS);
    RSTRING_PTR(body)[0] = sign < 0;
    return body;
}

/*
 * call-seq: Manypack::Bigint.from_msgpack_ext(body) -> Integer
 *
 * Returns the Integer of an ext body, in linear time. Raises MalformedFormatError for a body of impossible size, and
 * TypeError for anything that is not a String.
 *
 *   Manypack::Bigint.from_msgpack_ext("\x01\0\0\0\x05") #=> -5
 */
static VALUE
rb_bigint_from_msgpack_ext(VALUE self, VALUE body)
{
    const char *bytes;
    size_t n;
    VALUE integer;

    StringValue(body);
    bytes = RSTRING_PTR(body);
    n = (size_t)RSTRING_LEN(body);
    if (n % CHUNK_BYTES != 1) {
        rb_raise(rb_path2class("Manypack::MalformedFormatError"),
                 "a bigint must have a sign byte and chunks of 4 bytes, got %" PRIuSIZE " bytes", n);
    }
    integer = rb_integer_unpack(bytes + 1, n / CHUNK_BYTES, CHUNK_BYTES, 0,
                                CHUNKS | (bytes[0] ? INTEGER_PACK_NEGATIVE : 0));
    RB_GC_GUARD(body);
    return integer;
}

void
Init_manypack_bigint(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE bigint = rb_define_module_under(mManypack, "Bigint");

    rb_define_module_function(bigint, "to_msgpack_ext", rb_bigint_to_msgpack_ext, 1);
    rb_define_module_function(bigint, "from_msgpack_ext", rb_bigint_from_msgpack_ext, 1);
}
