/*
 * The walk from packed bytes to JSON. It does not recurse. Each value is followed by a comma, which the end of the
 * container overwrites.
 */
#include "json/json_write.h"

#include "core/skip.h"
#include "core/wire.h"
#include "json/decimal.h"
#include "json/scan.h"

/* An open container. The message itself has a frame, too. */
typedef struct {
    const uint8_t *head;
    size_t keys;   /* of a map: how many keys of the maps around it are noted */
    uint32_t left; /* elements or pairs to come, while a container inside it is open */
    bool map;
} frame;

/*
 * The position of the loop. It stays in registers, because only inline functions get a pointer to it; other functions
 * use the members of the writer.
 */
typedef struct {
    const uint8_t *p;
    uint8_t *to;
    uint32_t left; /* elements or pairs to come of the innermost container */
    bool map;
} place;

void
mp_json_writer_init(mp_json_writer *w, const mp_codec *codec, const uint8_t *end, size_t readable)
{
    const mp_options *options = &codec->options;
    bool ascii = mp_json_flag(options, MP_JSON_ASCII_ONLY), safe = mp_json_flag(options, MP_JSON_SCRIPT_SAFE);

    mp_window_init(&w->frames);
    mp_json_noted_init(&w->keys);
    w->end = end;
    w->style = (mp_json_style){.readable = end + readable, .also = safe ? '/' : 0, .careful = ascii || safe,
                               .ascii_only = ascii, .script_safe = safe};
    w->max_depth = mp_unpack_max_depth(options);
    w->nan = mp_json_flag(options, MP_JSON_NAN);
    w->pretty = mp_json_flag(options, MP_JSON_PRETTY);
    w->stringify = mp_json_flag(options, MP_JSON_STRINGIFY);
    w->duplicates = mp_json_flag(options, MP_JSON_DUPLICATE_KEY);
    w->timestamp = options->timestamp;
    w->bin = mp_json_bytes_as(options, MP_JSON_BIN);
    w->ext = mp_json_bytes_as(options, MP_JSON_EXT);
    w->types = codec->types;
    w->as_terminal = false;
}

void
mp_json_writer_for_terminal(mp_json_writer *w, const uint8_t *end)
{
    mp_codec codec = {.types = NULL};

    mp_options_init(&codec.options);
    codec.options.max_depth = MP_TERMINAL_MAX_DEPTH;
    mp_json_writer_init(w, &codec, end, 0);
    w->style.also = 0x7f;
    w->style.careful = w->style.hidden = true;
    w->as_terminal = true;
}

MP_INLINE uint8_t *
put_bytes(uint8_t *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}

/* A line end and the indentation of a depth, if the text is pretty. */
MP_INLINE uint8_t *
put_line(mp_json_writer *w, uint8_t *to, size_t depth)
{
    if (MP_LIKELY(!w->pretty)) return to;
    to = mp_json_room(&w->text.out, to, 1 + 2 * depth);
    *to++ = '\n';
    memset(to, ' ', 2 * depth);
    return to + 2 * depth;
}

MP_INLINE frame *
innermost(mp_json_writer *w)
{
    return (frame *)(void *)w->frames.out.pos - 1;
}

/* Calls a step that is too rare or too long for the loop. */
MP_INLINE mp_status
take_rare(mp_json_writer *w, place *at, mp_status (*step)(mp_json_writer *w))
{
    mp_status status;

    w->p = at->p;
    w->to = at->to;
    status = step(w);
    at->p = w->p;
    at->to = w->to;
    return status;
}

/* --- values ----------------------------------------------------------------------------------------- */

static mp_status
write_float(mp_json_writer *w, double real)
{
    if (MP_LIKELY(real - real == 0)) w->to = mp_put_double(w->to, real);
    else if (!w->nan) return MP_E_JSON;
    else if (real != real) w->to = put_bytes(w->to, "NaN", 3);
    else w->to = real > 0 ? put_bytes(w->to, "Infinity", 8) : put_bytes(w->to, "-Infinity", 9);
    return MP_OK;
}

