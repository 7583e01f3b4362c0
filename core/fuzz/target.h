/*
 * The fuzz targets: each takes any bytes and aborts if the core breaks a promise over them. fuzzer.c makes a libFuzzer
 * program of one target, replay.c runs the targets for files, with any compiler.
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
    X(head) X(skip) X(resume) X(split) X(find) X(tape) X(trail) X(timestamp) X(utf8) X(round_trip) X(canonical)

#define MP_TARGET_DECLARE(name) void mp_fuzz_##name(const uint8_t *bytes, size_t n);
MP_TARGETS(MP_TARGET_DECLARE)
#undef MP_TARGET_DECLARE

/* The longest input that a target reads completely. */
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
 * A copy of n bytes, at most MP_FUZZ_MAX, that ends where the memory ends that the process may read, so that an
 * over-read ends the process in any build. Valid until the next call.
 */
const uint8_t *mp_at_the_edge(const uint8_t *bytes, size_t n);

/* Slow and simple readings of the specification, to compare with the core. */

typedef struct {
    mp_kind kind;
    size_t size;  /* bytes */
    uint64_t n;   /* count, length or the bits of a number */
} mp_plain_head;

/* The head at p. Only kind and size if the head does not end before end. */
mp_plain_head mp_reference_head(const uint8_t *p, const uint8_t *end);

typedef struct {
    const uint8_t *at; /* where it stopped: after the object, or as in mp_skip */
    mp_status status;
    uint64_t payload;  /* bytes of a str, bin or ext that are still to come */
} mp_reference;

/*
 * The expected result of a walk over the object at p. valid: each str must be UTF-8, and each timestamp well formed.
 * max_depth bounds the recursion.
 */
mp_reference mp_reference_walk(const uint8_t *p, const uint8_t *end, size_t max_depth, bool valid);

/* True if n bytes are UTF-8. */
bool mp_reference_utf8_p(const uint8_t *p, size_t n);

/* The expected status of a timestamp of n bytes. */
mp_status mp_reference_timestamp(const uint8_t *p, size_t n);

#endif
