/*
 * Manypack::JSONText: writes packed bytes as JSON, without objects in between. A value that JSON cannot express becomes
 * an object with one key that starts with $; a key that itself starts with $ gets another $ in front.
 * lib/manypack/terminal/input/from_json.rb reads this back. Walks with the step that core/canonical.c uses, but
 * remembers for each open container what it is, so that it can write commas, colons and brackets.
 *
 * Two keys of a map may be the same in JSON, such as 1.5 as float32 and float64. Such a map becomes a list of pairs,
 * under $map. That is known only at the map's end, so the first walk over an object numbers the maps and notes such
 * ones. A second walk writes the object again if there are any, or if the text gets much longer than the bytes, as with
 * deep, pretty objects: only the second walk knows enough to yield an object in pieces.
 */
#include "base/error.h"
#include "base/options.h"
#include "buffer/window.h"
#include "core/skip.h"
#include "core/timestamp.h"
#include "core/unique.h"
#include "core/utf8.h"
#include "core/wire.h"
#include "json/decimal.h"
#include "json/json_write.h"
#include "terminal/part.h"

/* Kinds of containers in the text: PAIRS is a map as a list of pairs, PAIR one of them, OPENED an opened bin. */
typedef enum { ARRAY, MAP, PAIRS, PAIR, OPENED } place;

static const char *const CLOSING[] = {[ARRAY] = "]", [MAP] = "}", [PAIRS] = "]}", [PAIR] = "]", [OPENED] = "}"};

/* An open container. */
typedef struct {
    uint64_t left;   /* elements or pairs to come */
    place place;
    uint32_t n;      /* of a map: its pairs, */
    uint32_t nans;   /* number of keys that are NaN, which all look alike, */
    size_t keys;     /* number of noted keys of the maps around it, */
    size_t number;   /* and its number in the object */
} frame;

/* A map as a list of pairs takes two frames, an opened bin one more than the object in it. */
enum { FRAMES_MAX = 2 * MP_TERMINAL_MAX_DEPTH + 2 };

enum { PIECE = 256 * 1024 }; /* text is yielded when it has this many bytes */

typedef struct {
    mp_json_writer json; /* has the text */
    const uint8_t *end; /* of the input */
    bool pretty, hex;   /* hex: write bin as $hex instead of $bin */
    bool text, opening; /* write bin that is text as a string; open bin that holds an array or map */
    bool first;         /* the next element is the first of its container */
    bool second;        /* this is the second walk */
    bool pieces;        /* the text is yielded in pieces */
    bool too_long;      /* the first walk has written more than most, and keeps nothing */
    size_t most;        /* bytes of text of one object that the first walk keeps */
    const uint8_t *object;
    mp_window keys;     /* an mp_tape_entry for each key of the open maps */
    mp_window alike;    /* a byte for each map of the object: 1 if it has keys that look alike, else 0 */
    bool some_alike;    /* one of these is 1 */
    size_t maps, open;  /* maps of the object so far, and containers of it that are open */
    size_t depth;       /* of the frames */
    frame frames[FRAMES_MAX];
} writer;

static void
write_json_text(writer *w, const char *text)
{
    mp_out_write(&w->json.text.out, text, strlen(text));
}

static void
write_byte(writer *w, char byte)
{
    mp_out_write(&w->json.text.out, &byte, 1);
}

static void
write_newline(writer *w)
{
    if (!w->pretty) return;
    write_byte(w, '\n');
    for (size_t i = 0; i < w->depth; i++) write_json_text(w, "  ");
}

/* --- strings ---------------------------------------------------------------------------------------- */

/*
 * Writes text, which is valid UTF-8, as a string. All hidden characters are escaped, also those that JSON allows: a
 * terminal would obey them.
 */
static void
write_json_string(writer *w, const uint8_t *p, size_t n)
{
    mp_out *out = &w->json.text.out;

    mp_out_commit(out, mp_json_put_string(&w->json.style, out, out->pos, p, n));
}

static void
write_base64(writer *w, const uint8_t *p, size_t n)
{
    mp_out *out = &w->json.text.out;

    mp_out_commit(out, mp_json_put_base64(&w->json.style, out, out->pos, p, n));
}

/* --- values that JSON cannot express -------------------------------------------------------------- */

