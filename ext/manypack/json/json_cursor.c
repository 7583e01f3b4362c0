/* Reads strings, numbers and words of JSON, and sets the fault of invalid ones. */
#include "json/json_cursor.h"

#include "core/utf8.h"

#include <math.h>

const uint8_t *
mp_json_fail(mp_json_cursor *c, mp_json_fault fault, const uint8_t *at)
{
    c->fault = fault;
    c->at = at;
    c->ended = false;
    return NULL;
}

const uint8_t *
mp_json_expected(mp_json_cursor *c, const char *expected, const uint8_t *at)
{
    mp_json_fail(c, MP_JSON_EXPECTED, at);
    c->expected = expected;
    c->ended = at == c->end;
    return NULL;
}

const uint8_t *
mp_json_skip_line_space(const mp_json_cursor *c, const uint8_t *p)
{
    while (p < c->end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return p;
}

/* --- strings ---------------------------------------------------------------------------------------- */

/* The first byte that is not UTF-8, in n bytes that have one. */
static const uint8_t *
wrong_byte(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;

    while (p < end) {
        size_t bytes = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

        if (bytes > (size_t)(end - p) || !mp_utf8_valid_p(p, bytes)) break;
        p += bytes;
    }
    return p;
}

const uint8_t *
mp_json_read_string(mp_json_cursor *c, const uint8_t *p, mp_json_string *string)
{
    uint64_t high = 0;

    string->text = p;
    string->escaped = false;
    p = mp_scan_text(p, c->readable, &high);
    while (p < c->end && *p == '\\') {
        string->escaped = true;
        if (c->end - p < 2) return mp_json_expected(c, "the end of a string", c->end);
        p = mp_scan_text(p + 2, c->readable, &high);
    }
    if (p == c->end) return mp_json_expected(c, "the end of a string", p);
    if (*p != '"') {
        if (c->lines && *p == '\n') return mp_json_expected(c, "the end of a string", p);
        return mp_json_fail(c, MP_JSON_CONTROL, p);
    }
    string->n = (size_t)(p - string->text);
    if (high && !mp_utf8_valid_p(string->text, string->n)) {
        return mp_json_fail(c, MP_JSON_UTF8, wrong_byte(string->text, string->n));
    }
    return p + 1;
}

/* The four hexadecimal digits at p, or -1. */
static int32_t
hex_digits(const uint8_t *p, const uint8_t *end)
{
    int32_t unit = 0;

    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        uint8_t digit = p[i], letter = digit | 0x20;

        if (digit >= '0' && digit <= '9') unit = unit << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f') unit = unit << 4 | (letter - 'a' + 10);
        else return -1;
    }
    return unit;
}

/* Reads the character of an escape. *p is after its \u. */
static mp_json_fault
read_character(const uint8_t **p, const uint8_t *end, uint32_t *character)
{
    int32_t high = hex_digits(*p, end), low;

    if (high < 0) return MP_JSON_ESCAPE;
    *p += 4;
    *character = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff) return MP_JSON_OK;
    if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u') return MP_JSON_SURROGATE;
    low = hex_digits(*p + 2, end);
    if (low < 0xdc00 || low > 0xdfff) return MP_JSON_SURROGATE;
    *p += 6;
    *character = 0x10000 + ((uint32_t)(high - 0xd800) << 10 | (uint32_t)(low - 0xdc00));
    return MP_JSON_OK;
}

static uint8_t *
put_character(uint8_t *to, uint32_t character)
{
    if (character < 0x80) {
        *to++ = (uint8_t)character;
        return to;
    }
    if (character < 0x800) {
        *to++ = (uint8_t)(0xc0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *to++ = (uint8_t)(0xe0 | character >> 12);
        } else {
            *to++ = (uint8_t)(0xf0 | character >> 18);
            *to++ = (uint8_t)(0x80 | (character >> 12 & 0x3f));
        }
        *to++ = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    }
    *to++ = (uint8_t)(0x80 | (character & 0x3f));
    return to;
}

/* The byte that an escape of one letter stands for, or 0. */
static uint8_t
escaped_byte(uint8_t letter)
{
    switch (letter) {
      case '"': case '\\': case '/': return letter;
      case 'b': return '\b';
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      default: return 0;
    }
}

/* Writes the character for the escape at *p, after the backslash. It needs no more bytes than the escape. */
static mp_json_fault
put_escaped(const uint8_t **p, const uint8_t *end, uint8_t **to)
{
    mp_json_fault fault;
    uint32_t character;

    if (*(*p)++ == 'u') {
        fault = read_character(p, end, &character);
        if (fault == MP_JSON_OK) *to = put_character(*to, character);
        return fault;
    }
    **to = escaped_byte((*p)[-1]);
    return *(*to)++ ? MP_JSON_OK : MP_JSON_ESCAPE;
}

