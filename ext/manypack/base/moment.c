/* Checks seconds and nanoseconds before they become a timestamp, whose layout is in core/timestamp.c. */
#include "base/moment.h"

#include "base/lenient.h"
#include "base/pack_error.h"

NORETURN(static void raise_moment(VALUE klass, VALUE words, const mp_place *const *place, bool of_gem));

/* Adds ", at $.path" to the message if there is an encoder. Without one, of_gem depends on the name of Timestamp. */
static void
raise_moment(VALUE klass, VALUE words, const mp_place *const *place, bool of_gem)
{
    VALUE path = mp_error_path(place ? *place : NULL);

    if (place) rb_str_catf(words, ", at %" PRIsVALUE, mp_error_path_shown(path));
    else of_gem = mp_named_of_gem_p(mp_cTimestamp);
    mp_raise_encode_error(klass, words, path, of_gem);
}

static void
check_integer(VALUE value, const char *what, const mp_place *const *place, bool of_gem)
{
    if (RB_INTEGER_TYPE_P(value)) return;
    raise_moment(rb_eTypeError,
                 rb_enc_sprintf(mp_utf8, "the %s of a timestamp must be an Integer, got %" PRIsVALUE, what,
                                rb_obj_class(value)),
                 place, of_gem);
}

mp_timestamp
mp_moment(VALUE sec, VALUE nsec, const mp_place *const *place, bool of_gem)
{
    check_integer(sec, "seconds", place, of_gem);
    check_integer(nsec, "nanoseconds", place, of_gem);
    if (!mp_int64_p(sec)) {
        raise_moment(rb_eRangeError,
                     rb_enc_sprintf(mp_utf8, "the seconds of a timestamp must fit in 64 bits, got %" PRIsVALUE, sec),
                     place, of_gem);
    }
    if (!RB_FIXNUM_P(nsec) || FIX2LONG(nsec) < 0 || FIX2LONG(nsec) > (long)MP_TIMESTAMP_NSEC_MAX) {
        raise_moment(rb_eRangeError,
                     rb_enc_sprintf(mp_utf8, "the nanoseconds of a timestamp must be in 0..%u, got %" PRIsVALUE,
                                    MP_TIMESTAMP_NSEC_MAX, nsec),
                     place, of_gem);
    }
    return (mp_timestamp){.sec = NUM2LL(sec), .nsec = (uint32_t)FIX2LONG(nsec)};
}
