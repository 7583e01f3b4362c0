/*
 * JSONText.parse: writes JSON as packed bytes, without objects in between, the way back from json_text.c. Handles JSON
 * that means the same in both formats. Text that is rare, ambiguous or invalid goes to the slow path, Ruby code that
 * builds the objects.
 */
#include "base/options.h"
#include "buffer/window.h"
#include "core/unique.h"
#include "core/utf8.h"

#include <ruby/util.h>

/* An open container. Its head takes one byte until the number of its elements is known. */
typedef struct {
    size_t head;  /* offset in the output of the line */
    size_t keys;  /* number of keys of the maps around it */
    uint32_t n;   /* elements or pairs so far */
    bool map;
} frame;

typedef struct {
    const uint8_t *p, *end;
    bool lines;     /* a newline ends a text; otherwise it is white space */
    bool documents; /* another text may follow */
    mp_window window;
    size_t line;    /* offset where the output of the line starts */
    mp_window keys; /* an mp_tape_entry for each key of the open maps */
    size_t depth;
    frame frames[MP_TERMINAL_MAX_DEPTH];
} parser;

/* All functions below that return a bool return false for text that goes to the slow path. */

static void
skip_space(parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || (*s->p == '\n' && !s->lines))) s->p++;
}

static bool
skip_byte(parser *s, uint8_t byte)
{
    skip_space(s);
    if (s->p == s->end || *s->p != byte) return false;
    s->p++;
    return true;
}

static uint8_t *
room_for_head(parser *s)
{
    return mp_out_reserve(&s->window.out, MP_HEAD_MAX);
}

static void
commit(parser *s, uint8_t *to)
{
    mp_out_commit(&s->window.out, to);
}

/* Where the output of the line starts. The pointer is valid until more is written. */
static uint8_t *
line_start(const parser *s)
{
    return s->window.out.start + s->line;
}

static size_t
line_size(const parser *s)
{
    return mp_out_size(&s->window.out) - s->line;
}

/* --- strings ---------------------------------------------------------------------------------------- */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * True if a byte of the word is below n, which is at most 128. May be true without such a byte, but is never false with
 * one.
 */
MP_INLINE bool
any_below_p(uint64_t word, uint8_t n)
{
    return (word - EACH_BYTE(n)) & ~word & EACH_BYTE(0x80);
}

