/* What libFuzzer calls; the Makefile says by MP_FUZZ_TARGET which target that is. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    MP_FUZZ_TARGET(bytes, n);
    return 0;
}