static mp_status
write_bytes_as(mp_json_writer *w, mp_bytes_as as, const mp_head *head)
{
    mp_out *out = &w->text.out;

    if (as == MP_BYTES_ERROR) return MP_E_JSON;
    w->to = as == MP_BYTES_HEX ? mp_json_put_hex(out, w->to, head->payload, head->n)
                               : mp_json_put_base64(&w->style, out, w->to, head->payload, head->n);
    return MP_OK;
}

static mp_status
write_str(mp_json_writer *w, const mp_head *head)
{
    uint8_t *to = mp_json_put_string(&w->style, &w->text.out, w->to, head->payload, head->n);

    if (MP_UNLIKELY(!to)) {
        w->to = w->text.out.pos; /* the text may have moved: w->to may point to memory that is freed */
        return MP_E_UTF8;
    }
    w->to = to;
    return MP_OK;
}

/* Writes a Ruby String as a string. */
static mp_status
write_string(mp_json_writer *w, VALUE string)
{
    mp_head head = {.payload = (const uint8_t *)RSTRING_PTR(string), .n = (uint32_t)RSTRING_LEN(string)};
    const uint8_t *readable = w->style.readable;
    mp_status status;

    w->style.readable = head.payload + head.n;
    status = write_str(w, &head);
    w->style.readable = readable;
    RB_GC_GUARD(string);
    return status;
}

/* The name of the class that the codec has for an ext type, or else the number of the type. */
static VALUE
name_of_ext(const mp_types *types, int ext_type)
{
    const mp_type *type = types ? mp_types_for_ext(types, ext_type) : NULL;
    VALUE name = type ? rb_mod_name(type->klass) : Qnil;

    return NIL_P(name) ? rb_obj_as_string(INT2FIX(ext_type)) : name;
}

/* Writes an ext as an object of one pair. */
static mp_status
write_named_ext(mp_json_writer *w, const mp_head *head)
{
    mp_status status;

    if (w->depth == w->max_depth) return MP_E_DEPTH;
    *w->to++ = '{';
    w->to = put_line(w, w->to, (size_t)w->depth + 1);
    status = write_string(w, name_of_ext(w->types, head->ext_type));
    if (MP_UNLIKELY(status != MP_OK)) return status;
    w->to = put_bytes(w->to, ": ", 2) - !w->pretty;
    w->to = mp_json_put_base64(&w->style, &w->text.out, w->to, head->payload, head->n);
    w->to = put_line(w, w->to, w->depth);
    *w->to++ = '}';
    return MP_OK;
}

static mp_status
write_ext(mp_json_writer *w, const mp_head *head)
{
    mp_timestamp timestamp;
    mp_status status;

    if (head->ext_type != MP_TIMESTAMP_TYPE || !w->timestamp) {
        return w->ext == MP_BYTES_NAMED ? write_named_ext(w, head) : write_bytes_as(w, w->ext, head);
    }
    status = mp_timestamp_read(head->payload, head->n, &timestamp);
    if (status == MP_OK) status = mp_timestamp_check_range(timestamp);
    if (status == MP_OK) w->to = mp_json_put_timestamp(&w->text.out, w->to, timestamp);
    return status;
}

/* Writes a value that is not a container, and moves after it. */
static MP_NOINLINE mp_status
write_scalar(mp_json_writer *w)
{
    mp_wire_row row;
    const uint8_t *next;
    mp_head head;
    mp_status status = mp_head_over(w->p, w->end, &head, &next);

    if (MP_UNLIKELY(status != MP_OK)) return status;
    row = MP_WIRE[*w->p];
    switch (head.kind) {
      case MP_NIL: w->to = put_bytes(w->to, "null", 4); break;
      case MP_TRUE: w->to = put_bytes(w->to, "true", 4); break;
      case MP_FALSE: w->to = put_bytes(w->to, "false", 5); break;
      case MP_FIXINT:
      case MP_INT: w->to = mp_put_decimal_sint(w->to, mp_row_sint(w->p, row)); break;
      case MP_UINT: w->to = mp_put_decimal_uint(w->to, mp_row_uint(w->p, row)); break;
      case MP_FLOAT32:
      case MP_FLOAT64: status = write_float(w, mp_row_real(w->p, row)); break;
      case MP_STR: status = write_str(w, &head); break;
      case MP_BIN: status = write_bytes_as(w, w->bin, &head); break;
      default: status = write_ext(w, &head); break;
    }
    w->to = mp_json_room(&w->text.out, w->to, 0);
    if (MP_LIKELY(status == MP_OK)) w->p = next;
    return status;
}

