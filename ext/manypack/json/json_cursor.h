/*
 * The tokens of a JSON text, one at a time: white space, strings, numbers and words. Independent of what is made of
 * them, packed bytes or a Record. A function gets the place of a token and returns the place after it, or NULL: then
 * the cursor has the fault and its place.
 */
#ifndef MANYPACK_JSON_CURSOR_H
#define MANYPACK_JSON_CURSOR_H

#include "json/real.h"
#include "json/scan.h"

/* What is wrong with a text. */
typedef enum {
    MP_JSON_OK,
    MP_JSON_EXPECTED,  /* the text does not have what `expected` names */
    MP_JSON_UTF8,      /* a byte is not UTF-8 */
    MP_JSON_CONTROL,   /* a control character in a string is not escaped */
    MP_JSON_ESCAPE,    /* there is no such escape */
    MP_JSON_SURROGATE, /* half of a pair of surrogates */
    MP_JSON_NUMBER,    /* not a valid number */
    MP_JSON_LARGE,     /* a number is too large for a Float */
    MP_JSON_BIG,       /* an Integer has more than 64 bits */
    MP_JSON_TWICE,     /* the map has this key already */
    MP_JSON_DEPTH,     /* nested too deeply */
    MP_JSON_LIMIT,     /* above another limit */
} mp_json_fault;

typedef struct {
    const uint8_t *end;
    bool lines;           /* a newline ends the text; otherwise it is white space */
    bool nan;             /* NaN, Infinity and -Infinity are numbers */
    bool ended;           /* the text ends at `at`, or may continue: more bytes might resolve the fault */
    mp_json_fault fault;
    const char *expected;
    const uint8_t *at;    /* the byte to blame */
} mp_json_cursor;

/* Sets the fault. Returns NULL. */
const uint8_t *mp_json_fail(mp_json_cursor *c, mp_json_fault fault, const uint8_t *at);

/* Sets the fault MP_JSON_EXPECTED. If `at` is the end, more bytes might resolve it. */
const uint8_t *mp_json_expected(mp_json_cursor *c, const char *expected, const uint8_t *at);

const uint8_t *mp_json_pass_line_space(const mp_json_cursor *c, const uint8_t *p);

/* Skips white space. Returns the end if nothing else follows. */
MP_INLINE const uint8_t *
mp_json_space(const mp_json_cursor *c, const uint8_t *p)
{
    if (MP_LIKELY(p < c->end && *p > ' ')) return p;
    if (MP_UNLIKELY(c->lines)) return mp_json_pass_line_space(c, p);
    if (c->end - p > 1 && p[1] > ' ') return mp_scan_plain_space(p, p + 1);
    return mp_scan_space(p, c->end);
}

/* --- strings ---------------------------------------------------------------------------------------- */

/* A string without its quotes, valid UTF-8. */
typedef struct {
    const uint8_t *text;
    size_t n;
    bool escaped; /* it has escapes, which mp_json_unescape resolves, in at most n bytes */
} mp_json_string;

/* Reads a string. p is after its first quote. */
const uint8_t *mp_json_read_string(mp_json_cursor *c, const uint8_t *p, mp_json_string *string);

/* Writes a string that is `escaped`. Sets *n to its size. False if it has a wrong escape. */
bool mp_json_unescape(mp_json_cursor *c, const mp_json_string *string, uint8_t *to, size_t *n);

/* --- numbers ---------------------------------------------------------------------------------------- */

typedef enum { MP_JSON_UINT, MP_JSON_NEGATIVE, MP_JSON_REAL, MP_JSON_BIGNUM } mp_json_kind;

typedef struct {
    mp_json_kind kind;
    uint64_t magnitude; /* of a UINT, or of a NEGATIVE, then at most 2^63 */
    double real;
    const uint8_t *from; /* its text, for a BIGNUM */
} mp_json_number;

/* Reads a number, which starts with a digit or a minus, or NaN or Infinity, if `nan` is set. */
const uint8_t *mp_json_read_number(mp_json_cursor *c, const uint8_t *p, mp_json_number *number);

/* --- words ------------------------------------------------------------------------------------------ */

const uint8_t *mp_json_wrong_word(mp_json_cursor *c, const char *word, const uint8_t *p);

/* Reads a word of n characters, of which the first is known. */
MP_INLINE const uint8_t *
mp_json_read_word(mp_json_cursor *c, const char *word, size_t n, const uint8_t *p)
{
    if (MP_LIKELY((size_t)(c->end - p) >= n && !memcmp(p, word, n))) return p + n;
    return mp_json_wrong_word(c, word, p);
}

#endif
