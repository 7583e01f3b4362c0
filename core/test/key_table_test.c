/* Tables of keys: every kind of key, equal keys, keys that are missing, and maps that end too early. */
#include "test.h"

#include "key_table.h"

enum { PAIRS = 500, PLACES = 64 };

static uint64_t left[PLACES];
static uint32_t slots[2 * PAIRS + 1];

/* Integers of both signs, floats, strs and bins of up to 61 bytes in turn. Each value is the number of its pair. */
static uint8_t *
put_key(uint8_t *p, uint32_t i)
{
    uint32_t n = i % 60;

    if (i % 5 == 0) return mp_put_sint(p, (int64_t)i * 1001 - 100000);
    if (i % 5 == 1) return mp_put_float64(p, i + 0.5);
    if (i % 5 == 2) p = mp_put_bin_head(p, n + 2);
    else p = mp_put_str_head(p, n + 2, false);
    memset(p, 'x', n);
    p[n] = (uint8_t)(i >> 8);
    p[n + 1] = (uint8_t)i;
    return p + n + 2;
}

static size_t
write_map(uint8_t *p)
{
    uint8_t *at = mp_put_map_head(p, PAIRS);
    uint32_t i;

    for (i = 0; i < PAIRS; i++) at = mp_put_uint(put_key(at, i), i);
    return (size_t)(at - p);
}

static mp_key_table
table_of(mp_look *look, const uint8_t *bytes, size_t n, mp_find_which which, mp_status expected)
{
    mp_key_table table = {.slots = slots, .capacity = 2 * PAIRS + 1, .most = PAIRS, .seed = {1, 2}, .which = which};
    mp_cursor cursor;

    memset(slots, 0, sizeof(slots));
    mp_look_init(look, bytes, n, left, PLACES);
    mp_cursor_open(&cursor, look, 0);
    CHECK(mp_key_table_fill(&table, &cursor) == expected, "%zu bytes", n);
    return table;
}

/* The first byte of the value of a key; 0xc1 without such a key. */
static uint8_t
value_of(const mp_key_table *table, const mp_look *look, mp_key key)
{
    size_t value = mp_key_table_find(table, look->bytes, look->size, &key);

    return value ? look->bytes[value] : 0xc1;
}

static void
finds_each_key(const uint8_t *bytes, size_t size)
{
    mp_look look;
    mp_key_table table = table_of(&look, bytes, size, MP_FIND_FIRST, MP_OK);
    uint8_t packed[80], number[MP_HEAD_MAX];
    uint32_t i;

    CHECK(!table.twice && !table.others, "flags");
    for (i = 0; i < 2 * PAIRS; i++) {
        mp_key key = mp_key_read(packed, put_key(packed, i));
        size_t value = mp_key_table_find(&table, look.bytes, look.size, &key);
        size_t n = (size_t)(mp_put_uint(number, i) - number);

        CHECK(i < PAIRS ? value && !memcmp(bytes + value, number, n) : !value, "key %u at %zu", i, value);
    }
}

/* {"a" => 1, 1 => 2, bin "a" => 3, [] => 4, 1.0 => 5, nil => 6, 1 => 7, NaN => 8, NaN => 9} */
static const char equal_keys[] = "\x89\xa1" "a\x01\x01\x02\xc4\x01" "a\x03\x90\x04\xca\x3f\x80\x00\x00\x05"
                                 "\xc0\x06\xcc\x01\x07\xca\x7f\xc0\x00\x00\x08\xca\x7f\xc0\x00\x00\x09";

static void
keeps_the_first_or_the_last_of_equal_keys(void)
{
    size_t n = sizeof(equal_keys) - 1;
    uint8_t *bytes = mp_exact(equal_keys, n);
    mp_look look;
    mp_key_table table = table_of(&look, bytes, n, MP_FIND_FIRST, MP_OK);

    CHECK(table.twice && table.others, "flags");
    CHECK(value_of(&table, &look, mp_key_str("a", 1)) == 1, "first str");
    CHECK(value_of(&table, &look, mp_key_uint(1)) == 2, "first integer");
    CHECK(value_of(&table, &look, mp_key_real(1)) == 5, "float");
    CHECK(value_of(&table, &look, mp_key_special(MP_NIL)) == 6, "nil");
    CHECK(value_of(&table, &look, mp_key_special(MP_TRUE)) == 0xc1, "true");
    table = table_of(&look, bytes, n, MP_FIND_LAST, MP_OK);
    CHECK(value_of(&table, &look, mp_key_str("a", 1)) == 3, "last str");
    CHECK(value_of(&table, &look, mp_key_uint(1)) == 7, "last integer");
    free(bytes);
}

