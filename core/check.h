/*
 * The checks that an unpacker's options require, as far as a tape can make them without building objects. Malformed
 * bytes are refused in any case.
 */
#ifndef MP_CHECK_H
#define MP_CHECK_H

#include "limit.h"
#include "unique.h"

typedef struct {
    mp_limits limits;
    bool utf8;                 /* each str must be UTF-8 */
    bool utf8_keys;            /* each str that is a map key must be UTF-8 */
    bool timestamps;           /* timestamps must be well formed */
    bool timestamp_range;      /* timestamps must be in the years 1 to 9999 */
    bool unique_keys;          /* no map may have the same key twice, or a NaN as a key */
    mp_noted_keys *noted;      /* for unique_keys: one for each depth up to MP_CHECK_NOTED; or NULL */
    const uint64_t *ext_types; /* a bit for each known ext type, as a uint8_t; NULL if all are known */
} mp_check;

#define MP_CHECK_NOTED 12

#define MP_CHECK_NONE ((mp_check){.limits = MP_LIMITS_NONE})

/*
 * Checks a head and its payload, if any. objects counts as in mp_limits_pass.
 *
 * MP_E_UNDECIDED for a key that is an ext, an array or a map, or a NaN if not unique_keys: only building the keys tells
 * whether they are accepted.
 */
mp_status mp_check_head(const mp_check *checks, const mp_head *head, const uint8_t *end, bool key, uint64_t *objects);

#endif
