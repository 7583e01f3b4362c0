/*
 * Runs every suite of the core and prints a count at the end. With a folder as its argument it also writes each block
 * of bytes that a test reads to a file there: fuzzers start from these.
 */
#include "test.h"

unsigned long mp_checks, mp_failures;
bool mp_seedless;

static const char *seeds;

/* Named by its hash, so that equal blocks make one file. */
static void
leave_seed(const uint8_t *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char path[512];
    FILE *file;
    size_t i;

    for (i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    snprintf(path, sizeof(path), "%s/%016" PRIx64, seeds, hash);
    file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fwrite(bytes, 1, n, file);
    fclose(file);
}

uint8_t *
mp_exact(const void *bytes, size_t n)
{
    uint8_t *block = malloc(n ? n : 1);

    if (!block) abort();
    if (n) memcpy(block, bytes, n);
    if (seeds && n && !mp_seedless) leave_seed(block, n);
    return block;
}

int
main(int argc, char **argv)
{
    if (argc > 1) seeds = argv[1];
#define MP_SUITE_RUN(name) mp_test_##name();
    MP_SUITES(MP_SUITE_RUN)
    printf("core: %lu checks, %lu failures\n", mp_checks, mp_failures);
    return mp_failures ? 1 : 0;
}
