/* The function that libFuzzer calls. The Makefile chooses the target by MP_FUZZ_TARGET. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    MP_FUZZ_TARGET(bytes, n);
    return 0;
}
