/* Every head byte, every size class on both sides, every truncation point; shortest encodings out. */
#include "test.h"

#include "wire.h"

typedef struct {
    uint8_t bytes[MP_HEAD_MAX];
    size_t size;
} packed;

#define PACKED(expression)                                        \
    do {                                                          \
        memset(&out, 0, sizeof(out));                             \
        out.size = (size_t)((expression) - out.bytes);            \
    } while (0)

/* A head and the number in it. */
typedef struct {
    mp_kind kind;
    int8_t ext_type;
    uint32_t n;
    int64_t sint;
    uint64_t uint;
    double real;
} read_head;

/* A head of size bytes: reads it, and refuses every shorter piece of it. */
static read_head
read_exactly(const uint8_t *bytes, size_t size)
{
    uint8_t *block = mp_exact(bytes, size);
    read_head result = {.n = 0};
    mp_wire_row row;
    mp_head head;
    size_t cut;

    memset(&head, 0xff, sizeof(head)); /* parts that a kind does not have become zero all the same */
    for (cut = 0; cut < size; cut++) {
        uint8_t *piece = mp_exact(bytes, cut);
        CHECK(mp_head_read(piece, piece + cut, &head) == MP_E_TRUNCATED, "%02x cut at %zu", bytes[0], cut);
        free(piece);
    }
    CHECK(mp_head_read(block, block + size, &head) == MP_OK, "%02x", bytes[0]);
    CHECK(head.payload == block + size, "%02x: payload at %td of %zu", bytes[0], head.payload - block, size);
    CHECK(mp_row_read(block, block + size, &row) == MP_OK, "%02x", bytes[0]);
    CHECK(head.kind == MP_EXT || !head.ext_type, "%02x: type %d", bytes[0], head.ext_type);
    CHECK(head.kind >= MP_STR || !head.n, "%02x: n=%" PRIu32, bytes[0], head.n);
    result.kind = head.kind;
    result.ext_type = head.ext_type;
    result.n = head.n;
    if (head.kind == MP_FIXINT || head.kind == MP_INT) result.sint = mp_row_sint(block, row);
    if (head.kind == MP_UINT) result.uint = mp_row_uint(block, row);
    if (head.kind == MP_FLOAT32 || head.kind == MP_FLOAT64) result.real = mp_row_real(block, row);
    free(block);
    return result;
}

static void
reads_every_fix_byte(void)
{
    int i;

    for (i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        read_head head;
        mp_head refused;

        if (MP_WIRE[byte].head != 1) continue;
        if (byte == 0xc1) {
            CHECK(mp_head_read(&byte, &byte + 1, &refused) == MP_E_BAD_HEAD, "c1");
            continue;
        }
        head = read_exactly(&byte, 1);
        if (i < 0x80) CHECK(head.kind == MP_FIXINT && head.sint == i, "%02x", i);
        else if (i < 0x90) CHECK(head.kind == MP_MAP && head.n == (uint32_t)(i & 15), "%02x", i);
        else if (i < 0xa0) CHECK(head.kind == MP_ARRAY && head.n == (uint32_t)(i & 15), "%02x", i);
        else if (i < 0xc0) CHECK(head.kind == MP_STR && head.n == (uint32_t)(i & 31), "%02x", i);
        else if (i == 0xc0) CHECK(head.kind == MP_NIL, "%02x", i);
        else if (i == 0xc2) CHECK(head.kind == MP_FALSE, "%02x", i);
        else if (i == 0xc3) CHECK(head.kind == MP_TRUE, "%02x", i);
        else CHECK(head.kind == MP_FIXINT && head.sint == i - 256, "%02x", i);
    }
}

