/* The checks of nesting. The decode loop calls them only where a limit may be reached. */
#include "unpack/nesting.h"

#include "base/stack.h"

void
mp_nesting_check_key(mp_decoder *d, const uint8_t *at)
{
    mp_open_keys keys = mp_decoder_open_keys(d);
    uint32_t limit = d->outer_depth + d->tree.depth + MP_KEY_DEPTH_MAX;
    mp_head head = {.kind = MP_NEVER};

    mp_head_read(at, d->end, &head);
    if (!head.n) return; /* an empty container is not opened */
    if (keys.nesting == MP_KEY_NESTING_MAX || mp_stack_used_up_p()) mp_decoder_raise(d, MP_E_KEY_DEPTH, at);
    if (!keys.outermost && limit < d->tree.depth_limit) d->tree.depth_limit = limit;
}

void
mp_nesting_raise(mp_decoder *d, uint32_t limit, const uint8_t *at)
{
    mp_decoder_raise(d, limit < mp_unpack_max_depth(&d->codec->options) ? MP_E_KEY_DEPTH : MP_E_DEPTH, at);
}

uint32_t
mp_nesting_limit_in_key(const mp_decoder *d, uint32_t level)
{
    uint32_t limit = level ? d->outer_depth + level - 1 + MP_KEY_DEPTH_MAX : d->max_depth;

    return limit < d->max_depth ? limit : d->max_depth;
}

MP_NOINLINE void
mp_nesting_check_depth(mp_decoder *d, const uint8_t *at)
{
    d->tree.depth_limit = mp_nesting_limit_in_key(d, mp_decoder_open_keys(d).outermost);
    if (d->outer_depth + d->tree.depth < d->tree.depth_limit) return;
    mp_nesting_raise(d, d->tree.depth_limit, at);
}
