/*
 * What CBMC proves: over any bytes, the readers of the core read nothing outside of them, and nothing overflows. The
 * bytes are a block of exactly n; n and all bytes in it may be anything, up to the bound of each proof. `make prove`
 * runs each function.
 *
 * What has no loop is proved for every n, and UTF-8 for every n up to 9. The walks are not here: CBMC finds no end with
 * them. They step by the readers of heads, and `make every` runs them over all short inputs.
 */
#include <stdlib.h>

#include "timestamp.h"
#include "utf8.h"
#include "wire.h"

size_t nondet_size(void);

/* A block of at most max bytes that hold anything. */
static const uint8_t *
input(size_t *n, size_t max)
{
    uint8_t *block;

    *n = nondet_size();
    __CPROVER_assume(*n <= max);
    block = malloc(*n);
    __CPROVER_assume(block != NULL);
    return block;
}

void
prove_heads(void)
{
    size_t n;
    const uint8_t *p = input(&n, PTRDIFF_MAX / 2), *end = p + n, *next = p;
    mp_wire_row row;
    mp_head head;

    __CPROVER_assert(mp_head_need(p, end) <= MP_HEAD_MAX, "no head is longer");
    if (mp_object_need(p, end) > n) __CPROVER_assert(mp_head_over(p, end, &head, &next) != MP_OK, "incomplete");
    if (mp_head_over(p, end, &head, &next) == MP_OK) __CPROVER_assert(next > p && next <= end, "moves on, inside");
    else __CPROVER_assert(next == p, "does not move");
    if (mp_row_read(p, end, &row) != MP_OK) return;
    if (row.kind == MP_FIXINT || row.kind == MP_INT) mp_row_sint(p, row);
    if (row.kind == MP_UINT) mp_row_uint(p, row);
    if (row.kind == MP_FLOAT32 || row.kind == MP_FLOAT64) mp_row_real(p, row);
}

void
prove_steps(void)
{
    size_t n;
    const uint8_t *p = input(&n, PTRDIFF_MAX / 2), *end = p + n, *at = p;
    uint64_t held;
    uint32_t length;
    mp_wire_row row;
    mp_step step;

    __CPROVER_assume(mp_ahead_p(p, end));
    step = mp_step_over(&at, end, &held);
    __CPROVER_assert(at <= end && (at > p) == (step != MP_STEP_NONE), "moves on, inside");
    row = mp_row_ahead(p);
    if (row.kind == MP_FIXINT || row.kind == MP_UINT || row.kind == MP_INT) mp_int_ahead(p, row);
    if (mp_fixstr_ahead_p(p, &length)) __CPROVER_assert(length < (size_t)(end - p), "a fixstr is complete");
    if (step == MP_STEP_CONTAINER && mp_skip_point(&at, held)) __CPROVER_assert(at <= end, "a point is complete");
}

void
prove_timestamp(void)
{
    size_t n;
    const uint8_t *p = input(&n, PTRDIFF_MAX / 2);
    uint8_t body[MP_TIMESTAMP_MAX];
    mp_timestamp timestamp;

    if (mp_timestamp_read(p, n, &timestamp) == MP_OK) {
        __CPROVER_assert(mp_timestamp_put(body, timestamp) <= n, "is written in no more bytes");
    }
}

void
prove_utf8(void)
{
    size_t n;
    const uint8_t *p = input(&n, 9);

    mp_utf8_valid_p(p, n);
}