/* {[] => 1, [] => 2, ext => 3, NaN => 4, NaN => 5}: none is in the table. */
static void
has_no_containers_exts_and_nans(void)
{
    static const uint8_t bytes[] = "\x85\x90\x01\x90\x02\xd4\x05\x00\x03\xca\x7f\xc0\x00\x00\x04"
                                   "\xca\x7f\xc0\x00\x00\x05";
    mp_look look;
    mp_key_table table = table_of(&look, bytes, sizeof(bytes) - 1, MP_FIND_FIRST, MP_OK);

    CHECK(table.others && !table.twice, "flags");
    CHECK(value_of(&table, &look, mp_key_read(bytes + 1, bytes + 2)) == 0xc1, "an array");
    CHECK(value_of(&table, &look, mp_key_read(bytes + 5, bytes + 8)) == 0xc1, "an ext");
    CHECK(value_of(&table, &look, mp_key_read(bytes + 9, bytes + 14)) == 0xc1, "a NaN");
}

/* A table with as few slots as it may have, and with memory on both sides that it must not use. */
static mp_key_table
full_table_of(mp_look *look, const uint8_t *bytes, size_t n, uint32_t pairs, uint64_t seed)
{
    mp_key_table table = {.slots = slots + 1, .capacity = pairs + 1, .most = pairs,
                          .seed = {seed * UINT64_C(0x9e3779b97f4a7c15), seed * UINT64_C(0xd6e8feb86659fd93)}};
    mp_cursor cursor;
    uint32_t i, used = 0;

    memset(slots, 0, sizeof(slots));
    mp_look_init(look, bytes, n, left, PLACES);
    mp_cursor_open(&cursor, look, 0);
    CHECK(mp_key_table_fill(&table, &cursor) == MP_OK, "%" PRIu32 " pairs", pairs);
    for (i = 1; i <= pairs + 1; i++) used += slots[i] != 0;
    CHECK(used == pairs && !slots[0] && !slots[pairs + 2] && !slots[pairs + 3], "%" PRIu32 " of %" PRIu32, used, pairs);
    return table;
}

/* Every other key is looked at before some of these keys: at the last slot, searches go on at the first. */
static void
uses_every_slot_but_one(void)
{
    enum { MOST = 20 };
    uint8_t message[MOST * 80 + MP_AHEAD], packed[80];
    uint32_t pairs, seed, i;

    for (pairs = 1; pairs <= MOST; pairs++) {
        uint8_t *p = mp_put_map_head(message, pairs);

        for (i = 0; i < pairs; i++) p = mp_put_uint(put_key(p, i), i);
        memset(p, 0, MP_AHEAD);
        for (seed = 1; seed <= 20; seed++) {
            mp_look look;
            mp_key_table table = full_table_of(&look, message, (size_t)(p - message) + MP_AHEAD, pairs, seed);

            for (i = 0; i < 2 * pairs; i++) {
                mp_key key = mp_key_read(packed, put_key(packed, i));
                uint8_t value = value_of(&table, &look, key);

                CHECK(value == (i < pairs ? i : 0xc1), "key %" PRIu32 " of %" PRIu32 ": %02x", i, pairs, value);
            }
        }
    }
}

/* Numbers at the edges of all formats, each in every format that holds it; alone in a map whose table is full. */
static void
finds_an_integer_in_all_its_formats(void)
{
    static const int64_t numbers[] = {0, 1, 5, 127, 128, 255, 256, 65535, 65536, -1, -5, -32, -33, -128, -129, -32768,
                                      -32769, INT32_MAX, INT64_C(4294967296), INT32_MIN, INT64_MAX, INT64_MIN};
    enum { MANY = sizeof(numbers) / sizeof(numbers[0]) };
    uint32_t i, j, format;

    for (i = 0; i < MANY; i++) {
        uint64_t bits = (uint64_t)numbers[i];

        for (format = 0xcc; format <= 0xd3; format++) {
            uint8_t message[1 + 2 * MP_AHEAD] = {0x81}, *end = message + 1;
            uint32_t size = 1u << format % 4; /* of the payload: 1, 2, 4 or 8 */
            mp_key key = mp_key_sint(numbers[i]), read;
            mp_key_table table;
            mp_look look;

            if (size == 1) end = mp_put_head8(end, (uint8_t)format, (uint8_t)bits);
            if (size == 2) end = mp_put_head16(end, (uint8_t)format, (uint16_t)bits);
            if (size == 4) end = mp_put_head32(end, (uint8_t)format, (uint32_t)bits);
            if (size == 8) end = mp_put_head64(end, (uint8_t)format, bits);
            read = mp_key_read(message + 1, end);
            if (mp_key_compare(&read, &key)) continue; /* the format does not hold it */
            *end = 7;
            table = full_table_of(&look, message, sizeof(message), 1, i + 1);
            for (j = 0; j < MANY; j++) {
                uint8_t value = value_of(&table, &look, mp_key_sint(numbers[j]));

                CHECK(value == (j == i ? 7 : 0xc1), "%" PRIu32 " for %" PRIu32 " as %02x", i, j, format);
            }
            CHECK(numbers[i] >= 0 || value_of(&table, &look, mp_key_uint(bits)) == 0xc1, "%" PRIu64, bits);
        }
    }
}

