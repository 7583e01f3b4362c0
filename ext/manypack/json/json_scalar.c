/*
 * Strings of JSON. Copies 16 bytes at a time and checks them on the way: most strings need no escape, and one or two
 * blocks.
 */
#include "json/json_scalar.h"

#include "base/hidden.h"
#include "core/utf8.h"
#include "json/decimal.h"
#include "json/scan.h"

static const char HEX_DIGITS[] = "0123456789abcdef";

/* The longest escapes: \u001f for a byte, and a surrogate pair, twice as long, for a character. */
enum { ESCAPE_MAX = 6, ESCAPES_MAX = 2 * ESCAPE_MAX };

static uint8_t *
put_unicode(uint8_t *to, unsigned unit)
{
    *to++ = '\\';
    *to++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4) *to++ = (uint8_t)HEX_DIGITS[unit >> shift & 15];
    return to;
}

static uint8_t *
put_escape(uint8_t *to, uint8_t byte)
{
    static const char letters[] = "btn?fr"; /* of the bytes from 8 on */

    if (byte >= 0x20 ? byte == 0x7f : byte < 8 || byte > 13 || byte == 11) return put_unicode(to, byte);
    *to++ = '\\';
    *to++ = byte < 0x20 ? (uint8_t)letters[byte - 8] : byte;
    return to;
}

static uint8_t *
put_unicode_character(uint8_t *to, const uint8_t *p, size_t n)
{
    unsigned c;

    if (n == 2) return put_unicode(to, (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu));
    c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    if (n == 3) return put_unicode(to, c);
    c = ((c & 0x7fffu) << 6 | (p[3] & 0x3fu)) - 0x10000;
    return put_unicode(put_unicode(to, 0xd800 + (c >> 10)), 0xdc00 + (c & 0x3ff));
}

/* True if a character beyond ASCII needs an escape. */
static bool
escaped_p(const mp_json_style *style, const uint8_t *p, size_t n)
{
    int bytes;

    if (style->ascii_only) return true;
    if (style->script_safe) return n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] & 0xfe) == 0xa8;
    return mp_hidden_character(p, p + n, &bytes) != 0;
}

/* The length of the character at p, 0 if it is malformed. Decides about most with one word. */
MP_INLINE size_t
character_length(const uint8_t *p, size_t n)
{
    if (MP_LIKELY(n >= 4)) {
        uint32_t word = mp_load32(p);

        if ((word & 0xf0c0c000) == 0xe0808000 && (word & 0x0f200000) && (word & 0x0f200000) != 0x0d200000) return 3;
        if ((word & 0xe0c00000) == 0xc0800000 && word & 0x1e000000) return 2;
    }
    return mp_utf8_sequence(p, p + n);
}

/*
 * Writes the characters beyond ASCII at *p, of a string that ends at end, and moves *p after them. NULL if they are
 * malformed. The caller has made room for the string as it is, but not for escapes.
 */
static uint8_t *
put_characters(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t **p, const uint8_t *end)
{
    const uint8_t *from = *p;

    do {
        size_t length = character_length(from, (size_t)(end - from));

        if (MP_UNLIKELY(!length)) return NULL;
        if (MP_UNLIKELY(style->careful) && escaped_p(style, from, length)) {
            to = put_unicode_character(mp_json_room(out, to, (size_t)(end - from) + ESCAPES_MAX), from, length);
            to = mp_json_room(out, to, (size_t)(end - from));
        } else {
            memcpy(to, from, 2); /* three or four bytes as two pairs */
            memcpy(to + length - 2, from + length - 2, 2);
            to += length;
        }
        from += length;
    } while (from < end && *from >= 0x80);
    *p = from;
    return to;
}

/* Loads the block at p, whose first n bytes are text. Reads no byte from `readable` on. */
MP_INLINE mp_block
block_at(const uint8_t *p, size_t n, const uint8_t *readable)
{
    uint8_t last[MP_SCAN_BLOCK] = {0};

    if (MP_LIKELY(readable - p >= MP_SCAN_BLOCK)) return mp_block_load(p);
    memcpy(last, p, n < MP_SCAN_BLOCK ? n : MP_SCAN_BLOCK);
    return mp_block_load(last);
}

