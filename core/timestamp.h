/* The timestamp extension (type -1): seconds since 1970 and nanoseconds, in 4, 8 or 12 bytes. */
#ifndef MP_TIMESTAMP_H
#define MP_TIMESTAMP_H

#include "platform.h"
#include "status.h"

#define MP_TIMESTAMP_TYPE (-1)
#define MP_TIMESTAMP_MAX 12
#define MP_TIMESTAMP_NSEC_MAX 999999999u

/* The years 1 to 9999, which all software that handles dates can represent. */
#define MP_TIMESTAMP_SEC_MIN (-62135596800)
#define MP_TIMESTAMP_SEC_MAX 253402300799

typedef struct {
    int64_t sec;
    uint32_t nsec;
} mp_timestamp;

/* Reads an ext body of n bytes. MP_E_TIMESTAMP_SIZE, MP_E_TIMESTAMP_NSEC. */
mp_status mp_timestamp_read(const uint8_t *body, size_t n, mp_timestamp *timestamp);

/* MP_E_TIMESTAMP_RANGE outside of the years 1 to 9999. */
MP_INLINE mp_status
mp_timestamp_check_range(mp_timestamp timestamp)
{
    bool inside = timestamp.sec >= MP_TIMESTAMP_SEC_MIN && timestamp.sec <= MP_TIMESTAMP_SEC_MAX;

    return inside ? MP_OK : MP_E_TIMESTAMP_RANGE;
}

/* Writes the shortest body to p, where MP_TIMESTAMP_MAX bytes must be free, and returns its size. */
size_t mp_timestamp_put(uint8_t *p, mp_timestamp timestamp);

#endif
