/* Loads, stores and the short copy, at every length and alignment. */
#include "test.h"

static void
copies_every_length(void)
{
    uint8_t from[80], to[96];
    size_t n, i;

    for (i = 0; i < sizeof(from); i++) from[i] = (uint8_t)(i * 7 + 1);
    for (n = 0; n <= 72; n++) {
        memset(to, 0xee, sizeof(to));
        mp_copy(to + 8, from + 3, n);
        CHECK(memcmp(to + 8, from + 3, n) == 0, "n=%zu", n);
        CHECK(to[7] == 0xee && to[8 + n] == 0xee, "n=%zu wrote outside", n);
    }
}

static void
stores_what_it_loads(void)
{
    uint8_t block[16];
    size_t at;

    for (at = 0; at < 8; at++) {
        mp_store16(block + at, 0x0102);
        CHECK(block[at] == 1 && block[at + 1] == 2 && mp_load16(block + at) == 0x0102, "at %zu", at);
        mp_store32(block + at, 0x01020304);
        CHECK(block[at] == 1 && block[at + 3] == 4 && mp_load32(block + at) == 0x01020304, "at %zu", at);
        mp_store64(block + at, 0x0102030405060708u);
        CHECK(block[at] == 1 && block[at + 7] == 8 && mp_load64(block + at) == 0x0102030405060708u, "at %zu", at);
    }
}

void
mp_test_platform(void)
{
    copies_every_length();
    stores_what_it_loads();
}
