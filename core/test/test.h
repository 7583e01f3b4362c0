/* A test harness of one macro: CHECK counts, and prints where and with which values it failed. */
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

/*
 * Copies the bytes to a heap block of exactly their size, so that a sanitizer notices any over-read. The caller frees
 * it.
 */
uint8_t *mp_exact(const void *bytes, size_t n);

/* True while messages are no seeds: too many of them differ only in a number. */
extern bool mp_seedless;

/* One line for each suite: NAME_test.c defines it, main.c runs it. */
#define MP_SUITES(X) \
    X(platform) X(wire) X(out) X(timestamp) X(utf8) X(skip) X(split) X(key) X(find) X(key_table) X(places) \
    X(unique) X(tape) X(trail) X(canonical) X(block)

#define MP_SUITE_DECLARE(name) void mp_test_##name(void);
MP_SUITES(MP_SUITE_DECLARE)

#endif