static void
reads_every_long_head(void)
{
    static const struct {
        uint8_t bytes[MP_HEAD_MAX];
        size_t size;
        mp_kind kind;
        uint32_t n;
        int8_t type;
    } heads[] = {
        {{0xc4, 0xff}, 2, MP_BIN, 0xff, 0},
        {{0xc5, 0xff, 0xfe}, 3, MP_BIN, 0xfffe, 0},
        {{0xc6, 0xff, 0xfe, 0xfd, 0xfc}, 5, MP_BIN, 0xfffefdfc, 0},
        {{0xc7, 0xff, 0x80}, 3, MP_EXT, 0xff, -128},
        {{0xc8, 0xff, 0xfe, 0x7f}, 4, MP_EXT, 0xfffe, 127},
        {{0xc9, 0xff, 0xfe, 0xfd, 0xfc, 0xff}, 6, MP_EXT, 0xfffefdfc, -1},
        {{0xd4, 0x05}, 2, MP_EXT, 1, 5},
        {{0xd5, 0x05}, 2, MP_EXT, 2, 5},
        {{0xd6, 0x05}, 2, MP_EXT, 4, 5},
        {{0xd7, 0x05}, 2, MP_EXT, 8, 5},
        {{0xd8, 0x05}, 2, MP_EXT, 16, 5},
        {{0xd9, 0xff}, 2, MP_STR, 0xff, 0},
        {{0xda, 0xff, 0xfe}, 3, MP_STR, 0xfffe, 0},
        {{0xdb, 0xff, 0xfe, 0xfd, 0xfc}, 5, MP_STR, 0xfffefdfc, 0},
        {{0xdc, 0xff, 0xfe}, 3, MP_ARRAY, 0xfffe, 0},
        {{0xdd, 0xff, 0xfe, 0xfd, 0xfc}, 5, MP_ARRAY, 0xfffefdfc, 0},
        {{0xde, 0xff, 0xfe}, 3, MP_MAP, 0xfffe, 0},
        {{0xdf, 0xff, 0xfe, 0xfd, 0xfc}, 5, MP_MAP, 0xfffefdfc, 0},
    };
    size_t i;

    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        read_head head = read_exactly(heads[i].bytes, heads[i].size);
        CHECK(head.kind == heads[i].kind, "%02x", heads[i].bytes[0]);
        CHECK(head.n == heads[i].n, "%02x: n=%" PRIu32, heads[i].bytes[0], head.n);
        if (head.kind == MP_EXT) CHECK(head.ext_type == heads[i].type, "%02x", heads[i].bytes[0]);
    }
}

static void
asks_for_the_payload(void)
{
    static const uint8_t heads[][7] = {{0xa3}, {0xc4, 3}, {0xd9, 3}, {0xc7, 3, 1}, {0xc9, 0, 0, 0, 3, 1}};
    static const size_t sizes[] = {1, 2, 2, 3, 6};
    size_t i, cut;

    for (i = 0; i < 5; i++) {
        uint8_t bytes[9] = {0};
        size_t whole = sizes[i] + 3;

        memcpy(bytes, heads[i], sizes[i]);
        for (cut = 0; cut <= whole; cut++) {
            uint8_t *block = mp_exact(bytes, cut);
            mp_head head = {.n = 0};
            if (mp_head_read(block, block + cut, &head) == MP_OK) {
                bool present = mp_payload_present_p(head.payload, head.n, block + cut);
                CHECK(present == (cut == whole), "%02x cut at %zu", bytes[0], cut);
            } else {
                CHECK(cut < sizes[i], "%02x cut at %zu", bytes[0], cut);
            }
            free(block);
        }
    }
}

/* From every head byte, with exactly as many bytes as a step requires. */
static void
steps_stay_within_the_bytes(void)
{
    int i;

    for (i = 0; i < 256; i++) {
        uint8_t bytes[MP_AHEAD] = {(uint8_t)i}, *block = mp_exact(bytes, MP_AHEAD);
        const uint8_t *p = block;
        uint64_t held;

        CHECK(!mp_ahead_p(p + 1, p + MP_AHEAD), "%d bytes are not enough for a fixstr of 31", MP_AHEAD - 1);
        CHECK(mp_ahead_p(p, p + MP_AHEAD), "%d bytes are", MP_AHEAD);
        CHECK((mp_step_over(&p, p + MP_AHEAD, &held) == MP_STEP_NONE) == (i == 0xc1), "%02x", i);
        CHECK(p <= block + MP_AHEAD && (p == block) == (i == 0xc1), "%02x: %td", i, p - block);
        CHECK(i != 0xbf || p == block + MP_AHEAD, "fixstr of 31: %td", p - block);
        free(block);
    }
}

