/*
 * Reads and writes heads. The only file that knows what MessagePack looks like on the wire, and the only file that
 * checks that bytes are present before it reads them.
 */
#ifndef MP_WIRE_H
#define MP_WIRE_H

#include "platform.h"
#include "status.h"
#include "wire_table.h"

/* The longest head: one byte and a 64-bit number. */
#define MP_HEAD_MAX 9

/*
 * Reading a head in two steps, for a loop that switches on its kind: mp_row_read checks that the head is complete, then
 * a reader for its kind reads it. The caller must not use a reader for another kind.
 */

/* The row of the head at p, which must not be after end. MP_E_TRUNCATED if the head is incomplete. */
MP_INLINE mp_status
mp_row_read(const uint8_t *p, const uint8_t *end, mp_wire_row *row)
{
    if (MP_UNLIKELY(p == end)) return MP_E_TRUNCATED;
    *row = MP_WIRE[*p];
    return MP_LIKELY(end - p >= row->head) ? MP_OK : MP_E_TRUNCATED;
}

MP_INLINE bool
mp_row_integer_p(mp_wire_row row)
{
    return row.kind >= MP_FIXINT && row.kind <= MP_INT;
}

/* FIXINT, INT */
MP_INLINE int64_t
mp_row_sint(const uint8_t *p, mp_wire_row row)
{
    switch (row.head) {
      case 1: return (int8_t)p[0];
      case 2: return (int8_t)p[1];
      case 3: return (int16_t)mp_load16(p + 1);
      case 5: return (int32_t)mp_load32(p + 1);
      default: return (int64_t)mp_load64(p + 1);
    }
}

/* UINT */
MP_INLINE uint64_t
mp_row_uint(const uint8_t *p, mp_wire_row row)
{
    switch (row.head) {
      case 2: return p[1];
      case 3: return mp_load16(p + 1);
      case 5: return mp_load32(p + 1);
      default: return mp_load64(p + 1);
    }
}

/* FLOAT32, FLOAT64 */
MP_INLINE double
mp_row_real(const uint8_t *p, mp_wire_row row)
{
    return row.head == 9 ? mp_double_of_bits(mp_load64(p + 1)) : (double)mp_float_of_bits(mp_load32(p + 1));
}

/* The declared number of bytes of a STR or BIN, of elements of an ARRAY, or of pairs of a MAP. */
MP_INLINE uint32_t
mp_row_count(const uint8_t *p, mp_wire_row row)
{
    switch (row.head) {
      case 1: return row.count;
      case 2: return p[1];
      case 3: return mp_load16(p + 1);
      default: return mp_load32(p + 1);
    }
}

/* The size of an object if its head byte tells it; 0 for an array, a map, and if a length follows the head byte. */
MP_INLINE uint32_t
mp_row_size(mp_wire_row row)
{
    if (row.kind >= MP_NIL && row.kind <= MP_FLOAT64) return row.head;
    if (row.kind == MP_STR && row.head == 1) return 1u + row.count;
    return row.payload ? (uint32_t)row.head + row.payload : 0;
}

/* The declared number of bytes of an EXT, without its type. */
MP_INLINE uint32_t
mp_row_ext_count(const uint8_t *p, mp_wire_row row)
{
    switch (row.head) {
      case 2: return row.payload;
      case 3: return p[1];
      case 4: return mp_load16(p + 1);
      default: return mp_load32(p + 1);
    }
}

/* EXT */
MP_INLINE int8_t
mp_row_ext_type(const uint8_t *p, mp_wire_row row)
{
    return (int8_t)p[row.head - 1];
}

/* True if all n bytes of the payload at p are before end. */
MP_INLINE bool
mp_payload_present_p(const uint8_t *p, uint32_t n, const uint8_t *end)
{
    return MP_LIKELY(n <= (size_t)(end - p));
}

/* The parts of a head. Parts that the kind does not have are zero. */
typedef struct {
    mp_kind kind;
    int8_t ext_type;         /* EXT */
    uint32_t n;              /* bytes of a STR, BIN or EXT; elements of an ARRAY; pairs of a MAP */
    const uint8_t *payload;  /* after the head: the payload, the first element, or the next object */
} mp_head;