/*
 * Writes a fixstr of n bytes that needs no escape. False for any other. Like all fast paths here, loads no byte
 * from `readable` on.
 */
MP_INLINE bool
put_fixstr(const mp_json_writer *w, uint8_t *to, const uint8_t *p, uint32_t n)
{
    mp_block first = mp_block_load(p), second;

    *to++ = '"';
    mp_block_store(to, first);
    if (n > MP_SCAN_BLOCK) {
        second = mp_block_load(p + MP_SCAN_BLOCK);
        mp_block_store(to + MP_SCAN_BLOCK, second);
        if (mp_scan_block(first, w->style.also) < MP_SCAN_BLOCK) return false;
        if (mp_scan_block(second, w->style.also) < n - MP_SCAN_BLOCK) return false;
    } else if (mp_scan_block(first, w->style.also) < n) {
        return false;
    }
    to[n] = '"';
    return true;
}

MP_INLINE uint8_t *
put_small(uint8_t *to, unsigned n)
{
    if (n >= 100) *to++ = '1';
    if (n >= 10) *to++ = (uint8_t)('0' + n / 10 % 10);
    *to = (uint8_t)('0' + n % 10);
    return to + 1;
}

/* Fast path (middle/to_json tweets): a value that is frequent and short. False for any other. */
MP_INLINE bool
written_ahead_p(mp_json_writer *w, place *at)
{
    const uint8_t *p = at->p;
    double real;
    uint32_t n;

    if (MP_UNLIKELY(w->style.readable - p < MP_JSON_AHEAD)) return false;
    if (mp_fixstr_ahead_p(p, &n)) {
        if (MP_UNLIKELY(p + n >= w->end) || MP_UNLIKELY(!put_fixstr(w, at->to, p + 1, n))) return false;
        at->to += n + 2;
        at->p = p + 1 + n;
        return true;
    }
    if (MP_UNLIKELY(p + MP_WIRE[*p].head > w->end)) return false;
    if (*p < 0x80) {
        at->to = put_small(at->to, *p);
        at->p = p + 1;
        return true;
    }
    switch (*p) {
      case 0xc0: at->to = put_bytes(at->to, "null", 4); break;
      case 0xc2: at->to = put_bytes(at->to, "false", 5); break;
      case 0xc3: at->to = put_bytes(at->to, "true", 4); break;
      case 0xcc: at->to = mp_put_decimal_uint(at->to, p[1]); break;
      case 0xcd: at->to = mp_put_decimal_uint(at->to, mp_load16(p + 1)); break;
      case 0xce: at->to = mp_put_decimal_uint(at->to, mp_load32(p + 1)); break;
      case 0xcb:
        real = mp_double_of_bits(mp_load64(p + 1));
        if (MP_UNLIKELY(real - real != 0)) return false;
        at->to = mp_put_double(at->to, real);
        break;
      default: return false;
    }
    at->p = p + MP_WIRE[*p].head;
    return true;
}

/* --- keys ------------------------------------------------------------------------------------------- */

/* Writes a Float as Float#to_s does, which lays out digits in another way than json. */
static mp_status
write_float_key(mp_json_writer *w)
{
    mp_wire_row row = MP_WIRE[*w->p];
    mp_status status = write_string(w, rb_obj_as_string(DBL2NUM(mp_row_real(w->p, row))));

    if (status == MP_OK) w->p += row.head;
    return status;
}

