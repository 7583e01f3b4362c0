/*
 * The literals of an enum, and a table that finds one among many. Literals are Strings, Symbols, Integers, Floats, nil,
 * true and false, no two of them the same.
 */
#ifndef MANYPACK_LITERALS_H
#define MANYPACK_LITERALS_H

#include "base/support.h"

/* An open hash table of the indices of the literals, at most half full. Few literals need none: see LITERALS_FEW. */
typedef struct {
    uint32_t *buckets; /* UINT32_MAX in an empty bucket; NULL for few literals */
    uint32_t mask;     /* number of buckets minus 1 */
} mp_literals;

/* Initializes zeroed memory as the table of an Array of literals. After NoMemoryError it can be freed. */
void mp_literals_init(mp_literals *table, VALUE literals);

void mp_literals_free(mp_literals *table);
size_t mp_literals_memsize(const mp_literals *table);

/*
 * The literal that equals the str, if text, or bin of n bytes at p; Qundef without one. A str and a bin are equal only
 * if they are ASCII, as in Ruby.
 */
VALUE mp_literals_text(const mp_literals *table, VALUE literals, const uint8_t *p, uint32_t n, bool text);

/* The literal that is identical to the object, or an equal Bignum; Qundef without one. */
VALUE mp_literals_same(const mp_literals *table, VALUE literals, VALUE object);

/* The Float that equals a number; Qundef without one. */
VALUE mp_literals_real(const mp_literals *table, VALUE literals, VALUE number);

#endif
