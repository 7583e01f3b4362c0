/* The one walk behind skip, validate and measure. */
#include "skip.h"

#include "timestamp.h"
#include "utf8.h"
#include "wire.h"

enum { CHECK = 1, COUNT = 2 };

void
mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth)
{
    walk->left = left;
    walk->depth = 0;
    walk->max_depth = max_depth;
    walk->payload = 0;
    walk->objects = 0;
    walk->deepest = 0;
}

/* What only mp_validate asks of a payload. */
static mp_status
check_payload(const mp_head *head, const uint8_t *end)
{
    bool timestamp = head->kind == MP_EXT && head->ext_type == MP_TIMESTAMP_TYPE;
    mp_timestamp ignored;

    if (head->kind != MP_STR && !timestamp) return MP_OK;
    if (!mp_payload_present_p(head->payload, head->n, end)) return MP_E_TRUNCATED;
    if (timestamp) return mp_timestamp_read(head->payload, head->n, &ignored);
    return mp_utf8_valid_p(head->payload, head->n) ? MP_OK : MP_E_UTF8;
}

/* Counts one object as passed; true when it was the last one. */
MP_INLINE bool
object_passed(mp_walk *walk)
{
    while (walk->depth) {
        if (--walk->left[walk->depth - 1]) return false;
        walk->depth--;
    }
    return true;
}

/* Moves *p over the open payload as far as bytes are there; true when that was all of it. */
MP_INLINE bool
payload_passed(mp_walk *walk, const uint8_t **p, const uint8_t *end)
{
    uint64_t here = (uint64_t)(end - *p);

    if (MP_UNLIKELY(walk->payload > here)) {
        walk->payload -= here;
        *p = end;
        return false;
    }
    *p += walk->payload;
    walk->payload = 0;
    return true;
}

MP_INLINE mp_status
container_open(mp_walk *walk, const mp_head *head)
{
    if (MP_UNLIKELY(walk->depth == walk->max_depth)) return MP_E_DEPTH;
    walk->left[walk->depth++] = head->kind == MP_MAP ? (uint64_t)head->n * 2 : head->n;
    return MP_OK;
}

/*
 * Reads the head at *p into the walk. A container that holds something is opened and *opened set; of
 * anything else only the payload is left to pass.
 */
MP_INLINE mp_status
head_passed(mp_walk *walk, const uint8_t **p, const uint8_t *end, const int flags, bool *opened)
{
    mp_head head;
    mp_status status = mp_head_read(*p, end, &head);

    *opened = false;
    if (MP_UNLIKELY(status != MP_OK)) return status;
    switch (head.kind) {
      case MP_ARRAY:
      case MP_MAP:
        if (!head.n) break;
        status = container_open(walk, &head);
        *opened = true;
        break;
      case MP_STR:
      case MP_BIN:
      case MP_EXT:
        if (flags & CHECK) status = check_payload(&head, end);
        if (MP_LIKELY(status == MP_OK)) walk->payload = head.n;
        break;
      default:
        break;
    }
    if (MP_UNLIKELY(status != MP_OK)) return status;
    if (flags & COUNT) {
        walk->objects++;
        if (walk->depth > walk->deepest) walk->deepest = walk->depth;
    }
    *p = head.payload;
    return MP_OK;
}

/* flags is a constant of each caller, so that skip pays for nothing that it does not do. */
MP_INLINE mp_status
walk_on(mp_walk *walk, const uint8_t **at, const uint8_t *end, const int flags)
{
    const uint8_t *p = *at;
    mp_status status = MP_OK;
    bool opened, whole;

    whole = walk->payload && payload_passed(walk, &p, end) && object_passed(walk);
    if (walk->payload) status = MP_E_TRUNCATED;
    while (!whole && status == MP_OK) {
        status = head_passed(walk, &p, end, flags, &opened);
        if (status != MP_OK || opened) continue;
        if (payload_passed(walk, &p, end)) whole = object_passed(walk);
        else status = MP_E_TRUNCATED;
    }
    *at = p;
    return status;
}

mp_status
mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end)
{
    return walk_on(walk, p, end, 0);
}

mp_status
mp_validate(mp_walk *walk, const uint8_t **p, const uint8_t *end)
{
    return walk_on(walk, p, end, CHECK);
}

mp_status
mp_measure(mp_walk *walk, const uint8_t **p, const uint8_t *end)
{
    return walk_on(walk, p, end, COUNT);
}

bool
mp_walk_object_passed(mp_walk *walk)
{
    return object_passed(walk);
}

uint64_t
mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end)
{
    uint64_t missing = walk->payload ? walk->payload : mp_object_need(p, end) - (uint64_t)(end - p);
    size_t i;

    /* Every object that is still to come, beside the one at hand, takes at least one byte. */
    for (i = 0; i < walk->depth; i++) missing += walk->left[i] - 1;
    return missing;
}
