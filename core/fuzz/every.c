/*
 * Runs targets over every input there is, up to a size:
 *
 *   every heads      all 2^24 beginnings of three bytes: head, with nothing after them and with bytes ahead, and utf8
 *   every bytes N    all inputs of at most N bytes: every target
 *   every kinds N    all inputs of at most N bytes that are a head byte of some kind, or the edge of a number: every
 *                    target
 *
 * An input ends where a page ends that may be read, and a broken promise aborts. So if this comes to its end, the core
 * reads no such input wrongly, and reads no byte after it.
 */
#include "target.h"

enum { BEGINNING = 3, AHEAD = 40 };

/* Each head byte whose number or length is in a field, and of the others those at the edges of their range. */
static const uint8_t kinds[] = {
    0x00, 0x01, 0x02, 0x7f, 0x80, 0x81, 0x82, 0x8f, 0x90, 0x91, 0x92, 0x9f, 0xa0, 0xa1, 0xa2, 0xbf,
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
    0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf,
    0xe0, 0xff,
};

static unsigned long inputs;

/* What follows a beginning: other bytes after each, so that a field of eight bytes takes many values. */
static void
fill_ahead(uint8_t *bytes, uint32_t beginning)
{
    uint64_t word = (beginning + 1) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i;

    for (i = BEGINNING; i < AHEAD; i++) {
        word ^= word >> 29;
        word *= UINT64_C(0xbf58476d1ce4e5b9);
        bytes[i] = (uint8_t)(word >> 56);
    }
}

static void
every_beginning(void)
{
    uint8_t bytes[AHEAD] = {0};
    uint32_t i;

    mp_fuzz_head(bytes, 0);
    for (i = 0; i < 1u << 8 * BEGINNING; i++) {
        bytes[0] = (uint8_t)(i >> 16);
        bytes[1] = (uint8_t)(i >> 8);
        bytes[2] = (uint8_t)i;
        fill_ahead(bytes, i);
        if ((i & 0xffff) == 0) mp_fuzz_head(bytes, 1);
        if ((i & 0xff) == 0) mp_fuzz_head(bytes, 2);
        mp_fuzz_head(bytes, BEGINNING);
        mp_fuzz_head(bytes, AHEAD);
        mp_fuzz_utf8(bytes, BEGINNING);
        inputs++;
    }
}

static void
every_target(const uint8_t *bytes, size_t n)
{
#define MP_TARGET_RUN(name) mp_fuzz_##name(bytes, n);
    MP_TARGETS(MP_TARGET_RUN)
#undef MP_TARGET_RUN
    inputs++;
}

/* All inputs of n bytes of an alphabet. */
static void
every_input(const uint8_t *alphabet, size_t letters, size_t n)
{
    size_t digits[8] = {0}, i;
    uint8_t bytes[8] = {0};

    for (;;) {
        for (i = 0; i < n; i++) bytes[i] = alphabet[digits[i]];
        every_target(bytes, n);
        for (i = 0; i < n && ++digits[i] == letters; i++) digits[i] = 0;
        if (i == n) return;
    }
}

int
main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    size_t max = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, n;
    uint8_t all[256];

    for (n = 0; n < sizeof(all); n++) all[n] = (uint8_t)n;
    if (!strcmp(which, "heads")) {
        every_beginning();
    } else if (max <= 8 && !strcmp(which, "bytes")) {
        for (n = 0; n <= max; n++) every_input(all, sizeof(all), n);
    } else if (max <= 8 && !strcmp(which, "kinds")) {
        for (n = 0; n <= max; n++) every_input(kinds, sizeof(kinds), n);
    } else {
        fprintf(stderr, "every heads | bytes N | kinds N, N at most 8\n");
        return 1;
    }
    printf("core: every %s%s%s: %lu inputs\n", which, argc > 2 ? " " : "", argc > 2 ? argv[2] : "", inputs);
    return 0;
}
