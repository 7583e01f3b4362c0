/* A test harness of one macro: CHECK counts, and says where and with which values it failed. */
#ifndef MP_TEST_H
#define MP_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

extern unsigned long mp_checks, mp_failures;

#define CHECK(condition, ...)                                                      \
    do {                                                                           \
        mp_checks++;                                                               \
        if (!(condition)) {                                                        \
            mp_failures++;                                                         \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);        \
            fprintf(stderr, __VA_ARGS__);                                          \
            fputc('\n', stderr);                                                   \
        }                                                                          \
    } while (0)

/* The bytes in a heap block of exactly their size, so that a sanitizer sees any over-read; to be freed. */
uint8_t *mp_exact(const void *bytes, size_t n);

/* One line per suite: defined in NAME_test.c, run by main.c. */
#define MP_SUITES(X) \
    X(platform) X(wire) X(out) X(timestamp) X(utf8) X(skip) X(split) X(key) X(find) X(tape) X(trail) X(canonical)

#define MP_SUITE_DECLARE(name) void mp_test_##name(void);
MP_SUITES(MP_SUITE_DECLARE)

#endif