static void
write_json_bytes(writer *w, const uint8_t *p, size_t n)
{
    mp_out *out = &w->json.text.out;

    write_json_text(w, w->hex ? "{\"$hex\":" : "{\"$bin\":");
    if (w->hex) mp_out_commit(out, mp_json_put_hex(out, out->pos, p, n));
    else write_base64(w, p, n);
    write_byte(w, '}');
}

/* True for UTF-8 in which only white space is a control character. */
static bool
shown_text_p(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') || p[i] == 0x7f) return false;
    }
    return mp_utf8_valid_p(p, n);
}

static void
write_json_bin(writer *w, const uint8_t *p, size_t n)
{
    if (w->text && shown_text_p(p, n)) write_json_string(w, p, n);
    else write_json_bytes(w, p, n);
}

static void
write_timestamp(writer *w, mp_timestamp timestamp)
{
    mp_out *out = &w->json.text.out;

    write_json_text(w, "{\"$timestamp\":");
    mp_out_commit(out, mp_json_put_timestamp(out, out->pos, timestamp));
    write_byte(w, '}');
}

static void
write_json_ext(writer *w, int type, const uint8_t *p, size_t n)
{
    char text[48];
    mp_timestamp timestamp;

    if (type == MP_TIMESTAMP_TYPE && mp_timestamp_read(p, n, &timestamp) == MP_OK &&
        mp_timestamp_check_range(timestamp) == MP_OK) {
        write_timestamp(w, timestamp);
        return;
    }
    snprintf(text, sizeof(text), "{\"$ext\":[%d,", type);
    write_json_text(w, text);
    write_base64(w, p, n);
    write_json_text(w, "]}");
}

/* --- objects ---------------------------------------------------------------------------------------- */

/*
 * Writes an object as Manypack.to_json does, and moves after it. If the program has a notation of its own for it,
 * writes nothing, does not move, and returns false.
 */
static bool
write_json(writer *w, const uint8_t **p)
{
    mp_out *out = &w->json.text.out;
    size_t before = mp_out_size(out);
    const uint8_t *from = *p;

    if (mp_json_write(&w->json, p) == MP_OK) return true;
    mp_out_commit(out, out->start + before);
    *p = from;
    return false;
}

static bool
real_p(mp_kind kind)
{
    return kind == MP_FLOAT32 || kind == MP_FLOAT64;
}

