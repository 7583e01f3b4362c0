/*
 * What an unpacker may refuse beside bytes that are not well formed, as a tape can find it out without building
 * anything.
 */
#ifndef MP_CHECK_H
#define MP_CHECK_H

#include "limit.h"

typedef struct {
    mp_limits limits;
    bool utf8;                 /* each str must be UTF-8 */
    bool utf8_keys;            /* those that are map keys must be */
    bool timestamps;           /* timestamps must be well formed */
    bool timestamp_range;      /* and in the years 1 to 9999 */
    bool unique_keys;          /* no map may have a key twice, or a NaN as a key */
    const uint64_t *ext_types; /* a bit for each ext type, as a uint8_t, that is known; NULL where all are */
} mp_check;

#define MP_CHECK_NONE ((mp_check){.limits = MP_LIMITS_NONE})

/*
 * What a head, with its payload if it has one, is refused for. objects counts as in mp_limits_pass.
 *
 * MP_E_UNDECIDED for a key that is an ext, an array or a map, or a NaN that unique_keys allows: only an unpacker that
 * builds the keys finds out whether it accepts them.
 */
mp_status mp_check_head(const mp_check *checks, const mp_head *head, const uint8_t *end, bool key, uint64_t *objects);

#endif
