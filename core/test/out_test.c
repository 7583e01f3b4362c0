/* The output window: what is reserved but not committed is not there, and a refused growth changes nothing. */
#include "test.h"

#include "out.h"

typedef struct {
    mp_out out;
    uint8_t *block;
    unsigned grown;
    bool refuse;
} owner;

static bool
grow_exactly(mp_out *out, size_t n)
{
    owner *o = (owner *)(void *)out;
    size_t size = mp_out_size(out);
    uint8_t *block;

    if (o->refuse) return false;
    block = malloc(size + n);
    if (!block) abort();
    memcpy(block, out->start, size);
    free(o->block);
    o->block = block;
    o->grown++;
    out->start = block;
    out->pos = block + size;
    out->end = block + size + n;
    return true;
}

void
mp_test_out(void)
{
    uint8_t first[4];
    owner o = {.grown = 0};
    uint8_t *p;

    mp_out_init(&o.out, first, sizeof(first), grow_exactly);
    CHECK(mp_out_size(&o.out) == 0, "empty");
    p = mp_out_reserve(&o.out, 4);
    CHECK(p == first && o.grown == 0, "fits the first block");
    CHECK(mp_out_size(&o.out) == 0, "not committed");
    memcpy(p, "abcd", 4);
    mp_out_commit(&o.out, p + 3);
    CHECK(mp_out_size(&o.out) == 3, "committed");
    CHECK(mp_out_write(&o.out, "", 0) && o.grown == 0, "nothing needs nothing");
    CHECK(mp_out_write(&o.out, "0123456789", 10) && o.grown == 1, "grew once");
    CHECK(mp_out_size(&o.out) == 13 && memcmp(o.out.start, "abc0123456789", 13) == 0, "kept the bytes");
    o.refuse = true;
    CHECK(!mp_out_write(&o.out, "x", 1) && mp_out_size(&o.out) == 13, "a refusal leaves the window as it was");
    free(o.block);
}
