/*
 * Heads: each must be read as the reference reads it, or reported as incomplete, and must be written back in no more
 * bytes.
 */
#include "target.h"

#include "wire.h"

static uint64_t
bits_of(const uint8_t *p, mp_wire_row row)
{
    if (row.kind == MP_FLOAT32) return mp_bits_of_float((float)mp_row_real(p, row));
    if (row.kind == MP_FLOAT64) return mp_bits_of_double(mp_row_real(p, row));
    return row.kind == MP_UINT ? mp_row_uint(p, row) : (uint64_t)mp_row_sint(p, row);
}

/* A signaling NaN may come back as a quiet NaN. */
static bool
nan_p(uint64_t bits, mp_wire_row row)
{
    if (row.kind == MP_FLOAT32) return (bits & 0x7fffffff) > 0x7f800000;
    return row.kind == MP_FLOAT64 && (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static void
says_the_number(const uint8_t *p, const uint8_t *input_end, mp_wire_row row, const mp_plain_head *expected)
{
    uint64_t bits = bits_of(p, row);
    uint8_t written[MP_HEAD_MAX], *end;

    if (nan_p(expected->n, row)) {
        ENSURE(nan_p(bits, row), "%" PRIx64, bits);
        return;
    }
    ENSURE(bits == expected->n, "%" PRIx64 ", reference %" PRIx64, bits, expected->n);
    if (row.kind <= MP_INT && mp_ahead_p(p, input_end)) {
        ENSURE((uint64_t)mp_int_ahead(p, row) == bits, "%" PRIx64, bits);
    }
    if (row.kind == MP_FLOAT32) end = mp_put_float32(written, mp_float_of_bits((uint32_t)bits));
    else if (row.kind == MP_FLOAT64) end = mp_put_float64(written, mp_double_of_bits(bits));
    else if (row.kind == MP_UINT) end = mp_put_uint(written, bits);
    else end = mp_put_sint(written, (int64_t)bits);
    ENSURE(end - written <= row.head, "%td bytes of %d", end - written, row.head);
    ENSURE(mp_reference_head(written, end).n == bits, "%" PRIx64, bits);
}

static void
says_the_payload(const uint8_t *p, const uint8_t *end, const mp_head *head, const mp_plain_head *expected)
{
    bool present = mp_payload_present_p(head->payload, head->n, end);

    ENSURE(head->n == expected->n, "%" PRIu32 ", reference %" PRIu64, head->n, expected->n);
    ENSURE(present == (expected->n <= (uint64_t)(end - p) - expected->size), "%d", present);
    ENSURE(mp_object_need(p, end) == expected->size + expected->n, "%" PRIu64, mp_object_need(p, end));
    if (head->kind == MP_EXT) ENSURE(head->ext_type == (int8_t)p[expected->size - 1], "%d", head->ext_type);
}

/* A step of the walk, which needs bytes ahead, moves to the end of the object or not at all. */
static void
steps_over_it(const uint8_t *p, const uint8_t *end, const mp_plain_head *expected)
{
    bool holds = expected->kind == MP_ARRAY || expected->kind == MP_MAP;
    bool sized = expected->kind == MP_STR || expected->kind == MP_BIN || expected->kind == MP_EXT;
    uint64_t size = expected->size + (sized ? expected->n : 0), held = 0;
    const uint8_t *at = p;
    mp_step step;

    if (!mp_ahead_p(p, end)) return;
    step = mp_step_over(&at, end, &held);
    if (expected->kind == MP_NEVER || size > (uint64_t)(end - p)) {
        ENSURE(step == MP_STEP_NONE && at == p, "%d, %td", (int)step, at - p);
    } else {
        ENSURE(step == (holds && expected->n ? MP_STEP_CONTAINER : MP_STEP_LEAF), "%d", (int)step);
        ENSURE((uint64_t)(at - p) == size, "%td, reference %" PRIu64, at - p, size);
        ENSURE(step == MP_STEP_LEAF || held == expected->n * (expected->kind == MP_MAP ? 2 : 1), "%" PRIu64, held);
    }
}

void
mp_fuzz_head(const uint8_t *bytes, size_t n)
{
    const uint8_t *p, *end;
    mp_plain_head expected;
    mp_wire_row row;
    mp_head head = {.n = 0};
    mp_status status;

    if (n > MP_FUZZ_MAX) return;
    p = mp_at_the_edge(bytes, n);
    end = p + n;
    expected = mp_reference_head(p, end);
    status = mp_head_read(p, end, &head);
    ENSURE(mp_head_need(p, end) == expected.size, "%zu, reference %zu", mp_head_need(p, end), expected.size);
    ENSURE((mp_row_read(p, end, &row) == MP_OK) == (n >= expected.size), "%zu of %zu", n, expected.size);
    if (n < expected.size) {
        ENSURE(status == MP_E_TRUNCATED && mp_object_need(p, end) == expected.size, "%d", (int)status);
        return;
    }
    ENSURE((mp_kind)row.kind == expected.kind, "%d, reference %d", row.kind, (int)expected.kind);
    ENSURE(status == (expected.kind == MP_NEVER ? MP_E_BAD_HEAD : MP_OK), "%d", (int)status);
    steps_over_it(p, end, &expected);
    if (status != MP_OK) return;
    ENSURE(head.kind == expected.kind && head.payload == p + expected.size, "%d", (int)head.kind);
    if (head.kind < MP_STR || head.kind > MP_EXT) {
        ENSURE(mp_object_need(p, end) == expected.size, "%" PRIu64, mp_object_need(p, end));
    }
    if (head.kind >= MP_FIXINT && head.kind <= MP_FLOAT64) says_the_number(p, end, row, &expected);
    else if (head.kind >= MP_STR && head.kind <= MP_EXT) says_the_payload(p, end, &head, &expected);
    else ENSURE(head.n == expected.n, "%" PRIu32 ", reference %" PRIu64, head.n, expected.n);
}