/* Notes the key that was written last, by its text without escapes. Only slashes can be escaped here. */
static void
note_other_key(mp_json_writer *w, size_t from)
{
    size_t size = (size_t)(w->to - w->text.out.start) - from;
    uint8_t *plain;
    const uint8_t *p;

    w->to = mp_json_room(&w->text.out, w->to, size);
    plain = w->to;
    for (p = w->to - size + 1; p < w->to - 1; p++) {
        *plain = *p;
        plain += *p != '\\';
    }
    mp_json_noted_note(&w->keys, from, size, mp_noted_key_hash(w->to, (size_t)(plain - w->to)));
}

/* Writes a key that is no str as its to_s. */
static MP_NOINLINE mp_status
write_other_key(mp_json_writer *w, mp_kind kind, bool timestamp)
{
    size_t from = (size_t)(w->to - w->text.out.start);
    bool bytes = kind == MP_BIN || kind == MP_EXT, real = kind == MP_FLOAT32 || kind == MP_FLOAT64;
    mp_status status;

    if (kind == MP_ARRAY || kind == MP_MAP || !(bytes || w->stringify)) return MP_E_JSON;
    if (kind == MP_EXT && w->ext == MP_BYTES_NAMED && !timestamp) return MP_E_JSON;
    if (!bytes && !real) *w->to++ = '"';
    status = real ? write_float_key(w) : write_scalar(w);
    if (status != MP_OK) return status;
    if (kind == MP_NIL) w->to = w->text.out.start + from + 1;
    if (!bytes && !real) *w->to++ = '"';
    if (!w->duplicates) note_other_key(w, from);
    return MP_OK;
}

/* Writes a key of any kind. */
static MP_NOINLINE mp_status
write_any_key(mp_json_writer *w)
{
    const uint8_t *next, *p;
    uint8_t last[8] = {0};
    mp_head head;
    mp_status status = mp_head_over(w->p, w->end, &head, &next);
    size_t from = (size_t)(w->to - w->text.out.start), size;

    if (MP_UNLIKELY(status != MP_OK)) return status;
    if (head.kind != MP_STR) {
        return write_other_key(w, head.kind, w->timestamp && head.ext_type == MP_TIMESTAMP_TYPE);
    }
    if (MP_UNLIKELY(w->as_terminal) && head.n && *head.payload == '$') return MP_E_JSON;
    status = write_str(w, &head);
    if (MP_UNLIKELY(status != MP_OK)) return status;
    p = w->style.readable - head.payload >= 8 ? head.payload : memcpy(last, head.payload, head.n);
    size = (size_t)(w->to - w->text.out.start) - from;
    if (!w->duplicates) mp_json_noted_note(&w->keys, from, size, mp_noted_key_hash(p, head.n));
    w->p = next;
    return MP_OK;
}

/* Fast path (middle/to_json tweets): a short key that needs no escape. False for any other. */
MP_INLINE bool
key_ahead_p(mp_json_writer *w, place *at)
{
    const uint8_t *p = at->p;
    uint32_t n;

    if (MP_UNLIKELY(w->style.readable - p < MP_JSON_AHEAD) || !mp_fixstr_ahead_p(p, &n)) return false;
    if (MP_UNLIKELY(p + n >= w->end)) return false;
    if (MP_UNLIKELY(!put_fixstr(w, at->to, p + 1, n)) || MP_UNLIKELY(w->as_terminal && p[1] == '$')) return false;
    if (!w->duplicates) {
        size_t from = (size_t)(at->to - w->text.out.start);
        mp_json_noted_note(&w->keys, from, n + 2, mp_noted_key_hash(p + 1, n));
    }
    at->to += n + 2;
    at->p = p + 1 + n;
    return true;
}

MP_INLINE mp_status
write_key(mp_json_writer *w, place *at)
{
    if (!key_ahead_p(w, at)) {
        mp_status status = take_rare(w, at, write_any_key);

        w->at_key = status != MP_OK;
        if (w->at_key) return status;
    }
    *at->to++ = ':';
    *at->to = ' ';
    at->to += w->pretty;
    return MP_OK;
}

