/*
 * The tokens of a JSON text, one at a time: white space, strings, numbers and words. The cursor does not know what they
 * become, packed bytes or a Record. A function gets the place of a token and returns the place after it, or NULL: then
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
    const uint8_t *readable; /* bytes from the end to here may be read, and are 0; mostly the end itself */
    bool lines;           /* a newline ends the text; otherwise it is white space */
    bool nan;             /* NaN, Infinity and -Infinity are numbers */
    bool ended;           /* the fault is at the end of the bytes: more bytes might resolve it */
    mp_json_fault fault;
    const char *expected;
    const uint8_t *at;    /* the byte to blame */
} mp_json_cursor;

/* Sets the fault. Returns NULL. */
const uint8_t *mp_json_fail(mp_json_cursor *c, mp_json_fault fault, const uint8_t *at);

/* Sets the fault MP_JSON_EXPECTED. If `at` is the end, more bytes might resolve it. */
const uint8_t *mp_json_expected(mp_json_cursor *c, const char *expected, const uint8_t *at);

const uint8_t *mp_json_skip_line_space(const mp_json_cursor *c, const uint8_t *p);

/* Skips white space. Returns the end if nothing else follows. */
MP_INLINE const uint8_t *
mp_json_space(const mp_json_cursor *c, const uint8_t *p)
{
    if (MP_LIKELY(p < c->end && *p > ' ')) return p;
    if (MP_UNLIKELY(c->lines)) return mp_json_skip_line_space(c, p);
    if (c->end - p > 1 && p[1] > ' ') return mp_scan_plain_space(p, p + 1);
    return mp_scan_space(p, c->readable);
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

/*
 * The value of eight digits, given as bytes from 0 to 9, the first one in the highest byte. Joins digits to pairs; then
 * one multiplication adds up the first and third pair, and another the second and fourth.
 */
MP_INLINE uint64_t
mp_eight_digits_value(uint64_t word)
{
    const uint64_t mask = UINT64_C(0x000000ff000000ff);

    word += (word >> 8) * 10;
    return ((word & mask) * (10000 + (UINT64_C(1) << 32)) +
            (word >> 16 & mask) * (1000000 + (UINT64_C(100) << 32))) >> 32;
}

/* Appends the first n digits of a word to a number, n below 8. */
MP_INLINE uint64_t
mp_add_digits(uint64_t number, uint64_t word, unsigned n)
{
    static const uint32_t powers_of_ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

    return number * powers_of_ten[n] + mp_eight_digits_value(word >> 8 >> (56 - 8 * n));
}

/* Appends the n digits at p, n below 24. Eight bytes must be readable after them. */
MP_INLINE uint64_t
mp_add_digits_at(uint64_t number, const uint8_t *p, unsigned n)
{
    for (; n >= 8; n -= 8, p += 8) {
        number = number * 100000000 + mp_eight_digits_value(mp_load64(p) ^ MP_EACH_BYTE('0'));
    }
    return mp_add_digits(number, mp_load64(p) ^ MP_EACH_BYTE('0'), n);
}

/* This many bytes must be readable for mp_json_read_short_number. */
enum { MP_JSON_NUMBER_AHEAD = 40 };

/*
 * Reads a real number at p: `whole` digits, the point, and digits up to the second byte that `others` marks as no
 * digit.
 */
MP_INLINE const uint8_t *
mp_json_read_short_real(const uint8_t *p, bool negative, unsigned whole, uint64_t others, mp_json_number *number)
{
    unsigned digits = mp_zeros_below(others & (others - 1)) - 1;
    int exponent = (int)whole - 16;
    mp_block text;
    double real = 0;

    if (digits == whole || digits > 19 || whole > 16) return NULL;
    text = mp_block_join(mp_block_load(p), whole, mp_block_load(p + 1));
    number->magnitude = mp_block_number(text, digits < 16 ? digits : 16);
    if (digits > 16) {
        number->magnitude = mp_add_digits(number->magnitude, mp_load64(p + 17) ^ MP_EACH_BYTE('0'), digits - 16);
        exponent = (int)whole - (int)digits;
    }
    if (number->magnitude && !mp_real_of_digits(number->magnitude, exponent, &real)) return NULL;
    number->real = mp_double_of_bits(mp_bits_of_double(real) | (uint64_t)negative << 63);
    number->kind = MP_JSON_REAL;
    return p + digits + 1;
}

/*
 * Fast path (middle/from_json districts): a number without an exponent and with at most 19 digits. Finds its end
 * before it reads any digit, so that the CPU can start on the next token. NULL for all others.
 */
MP_INLINE const uint8_t *
mp_json_read_short_number(const uint8_t *p, mp_json_number *number)
{
    bool negative = *p == '-';
    const uint8_t *digits = p + negative, *after;
    uint64_t others = mp_block_other_than_digits(mp_block_load(digits)) |
                      mp_block_other_than_digits(mp_block_load(digits + 16)) << 16;
    unsigned whole;

    if (!(others & (others - 1))) return NULL;
    whole = mp_zeros_below(others);
    after = digits + whole;
    if (!whole || (*digits == '0' && whole > 1)) return NULL;
    if (*after == '.') {
        after = mp_json_read_short_real(digits, negative, whole, others, number);
    } else {
        if (whole > 18) return NULL;
        number->magnitude = mp_add_digits_at(0, digits, whole);
        number->kind = negative && number->magnitude ? MP_JSON_NEGATIVE : MP_JSON_UINT;
    }
    return after && (*after | 0x20) != 'e' ? after : NULL;
}

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
