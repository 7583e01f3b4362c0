/* Limits on what the heads of a message declare. */
#ifndef MP_LIMIT_H
#define MP_LIMIT_H

#include "status.h"
#include "wire.h"

#define MP_LIMIT_FIELD(X, STATUS, field, type, option, untrusted, unit, text) type field;
typedef struct { MP_LIMITS_EACH(MP_LIMIT_FIELD, ) } mp_limits;

#define MP_LIMIT_NONE(X, STATUS, field, type, option, untrusted, unit, text) (type)-1,
#define MP_LIMITS_NONE ((mp_limits){MP_LIMITS_EACH(MP_LIMIT_NONE, )})

/*
 * A reader hashes a container key through its contents, so nested container keys are hashed once per enclosing key.
 * Cap how many may be open at once. Hashing also takes C stack for every level, so cap the depth of a key, too.
 */
enum { MP_KEY_NESTING_MAX = 4, MP_KEY_DEPTH_MAX = 32 };

/*
 * The index, in limit_list.h, of the limit that a status reports as exceeded; MP_LIMITS or more for any other status.
 */
MP_INLINE unsigned
mp_limit_of(mp_status status)
{
    return (unsigned)status - (unsigned)MP_E_MAX_OBJECTS;
}

/* True if a status reports that a limit is exceeded. */
MP_INLINE bool
mp_limit_p(mp_status status)
{
    return mp_limit_of(status) < MP_LIMITS;
}

/* Checks the n that a head of that kind declares. An MP_E_MAX_ status if it is above the limit, otherwise MP_OK. */
MP_INLINE mp_status
mp_limits_check(const mp_limits *limits, mp_kind kind, uint32_t n)
{
    switch (kind) {
      case MP_MAP: return n > limits->map ? MP_E_MAX_MAP : MP_OK;
      case MP_ARRAY: return n > limits->array ? MP_E_MAX_ARRAY : MP_OK;
      case MP_STR:
      case MP_BIN: return n > limits->string ? MP_E_MAX_STRING : MP_OK;
      case MP_EXT: return n > limits->ext ? MP_E_MAX_EXT : MP_OK;
      default: return MP_OK;
    }
}

/*
 * The same for the next head of a message. Adds the objects that the head declares to *objects, the number of objects
 * of the message so far, declared ones included. MP_E_MAX_OBJECTS if that is too many.
 */
MP_INLINE mp_status
mp_limits_pass(const mp_limits *limits, mp_kind kind, uint32_t n, uint64_t *objects)
{
    mp_status status = mp_limits_check(limits, kind, n);
    uint64_t declared = mp_declared_objects(kind, n);

    if (MP_UNLIKELY(status != MP_OK) || !declared) return status;
    *objects += declared;
    return *objects > limits->objects ? MP_E_MAX_OBJECTS : MP_OK;
}

#endif
