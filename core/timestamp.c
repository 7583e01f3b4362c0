/* Reads and writes the three layouts of the timestamp extension. */
#include "timestamp.h"

mp_status
mp_timestamp_read(const uint8_t *body, size_t n, mp_timestamp *timestamp)
{
    uint64_t both;

    switch (n) {
      case 4:
        timestamp->sec = mp_load32(body);
        timestamp->nsec = 0;
        break;
      case 8:
        both = mp_load64(body);
        timestamp->sec = (int64_t)(both & 0x3ffffffffu);
        timestamp->nsec = (uint32_t)(both >> 34);
        break;
      case 12:
        timestamp->nsec = mp_load32(body);
        timestamp->sec = (int64_t)mp_load64(body + 4);
        break;
      default:
        return MP_E_TIMESTAMP_SIZE;
    }
    return timestamp->nsec <= MP_TIMESTAMP_NSEC_MAX ? MP_OK : MP_E_TIMESTAMP_NSEC;
}

size_t
mp_timestamp_put(uint8_t *p, mp_timestamp timestamp)
{
    uint64_t sec = (uint64_t)timestamp.sec;

    if (sec >> 34) { /* negative seconds too */
        mp_store32(p, timestamp.nsec);
        mp_store64(p + 4, sec);
        return 12;
    }
    if (sec >> 32 || timestamp.nsec) {
        mp_store64(p, (uint64_t)timestamp.nsec << 34 | sec);
        return 8;
    }
    mp_store32(p, (uint32_t)sec);
    return 4;
}
