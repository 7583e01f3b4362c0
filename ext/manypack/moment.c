/* Checks seconds and nanoseconds before they become a timestamp, whose layout is in core/timestamp.c. */
#include "moment.h"

/* ", at $.path" for the message of an error; empty without an encoder. */
static VALUE
at_place(const mp_place *const *place)
{
    return place ? rb_sprintf(", at %" PRIsVALUE, mp_path(*place)) : rb_str_new(NULL, 0);
}

static void
check_integer(VALUE value, const char *what, const mp_place *const *place)
{
    if (RB_INTEGER_TYPE_P(value)) return;
    rb_raise(rb_eTypeError, "the %s of a timestamp must be an Integer, got %" PRIsVALUE "%" PRIsVALUE, what,
             rb_obj_class(value), at_place(place));
}

mp_timestamp
mp_moment(VALUE sec, VALUE nsec, const mp_place *const *place)
{
    check_integer(sec, "seconds", place);
    check_integer(nsec, "nanoseconds", place);
    if (!mp_int64_p(sec)) {
        rb_raise(rb_eRangeError, "the seconds of a timestamp must fit in 64 bits, got %" PRIsVALUE "%" PRIsVALUE, sec,
                 at_place(place));
    }
    if (!RB_FIXNUM_P(nsec) || FIX2LONG(nsec) < 0 || FIX2LONG(nsec) > (long)MP_TIMESTAMP_NSEC_MAX) {
        rb_raise(rb_eRangeError,
                 "the nanoseconds of a timestamp must be in 0..%u, got %" PRIsVALUE "%" PRIsVALUE,
                 MP_TIMESTAMP_NSEC_MAX, nsec, at_place(place));
    }
    return (mp_timestamp){.sec = NUM2LL(sec), .nsec = (uint32_t)FIX2LONG(nsec)};
}
