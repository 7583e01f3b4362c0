/* Blocks of 16 bytes: every byte at every place, as this machine's registers and plain C see it. */
#include "test.h"

#define BLOCK 16

/* True for a byte that stands for itself in a JSON string: ASCII, but no control character, quote or backslash. */
static bool
plain_p(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* How many bytes precede the first that is unplain, or is `also`. */
static unsigned
scan(const uint8_t *p, uint8_t also)
{
    uint64_t mask = mp_block_unplain(mp_block_load(p), also);

    return mask ? mp_zeros_below(mask) / MP_MASK_STEP : BLOCK;
}

static unsigned
plain_before(const uint8_t *p)
{
    unsigned n = 0;

    while (n < BLOCK && plain_p(p[n])) n++;
    return n;
}

static void
check_block(const uint8_t *p)
{
    unsigned n = plain_before(p), scanned = scan(p, 0), also = n ? n / 2 : 0;

    CHECK(scanned == n, "got %u instead of %u", scanned, n);
    if (!n) return;
    while (also && p[also - 1] == p[also]) also--;
    scanned = scan(p, p[also]);
    CHECK(scanned <= also && p[scanned] == p[also], "got %u instead of %u", scanned, also);
}

static void
finds_every_byte_at_every_place(void)
{
    uint8_t bytes[BLOCK];
    unsigned place, byte, other;

    for (place = 0; place < BLOCK; place++) {
        for (byte = 0; byte < 256; byte++) {
            memset(bytes, 'a', sizeof(bytes));
            bytes[place] = (uint8_t)byte;
            check_block(bytes);
            for (other = 0; other < 256; other += 5) {
                bytes[(place + 1) % BLOCK] = (uint8_t)other;
                check_block(bytes);
            }
        }
    }
}

static void
copies_what_it_loads(void)
{
    uint8_t bytes[BLOCK], copy[BLOCK + 1] = {0};
    unsigned i;

    for (i = 0; i < BLOCK; i++) bytes[i] = (uint8_t)(i * 17);
    mp_block_store(copy + 1, mp_block_load(bytes));
    CHECK(memcmp(copy + 1, bytes, sizeof(bytes)) == 0, "mp_block_store");
}

void
mp_test_block(void)
{
    finds_every_byte_at_every_place();
    copies_what_it_loads();
}