/* Keys of other kinds whose bits are those of the only key, or whose number is its bytes. They would follow it. */
static void
takes_no_other_key_for_an_integer(void)
{
    static const uint8_t zero[1 + 2 * MP_AHEAD] = {0x81, 0, 0, 0, 0, 0, 0, 5};
    static const uint8_t text[1 + 2 * MP_AHEAD] = "\x81\xa7" "abcdefg";
    uint32_t seed;

    for (seed = 1; seed <= 20; seed++) {
        mp_look look;
        mp_key_table table = full_table_of(&look, zero, sizeof(zero), 1, seed);

        CHECK(value_of(&table, &look, mp_key_uint(0)) == 0, "0");
        CHECK(value_of(&table, &look, mp_key_uint(5)) == 0xc1, "5");
        CHECK(value_of(&table, &look, mp_key_real(0)) == 0xc1, "0.0");
        CHECK(value_of(&table, &look, mp_key_special(MP_NIL)) == 0xc1, "nil");
        CHECK(value_of(&table, &look, mp_key_special(MP_FALSE)) == 0xc1, "false");
        CHECK(value_of(&table, &look, mp_key_str("", 0)) == 0xc1, "an empty str");
        table = full_table_of(&look, text, sizeof(text), 1, seed);
        CHECK(value_of(&table, &look, mp_key_uint(mp_load64(text + 1))) == 0xc1, "the bytes of the str");
    }
}

/* The slot in a table of 2^16 is the first 16 bits of the hash: that of SipHash-1-3, as published, or of a number. */
static void
hashes_by_siphash_and_by_multiplication(void)
{
    static const struct {
        const char *text;
        uint32_t slot;
    } rows[] = {{"", 0xabac}, {"a", 0x1c26}, {"id", 0x8006}, {"seven77", 0x2818}, {"eight888", 0x7375},
                {"a key of sixteen", 0x51dd}, {"a key of more than twenty bytes", 0xb3c8}, {NULL, 0x6935}};
    const uint64_t seed[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    uint32_t *wide = calloc(1 << 16, sizeof(*wide));
    bool little = mp_word64((const uint8_t *)"\1\0\0\0\0\0\0") == 1; /* the 8th byte is the 0 at the end */
    size_t i;

    if (!wide) abort();
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = rows[i].text;
        size_t n = text ? strlen(text) : 0;
        uint8_t message[64] = {0x81}, *end = message + 1;
        mp_key_table table = {.slots = wide, .capacity = 1 << 16, .most = (1 << 16) - 1, .seed = {seed[0], seed[1]}};
        mp_look look;
        mp_cursor cursor;

        if (n >= 8 && !little) continue; /* words are read in the order of the machine */
        end = text ? mp_put_str_head(end, (uint32_t)n, true) : mp_put_uint(end, 12345);
        memcpy(end, text ? text : "", n);
        end[n] = 0;
        mp_look_init(&look, message, sizeof(message), left, PLACES);
        mp_cursor_open(&cursor, &look, 0);
        CHECK(mp_key_table_fill(&table, &cursor) == MP_OK && wide[rows[i].slot] == 1, "row %zu", i);
        wide[rows[i].slot] = 0;
    }
    free(wide);
}

void
mp_test_key_table(void)
{
    uint8_t *message = malloc(PAIRS * 80), *bytes;
    size_t size, n;
    mp_look look;

    if (!message) abort();
    size = write_map(message);
    bytes = mp_exact(message, size);
    finds_each_key(bytes, size);
    free(bytes);
    for (n = size - 1; n > 3; n = n * 3 / 4) {
        bytes = mp_exact(message, n);
        table_of(&look, bytes, n, MP_FIND_LAST, MP_E_TRUNCATED);
        free(bytes);
    }
    keeps_the_first_or_the_last_of_equal_keys();
    has_no_containers_exts_and_nans();
    uses_every_slot_but_one();
    finds_an_integer_in_all_its_formats();
    takes_no_other_key_for_an_integer();
    hashes_by_siphash_and_by_multiplication();
    CHECK(mp_key_table_slots(0) == 1 && mp_key_table_slots(5) == 11, "few slots");
    CHECK(mp_key_table_slots(0x7ffffffe) == 0xfffffffd && mp_key_table_slots(0x7fffffff) == UINT32_MAX, "many slots");
    CHECK(mp_key_table_slots(0x80000000) == UINT32_MAX && mp_key_table_slots(UINT32_MAX) == UINT32_MAX, "too many");
    free(message);
}