static uint8_t *
put_text(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;

    while (p < end) {
        mp_block block = block_at(p, (size_t)(end - p), style->readable);
        size_t plain = mp_scan_block(block, style->also);

        mp_block_store(to, block);
        if (plain >= (size_t)(end - p)) return to + (end - p);
        to += plain;
        p += plain;
        if (plain == MP_SCAN_BLOCK) continue;
        if (*p >= 0x80) {
            to = put_characters(style, out, to, &p, end);
            if (MP_UNLIKELY(!to)) return NULL;
        } else {
            to = put_escape(to, *p++);
            to = mp_json_room(out, to, (size_t)(end - p));
        }
    }
    return to;
}

uint8_t *
mp_json_put_string(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n)
{
    to = mp_json_room(out, to, n);
    *to++ = '"';
    to = put_text(style, out, to, p, n);
    if (MP_UNLIKELY(!to)) return NULL;
    *to++ = '"';
    return mp_json_room(out, to, 0);
}

static uint8_t *
put_six_bits(const mp_json_style *style, uint8_t *to, unsigned bits)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t digit = (uint8_t)digits[bits & 63];

    *to = '\\';
    to += digit == style->also;
    *to = digit;
    return to + 1;
}

uint8_t *
mp_json_put_base64_digits(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n)
{
    to = mp_json_room(out, to, (n + 2) / 3 * (style->also == '/' ? 8 : 4)); /* every digit may be an escaped slash */
    for (; n >= 3; n -= 3, p += 3) {
        to = put_six_bits(style, to, p[0] >> 2);
        to = put_six_bits(style, to, (unsigned)p[0] << 4 | p[1] >> 4);
        to = put_six_bits(style, to, (unsigned)p[1] << 2 | p[2] >> 6);
        to = put_six_bits(style, to, p[2]);
    }
    if (n) {
        unsigned second = n == 2 ? p[1] : 0;

        to = put_six_bits(style, to, p[0] >> 2);
        to = put_six_bits(style, to, (unsigned)p[0] << 4 | second >> 4);
        if (n == 2) to = put_six_bits(style, to, second << 2);
        else *to++ = '=';
        *to++ = '=';
    }
    return to;
}

uint8_t *
mp_json_put_base64(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n)
{
    to = mp_json_room(out, to, 0);
    *to++ = '"';
    to = mp_json_put_base64_digits(style, out, to, p, n);
    *to++ = '"';
    return to;
}

uint8_t *
mp_json_put_hex(mp_out *out, uint8_t *to, const uint8_t *p, size_t n)
{
    to = mp_json_room(out, to, n * 2 + 2);
    *to++ = '"';
    for (size_t i = 0; i < n; i++) {
        *to++ = (uint8_t)HEX_DIGITS[p[i] >> 4];
        *to++ = (uint8_t)HEX_DIGITS[p[i] & 15];
    }
    *to++ = '"';
    return to;
}

static uint8_t *
put_two(uint8_t *to, int64_t n, char after)
{
    to[0] = (uint8_t)('0' + n / 10);
    to[1] = (uint8_t)('0' + n % 10);
    to[2] = (uint8_t)after;
    return to + 3;
}

/*
 * Writes days since 1970 as a date of the proleptic Gregorian calendar, in the years 0 to 9999. Years start in March,
 * so a leap day is the last day of a year.
 */
static uint8_t *
put_date(uint8_t *to, int64_t days)
{
    int64_t since = days + 719468, era = (since >= 0 ? since : since - 146096) / 146097;
    int64_t of_era = since - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * of_year + 2) / 153, month = from_march < 10 ? from_march + 3 : from_march - 9;
    int64_t year = year_of_era + era * 400 + (month <= 2);

    put_two(to, year / 100, ' ');
    to = put_two(to + 2, year % 100, '-');
    to = put_two(to, month, '-');
    return put_two(to, of_year - (153 * from_march + 2) / 5 + 1, 'T');
}

uint8_t *
mp_json_put_timestamp(mp_out *out, uint8_t *to, mp_timestamp timestamp)
{
    int64_t second = timestamp.sec % 86400, days = timestamp.sec / 86400;
    uint64_t fraction = timestamp.nsec;

    if (second < 0) {
        second += 86400;
        days--;
    }
    to = mp_json_room(out, to, 0);
    *to++ = '"';
    to = put_date(to, days);
    to = put_two(to, second / 3600, ':');
    to = put_two(to, second / 60 % 60, ':');
    to = put_two(to, second % 60, '.');
    if (fraction) {
        mp_put_digits(to, fraction + 1000000000, 10); /* with an extra first digit, which the point replaces */
        memmove(to, to + 1, 9);
        for (to += 9; to[-1] == '0';) to--;
    } else {
        to--;
    }
    memcpy(to, "Z\"", 2);
    return to + 2;
}