/* Reads a head, except the value of a number. MP_E_TRUNCATED if it is incomplete, MP_E_BAD_HEAD at 0xc1. */
MP_INLINE mp_status
mp_head_read(const uint8_t *p, const uint8_t *end, mp_head *head)
{
    mp_wire_row row;
    mp_status status = mp_row_read(p, end, &row);

    if (MP_UNLIKELY(status != MP_OK)) return status;
    head->kind = (mp_kind)row.kind;
    head->ext_type = 0;
    head->n = 0;
    head->payload = p + row.head;
    switch ((mp_kind)row.kind) {
      case MP_STR:
      case MP_BIN:
      case MP_ARRAY:
      case MP_MAP:
        head->n = mp_row_count(p, row);
        break;
      case MP_EXT:
        head->n = mp_row_ext_count(p, row);
        head->ext_type = mp_row_ext_type(p, row);
        break;
      case MP_NEVER:
        return MP_E_BAD_HEAD;
      default:
        break;
    }
    return MP_OK;
}

/* The size of the payload after a head; 0 without one. */
MP_INLINE uint32_t
mp_payload_size(const mp_head *head)
{
    return head->kind >= MP_STR && head->kind <= MP_EXT ? head->n : 0;
}

/* How many objects a container with such a head contains; 0 for objects that are no container. */
MP_INLINE uint64_t
mp_declared_objects(mp_kind kind, uint32_t n)
{
    if (kind == MP_MAP) return (uint64_t)n * 2;
    return kind == MP_ARRAY ? n : 0;
}

/* True for the head of a container that is not empty: only those count as a level of nesting. */
MP_INLINE bool
mp_holds_objects_p(const uint8_t *p, const uint8_t *end)
{
    mp_head head;

    return mp_head_read(p, end, &head) == MP_OK && mp_declared_objects(head.kind, head.n);
}

/*
 * The step of a walk that looks at each object: reads the head at p, and sets *next to the place after the head and its
 * payload, which in a container is its first object. MP_E_TRUNCATED if the head or the payload is incomplete,
 * MP_E_BAD_HEAD for 0xc1. *next changes only if the status is MP_OK.
 */
MP_INLINE mp_status
mp_head_over(const uint8_t *p, const uint8_t *end, mp_head *head, const uint8_t **next)
{
    mp_status status = mp_head_read(p, end, head);
    uint32_t n;

    if (MP_UNLIKELY(status != MP_OK)) return status;
    n = mp_payload_size(head);
    if (!mp_payload_present_p(head->payload, n, end)) return MP_E_TRUNCATED;
    *next = head->payload + n;
    return MP_OK;
}

/*
 * The steps of a walk that reads no payloads. If there are MP_AHEAD bytes, every head is complete, and so is every
 * object whose first byte tells its size; the longest is a fixstr of 31. One check is enough for all of them.
 */
#define MP_AHEAD 32

typedef enum {
    MP_STEP_LEAF,      /* moved past an object that holds no others */
    MP_STEP_CONTAINER, /* moved past the head of a container, whose objects come next */
    MP_STEP_NONE,      /* did not move: the payload is incomplete, or 0xc1 */
} mp_step;

MP_INLINE bool
mp_ahead_p(const uint8_t *p, const uint8_t *end)
{
    return MP_LIKELY(end - p >= MP_AHEAD);
}

/* The row of the head at p. mp_ahead_p must be true. */
MP_INLINE mp_wire_row
mp_row_ahead(const uint8_t *p)
{
    return MP_WIRE[*p];
}

/*
 * FIXINT, UINT, INT. mp_ahead_p must be true. A UINT of 2^63 or more comes out negative. Does not branch on the size of
 * the number, because branch predictors would miss it.
 */
MP_INLINE int64_t
mp_int_ahead(const uint8_t *p, mp_wire_row row)
{
    unsigned sized = row.head > 1; /* else the head is the number */
    unsigned unused = 64 - 8 * (row.head - sized);
    uint64_t bits = mp_load64(p + sized);

    return row.kind == MP_UINT ? (int64_t)(bits >> unused) : (int64_t)bits >> unused;
}

/* The longest payload of a fixstr. */
#define MP_FIXSTR_MAX 31

/* True if a fixstr is at p; then *n is the length of its payload. mp_ahead_p must be true. */
MP_INLINE bool
mp_fixstr_ahead_p(const uint8_t *p, uint32_t *n)
{
    *n = *p - 0xa0u;
    return MP_LIKELY(*n <= MP_FIXSTR_MAX);
}

#define MP_TWO_FLOAT64 18

/*
 * Fast path (looks/points checked): moves *p over the objects of a container if these are two float64, as in
 * coordinates. *p is after a head where mp_ahead_p was true, which declares `held` objects.
 */
MP_INLINE bool
mp_skip_point(const uint8_t **p, uint64_t held)
{
    const uint8_t *at = *p;

    if (held != 2 || at[0] != 0xcb || at[MP_TWO_FLOAT64 / 2] != 0xcb) return false;
    *p += MP_TWO_FLOAT64;
    return true;
}

