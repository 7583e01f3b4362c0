/*
 * Writes objects again: must give the same values in no more bytes, and the same bytes when repeated. If the window
 * refuses to grow, the output is only shorter.
 */
#include "target.h"

#include <setjmp.h>

#include "out.h"
#include "wire.h"

typedef struct {
    mp_out out;
    uint8_t *block;
    unsigned growths_left; /* before the window refuses */
    jmp_buf refusal;       /* where a refusal goes */
} window;

static void
grow_by_exactly(mp_out *out, size_t n)
{
    window *w = (window *)(void *)out;
    size_t size = mp_out_size(out);
    uint8_t *block;

    if (!w->growths_left) longjmp(w->refusal, 1);
    w->growths_left--;
    block = malloc(size + n);
    if (!block) abort();
    if (size) memcpy(block, out->start, size);
    free(w->block);
    w->block = out->start = block;
    out->pos = block + size;
    out->end = out->pos + n;
}

static void
window_init(window *w, size_t size, unsigned growths)
{
    uint8_t *block = malloc(size);

    if (!block) abort();
    w->block = block;
    w->growths_left = growths;
    mp_out_init(&w->out, block, size, grow_by_exactly);
}

static uint8_t *
put_head(uint8_t *to, const uint8_t *p, mp_wire_row row, const mp_head *head)
{
    switch (head->kind) {
      case MP_NIL: return mp_put_nil(to);
      case MP_FALSE: return mp_put_bool(to, false);
      case MP_TRUE: return mp_put_bool(to, true);
      case MP_FIXINT:
      case MP_INT: return mp_put_sint(to, mp_row_sint(p, row));
      case MP_UINT: return mp_put_uint(to, mp_row_uint(p, row));
      case MP_FLOAT32: return mp_put_float32(to, (float)mp_row_real(p, row));
      case MP_FLOAT64: return mp_put_float64(to, mp_row_real(p, row));
      case MP_STR: return mp_put_str_head(to, head->n, false);
      case MP_BIN: return mp_put_bin_head(to, head->n);
      case MP_EXT: return mp_put_ext_head(to, head->ext_type, head->n);
      case MP_ARRAY: return mp_put_array_head(to, head->n);
      case MP_MAP: return mp_put_map_head(to, head->n);
      default: abort();
    }
}

/* The number of payload bytes after a head, as far as they are present. */
static size_t
payload_of(const mp_head *head, const uint8_t *end)
{
    if (head->kind != MP_STR && head->kind != MP_BIN && head->kind != MP_EXT) return 0;
    return mp_payload_present_p(head->payload, head->n, end) ? head->n : (size_t)(end - head->payload);
}

/* Writes head after head and payload after payload, as far as they are present. */
static void
write_heads(window *w, const uint8_t *p, const uint8_t *end)
{
    mp_head head;

    while (mp_head_read(p, end, &head) == MP_OK) {
        uint8_t *to = mp_out_reserve(&w->out, MP_HEAD_MAX);
        size_t payload = payload_of(&head, end);
        mp_out_commit(&w->out, put_head(to, p, MP_WIRE[*p], &head));
        mp_out_write(&w->out, head.payload, payload);
        p = head.payload + payload;
    }
}

/* The same; false if the window refused. */
static bool
write_again(window *w, const uint8_t *p, const uint8_t *end)
{
    if (setjmp(w->refusal)) return false;
    write_heads(w, p, end);
    return true;
}

static bool
integer_p(const mp_plain_head *head)
{
    return head->kind == MP_FIXINT || head->kind == MP_UINT || head->kind == MP_INT;
}

/* 1 if negative, otherwise 0: n, the 64 bits, does not tell. */
static int
sign_of(const mp_plain_head *head)
{
    return head->kind != MP_UINT && head->n > INT64_MAX;
}

static bool
nan_p(const mp_plain_head *head)
{
    if (head->kind == MP_FLOAT32) return (head->n & 0x7fffffff) > 0x7f800000;
    return head->kind == MP_FLOAT64 && (head->n & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static bool
same_value_p(const mp_plain_head *a, const mp_plain_head *b)
{
    if (integer_p(a) && integer_p(b)) return a->n == b->n && sign_of(a) == sign_of(b);
    if (a->kind != b->kind) return false;
    return a->n == b->n || (nan_p(a) && nan_p(b));
}

/* Head for head, byte for byte of payloads. */
static void
same_values(const uint8_t *p, const uint8_t *p_end, const uint8_t *q, const uint8_t *q_end)
{
    mp_head head;

    while (mp_head_read(p, p_end, &head) == MP_OK) {
        mp_plain_head a = mp_reference_head(p, p_end), b = mp_reference_head(q, q_end);
        size_t payload = payload_of(&head, p_end);
        ENSURE(b.size <= (size_t)(q_end - q) && b.size <= a.size, "%zu bytes, before %zu", b.size, a.size);
        ENSURE(same_value_p(&a, &b), "%d %" PRIx64 ", before %d %" PRIx64, (int)b.kind, b.n, (int)a.kind, a.n);
        if (a.kind == MP_EXT) ENSURE(p[a.size - 1] == q[b.size - 1], "%02x", q[b.size - 1]);
        p += a.size;
        q += b.size;
        ENSURE(payload <= (size_t)(q_end - q) && !memcmp(p, q, payload), "payload of %zu", payload);
        p += payload;
        q += payload;
    }
    ENSURE(q == q_end, "%td bytes too many", q_end - q);
}

void
mp_fuzz_round_trip(const uint8_t *bytes, size_t n)
{
    window once, twice, refused;
    const uint8_t *p;
    size_t size;

    if (n == 0 || n > MP_FUZZ_MAX) return;
    p = mp_at_the_edge(bytes, n);
    window_init(&once, n + MP_HEAD_MAX, 0);
    ENSURE(write_again(&once, p, p + n), "more bytes than before");
    same_values(p, p + n, once.out.start, once.out.pos);
    size = mp_out_size(&once.out);
    window_init(&twice, size + MP_HEAD_MAX, 0);
    ENSURE(write_again(&twice, once.out.start, once.out.pos), "more bytes than before");
    ENSURE(mp_out_size(&twice.out) == size && !memcmp(once.block, twice.block, size), "not the shortest");
    window_init(&refused, 1, bytes[n - 1] % 64);
    if (!write_again(&refused, p, p + n)) {
        ENSURE(mp_out_size(&refused.out) <= size, "%zu of %zu", mp_out_size(&refused.out), size);
        ENSURE(!memcmp(refused.out.start, once.block, mp_out_size(&refused.out)), "another output");
        ENSURE(refused.out.pos <= refused.out.end, "committed more than there was");
    }
    free(once.block);
    free(twice.block);
    free(refused.block);
}