/* Of every head byte, with zeros after it: what mp_row_size and mp_fixint_p tell from it alone. */
static void
head_bytes_tell_sizes(void)
{
    int i;

    for (i = 0; i < 256; i++) {
        uint8_t bytes[MP_AHEAD] = {(uint8_t)i};
        mp_wire_row row = MP_WIRE[i];
        const uint8_t *next = bytes;
        uint32_t size;
        mp_head head;
        bool counted; /* a length or a count follows, or other objects do */

        if (mp_head_over(bytes, bytes + MP_AHEAD, &head, &next) != MP_OK) continue;
        counted = (head.kind >= MP_STR && row.head > 1 && !row.payload) || head.kind == MP_ARRAY || head.kind == MP_MAP;
        size = counted ? 0 : (uint32_t)(next - bytes);
        CHECK(mp_row_size(row) == size, "%02x: %" PRIu32 ", not %" PRIu32, i, mp_row_size(row), size);
        CHECK(mp_fixint_p((uint8_t)i) == (row.kind == MP_FIXINT), "%02x", i);
    }
}

/* An integer with exactly as many bytes after it as required. They are 0xff, and none may get into the number. */
static int64_t
read_ahead(const packed *out)
{
    uint8_t bytes[MP_AHEAD], *block;
    int64_t n;

    memset(bytes, 0xff, sizeof(bytes));
    memcpy(bytes, out->bytes, out->size);
    block = mp_exact(bytes, MP_AHEAD);
    n = mp_int_ahead(block, mp_row_ahead(block));
    free(block);
    return n;
}

static void
integers_are_shortest_and_come_back(void)
{
    static const struct {
        int64_t n;
        size_t size;
    } cases[] = {
        {0, 1}, {127, 1}, {128, 2}, {255, 2}, {256, 3}, {65535, 3}, {65536, 5}, {4294967295, 5},
        {4294967296, 9}, {INT64_MAX, 9}, {-1, 1}, {-32, 1}, {-33, 2}, {-128, 2}, {-129, 3}, {-32768, 3},
        {-32769, 5}, {-2147483648LL, 5}, {-2147483649LL, 9}, {INT64_MIN, 9},
    };
    packed out;
    read_head head;
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        PACKED(mp_put_sint(out.bytes, cases[i].n));
        CHECK(out.size == cases[i].size, "%" PRId64 " took %zu", cases[i].n, out.size);
        head = read_exactly(out.bytes, out.size);
        if (head.kind == MP_UINT) CHECK(head.uint == (uint64_t)cases[i].n, "%" PRId64, cases[i].n);
        else CHECK(head.sint == cases[i].n, "%" PRId64, cases[i].n);
        CHECK(read_ahead(&out) == cases[i].n, "%" PRId64, cases[i].n);
    }
    PACKED(mp_put_uint(out.bytes, UINT64_MAX));
    head = read_exactly(out.bytes, out.size);
    CHECK(head.kind == MP_UINT && head.uint == UINT64_MAX, "uint64 max");
    CHECK(read_ahead(&out) == -1, "uint64 max");
}

