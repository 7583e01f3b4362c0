/*
 * The list of everything that can be wrong with bytes. The binding turns a status into an exception; tests use its
 * name.
 */
#ifndef MP_STATUS_H
#define MP_STATUS_H

#include "limit_list.h"

#define MP_LIMIT_STATUS(X, STATUS, field, type, option, untrusted, unit, text) X(MP_E_MAX_##STATUS, text)

#define MP_STATUSES(X)                                                                 \
    X(MP_OK, "ok")                                                                     \
    X(MP_E_TRUNCATED, "the input ends inside an object")                               \
    X(MP_E_BAD_HEAD, "0xc1 is not a MessagePack head byte")                            \
    X(MP_E_DEPTH, "containers are nested too deeply for max_depth")                                  \
    X(MP_E_TIMESTAMP_SIZE, "a timestamp must have 4, 8 or 12 bytes")                   \
    X(MP_E_TIMESTAMP_NSEC, "a timestamp must have at most 999999999 nanoseconds")      \
    X(MP_E_TIMESTAMP_RANGE, "a timestamp is outside the years 1 to 9999")              \
    X(MP_E_UTF8, "a str is not valid UTF-8")                                           \
    X(MP_E_KEY_DEPTH, "containers are nested too deeply in map keys")                  \
    X(MP_E_FORM, "a value is not in its canonical form")                               \
    X(MP_E_KEY_ORDER, "map keys are not in canonical order")                           \
    MP_LIMITS_EACH(MP_LIMIT_STATUS, X)                                                 \
    X(MP_E_TAPE_RANGE, "a message of 4 GiB or more has no tape")                       \
    X(MP_E_NO_ROOM, "there is no memory for more")                                     \
    X(MP_E_DUPLICATE_KEY, "a map has the same key twice")                              \
    X(MP_E_NAN_KEY, "a map key is a NaN")                                              \
    X(MP_E_UNKNOWN_EXT, "an ext type is not known")                                    \
    X(MP_E_JSON, "JSON has no such value")                                             \
    X(MP_E_UNDECIDED, "only building the keys of a map tells whether they are accepted")

#define MP_STATUS_ENUM(name, text) name,
typedef enum { MP_STATUSES(MP_STATUS_ENUM) MP_STATUS_COUNT } mp_status;
#undef MP_STATUS_ENUM

/* A static sentence; the caller must not free it. */
const char *mp_status_text(mp_status status);

#endif
