/* Seconds and nanoseconds from a user, as a timestamp. */
#ifndef MANYPACK_MOMENT_H
#define MANYPACK_MOMENT_H

#include "base/error_path.h"
#include "core/timestamp.h"

/*
 * TypeError unless both are Integers, RangeError if they do not fit. place is the encoder's, for the path in the error
 * message, or NULL without an encoder; of_gem is true if the encoder is used by the name MessagePack.
 */
mp_timestamp mp_moment(VALUE sec, VALUE nsec, const mp_place *const *place, bool of_gem);

#endif
