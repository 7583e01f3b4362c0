/* Runs every suite of the core and closes with a line that counts. */
#include "test.h"

unsigned long mp_checks, mp_failures;

uint8_t *
mp_exact(const void *bytes, size_t n)
{
    uint8_t *block = malloc(n ? n : 1);

    if (!block) abort();
    if (n) memcpy(block, bytes, n);
    return block;
}

int
main(void)
{
#define MP_SUITE_RUN(name) mp_test_##name();
    MP_SUITES(MP_SUITE_RUN)
    printf("core: %lu checks, %lu failures\n", mp_checks, mp_failures);
    return mp_failures ? 1 : 0;
}