/* Moves *p over at most n consecutive arrays of two float64. Returns how many it has passed. */
MP_INLINE uint64_t
mp_skip_points(const uint8_t **p, const uint8_t *end, uint64_t n)
{
    uint64_t i;

    for (i = 0; i < n && mp_ahead_p(*p, end) && **p == 0x92; i++) {
        const uint8_t *at = *p + 1;

        if (!mp_skip_point(&at, 2)) break;
        *p = at;
    }
    return i;
}

/* The step over an object whose size or count is in a field after the head byte. */
MP_INLINE mp_step
mp_step_over_field(const uint8_t **p, const uint8_t *end, uint64_t *held)
{
    mp_head head;

    if (mp_head_over(*p, end, &head, p) != MP_OK) return MP_STEP_NONE;
    if (head.kind != MP_ARRAY && head.kind != MP_MAP) return MP_STEP_LEAF;
    *held = mp_declared_objects(head.kind, head.n);
    return *held ? MP_STEP_CONTAINER : MP_STEP_LEAF;
}

/* True if an object is its head byte: an integer in -32..127. */
MP_INLINE bool
mp_fixint_p(uint8_t byte)
{
    return (int8_t)byte >= -32;
}

/*
 * One step from *p. mp_ahead_p must be true. Sets *held to the number of objects in a container. Branches first, for
 * the most frequent objects: after a predicted branch the CPU continues at once, but with a row of MP_WIRE it has to
 * wait before it knows where the next object is.
 */
MP_INLINE mp_step
mp_step_over(const uint8_t **p, const uint8_t *end, uint64_t *held)
{
    uint8_t byte = **p;
    mp_wire_row row;

    if ((byte & 0xe0) == 0xa0) { /* fixstr */
        *p += 1 + (byte & 0x1f);
        return MP_STEP_LEAF;
    }
    if ((byte & 0xe0) == 0x80) { /* fixmap, fixarray */
        *held = (byte & 0x0fu) << (byte < 0x90);
        *p += 1;
        return *held ? MP_STEP_CONTAINER : MP_STEP_LEAF;
    }
    if (mp_fixint_p(byte) || (byte < 0xc4 && byte != 0xc1)) { /* nil, false, true */
        *p += 1;
        return MP_STEP_LEAF;
    }
    if (byte == 0xcb) { /* float64 */
        *p += 9;
        return MP_STEP_LEAF;
    }
    if (byte == 0xce) { /* uint32 */
        *p += 5;
        return MP_STEP_LEAF;
    }
    row = MP_WIRE[byte];
    if (row.kind < MP_UINT || row.kind > MP_FLOAT64) return mp_step_over_field(p, end, held);
    *p += row.head;
    return MP_STEP_LEAF;
}

/*
 * Moves *p over a leaf, even near the end. Returns false, and does not move *p, for a container and for an incomplete
 * object; near the end also for an object whose size is in a field, and for an empty container.
 */
MP_INLINE bool
mp_skip_leaf(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *next = *p;
    uint64_t held;
    size_t size;

    if (mp_ahead_p(next, end)) {
        if (mp_step_over(&next, end, &held) != MP_STEP_LEAF) return false;
        *p = next;
        return true;
    }
    size = next < end ? mp_row_size(MP_WIRE[*next]) : 0;
    if (!size || size > (size_t)(end - next)) return false;
    *p = next + size;
    return true;
}

/* The size of the head at p, with its length field; 1 if p is at the end. */
MP_INLINE size_t
mp_head_need(const uint8_t *p, const uint8_t *end)
{
    return p == end ? 1 : MP_WIRE[*p].head;
}

/* The same, plus the payload of a STR, BIN or EXT. */
MP_INLINE uint64_t
mp_object_need(const uint8_t *p, const uint8_t *end)
{
    mp_head head;

    if (p == end || mp_head_read(p, end, &head) == MP_E_TRUNCATED) return mp_head_need(p, end);
    return (uint64_t)MP_WIRE[*p].head + mp_payload_size(&head);
}

/*
 * Writers. Each writes the shortest encoding at p, where MP_HEAD_MAX bytes must be free, and returns the place after
 * it.
 */

MP_INLINE uint8_t *
mp_put_byte(uint8_t *p, uint8_t byte)
{
    *p = byte;
    return p + 1;
}

MP_INLINE uint8_t *
mp_put_head8(uint8_t *p, uint8_t byte, uint8_t n)
{
    p[0] = byte;
    p[1] = n;
    return p + 2;
}

MP_INLINE uint8_t *
mp_put_head16(uint8_t *p, uint8_t byte, uint16_t n)
{
    *p = byte;
    mp_store16(p + 1, n);
    return p + 3;
}

