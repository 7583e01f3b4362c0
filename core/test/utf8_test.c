/* UTF-8: every code point, every two-byte string, and the classic malformed sequences at every offset. */
#include "test.h"

#include "utf8.h"

static size_t
encode(uint32_t c, uint8_t *p)
{
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xc0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xe0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        p[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    p[0] = (uint8_t)(0xf0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    p[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}

static void
takes_every_code_point_but_surrogates(void)
{
    uint32_t c;

    for (c = 0; c < 0x120000; c++) {
        uint8_t bytes[4];
        size_t n = encode(c, bytes);
        bool valid = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);

        CHECK(mp_utf8_valid_p(bytes, n) == valid, "U+%04" PRIX32, c);
        if (n > 1) CHECK(!mp_utf8_valid_p(bytes, n - 1), "U+%04" PRIX32 " cut", c);
    }
}

static void
two_bytes_are_valid_only_as_spelled(void)
{
    int a, b;

    for (a = 0; a < 256; a++) {
        for (b = 0; b < 256; b++) {
            uint8_t bytes[2] = {(uint8_t)a, (uint8_t)b};
            bool valid = (a < 0x80 && b < 0x80) || (a >= 0xc2 && a < 0xe0 && (b & 0xc0) == 0x80);
            CHECK(mp_utf8_valid_p(bytes, 2) == valid, "%02x %02x", a, b);
        }
    }
}

static void
malformed_is_seen_at_every_offset(void)
{
    static const char *const malformed[] = {
        "\x80", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98",
    };
    size_t i, at, after;

    for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        size_t n = strlen(malformed[i]);
        for (at = 0; at < 20; at++) {
            uint8_t bytes[32], *block;
            memset(bytes, 'a', sizeof(bytes));
            CHECK(mp_utf8_valid_p(bytes, at + n + 8), "plain");
            memcpy(bytes + at, malformed[i], n);
            for (after = 0; after <= 8; after++) {
                block = mp_exact(bytes, at + n + after);
                CHECK(!mp_utf8_valid_p(block, at + n + after), "case %zu at %zu, %zu after", i, at, after);
                free(block);
            }
        }
    }
}

void
mp_test_utf8(void)
{
    takes_every_code_point_but_surrogates();
    two_bytes_are_valid_only_as_spelled();
    malformed_is_seen_at_every_offset();
}