/* Returns the key at `index` in a map; it equals an earlier one. */
static MP_NOINLINE const uint8_t *
key_at_index(const mp_json_writer *w, const uint8_t *map, size_t index)
{
    uint64_t left[MP_DEFAULT_MAX_DEPTH];
    const uint8_t *p;
    mp_walk walk;
    mp_head head;

    if (mp_head_read(map, w->end, &head) != MP_OK) return map;
    p = head.payload;
    for (uint64_t objects = 2 * (uint64_t)index; objects; objects--) {
        mp_walk_init(&walk, left, MP_DEFAULT_MAX_DEPTH);
        if (mp_skip(&walk, &p, w->end) != MP_OK) return map; /* too deep to skip */
    }
    return p;
}

/* --- containers ------------------------------------------------------------------------------------- */

MP_INLINE void
push_frame(mp_json_writer *w, const uint8_t *head, bool map)
{
    frame *inner = (frame *)(void *)mp_out_reserve(&w->frames.out, sizeof(*inner));

    inner->head = head; /* member by member: the CPU would have to wait before it could load the whole struct */
    inner->keys = mp_json_noted_count(&w->keys);
    inner->map = map;
    mp_out_commit(&w->frames.out, (uint8_t *)(inner + 1));
}

MP_INLINE mp_status
open_container(mp_json_writer *w, place *at, const uint8_t *next, uint32_t n, bool map)
{
    if (!n) {
        at->to = put_bytes(at->to, map ? "{}," : "[],", 3);
        at->p = next;
        return MP_OK;
    }
    if (MP_UNLIKELY(w->depth == w->max_depth)) return MP_E_DEPTH;
    w->depth++;
    innermost(w)->left = at->left;
    push_frame(w, at->p, map);
    *at->to++ = map ? '{' : '[';
    at->p = next;
    at->left = n;
    at->map = map;
    return MP_OK;
}

MP_INLINE mp_status
close_container(mp_json_writer *w, place *at)
{
    if (at->map && !w->duplicates) {
        size_t index;

        if (MP_UNLIKELY(mp_json_noted_forget(&w->keys, innermost(w)->keys, w->text.out.start, &index) != SIZE_MAX)) {
            at->p = key_at_index(w, innermost(w)->head, index);
            return MP_E_DUPLICATE_KEY;
        }
    }
    at->to = put_line(w, at->to - 1, --w->depth);
    *at->to++ = at->map ? '}' : ']';
    *at->to++ = ',';
    w->frames.out.pos -= sizeof(frame);
    at->left = innermost(w)->left;
    at->map = innermost(w)->map;
    return MP_OK;
}

MP_INLINE mp_status
write_value(mp_json_writer *w, place *at)
{
    mp_status status = MP_OK;
    mp_head head;

    if (!written_ahead_p(w, at)) {
        status = mp_head_read(at->p, w->end, &head);
        if (MP_UNLIKELY(status != MP_OK)) return status;
        if (head.kind == MP_ARRAY || head.kind == MP_MAP) {
            return open_container(w, at, head.payload, head.n, head.kind == MP_MAP);
        }
        status = take_rare(w, at, write_scalar);
    }
    *at->to++ = ',';
    return status;
}

mp_status
mp_json_write(mp_json_writer *w, const uint8_t **p)
{
    place at = {.p = *p, .to = mp_json_room(&w->text.out, w->text.out.pos, 0)};
    mp_status status;

    w->depth = 0;
    w->at_key = false;
    mp_out_commit(&w->frames.out, w->frames.out.start);
    mp_out_commit(&w->keys.noted.out, w->keys.noted.out.start);
    push_frame(w, *p, false);
    status = write_value(w, &at);
    while (status == MP_OK && w->depth) {
        at.to = mp_json_room(&w->text.out, at.to, 0);
        if (!at.left) {
            status = close_container(w, &at);
            continue;
        }
        at.left--;
        at.to = put_line(w, at.to, w->depth);
        if (at.map) status = write_key(w, &at);
        if (MP_LIKELY(status == MP_OK)) status = write_value(w, &at);
    }
    mp_out_commit(&w->text.out, at.to - (status == MP_OK));
    *p = at.p;
    return status;
}