bool
mp_json_unescape(mp_json_cursor *c, const mp_json_string *string, uint8_t *to, size_t *n)
{
    const uint8_t *p = string->text, *end = p + string->n;
    uint8_t *start = to;

    while (p < end) {
        uint64_t high = 0;
        const uint8_t *plain = mp_scan_text(p, end, &high), *escape = plain + 1;
        mp_json_fault fault;

        mp_copy(to, p, (size_t)(plain - p));
        to += plain - p;
        if (plain == end) break;
        fault = put_escaped(&escape, end, &to);
        if (fault != MP_JSON_OK) {
            mp_json_fail(c, fault, plain);
            return false;
        }
        p = escape;
    }
    *n = (size_t)(to - start);
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------------- */

/* The largest power of ten that fits 64 bits, which has 20 digits. */
#define TEN_TO_19 UINT64_C(10000000000000000000)

/*
 * Appends the digits at p to a number, which wraps around. Returns the place after them. Reads eight bytes at once, and
 * shifts out those after the digits, so that zeros lead: branches on the number of digits would be mispredicted.
 */
MP_INLINE const uint8_t *
skip_digits(const uint8_t *p, const uint8_t *end, uint64_t *number)
{
    while (end - p >= 8) {
        uint64_t word = mp_load64(p) ^ MP_EACH_BYTE('0');
        uint64_t others = (((word & MP_EACH_BYTE(0x7f)) + MP_EACH_BYTE(0x76)) | word) & MP_EACH_BYTE(0x80);

        if (others) {
            unsigned n = mp_zeros_above(others) / 8;
            *number = mp_add_digits(*number, word, n);
            return p + n;
        }
        *number = *number * 100000000 + mp_eight_digits_value(word);
        p += 8;
    }
    for (; p < end && (uint8_t)(*p - '0') < 10; p++) *number = *number * 10 + (uint8_t)(*p - '0');
    return p;
}

/* Reads an exponent; p is at its e. Once it is far too large, further digits are ignored. */
static const uint8_t *
read_exponent(mp_json_cursor *c, const uint8_t *p, int64_t *exponent)
{
    bool negative = false;
    const uint8_t *digits;
    int64_t value = 0;

    p++;
    if (p < c->end && (*p == '+' || *p == '-')) negative = *p++ == '-';
    for (digits = p; p < c->end && (uint8_t)(*p - '0') < 10; p++) {
        if (value < (int64_t)1 << 48) value = value * 10 + (*p - '0');
    }
    if (p == digits) return mp_json_expected(c, "a digit", p);
    *exponent += negative ? -value : value;
    return p;
}

/* Reads the rest of a number with a point or an exponent, which is at p. */
static const uint8_t *
read_real(mp_json_cursor *c, const uint8_t *p, const uint8_t *digits, uint64_t number, mp_json_number *to)
{
    mp_decimal_text text = {.from = digits, .count = (size_t)(p - digits)};

    if (*p == '.') {
        const uint8_t *point = p;

        p = skip_digits(point + 1, c->end, &number);
        if (p == point + 1) return mp_json_expected(c, "a digit", p);
        text.exponent = -(int64_t)(p - point - 1);
        text.count = (size_t)(p - digits) - 1;
    }
    text.end = p;
    text.digits = number;
    for (; digits < p && (*digits == '0' || *digits == '.'); digits++) text.count -= *digits == '0';
    if (p < c->end && (*p | 0x20) == 'e') {
        p = read_exponent(c, p, &text.exponent);
        if (!p) return NULL;
    }
    to->real = mp_real(&text);
    return p;
}

/* Reads NaN, Infinity or -Infinity. */
static const uint8_t *
read_no_number(mp_json_cursor *c, const uint8_t *p, mp_json_number *number)
{
    bool negative = *p == '-';

    p += negative;
    number->kind = MP_JSON_REAL;
    if (*p == 'N' && !negative) {
        number->real = NAN;
        return mp_json_read_word(c, "NaN", 3, p);
    }
    number->real = negative ? -HUGE_VAL : HUGE_VAL;
    return mp_json_read_word(c, "Infinity", 8, p);
}

/* Sets the kind of an integer. If a number of 20 digits has wrapped around, it is below 10^19. */
static void
set_integer(mp_json_number *number, const uint8_t *digits, size_t n, bool negative)
{
    bool fits = n < 20 || (n == 20 && *digits == '1' && number->magnitude >= TEN_TO_19);

    if (!negative || (fits && !number->magnitude)) number->kind = fits ? MP_JSON_UINT : MP_JSON_BIGNUM;
    else number->kind = fits && number->magnitude <= (uint64_t)1 << 63 ? MP_JSON_NEGATIVE : MP_JSON_BIGNUM;
}

const uint8_t *
mp_json_read_number(mp_json_cursor *c, const uint8_t *p, mp_json_number *number)
{
    const uint8_t *from = p, *digits;
    bool negative = *p == '-';

    p += negative;
    if (MP_UNLIKELY(c->nan) && p < c->end && (*p == 'I' || *p == 'N')) return read_no_number(c, from, number);
    digits = p;
    number->from = from;
    number->magnitude = 0;
    p = skip_digits(p, c->end, &number->magnitude);
    if (p == digits) return mp_json_expected(c, negative ? "a digit" : "a value", negative ? p : from);
    if (*digits == '0' && p - digits > 1) return mp_json_fail(c, MP_JSON_NUMBER, from);
    if (p < c->end && (*p == '.' || (*p | 0x20) == 'e')) {
        number->kind = MP_JSON_REAL;
        p = read_real(c, p, digits, number->magnitude, number);
        if (p && negative) number->real = -number->real;
        if (p && number->real - number->real != 0 && !c->nan) return mp_json_fail(c, MP_JSON_LARGE, from);
        return p;
    }
    set_integer(number, digits, (size_t)(p - digits), negative);
    return p;
}

/* --- words ------------------------------------------------------------------------------------------ */

const uint8_t *
mp_json_wrong_word(mp_json_cursor *c, const char *word, const uint8_t *p)
{
    size_t n = (size_t)(c->end - p);

    mp_json_expected(c, "a value", p);
    c->ended = n < strlen(word) && !memcmp(p, word, n);
    return NULL;
}
