/*
 * Threads that walk over the same bytes at the same time, each with its own walk: under ThreadSanitizer this shows that
 * the core shares no mutable state.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "skip.h"
#include "tape.h"
#include "timestamp.h"
#include "wire.h"

enum { THREADS = 8, ROUNDS = 200, MAPS = 300, PLACES = 8 };

typedef struct {
    const uint8_t *bytes;
    size_t n;
    unsigned failures; /* of this thread */
} job;

static void
never(mp_out *out, size_t n)
{
    (void)out;
    (void)n;
    abort();
}

/* An array of maps {str => float64, int => timestamp}. */
static size_t
message(uint8_t *block, size_t size)
{
    mp_out out;
    int i;

    mp_out_init(&out, block, size, never);
    mp_out_commit(&out, mp_put_array_head(mp_out_reserve(&out, MP_HEAD_MAX), MAPS));
    for (i = 0; i < MAPS; i++) {
        uint8_t *p = mp_put_map_head(mp_out_reserve(&out, 2 * MP_HEAD_MAX), 2);
        mp_out_commit(&out, mp_put_str_head(p, 5, false));
        mp_out_write(&out, "caf\xc3\xa9", 5);
        p = mp_put_float64(mp_out_reserve(&out, 3 * MP_HEAD_MAX + MP_TIMESTAMP_MAX), i * 0.5);
        p = mp_put_ext_head(mp_put_sint(p, -i), MP_TIMESTAMP_TYPE, MP_TIMESTAMP_MAX);
        mp_out_commit(&out, p + mp_timestamp_put(p, (mp_timestamp){-1 - i, 5})); /* before 1970 all have 12 bytes */
    }
    return mp_out_size(&out);
}

/* Skips all bytes. 1 unless it ends where the bytes end. */
static unsigned
skip_whole(const job *j)
{
    uint64_t left[PLACES];
    const uint8_t *p = j->bytes, *end = p + j->n;
    mp_walk walk;

    mp_walk_init(&walk, left, PLACES);
    return mp_skip(&walk, &p, end) != MP_OK || p != end;
}

static bool
no_more(mp_tape *tape)
{
    (void)tape;
    return false;
}

/* Checks all bytes. 1 unless all are well formed, UTF-8 and timestamps included. */
static unsigned
check_whole(const job *j)
{
    const mp_check checks = {.limits = MP_LIMITS_NONE, .utf8 = true, .timestamps = true};
    mp_tape_entry entries[PLACES];
    mp_tape tape;

    mp_tape_init(&tape, j->bytes, j->n, PLACES, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = PLACES;
    tape.grow = no_more;
    tape.checks = &checks;
    return mp_tape_finish(&tape) != MP_OK || tape.at != j->n;
}

static void *
work(void *arg)
{
    job *j = arg;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        j->failures += skip_whole(j);
        j->failures += check_whole(j);
    }
    return NULL;
}

int
main(void)
{
    static uint8_t block[64 * MAPS];
    size_t n = message(block, sizeof(block));
    pthread_t threads[THREADS];
    job jobs[THREADS];
    unsigned failures = 0;
    int i;

    for (i = 0; i < THREADS; i++) {
        jobs[i] = (job){.bytes = block, .n = n};
        if (pthread_create(&threads[i], NULL, work, &jobs[i])) abort();
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failures += jobs[i].failures;
    }
    printf("core: %d threads, %d walks, %u failures\n", THREADS, 2 * THREADS * ROUNDS, failures);
    return failures ? 1 : 0;
}
