/* Reads map keys from their encodings and compares them. */
#include "key.h"

#include "utf8.h"

mp_key
mp_key_read(const uint8_t *p, const uint8_t *end)
{
    mp_wire_row row = MP_WIRE[*p];

    switch ((mp_kind)row.kind) {
      case MP_FIXINT:
      case MP_INT: return mp_key_sint(mp_row_sint(p, row));
      case MP_UINT: return mp_key_uint(mp_row_uint(p, row));
      case MP_FLOAT32:
      case MP_FLOAT64: return mp_key_real(mp_row_real(p, row));
      case MP_STR: return mp_key_str(p + row.head, (size_t)(end - p) - row.head);
      case MP_BIN: return mp_key_bin(p + row.head, (size_t)(end - p) - row.head);
      case MP_EXT:
      case MP_ARRAY:
      case MP_MAP: return (mp_key){.kind = (mp_kind)row.kind, .bytes = p, .n = (size_t)(end - p)};
      default: return mp_key_special((mp_kind)row.kind);
    }
}

static bool
string_p(const mp_key *key)
{
    return key->kind == MP_STR || key->kind == MP_BIN;
}

static int
order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int
mp_key_compare(const mp_key *a, const mp_key *b)
{
    bool strings = string_p(a) && string_p(b);
    int bytes;

    if (a->kind != b->kind && !strings) return order(a->kind, b->kind);
    if (a->bits != b->bits) return order(a->bits, b->bits);
    if (a->n != b->n) return order(a->n, b->n);
    bytes = a->n ? memcmp(a->bytes, b->bytes, a->n) : 0;
    if (bytes || a->kind == b->kind || mp_ascii_p(a->bytes, a->n)) return bytes;
    return order(a->kind, b->kind);
}

/* Hashes the first and the last eight bytes, or all bytes of a shorter key. */
static uint64_t
ends_of(const uint8_t *p, size_t n)
{
    if (n >= 8) return mp_word64(p) * UINT64_C(0x9e3779b97f4a7c15) + mp_word64(p + n - 8);
    if (n >= 4) return mp_word32(p) | (uint64_t)mp_word32(p + n - 4) << 32;
    return n ? p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16 : 0;
}

uint32_t
mp_key_signature(const mp_key *key)
{
    uint64_t mixed = (key->bits ^ key->n ^ ends_of(key->bytes, key->n)) * UINT64_C(0xd6e8feb86659fd93);

    return (uint32_t)(mixed >> 32);
}