/* Writes the name of a Float that is not finite. */
static void
write_no_number(writer *w, const uint8_t *p)
{
    double value = mp_row_real(p, MP_WIRE[*p]);

    write_json_text(w, value != value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/* Skips an object. Sets *p to its end, or to the head to blame. */
static mp_status
pass(const writer *w, const uint8_t **p)
{
    uint64_t left[MP_TERMINAL_MAX_DEPTH];
    mp_walk walk;

    mp_walk_init(&walk, left, MP_TERMINAL_MAX_DEPTH);
    return mp_skip(&walk, p, w->end);
}

static void
write_packed(writer *w, const uint8_t *p, size_t n)
{
    mp_out *out = &w->json.text.out;

    write_json_text(w, "msgpack:");
    mp_out_commit(out, mp_json_put_base64_digits(&w->json.style, out, out->pos, p, n));
}

/*
 * Writes a key that is not text: "$" and its JSON if it is nil, a boolean or a number, otherwise "$msgpack:" and its
 * packed bytes.
 */
static mp_status
write_other_json_key(writer *w, const uint8_t **p, mp_kind kind)
{
    const uint8_t *from = *p, *at = from;
    mp_status status = pass(w, p);

    if (status != MP_OK) return status;
    write_json_text(w, "\"$");
    if (kind == MP_ARRAY || kind == MP_MAP || !write_json(w, &at)) {
        if (real_p(kind)) write_no_number(w, from);
        else write_packed(w, from, (size_t)(*p - from));
    }
    write_byte(w, '"');
    return MP_OK;
}

/* Notes a key of the innermost map, to find those that are alike. */
static void
note_text_key(writer *w, const mp_head *head, const uint8_t *p, const uint8_t *end)
{
    frame *map = &w->frames[w->depth - 1];
    size_t from = (size_t)(p - w->object), to = (size_t)(end - w->object);
    mp_tape_entry entry;
    double real;

    if (w->second || map->n < 2 || to > UINT32_MAX) return; /* an entry holds no larger offset */
    if (real_p(head->kind)) {
        real = mp_row_real(p, MP_WIRE[*p]);
        if (real != real) map->nans++;
    }
    entry = mp_unique_entry(w->object, from, to);
    mp_out_write(&w->keys.out, &entry, sizeof(entry));
}

/* Writes a key that is text; one that begins with $ gets another $ in front. */
static void
write_text_key(writer *w, const mp_head *head)
{
    bool dollar = head->n && *head->payload == '$';
    size_t quote;

    if (dollar) write_byte(w, '"');
    quote = mp_out_size(&w->json.text.out);
    write_json_string(w, head->payload, head->n);
    if (dollar) w->json.text.out.start[quote] = '$';
}

static mp_status
write_json_key(writer *w, const uint8_t **p)
{
    const uint8_t *from = *p, *next;
    mp_head head;
    mp_status status = mp_head_over(from, w->end, &head, &next);
    bool text;

    if (status != MP_OK) return status;
    text = head.kind == MP_STR ? mp_utf8_valid_p(head.payload, head.n)
                               : head.kind == MP_BIN && w->text && shown_text_p(head.payload, head.n);
    if (text) {
        write_text_key(w, &head);
        *p = next;
    } else {
        status = write_other_json_key(w, p, head.kind);
    }
    write_json_text(w, w->pretty ? ": " : ":");
    if (status == MP_OK) note_text_key(w, &head, from, *p);
    return status;
}

static void
push_text_frame(writer *w, frame inner)
{
    w->frames[w->depth++] = inner;
    w->first = true;
}

/* On the second walk, true if the map has keys that are alike. On the first, makes room to note that. */
static bool
alike_p(writer *w, size_t number)
{
    if (w->second) return w->alike.out.start[number];
    mp_out_write(&w->alike.out, "", 1);
    return false;
}

static mp_status
open_frame(writer *w, const mp_head *head)
{
    bool map = head->kind == MP_MAP;
    frame inner = {.left = head->n, .place = map ? MAP : ARRAY, .n = head->n};

    if (!head->n) {
        write_json_text(w, map ? "{}" : "[]");
        return MP_OK;
    }
    if (w->open == MP_TERMINAL_MAX_DEPTH) return MP_E_DEPTH;
    w->open++;
    if (map) inner.number = w->maps++;
    inner.keys = mp_out_size(&w->keys.out) / sizeof(mp_tape_entry);
    if (map && alike_p(w, inner.number)) {
        inner.place = PAIRS;
        write_json_text(w, w->pretty ? "{\"$map\": [" : "{\"$map\":[");
    } else {
        write_byte(w, map ? '{' : '[');
    }
    push_text_frame(w, inner);
    return MP_OK;
}

static bool
container_head_p(const uint8_t *p, const uint8_t *end)
{
    return p < end && (MP_WIRE[*p].kind == MP_ARRAY || MP_WIRE[*p].kind == MP_MAP);
}

/* True for a bin that holds one array or map and nothing else. */
static bool
holds_object_p(const writer *w, const mp_head *head)
{
    const uint8_t *p = head->payload, *end = p + head->n;
    uint64_t left[MP_TERMINAL_MAX_DEPTH];
    mp_walk walk;

    if (!w->opening || !container_head_p(p, end)) return false;
    mp_walk_init(&walk, left, MP_TERMINAL_MAX_DEPTH);
    return mp_skip(&walk, &p, end) == MP_OK && p == end;
}

/* Opens a bin that holds an object: writes {"$packed": object} instead of the bytes. */
static mp_status
open_bin(writer *w)
{
    if (w->open == MP_TERMINAL_MAX_DEPTH) return MP_E_DEPTH;
    w->open++;
    write_json_text(w, w->pretty ? "{\"$packed\": " : "{\"$packed\":");
    push_text_frame(w, (frame){.left = 1, .place = OPENED});
    return MP_OK;
}

static mp_status write_json_value(writer *w, const uint8_t **p);

/*
 * Writes a key of a list of pairs. A container keeps its bytes, and a bin is not opened: the first walk, which numbers
 * the maps, has not looked into a key.
 */
static mp_status
write_pair_key(writer *w, const uint8_t **p)
{
    const uint8_t *from = *p;
    bool opening = w->opening;
    mp_status status;

    if (!container_head_p(from, w->end)) {
        w->opening = false;
        status = write_json_value(w, p);
        w->opening = opening;
        return status;
    }
    status = pass(w, p);

    if (status != MP_OK) return status;
    write_json_text(w, w->pretty ? "{\"$msgpack\": " : "{\"$msgpack\":");
    write_base64(w, from, (size_t)(*p - from));
    write_byte(w, '}');
    return MP_OK;
}

/* Writes a Float that is not finite, or a str that is not valid UTF-8. */
static void
write_odd(writer *w, const uint8_t *p, const mp_head *head)
{
    if (head->kind == MP_STR) {
        write_json_text(w, "{\"$str\":");
        write_base64(w, head->payload, head->n);
        write_byte(w, '}');
    } else {
        write_json_text(w, "{\"$float\":\"");
        write_no_number(w, p);
        write_json_text(w, "\"}");
    }
}

static mp_status
write_json_value(writer *w, const uint8_t **p)
{
    const uint8_t *next;
    mp_head head;
    mp_status status = mp_head_over(*p, w->end, &head, &next);

    if (status != MP_OK) return status;
    switch (head.kind) {
      case MP_MAP:
      case MP_ARRAY: status = open_frame(w, &head); break;
      case MP_BIN:
        if (holds_object_p(w, &head)) {
            status = open_bin(w);
            next = head.payload;
        } else {
            write_json_bin(w, head.payload, head.n);
        }
        break;
      case MP_EXT: write_json_ext(w, head.ext_type, head.payload, head.n); break;
      default:
        if (!write_json(w, p)) write_odd(w, *p, &head);
    }
    if (status == MP_OK) *p = next;
    return status;
}

/* Forgets the keys of a map that is finished, and notes whether some are alike. */
static void
finish_keys(writer *w, const frame *map)
{
    mp_tape_entry *keys = (mp_tape_entry *)(void *)w->keys.out.start + map->keys;
    size_t n = mp_out_size(&w->keys.out) / sizeof(*keys) - map->keys;

    if (map->nans > 1 || (n > 1 && mp_unique_twice_p(w->object, keys, n))) {
        w->alike.out.start[map->number] = 1;
        w->some_alike = true;
    }
    mp_out_commit(&w->keys.out, (uint8_t *)keys);
}

static void
close_containers(writer *w)
{
    while (w->depth && !w->frames[w->depth - 1].left) {
        const frame *inner = &w->frames[--w->depth];

        if (inner->place == MAP && !w->second) finish_keys(w, inner);
        if (inner->place != PAIR) w->open--;
        if (inner->place != OPENED) write_newline(w);
        write_json_text(w, CLOSING[inner->place]);
    }
}

/*
 * Writes the next element of the innermost container, with the comma in front of it and, in a map, its key. In a list
 * of pairs, only opens the next pair.
 */
static mp_status
write_element(writer *w, const uint8_t **p)
{
    frame *inner = &w->frames[w->depth - 1];
    mp_status status;

    inner->left--;
    if (!w->first) write_byte(w, ',');
    w->first = false;
    if (inner->place != OPENED) write_newline(w);
    if (inner->place == PAIRS) {
        write_byte(w, '[');
        push_text_frame(w, (frame){.left = 2, .place = PAIR});
        return MP_OK;
    }
    if (inner->place == PAIR && inner->left) return write_pair_key(w, p);
    if (inner->place == MAP) {
        status = write_json_key(w, p);
        if (status != MP_OK) return status;
    }
    return write_json_value(w, p);
}

static void
yield_json_text(writer *w)
{
    VALUE text = rb_enc_associate_index(mp_window_result(&w->json.text), mp_utf8_index);

    mp_window_init_result(&w->json.text, PIECE);
    rb_yield(text);
}

/* Limits the text of an object that begins at `before`: drops it in the first walk, or yields it in pieces. */
static void
shorten(writer *w, size_t before)
{
    size_t size = mp_out_size(&w->json.text.out);

    if (w->second) {
        if (size > PIECE) yield_json_text(w);
    } else if (size - before > w->most) {
        w->too_long = true;
        mp_out_commit(&w->json.text.out, w->json.text.out.start + before);
    }
}

/* before: the size of the text when the object began. */
static mp_status
write_json_object(writer *w, const uint8_t **p, size_t before)
{
    mp_status status;

    w->maps = w->open = w->depth = 0;
    mp_out_commit(&w->keys.out, w->keys.out.start);
    status = write_json_value(w, p);
    while (status == MP_OK && w->depth) {
        status = write_element(w, p);
        if (status == MP_OK) close_containers(w);
        if (w->pieces) shorten(w, before);
    }
    return status;
}

/* The size of the largest object that is written in one piece. */
enum { SMALL = 1024 * 1024 };

/* Writes an object by write_json. False if the object is large, or if write_json fails. */
static bool
write_json_plain(writer *w, const uint8_t **p)
{
    const uint8_t *end = *p;

    if (w->pretty || (w->end - *p > SMALL && (pass(w, &end) != MP_OK || end - *p > SMALL))) return false;
    return write_json(w, p);
}

/* Writes one object in the notation of the program. On any status except MP_OK, *p is at the head to blame. */
static mp_status
write_in_notation(writer *w, const uint8_t **p)
{
    size_t before = mp_out_size(&w->json.text.out);
    mp_status status;

    w->object = *p;
    w->second = w->too_long = w->some_alike = false;
    mp_out_commit(&w->alike.out, w->alike.out.start);
    status = write_json_object(w, p, before);
    if (status != MP_OK || !(w->some_alike || w->too_long)) return status;
    mp_out_commit(&w->json.text.out, w->json.text.out.start + before);
    w->second = true;
    *p = w->object;
    return write_json_object(w, p, before);
}

/* The same, with a newline after the object. */
static mp_status
write_json_line(writer *w, const uint8_t **p)
{
    mp_status status = write_json_plain(w, p) ? MP_OK : write_in_notation(w, p);

    write_byte(w, '\n');
    if (w->pieces && mp_out_size(&w->json.text.out) > PIECE) yield_json_text(w);
    return status;
}

/* How many bytes of text the first walk keeps for an object of n bytes. Most objects have less text. */
static size_t
most_kept(size_t n)
{
    return n > (SIZE_MAX - PIECE) / 4 ? SIZE_MAX : PIECE + 4 * n;
}

/*
 * call-seq: JSONText.generate(bytes, start, size, pretty, hex, text = false, opening = false) -> String
 *           JSONText.generate(...) { |text| } -> nil
 *
 * Returns the JSON of the objects in a part of a String, with a newline after each, or yields it in pieces. hex: write
 * bin as hexadecimal instead of base64; text: write bin that is text as a string; opening: write the object that a bin
 * holds. Raises a DecodeError, whose offset counts from start.
 */
static VALUE
rb_generate(int argc, VALUE *argv, VALUE self)
{
    mp_part part;
    const uint8_t *p;
    size_t length;
    VALUE text;
    writer w;

    rb_check_arity(argc, 5, 7);
    part = mp_part_of(argv[0], argv[1], argv[2]);
    length = (size_t)(part.end - part.start);
    p = part.start;
    w.end = part.end;
    w.pretty = RTEST(argv[3]);
    w.hex = RTEST(argv[4]);
    w.text = argc > 5 && RTEST(argv[5]);
    w.opening = argc > 6 && RTEST(argv[6]);
    w.first = false;
    w.pieces = rb_block_given_p();
    w.most = most_kept(length);
    mp_json_writer_for_terminal(&w.json, w.end);
    mp_window_init(&w.keys);
    mp_window_init(&w.alike);
    mp_window_init_result(&w.json.text, w.pieces && length > PIECE / 2 ? PIECE : length + length / 2);
    while (p < w.end) {
        mp_status status = write_json_line(&w, &p);
        if (status != MP_OK) mp_raise_status(status, mp_blame_of(part.start, p, w.end, 0));
    }
    if (w.pieces && mp_out_size(&w.json.text.out)) yield_json_text(&w);
    RB_GC_GUARD(part.bytes);
    text = mp_window_result(&w.json.text);
    RB_GC_GUARD(w.json.text.string);
    RB_GC_GUARD(w.keys.string);
    RB_GC_GUARD(w.alike.string);
    RB_GC_GUARD(w.json.frames.string);
    RB_GC_GUARD(w.json.keys.noted.string);
    return w.pieces ? Qnil : rb_enc_associate_index(text, mp_utf8_index);
}

void
Init_manypack_json_text(void)
{
    VALUE mJSONText = rb_define_module_under(mp_mManypack, "JSONText");

    rb_define_singleton_method(mJSONText, "generate", rb_generate, -1);
    rb_funcall(mp_mManypack, rb_intern("private_constant"), 1, ID2SYM(rb_intern("JSONText")));
}