MP_INLINE uint8_t *
mp_put_head32(uint8_t *p, uint8_t byte, uint32_t n)
{
    *p = byte;
    mp_store32(p + 1, n);
    return p + 5;
}

MP_INLINE uint8_t *
mp_put_head64(uint8_t *p, uint8_t byte, uint64_t n)
{
    *p = byte;
    mp_store64(p + 1, n);
    return p + 9;
}

MP_INLINE uint8_t *
mp_put_nil(uint8_t *p)
{
    return mp_put_byte(p, 0xc0);
}

MP_INLINE uint8_t *
mp_put_bool(uint8_t *p, bool b)
{
    return mp_put_byte(p, b ? 0xc3 : 0xc2);
}

MP_INLINE uint8_t *
mp_put_uint(uint8_t *p, uint64_t n)
{
    if (n < 0x80) return mp_put_byte(p, (uint8_t)n);
    if (n <= 0xff) return mp_put_head8(p, 0xcc, (uint8_t)n);
    if (n <= 0xffff) return mp_put_head16(p, 0xcd, (uint16_t)n);
    if (n <= 0xffffffff) return mp_put_head32(p, 0xce, (uint32_t)n);
    return mp_put_head64(p, 0xcf, n);
}

MP_INLINE uint8_t *
mp_put_sint(uint8_t *p, int64_t n)
{
    if (n >= 0) return mp_put_uint(p, (uint64_t)n);
    if (n >= -32) return mp_put_byte(p, (uint8_t)n);
    if (n >= INT8_MIN) return mp_put_head8(p, 0xd0, (uint8_t)n);
    if (n >= INT16_MIN) return mp_put_head16(p, 0xd1, (uint16_t)n);
    if (n >= INT32_MIN) return mp_put_head32(p, 0xd2, (uint32_t)n);
    return mp_put_head64(p, 0xd3, (uint64_t)n);
}

MP_INLINE uint8_t *
mp_put_float32(uint8_t *p, float f)
{
    return mp_put_head32(p, 0xca, mp_bits_of_float(f));
}

MP_INLINE uint8_t *
mp_put_float64(uint8_t *p, double d)
{
    return mp_put_head64(p, 0xcb, mp_bits_of_double(d));
}

/* compatible: write as before 2013, when the format had no str8. */
MP_INLINE uint8_t *
mp_put_str_head(uint8_t *p, uint32_t n, bool compatible)
{
    if (n < 32) return mp_put_byte(p, (uint8_t)(0xa0 | n));
    if (n <= 0xff && !compatible) return mp_put_head8(p, 0xd9, (uint8_t)n);
    if (n <= 0xffff) return mp_put_head16(p, 0xda, (uint16_t)n);
    return mp_put_head32(p, 0xdb, n);
}

MP_INLINE uint8_t *
mp_put_bin_head(uint8_t *p, uint32_t n)
{
    if (n <= 0xff) return mp_put_head8(p, 0xc4, (uint8_t)n);
    if (n <= 0xffff) return mp_put_head16(p, 0xc5, (uint16_t)n);
    return mp_put_head32(p, 0xc6, n);
}

MP_INLINE uint8_t *
mp_put_array_head(uint8_t *p, uint32_t n)
{
    if (n < 16) return mp_put_byte(p, (uint8_t)(0x90 | n));
    if (n <= 0xffff) return mp_put_head16(p, 0xdc, (uint16_t)n);
    return mp_put_head32(p, 0xdd, n);
}

MP_INLINE uint8_t *
mp_put_map_head(uint8_t *p, uint32_t n)
{
    if (n < 16) return mp_put_byte(p, (uint8_t)(0x80 | n));
    if (n <= 0xffff) return mp_put_head16(p, 0xde, (uint16_t)n);
    return mp_put_head32(p, 0xdf, n);
}

MP_INLINE uint8_t *
mp_put_ext_head(uint8_t *p, int8_t type, uint32_t n)
{
    switch (n) {
      case 1: p = mp_put_byte(p, 0xd4); break;
      case 2: p = mp_put_byte(p, 0xd5); break;
      case 4: p = mp_put_byte(p, 0xd6); break;
      case 8: p = mp_put_byte(p, 0xd7); break;
      case 16: p = mp_put_byte(p, 0xd8); break;
      default:
        if (n <= 0xff) p = mp_put_head8(p, 0xc7, (uint8_t)n);
        else if (n <= 0xffff) p = mp_put_head16(p, 0xc8, (uint16_t)n);
        else p = mp_put_head32(p, 0xc9, n);
    }
    return mp_put_byte(p, (uint8_t)type);
}

#endif
