/*
 * The fuzz targets: each takes any bytes and aborts when the core breaks a promise over them. fuzzer.c makes a
 * libFuzzer of one of them, replay.c runs those that files ask for, with any compiler.
 */
#ifndef MP_FUZZ_TARGET_H
#define MP_FUZZ_TARGET_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform.h"
#include "skip.h"
#include "wire_table.h"

#define MP_TARGETS(X) \
    X(head) X(skip) X(validate) X(measure) X(resume) X(split) X(find) X(tape) X(trail) X(timestamp) X(utf8) \
    X(round_trip) X(canonical)

#define MP_TARGET_DECLARE(name) void mp_fuzz_##name(const uint8_t *bytes, size_t n);
MP_TARGETS(MP_TARGET_DECLARE)
#undef MP_TARGET_DECLARE

/* The longest input that a target looks at whole. */
#define MP_FUZZ_MAX 4096

/* A promise. */
#define ENSURE(condition, ...)                                                     \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);        \
            fprintf(stderr, __VA_ARGS__);                                          \
            fputc('\n', stderr);                                                   \
            abort();                                                               \
        }                                                                          \
    } while (0)

/*
 * A copy of n bytes, at most MP_FUZZ_MAX, that ends where a heap block ends, so that a sanitizer sees any over-read.
 * Until the next call.
 */
const uint8_t *mp_at_the_edge(const uint8_t *bytes, size_t n);

/* Slow and plain readings of the specification, to compare the core with. */

typedef struct {
    mp_kind kind;
    size_t size;  /* bytes */
    uint64_t n;   /* count, length or the bits of a number */
} mp_plain_head;

/* The head at p; of one that does not end before end only kind and size. */
mp_plain_head mp_reference_head(const uint8_t *p, const uint8_t *end);

typedef struct {
    const uint8_t *at; /* where it stopped: behind the object, or as mp_skip says */
    mp_status status;
    uint64_t payload;  /* bytes that are still to come of a str, bin or ext */
    uint64_t objects;  /* heads passed */
    size_t deepest;
} mp_reference;

/* What a walk over the object at p has to come to; valid: as mp_validate. max_depth bounds the recursion. */
mp_reference mp_reference_walk(const uint8_t *p, const uint8_t *end, size_t max_depth, bool valid);

/* Whether n bytes are UTF-8. */
bool mp_reference_utf8_p(const uint8_t *p, size_t n);

/* What has to be said of n bytes of a timestamp. */
mp_status mp_reference_timestamp(const uint8_t *p, size_t n);

#endif
