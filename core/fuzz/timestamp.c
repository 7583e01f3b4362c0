/* Timestamps: must be read or refused as the specification says, and written again in the fewest bytes. */
#include "timestamp.h"

#include "target.h"

void
mp_fuzz_timestamp(const uint8_t *bytes, size_t n)
{
    uint8_t body[MP_TIMESTAMP_MAX];
    mp_timestamp timestamp = {0, 0}, back = {0, 0};
    mp_status status;
    size_t size;

    if (n > MP_FUZZ_MAX) return;
    status = mp_timestamp_read(mp_at_the_edge(bytes, n), n, &timestamp);
    ENSURE(status == mp_reference_timestamp(bytes, n), "%d", (int)status);
    if (status != MP_OK) return;
    if (n != 12) ENSURE(timestamp.sec >= 0 && timestamp.sec < INT64_C(1) << 34, "%" PRId64, timestamp.sec);
    size = mp_timestamp_put(body, timestamp);
    ENSURE(size <= n, "%zu of %zu", size, n);
    ENSURE(size != n || !memcmp(body, bytes, n), "the same size and other bytes");
    ENSURE(mp_timestamp_read(body, size, &back) == MP_OK, "%zu", size);
    ENSURE(back.sec == timestamp.sec && back.nsec == timestamp.nsec, "%" PRId64 " %" PRIu32, back.sec, back.nsec);
}