MP_INLINE bool
plain_p(uint8_t byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

/* Skips characters that stand for themselves in a string. */
MP_INLINE const uint8_t *
pass_plain(const uint8_t *p, const uint8_t *end)
{
    for (;;) {
        const uint8_t *few = end - p < 8 ? end : p + 8;

        while (few - p == 8) {
            uint64_t word = mp_load64(p);
            if (any_below_p(word, 0x20) || any_below_p(word ^ EACH_BYTE('"'), 1) ||
                any_below_p(word ^ EACH_BYTE('\\'), 1)) break;
            p += 8;
            few = end - p < 8 ? end : p + 8;
        }
        while (p < few && plain_p(*p)) p++;
        if (p < few || p == end) return p;
    }
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
static bool
read_character(const uint8_t **p, const uint8_t *end, uint32_t *character)
{
    int32_t high = hex_digits(*p, end), low;

    if (high < 0) return false;
    *p += 4;
    *character = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff) return true;
    if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u') return false;
    low = hex_digits(*p + 2, end);
    if (low < 0xdc00 || low > 0xdfff) return false;
    *p += 6;
    *character = 0x10000 + ((uint32_t)(high - 0xd800) << 10 | (uint32_t)(low - 0xdc00));
    return true;
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

/* Writes the character of the escape at *p, which is after the backslash. It takes no more bytes than the escape. */
static bool
put_escaped(const uint8_t **p, const uint8_t *end, uint8_t **to)
{
    uint32_t character;

    if (*p == end) return false;
    if (*(*p)++ == 'u') {
        if (!read_character(p, end, &character)) return false;
        *to = put_character(*to, character);
        return true;
    }
    **to = escaped_byte((*p)[-1]);
    return *(*to)++ != 0;
}

/* Writes the string that starts at `from`. Its first escape is at s->p. Its head is written last. */
static bool
parse_escaped(parser *s, const uint8_t *from)
{
    size_t before = mp_out_size(&s->window.out), n;
    const uint8_t *p = s->p, *end = s->end;
    uint8_t *to, *text;

    while (p < end && *p != '"') p += *p == '\\' && end - p > 1 ? 2 : 1;
    if (p == end) return false;
    end = p;
    to = text = mp_out_reserve(&s->window.out, MP_HEAD_MAX + (size_t)(end - from)) + MP_HEAD_MAX;
    for (p = from; p < end;) {
        const uint8_t *plain = pass_plain(p, end);
        mp_copy(to, p, (size_t)(plain - p));
        to += plain - p;
        p = plain;
        if (p == end) break;
        if (*p++ != '\\' || !put_escaped(&p, end, &to)) return false;
    }
    n = (size_t)(to - text);
    if (n > UINT32_MAX || !mp_utf8_valid_p(text, n)) return false;
    to = mp_put_str_head(s->window.out.start + before, (uint32_t)n, false);
    memmove(to, text, n);
    commit(s, to + n);
    s->p = end + 1;
    return true;
}

/* Writes the string at s->p, which is after the quote. */
static bool
parse_string(parser *s)
{
    const uint8_t *from = s->p;
    size_t n;
    uint8_t *to;

    s->p = pass_plain(from, s->end);
    if (s->p == s->end) return false;
    if (*s->p == '\\') return parse_escaped(s, from);
    if (*s->p != '"') return false;
    n = (size_t)(s->p++ - from);
    if (n > UINT32_MAX || !mp_utf8_valid_p(from, n)) return false;
    to = mp_put_str_head(mp_out_reserve(&s->window.out, MP_HEAD_MAX + n), (uint32_t)n, false);
    mp_copy(to, from, n);
    commit(s, to + n);
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------------- */

/* The most characters of a number that is not an integer. */
enum { FLOAT_MAX_SIZE = 63 };

static bool
digit_p(const parser *s)
{
    return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

/* Skips one or more digits. */
static bool
skip_digits(parser *s)
{
    if (!digit_p(s)) return false;
    while (digit_p(s)) s->p++;
    return true;
}

/* Writes the number that starts at `from`; s->p is after its integer part. Ruby converts it, as on the slow path. */
static bool
parse_float(parser *s, const uint8_t *from)
{
    char text[FLOAT_MAX_SIZE + 1];
    double value;
    size_t n;

    if (*s->p == '.') {
        s->p++;
        if (!skip_digits(s)) return false;
    }
    if (s->p < s->end && (*s->p | 0x20) == 'e') {
        s->p++;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-')) s->p++;
        if (!skip_digits(s)) return false;
    }
    n = (size_t)(s->p - from);
    if (n > FLOAT_MAX_SIZE) return false;
    memcpy(text, from, n);
    text[n] = '\0';
    value = ruby_strtod(text, NULL);
    if (value - value != 0) return false; /* 1E400 */
    commit(s, mp_put_float64(room_for_head(s), value));
    return true;
}

static bool
put_integer(parser *s, uint64_t magnitude, bool negative)
{
    if (!negative) {
        commit(s, mp_put_uint(room_for_head(s), magnitude));
        return true;
    }
    if (magnitude > (uint64_t)INT64_MAX) return false;
    commit(s, mp_put_sint(room_for_head(s), -(int64_t)magnitude));
    return true;
}

static bool
parse_number(parser *s)
{
    const uint8_t *from = s->p, *digits;
    bool negative = *s->p == '-';
    uint64_t magnitude = 0;

    if (negative) s->p++;
    digits = s->p;
    for (; digit_p(s); s->p++) magnitude = magnitude * 10 + (uint64_t)(*s->p - '0');
    if (s->p == digits || (*digits == '0' && s->p - digits > 1)) return false;
    if (s->p < s->end && (*s->p == '.' || (*s->p | 0x20) == 'e')) return parse_float(s, from);
    return s->p - digits <= 19 && put_integer(s, magnitude, negative); /* 19 digits do not overflow */
}

/* --- containers ------------------------------------------------------------------------------------- */

static bool
open_container(parser *s, bool map)
{
    if (s->depth == MP_TERMINAL_MAX_DEPTH) return false;
    s->frames[s->depth++] = (frame){
        .head = line_size(s), .keys = mp_out_size(&s->keys.out) / sizeof(mp_tape_entry), .map = map,
    };
    commit(s, mp_put_byte(room_for_head(s), 0));
    return true;
}

/* True if the keys of the innermost map differ. Forgets them. */
static bool
keys_differ_p(parser *s, const frame *map)
{
    mp_tape_entry *keys = (mp_tape_entry *)(void *)s->keys.out.start + map->keys;

    mp_out_commit(&s->keys.out, (uint8_t *)keys);
    return map->n < 2 || !mp_unique_twice_p(line_start(s), keys, map->n);
}

/* Writes the head of a container in front of its elements, which move if the head is longer than one byte. */
static void
put_container_head(parser *s, const frame *container)
{
    uint8_t head[MP_HEAD_MAX];
    uint8_t *after = container->map ? mp_put_map_head(head, container->n) : mp_put_array_head(head, container->n);
    size_t size = (size_t)(after - head), first = container->head + 1, elements = line_size(s) - first;
    uint8_t *to = room_for_head(s);

    commit(s, to + size - 1);
    to = line_start(s) + container->head;
    if (size > 1) memmove(to + size, to + 1, elements);
    memcpy(to, head, size);
}

static bool
close_container(parser *s)
{
    frame container = s->frames[--s->depth];

    s->p++;
    if (container.map && !keys_differ_p(s, &container)) return false;
    put_container_head(s, &container);
    return line_size(s) <= UINT32_MAX; /* an mp_tape_entry holds no larger offset */
}

/* A key that starts with $ goes to the slow path, because it may stand for a value that JSON cannot express. */
static bool
parse_key(parser *s)
{
    size_t from = line_size(s), n;
    const uint8_t *text;
    mp_tape_entry key;

    if (!skip_byte(s, '"') || !parse_string(s)) return false;
    n = line_size(s);
    key = mp_unique_entry(line_start(s), from, n);
    text = line_start(s) + from + MP_WIRE[line_start(s)[from]].head;
    if (text < line_start(s) + n && *text == '$') return false;
    mp_out_write(&s->keys.out, &key, sizeof(key));
    return skip_byte(s, ':');
}

/* --- objects ---------------------------------------------------------------------------------------- */

static bool
parse_word(parser *s, const char *word, uint8_t head)
{
    size_t n = strlen(word);

    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n)) return false;
    s->p += n;
    commit(s, mp_put_byte(room_for_head(s), head));
    return true;
}

static bool
parse_value(parser *s)
{
    skip_space(s);
    if (s->p == s->end) return false;
    switch (*s->p) {
      case '"': s->p++; return parse_string(s);
      case '{': s->p++; return open_container(s, true);
      case '[': s->p++; return open_container(s, false);
      case 'n': return parse_word(s, "null", 0xc0);
      case 'f': return parse_word(s, "false", 0xc2);
      case 't': return parse_word(s, "true", 0xc3);
      default: return parse_number(s);
    }
}

/* Parses the next element of the innermost container, or its end. */
static bool
parse_element(parser *s)
{
    frame *inner = &s->frames[s->depth - 1];

    skip_space(s);
    if (s->p == s->end) return false;
    if (*s->p == (inner->map ? '}' : ']')) return close_container(s);
    if (inner->n++ && !skip_byte(s, ',')) return false;
    return (!inner->map || parse_key(s)) && parse_value(s);
}

/* True if the text that ended at s->p is complete: a number or word could go on. */
static bool
complete_p(const parser *s)
{
    uint8_t last = s->p[-1];

    if (last == ']' || last == '}' || last == '"') return true;
    return s->p < s->end && (*s->p <= ' ' || *s->p == '[' || *s->p == '{' || *s->p == '"');
}

/*
 * Parses one object and the rest of its line, or, of documents, only the object. A line may also be empty, and so may
 * what follows the last document.
 */
static bool
parse_line(parser *s)
{
    skip_space(s);
    if (s->p < s->end && *s->p != '\n') {
        if (!parse_value(s)) return false;
        while (s->depth) {
            if (!parse_element(s)) return false;
        }
        if (s->documents) return complete_p(s);
        skip_space(s);
    }
    if (s->p == s->end) return true;
    return *s->p++ == '\n' && s->lines;
}

/* Returns the offset of the first line that goes to the slow path, or of the end. */
static size_t
parse(parser *s)
{
    const uint8_t *start = s->p, *line = start;

    while (line < s->end) {
        s->line = mp_out_size(&s->window.out);
        if (!parse_line(s)) {
            commit(s, line_start(s));
            break;
        }
        line = s->p;
    }
    return (size_t)(line - start);
}

/*
 * call-seq: JSONText.parse(text, start, lines) -> [String, Integer]
 *
 * Packs the objects in a String from `start` on. If `lines` is true, each line is one object or empty; if it is a
 * Symbol, objects follow each other in any way; otherwise the whole text is one object. The Integer is the offset of
 * the first text that must go to the slow path, or the size of the String.
 * Such a text is no JSON or no UTF-8, has the same key twice, a key that starts with $, or a number whose value may
 * differ in MessagePack or Ruby; or it is a number or word at the end of documents, which may go on.
 */
static VALUE
rb_parse(VALUE self, VALUE text, VALUE start, VALUE lines)
{
    size_t from = NUM2SIZET(start), size, stop;
    VALUE packed;
    parser s;

    StringValue(text);
    size = (size_t)RSTRING_LEN(text);
    if (from > size) rb_raise(rb_eRangeError, "no such part of the String");
    text = rb_str_new_frozen(text);
    s.p = (const uint8_t *)RSTRING_PTR(text) + from;
    s.end = s.p + (size - from);
    s.documents = SYMBOL_P(lines);
    s.lines = RTEST(lines) && !s.documents;
    s.depth = 0;
    mp_window_init_result(&s.window, size - from);
    mp_window_init(&s.keys);
    stop = from + parse(&s);
    RB_GC_GUARD(text);
    packed = mp_window_result(&s.window);
    RB_GC_GUARD(s.window.string);
    RB_GC_GUARD(s.keys.string);
    return rb_assoc_new(packed, SIZET2NUM(stop));
}

void
Init_manypack_json_parse(void)
{
    VALUE mJSONText = rb_const_get(mp_mManypack, rb_intern("JSONText"));

    rb_define_singleton_method(mJSONText, "parse", rb_parse, 3);
}
