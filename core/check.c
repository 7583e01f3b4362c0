/*
 * The checks of a head, in the order in which decoding makes them. tape.c calls them for heads that its stride cannot
 * decide on.
 */
#include "check.h"

#include "key.h"
#include "timestamp.h"
#include "utf8.h"

static bool
known_ext_p(const mp_check *checks, int8_t type)
{
    return !checks->ext_types || checks->ext_types[(uint8_t)type / 64] >> (uint8_t)type % 64 & 1;
}

static mp_status
check_timestamp(const mp_check *checks, const mp_head *head)
{
    mp_timestamp timestamp;
    mp_status status = mp_timestamp_read(head->payload, head->n, &timestamp);

    return status == MP_OK && checks->timestamp_range ? mp_timestamp_check_range(timestamp) : status;
}

static mp_status
check_ext(const mp_check *checks, const mp_head *head)
{
    mp_status status = MP_OK;

    if (checks->timestamps && head->ext_type == MP_TIMESTAMP_TYPE) status = check_timestamp(checks, head);
    return status == MP_OK && !known_ext_p(checks, head->ext_type) ? MP_E_UNKNOWN_EXT : status;
}

/* True for a NaN. mp_head has no pointer to the head byte, but the size of a float's head is known. */
static bool
nan_p(const mp_head *head)
{
    const uint8_t *p = head->payload - MP_WIRE[head->kind == MP_FLOAT32 ? 0xca : 0xcb].head;
    mp_key key = mp_key_read(p, head->payload);

    return mp_key_nan_p(&key);
}

/* The checks that apply only to keys. */
static mp_status
check_key(const mp_check *checks, const mp_head *head)
{
    switch (head->kind) {
      case MP_EXT:
      case MP_ARRAY:
      case MP_MAP: return MP_E_UNDECIDED;
      case MP_FLOAT32:
      case MP_FLOAT64:
        if (!nan_p(head)) return MP_OK;
        return checks->unique_keys ? MP_E_NAN_KEY : MP_E_UNDECIDED;
      default: return MP_OK;
    }
}

mp_status
mp_check_head(const mp_check *checks, const mp_head *head, const uint8_t *end, bool key, uint64_t *objects)
{
    mp_status status = key ? check_key(checks, head) : MP_OK;

    if (status == MP_OK) status = mp_limits_pass(&checks->limits, head->kind, head->n, objects);
    if (status != MP_OK) return status;
    if (!mp_payload_present_p(head->payload, mp_payload_size(head), end)) return MP_E_TRUNCATED;
    if (head->kind == MP_EXT) return check_ext(checks, head);
    if (head->kind != MP_STR || !(checks->utf8 || (key && checks->utf8_keys))) return MP_OK;
    return mp_utf8_valid_p(head->payload, head->n) ? MP_OK : MP_E_UTF8;
}
