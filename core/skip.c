/*
 * The one walk behind skip and split. It keeps one number for each open container, so that it can stop at any byte and
 * continue in another block. Other walks keep more, as the tops of their files say; all of them step by wire.h.
 */
#include "skip.h"

#include "wire.h"

void
mp_walk_init(mp_walk *walk, uint64_t *left, size_t max_depth)
{
    walk->left = left;
    walk->depth = 0;
    walk->max_depth = max_depth;
    walk->payload = 0;
    walk->objects = 0;
}

bool
mp_walk_object_passed(mp_walk *walk)
{
    while (walk->depth) {
        if (--walk->left[walk->depth - 1]) return false;
        walk->depth--;
    }
    return true;
}

/* Moves *p over the open payload, at most to the end of the bytes. True if the payload has ended. */
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
 * Moves past the head at *p. Opens a container that is not empty, and sets *opened. Otherwise only the payload is left
 * to pass.
 */
MP_INLINE mp_status
head_passed(mp_walk *walk, const uint8_t **p, const uint8_t *end, const mp_limits *limits, bool *opened)
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
        walk->payload = head.n;
        break;
      default:
        break;
    }
    if (MP_UNLIKELY(status != MP_OK)) return status;
    if (limits) { /* last, so that a head that was too deep counts only once when it is tried again */
        status = mp_limits_pass(limits, head.kind, head.n, &walk->objects);
        if (MP_UNLIKELY(status != MP_OK)) return status;
    }
    *p = head.payload;
    return MP_OK;
}

/*
 * Fast path (skip/Twitter) inside containers while many bytes are ahead, with the innermost container's state in a
 * register. Stops at a payload that does not end here, a bad head, or one container too many. True at the end of the
 * walk.
 */
MP_INLINE bool
stride(mp_walk *walk, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    uint64_t *const outermost = walk->left, *const limit = outermost + walk->max_depth;
    uint64_t *innermost = outermost + walk->depth - 1;
    uint64_t left = *innermost, held = 0;

    while (mp_ahead_p(p, end)) {
        const uint8_t *from = p;
        mp_step step = mp_step_over(&p, end, &held);

        if (step == MP_STEP_CONTAINER && innermost + 1 < limit && mp_skip_point(&p, held)) {
            left -= mp_skip_points(&p, end, left - 1);
            step = MP_STEP_LEAF;
        }
        if (step == MP_STEP_LEAF) {
            left--;
            while (MP_UNLIKELY(!left)) {
                if (innermost == outermost) {
                    walk->depth = 0;
                    *at = p;
                    return true;
                }
                left = *--innermost - 1;
            }
            continue;
        }
        if (step == MP_STEP_NONE || MP_UNLIKELY(innermost + 1 == limit)) {
            p = from;
            break;
        }
        *innermost++ = left;
        left = held;
    }
    *innermost = left;
    walk->depth = (size_t)(innermost - outermost) + 1;
    *at = p;
    return false;
}

/* limits is NULL in mp_skip, for which the compiler drops the checks. */
MP_INLINE mp_status
walk_on(mp_walk *walk, const uint8_t **at, const uint8_t *end, const mp_limits *limits)
{
    const uint8_t *p = *at;
    mp_status status = MP_OK;
    bool opened, whole;

    whole = walk->payload && payload_passed(walk, &p, end) && mp_walk_object_passed(walk);
    if (walk->payload) status = MP_E_TRUNCATED;
    while (!whole && status == MP_OK) {
        if (!limits && walk->depth && mp_ahead_p(p, end)) {
            whole = stride(walk, &p, end);
            if (whole) break;
        }
        status = head_passed(walk, &p, end, limits, &opened);
        if (status != MP_OK || opened) continue;
        if (payload_passed(walk, &p, end)) whole = mp_walk_object_passed(walk);
        else status = MP_E_TRUNCATED;
    }
    *at = p;
    return status;
}

mp_status
mp_skip(mp_walk *walk, const uint8_t **p, const uint8_t *end)
{
    return walk_on(walk, p, end, NULL);
}

mp_status
mp_skip_limited(mp_walk *walk, const uint8_t **p, const uint8_t *end, const mp_limits *limits)
{
    return walk_on(walk, p, end, limits);
}

mp_status
mp_split(mp_walk *walk, mp_run *run, const uint8_t *end, uint64_t objects, uint64_t bytes)
{
    mp_status status = MP_OK;

    while (run->objects < objects && run->bytes < bytes) {
        status = mp_skip(walk, &run->at, end);
        if (MP_UNLIKELY(status != MP_OK)) break;
        run->objects++;
        run->bytes += (uint64_t)(run->at - run->cut);
        run->cut = run->at;
    }
    return status;
}

uint64_t
mp_walk_missing(const mp_walk *walk, const uint8_t *p, const uint8_t *end)
{
    uint64_t missing = walk->payload ? walk->payload : mp_object_need(p, end) - (uint64_t)(end - p);
    size_t outermost = walk->depth > MP_MISSING_LEVELS ? walk->depth - MP_MISSING_LEVELS : 0, i;

    /* Every object that is still to come, after the current one, takes at least one byte. */
    for (i = outermost; i < walk->depth; i++) missing += walk->left[i] - 1;
    return missing;
}
