/*
 * Tells whether a message reaches anything new in the extension, for corpus.rb: extconf.rb compiles this with
 * --enable-reached, and then the compiler calls __sanitizer_cov_trace_pc at the start of every basic block. What is
 * reached is the way from one block to the next, as in AFL; two of them may be taken for the same one.
 */
#include <stdbool.h>
#include <stdint.h>

enum { WAYS = 1 << 16 };

static bool taken[WAYS], known[WAYS];
static uint32_t previous; /* of any Thread: where they take turns, a way is only named differently */

void __sanitizer_cov_trace_pc(void);
__attribute__((visibility("default"))) int mp_news_reached(void);

void
__sanitizer_cov_trace_pc(void)
{
    uint64_t place = (uint64_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)taken);
    uint32_t block = (uint32_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 48);

    taken[(block ^ previous) % WAYS] = true;
    previous = block >> 1; /* so that the way from one block to another differs from the way back */
}

/* Returns how many ways were taken for the first time since the last call. */
int
mp_news_reached(void)
{
    int i, news = 0;

    for (i = 0; i < WAYS; i++) {
        if (taken[i] && !known[i]) news++;
        known[i] |= taken[i];
        taken[i] = false;
    }
    return news;
}
