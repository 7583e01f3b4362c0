/* Manypack::Timestamp: converts to and from ext bodies, whose layout is in core/timestamp.c. */
#include "base/error.h"
#include "base/moment.h"


/*
 * call-seq: Manypack::Timestamp.from_msgpack_ext(data) -> timestamp
 *
 * Returns the Timestamp of an ext body, a String of 4, 8 or 12 bytes. Raises MalformedFormatError for any other size,
 * and for more than 999,999,999 nanoseconds; and TypeError for anything that is not a String.
 *
 *   Manypack::Timestamp.from_msgpack_ext("\0\0\0\x05").sec #=> 5
 */
static VALUE
rb_timestamp_s_from_msgpack_ext(VALUE klass, VALUE data)
{
    mp_timestamp timestamp;
    mp_status status;
    VALUE values[2];

    StringValue(data);
    status = mp_timestamp_read((const uint8_t *)RSTRING_PTR(data), (size_t)RSTRING_LEN(data), &timestamp);
    if (status != MP_OK) mp_raise_timestamp(status, (size_t)RSTRING_LEN(data));
    values[0] = LL2NUM(timestamp.sec);
    values[1] = UINT2NUM(timestamp.nsec);
    return rb_funcallv(klass, rb_intern("new"), 2, values);
}

/* Converts an object to an Integer. Returns the object itself if it does not convert, so that the error names it. */
static VALUE
to_int(VALUE object)
{
    VALUE integer = rb_check_to_int(object);

    return NIL_P(integer) ? object : integer;
}

/*
 * call-seq: Manypack::Timestamp.to_msgpack_ext(sec, nsec) -> String
 *
 * Returns the shortest ext body for these seconds and nanoseconds, a binary String. Raises TypeError for anything that
 * is not an Integer, and RangeError for seconds outside int64 and for nanoseconds outside 0..999_999_999.
 *
 *   Manypack::Timestamp.to_msgpack_ext(5, 0) #=> "\0\0\0\x05"
 */
static VALUE
rb_timestamp_s_to_msgpack_ext(VALUE klass, VALUE sec, VALUE nsec)
{
    uint8_t body[MP_TIMESTAMP_MAX];
    VALUE seconds = to_int(sec), nanoseconds = to_int(nsec);
    size_t size = mp_timestamp_put(body, mp_moment(seconds, nanoseconds, NULL, false));

    return rb_str_new((const char *)body, (long)size);
}

void
Init_manypack_timestamp_ext(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cTimestamp = rb_define_class_under(mManypack, "Timestamp", rb_cObject);
    rb_define_singleton_method(cTimestamp, "from_msgpack_ext", rb_timestamp_s_from_msgpack_ext, 1);
    rb_define_singleton_method(cTimestamp, "to_msgpack_ext", rb_timestamp_s_to_msgpack_ext, 2);
}
