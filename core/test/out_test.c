/* The output window: reserved bytes do not count until they are committed, and a refused growth changes nothing. */
#include "test.h"

#include <setjmp.h>

#include "out.h"
#include "wire.h"

typedef struct {
    mp_out out;
    uint8_t *block;
    unsigned grown;
    unsigned refused; /* the growth to refuse, counted from 1; 0 for none */
    jmp_buf refusal;  /* where a refusal goes */
} owner;

static void
grow_exactly(mp_out *out, size_t n)
{
    owner *o = (owner *)(void *)out;
    size_t size = mp_out_size(out);
    uint8_t *block;

    if (o->grown + 1 == o->refused) longjmp(o->refusal, 1);
    block = malloc(size + n);
    if (!block) abort();
    memcpy(block, out->start, size);
    free(o->block);
    o->block = block;
    o->grown++;
    out->start = block;
    out->pos = block + size;
    out->end = block + size + n;
}

/* Reserves n bytes. True if refused. */
static bool
refused_p(owner *o, size_t n)
{
    if (setjmp(o->refusal)) return true;
    mp_out_reserve(&o->out, n);
    return false;
}

/* Writes from step *step on, until a refusal. */
static bool
write_message(owner *o, int *step)
{
    mp_out *out = &o->out;

    if (setjmp(o->refusal)) return false;
    for (; *step < 40; ++*step) {
        uint8_t *p = mp_out_reserve(out, MP_HEAD_MAX);
        switch (*step % 4) {
          case 0: mp_out_commit(out, mp_put_sint(p, -1000 * *step)); break;
          case 1: mp_out_commit(out, mp_put_float64(p, 1.5 * *step)); break;
          case 2: mp_out_commit(out, mp_put_str_head(p, 40, false)); break;
          default: mp_out_write(out, "a payload that is longer than a head is!", 40);
        }
    }
    return true;
}

/* Refuses the first growth, the second and so on; each time writing continues afterwards. */
static void
refuses_at_every_growth(void)
{
    uint8_t first[4], first_again[4];
    owner whole = {.grown = 0}, o;
    unsigned growth;
    int step = 0;

    mp_out_init(&whole.out, first, sizeof(first), grow_exactly);
    CHECK(write_message(&whole, &step) && whole.grown > 20, "grew %u times", whole.grown);
    for (growth = 1; growth <= whole.grown; growth++) {
        const uint8_t *start, *end;
        size_t size;

        o = (owner){.refused = growth};
        step = 0;
        mp_out_init(&o.out, first_again, sizeof(first_again), grow_exactly);
        CHECK(!write_message(&o, &step), "growth %u", growth);
        size = mp_out_size(&o.out);
        CHECK(memcmp(o.out.start, whole.out.start, size) == 0, "growth %u: other bytes", growth);
        start = o.out.start;
        end = o.out.end;
        CHECK(refused_p(&o, 1000), "growth %u", growth);
        CHECK(o.out.start == start && o.out.end == end && mp_out_size(&o.out) == size, "growth %u", growth);
        o.refused = 0;
        CHECK(write_message(&o, &step), "growth %u: goes on", growth);
        CHECK(mp_out_size(&o.out) == mp_out_size(&whole.out), "growth %u", growth);
        CHECK(memcmp(o.out.start, whole.out.start, mp_out_size(&whole.out)) == 0, "growth %u", growth);
        free(o.block);
    }
    free(whole.block);
}

static void
keeps_what_is_committed(void)
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
    mp_out_write(&o.out, "", 0);
    CHECK(o.grown == 0, "nothing needs nothing");
    mp_out_write(&o.out, "0123456789", 10);
    CHECK(o.grown == 1, "grew once");
    CHECK(mp_out_size(&o.out) == 13 && memcmp(o.out.start, "abc0123456789", 13) == 0, "kept the bytes");
    o.refused = o.grown + 1;
    CHECK(refused_p(&o, 1) && mp_out_size(&o.out) == 13, "a refusal leaves the window as it was");
    free(o.block);
}

void
mp_test_out(void)
{
    keeps_what_is_committed();
    refuses_at_every_growth();
}