/* Each writer of a length, on both sides of each size class. */
static void
lengths_are_shortest_and_come_back(void)
{
    static const struct {
        mp_kind kind;
        uint32_t n;
        size_t size;
    } cases[] = {
        {MP_STR, 0, 1}, {MP_STR, 31, 1}, {MP_STR, 32, 2}, {MP_STR, 255, 2}, {MP_STR, 256, 3},
        {MP_STR, 65535, 3}, {MP_STR, 65536, 5}, {MP_STR, UINT32_MAX, 5},
        {MP_BIN, 0, 2}, {MP_BIN, 255, 2}, {MP_BIN, 256, 3}, {MP_BIN, 65535, 3}, {MP_BIN, 65536, 5},
        {MP_BIN, UINT32_MAX, 5},
        {MP_ARRAY, 0, 1}, {MP_ARRAY, 15, 1}, {MP_ARRAY, 16, 3}, {MP_ARRAY, 65535, 3}, {MP_ARRAY, 65536, 5},
        {MP_ARRAY, UINT32_MAX, 5},
        {MP_MAP, 0, 1}, {MP_MAP, 15, 1}, {MP_MAP, 16, 3}, {MP_MAP, 65535, 3}, {MP_MAP, 65536, 5},
        {MP_MAP, UINT32_MAX, 5},
        {MP_EXT, 0, 3}, {MP_EXT, 1, 2}, {MP_EXT, 2, 2}, {MP_EXT, 3, 3}, {MP_EXT, 4, 2}, {MP_EXT, 8, 2},
        {MP_EXT, 16, 2}, {MP_EXT, 17, 3}, {MP_EXT, 255, 3}, {MP_EXT, 256, 4}, {MP_EXT, 65535, 4},
        {MP_EXT, 65536, 6}, {MP_EXT, UINT32_MAX, 6},
    };
    packed out;
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t n = cases[i].n;
        read_head head;

        switch (cases[i].kind) {
          case MP_STR: PACKED(mp_put_str_head(out.bytes, n, false)); break;
          case MP_BIN: PACKED(mp_put_bin_head(out.bytes, n)); break;
          case MP_ARRAY: PACKED(mp_put_array_head(out.bytes, n)); break;
          case MP_MAP: PACKED(mp_put_map_head(out.bytes, n)); break;
          default: PACKED(mp_put_ext_head(out.bytes, -7, n)); break;
        }
        CHECK(out.size == cases[i].size, "kind %d, n=%" PRIu32 " took %zu", (int)cases[i].kind, n, out.size);
        head = read_exactly(out.bytes, out.size);
        CHECK(head.kind == cases[i].kind && head.n == n, "kind %d, n=%" PRIu32, (int)cases[i].kind, n);
        if (head.kind == MP_EXT) CHECK(head.ext_type == -7, "n=%" PRIu32, n);
    }
    PACKED(mp_put_str_head(out.bytes, 32, true));
    CHECK(out.size == 3 && out.bytes[0] == 0xda, "compatible str has no str8");
}

static void
floats_come_back_bit_for_bit(void)
{
    static const uint64_t doubles[] = {0, 0x8000000000000000u, 0x7ff0000000000000u, 0x7ff8000000000001u, 1};
    static const uint32_t floats[] = {0, 0x80000000u, 0x7f800000u, 0x3fc00000u, 1};
    packed out;
    size_t i;

    for (i = 0; i < 5; i++) {
        read_head head;
        double widened = (double)mp_float_of_bits(floats[i]);

        PACKED(mp_put_float64(out.bytes, mp_double_of_bits(doubles[i])));
        head = read_exactly(out.bytes, out.size);
        CHECK(head.kind == MP_FLOAT64 && mp_bits_of_double(head.real) == doubles[i], "double %zu", i);
        PACKED(mp_put_float32(out.bytes, mp_float_of_bits(floats[i])));
        head = read_exactly(out.bytes, out.size);
        CHECK(head.kind == MP_FLOAT32 && mp_bits_of_double(head.real) == mp_bits_of_double(widened), "float %zu", i);
    }
}

void
mp_test_wire(void)
{
    reads_every_fix_byte();
    reads_every_long_head();
    asks_for_the_payload();
    steps_stay_within_the_bytes();
    head_bytes_tell_sizes();
    integers_are_shortest_and_come_back();
    lengths_are_shortest_and_come_back();
    floats_come_back_bit_for_bit();
}
