/*
 * The loop that packs JSON. One byte is kept for a container's head until the number of elements is known: those of a
 * container with 16 or more move.
 */
#include "json/json_pack.h"

#include "base/error_path.h"
#include "pack/encode.h"

MP_INLINE mp_json_frame *
top(const mp_json_packer *t)
{
    return (mp_json_frame *)(void *)t->frames.out.pos - 1;
}

MP_INLINE uint8_t *
output_room(mp_json_packer *t, size_t n)
{
    return mp_out_reserve(&t->out.out, n);
}

MP_INLINE void
commit_bytes(mp_json_packer *t, uint8_t *to)
{
    mp_out_commit(&t->out.out, to);
}

MP_INLINE size_t
size(const mp_json_packer *t)
{
    return mp_out_size(&t->out.out);
}

/* --- limits ------------------------------------------------------------------------------------------ */

static const uint8_t *
fail_limit(mp_json_packer *t, mp_status status, const uint8_t *at)
{
    t->limit = status;
    return mp_json_fail(&t->c, MP_JSON_LIMIT, at);
}

/* Counts one more element or pair of the innermost container. False if that exceeds a limit. */
static bool
count_element(mp_json_packer *t, const mp_json_frame *container, const uint8_t *at)
{
    const mp_limits *limits = &t->codec->options.limits;
    mp_status status = mp_limits_check(limits, container->map ? MP_MAP : MP_ARRAY, container->n);

    t->objects += container->map ? 2 : 1;
    if (status == MP_OK && t->objects > limits->objects) status = MP_E_MAX_OBJECTS;
    if (status != MP_OK) fail_limit(t, status, at);
    return status == MP_OK;
}

/* --- strings ---------------------------------------------------------------------------------------- */

/* Writes a str that has escapes. Returns its text in the output, or NULL. */
static const uint8_t *
write_escaped(mp_json_packer *t, mp_json_string *string)
{
    uint8_t *to = output_room(t, MP_HEAD_MAX + string->n), *text = to + MP_HEAD_MAX;
    size_t n;

    if (!mp_json_unescape(&t->c, string, text, &n)) return NULL;
    to = mp_put_str_head(to, (uint32_t)n, t->compatible);
    memmove(to, text, n);
    commit_bytes(t, to + n);
    string->n = n;
    return to;
}

/* Packs the string at p, which is after the quote. Sets *string to it, and *text to its text in the output. */
static const uint8_t *
pack_string(mp_json_packer *t, const uint8_t *p, mp_json_string *string, const uint8_t **text)
{
    const uint8_t *after = mp_json_read_string(&t->c, p, string);
    size_t before = size(t);
    uint8_t *to;

    if (!after) return NULL;
    if (string->escaped) {
        *text = write_escaped(t, string);
        if (!*text) return NULL;
    } else {
        to = mp_put_str_head(output_room(t, MP_HEAD_MAX + string->n), (uint32_t)string->n, t->compatible);
        mp_copy(to, string->text, string->n);
        commit_bytes(t, to + string->n);
        *text = to;
    }
    if (MP_UNLIKELY(t->limited) && string->n > t->codec->options.limits.string) {
        commit_bytes(t, t->out.out.start + before);
        return fail_limit(t, MP_E_MAX_STRING, p - 1);
    }
    return after;
}

static MP_NOINLINE const uint8_t *
put_any_string(mp_json_packer *t, const uint8_t *p)
{
    mp_json_string string;
    const uint8_t *text;

    return pack_string(t, p, &string, &text);
}

/* Fast path (middle/from_json tweets): copies a string of ASCII with fewer than 32 bytes while it looks for the end. */
MP_INLINE const uint8_t *
put_string(mp_json_packer *t, const uint8_t *p)
{
    mp_block block;
    uint64_t special, high;
    unsigned n;
    uint8_t *to;

    if (!MP_HAS_BLOCKS || t->c.readable - p < 32 || MP_UNLIKELY(t->limited)) return put_any_string(t, p);
    to = output_room(t, 33);
    block = mp_block_load(p);
    mp_block_store(to + 1, block);
    special = mp_block_special(block);
    high = mp_block_high(block);
    if (special) {
        n = mp_mask_first(special);
        high = mp_mask_before(high, n);
    } else {
        block = mp_block_load(p + 16);
        mp_block_store(to + 17, block);
        special = mp_block_special(block);
        if (!special) return put_any_string(t, p);
        n = mp_mask_first(special);
        high |= mp_mask_before(mp_block_high(block), n);
        n += 16;
    }
    if (high || p[n] != '"') return put_any_string(t, p);
    *to = (uint8_t)(0xa0 | n);
    commit_bytes(t, to + 1 + n);
    return p + n + 1;
}

/* --- keys -------------------------------------------------------------------------------------------- */

/* True if the key at `from` in the output, with this text, is new to its map. */
static bool
new_key_p(mp_json_packer *t, mp_json_frame *map, size_t from, const mp_json_string *string, const uint8_t *text)
{
    unsigned depth = t->depth - 1;
    uint16_t key = 0;

    if (t->known && depth < MP_KNOWN_DEPTHS) {
        key = mp_known_key_find(t->known, depth, text, string->n, string->escaped ? NULL : string->text);
    }
    if (key) {
        if (t->known->keys[key].map == map->map) return false;
        mp_known_key_came(t->known, depth, map->key, key, map->map);
        map->key = key;
        return true;
    }
    if (from == t->twice) return false;
    output_room(t, sizeof(uint64_t)); /* readable, for the hash */
    mp_json_noted_note(&t->noted, from, size(t) - from, mp_noted_key_hash(t->out.out.pos - string->n, string->n));
    return true;
}

static MP_NOINLINE const uint8_t *
put_other_key(mp_json_packer *t, const uint8_t *p)
{
    size_t from = size(t);
    mp_json_frame *map = top(t);
    const uint8_t *after, *text;
    mp_json_string string;

    if (p == t->c.end || *p != '"') {
        return mp_json_expected(&t->c, map->n == 1 ? "a key in quotes or }" : "a key in quotes", p);
    }
    after = pack_string(t, p + 1, &string, &text);
    if (!after) return NULL;
    if (string.n && *text == '$') t->odd = true;
    if (new_key_p(t, map, from, &string, text)) return after;
    return mp_json_fail(&t->c, MP_JSON_TWICE, p);
}

/* Writes the key at p if it is the key that followed the previous key last time. Otherwise returns NULL. */
MP_INLINE const uint8_t *
put_known_key(mp_json_packer *t, const uint8_t *p)
{
    mp_json_frame *map = top(t);
    const mp_known_key *key;
    uint16_t next;
    uint8_t *to;

    if (!t->known || t->depth > MP_KNOWN_DEPTHS || t->c.end - p < MP_KNOWN_SIZE + 32 || *p != '"') return NULL;
    next = mp_known_key_next(t->known, t->depth - 1, map->key, map->map, p);
    if (!next) return NULL;
    key = &t->known->keys[next];
    to = mp_put_str_head(output_room(t, MP_HEAD_MAX + MP_KNOWN_SIZE), key->n, t->compatible);
    mp_copy(to, p + 1, key->n);
    commit_bytes(t, to + key->n);
    mp_known_key_came(t->known, t->depth - 1, map->key, next, map->map);
    map->key = next;
    return p + key->n + 2;
}

/* Writes the key at p. Returns the place of its value, or NULL if there is no pair at p, or an invalid one. */
MP_INLINE const uint8_t *
put_key(mp_json_packer *t, const uint8_t *p)
{
    const uint8_t *after = put_known_key(t, p);

    if (!after) after = put_other_key(t, p);
    if (after) {
        p = mp_json_space(&t->c, after);
        if (MP_LIKELY(p < t->c.end && *p == ':')) return mp_json_space(&t->c, p + 1);
        mp_json_expected(&t->c, "a colon", p);
    }
    top(t)->n--;
    return NULL;
}

/* Keeps the last value of equal keys, as a Ruby Hash does: makes Hashes of the packed text. */
static MP_NOINLINE void
keep_last(mp_json_packer *t)
{
    VALUE packed = rb_str_new((const char *)t->out.out.start + t->before, (long)(size(t) - t->before));

    packed = rb_funcall(mp_mArguments, rb_intern("with_last_keys"), 3, packed, UINT2NUM(t->max_depth),
                        t->compatible ? Qtrue : Qfalse);
    commit_bytes(t, t->out.out.start + t->before);
    mp_out_write(&t->out.out, RSTRING_PTR(packed), (size_t)RSTRING_LEN(packed));
    RB_GC_GUARD(packed);
}

/* Compares and forgets the noted keys of the innermost map. False if two are equal and may not be. */
static bool
forget_keys(mp_json_packer *t, const mp_json_frame *map)
{
    size_t index, at = mp_json_noted_forget(&t->noted, map->noted, t->out.out.start, &index);

    if (MP_LIKELY(at == SIZE_MAX)) return true;
    if (t->last_key) t->repeated = true;
    else t->twice = at;
    return t->last_key;
}

/* --- containers -------------------------------------------------------------------------------------- */

/* Opens a container, which is not empty. Its bracket is at `at`. */
static bool
start_container(mp_json_packer *t, bool map, const uint8_t *at)
{
    mp_json_frame *inner;

    if (t->depth == t->max_depth) {
        mp_json_fail(&t->c, MP_JSON_DEPTH, at);
        t->pending = true;
        return false;
    }
    t->depth++;
    t->odd |= t->depth > MP_TERMINAL_MAX_DEPTH;
    inner = (mp_json_frame *)(void *)mp_out_reserve(&t->frames.out, sizeof(*inner));
    *inner = (mp_json_frame){
        .head = size(t), .n = 1, .map = map ? ++t->maps : 0,
        .noted = (uint32_t)mp_json_noted_count(&t->noted),
    };
    mp_out_commit(&t->frames.out, (uint8_t *)(inner + 1));
    commit_bytes(t, output_room(t, MP_HEAD_MAX) + 1);
    return !t->limited || count_element(t, inner, at);
}

/* Writes the head of a container. If it is longer than the byte that was kept for it, moves the elements. */
static void
put_container_head(mp_json_packer *t, const mp_json_frame *container)
{
    size_t elements = size(t) - container->head - 1, bytes;
    uint8_t head[MP_HEAD_MAX], *to;

    if (MP_LIKELY(container->n < 16)) {
        t->out.out.start[container->head] = (uint8_t)((container->map ? 0x80 : 0x90) | container->n);
        return;
    }
    to = container->map ? mp_put_map_head(head, container->n) : mp_put_array_head(head, container->n);
    bytes = (size_t)(to - head);
    output_room(t, MP_HEAD_MAX);
    to = t->out.out.start + container->head;
    memmove(to + bytes, to + 1, elements);
    memcpy(to, head, bytes);
    commit_bytes(t, to + bytes + elements);
}

/* Closes the innermost container, whose bracket is before p. */
static const uint8_t *
end_container(mp_json_packer *t, const uint8_t *p)
{
    mp_json_frame *inner = top(t);

    if (inner->map && !forget_keys(t, inner)) return mp_json_fail(&t->c, MP_JSON_TWICE, p - 1);
    put_container_head(t, inner);
    mp_out_commit(&t->frames.out, (uint8_t *)inner);
    t->depth--;
    return p;
}

/* --- values ------------------------------------------------------------------------------------------ */

MP_INLINE void
put_number(mp_json_packer *t, const mp_json_number *number)
{
    uint8_t *to = output_room(t, MP_HEAD_MAX);

    if (number->kind == MP_JSON_REAL) to = mp_put_float64(to, number->real);
    else if (number->kind == MP_JSON_UINT) to = mp_put_uint(to, number->magnitude);
    else to = mp_put_sint(to, (int64_t)(0 - number->magnitude));
    commit_bytes(t, to);
}

/* Packs an Integer of more than 64 bits, if it has an ext type. */
static bool
put_bignum(mp_json_packer *t, const mp_json_number *number, const uint8_t *end)
{
    size_t n = (size_t)(end - number->from);
    VALUE packed;
    mp_head head;

    if (!t->codec->types || !t->codec->types->integer || n > MP_JSON_BIGNUM_MOST) {
        mp_json_fail(&t->c, MP_JSON_BIG, number->from);
        return false;
    }
    packed = mp_encode_whole(rb_str_to_inum(rb_str_new((const char *)number->from, (long)n), 10, 0), t->codec);
    if (t->limited && mp_head_read((const uint8_t *)RSTRING_PTR(packed), (const uint8_t *)RSTRING_END(packed), &head) ==
        MP_OK && mp_limits_check(&t->codec->options.limits, head.kind, head.n) != MP_OK) {
        fail_limit(t, MP_E_MAX_EXT, number->from);
        return false;
    }
    mp_out_write(&t->out.out, RSTRING_PTR(packed), (size_t)RSTRING_LEN(packed));
    RB_GC_GUARD(packed);
    return true;
}

static MP_NOINLINE const uint8_t *
put_any_number(mp_json_packer *t, const uint8_t *p)
{
    mp_json_number number;

    p = mp_json_read_number(&t->c, p, &number);
    if (!p) return NULL;
    if (number.kind == MP_JSON_BIGNUM) return put_bignum(t, &number, p) ? p : NULL;
    put_number(t, &number);
    return p;
}

MP_INLINE const uint8_t *
put_short_number(mp_json_packer *t, const uint8_t *p)
{
    const uint8_t *after = NULL;
    mp_json_number number = {.kind = MP_JSON_UINT};

    if (MP_HAS_BLOCKS && MP_MASK_STEP == 1 && t->c.readable - p > MP_JSON_NUMBER_AHEAD) {
        after = mp_json_read_short_number(p, &number);
    }
    if (MP_UNLIKELY(!after)) return put_any_number(t, p);
    put_number(t, &number);
    return after;
}

MP_INLINE const uint8_t *
put_word(mp_json_packer *t, const char *word, size_t n, uint8_t head, const uint8_t *p)
{
    p = mp_json_read_word(&t->c, word, n, p);
    if (p) commit_bytes(t, mp_put_byte(output_room(t, MP_HEAD_MAX), head));
    return p;
}

/* Writes the value at p, which is not a container. */
MP_INLINE const uint8_t *
put_scalar(mp_json_packer *t, const uint8_t *p)
{
    if (MP_UNLIKELY(p == t->c.end)) return mp_json_expected(&t->c, "a value", p);
    switch (*p) {
      case '"': return put_string(t, p + 1);
      case 'n': return put_word(t, "null", 4, 0xc0, p);
      case 'f': return put_word(t, "false", 5, 0xc2, p);
      case 't': return put_word(t, "true", 4, 0xc3, p);
      default: return put_short_number(t, p);
    }
}

/* Begins the container at p. Returns the place of its first value, or, if it is empty, after it, and sets *empty. */
static const uint8_t *
begin_container(mp_json_packer *t, const uint8_t *p, bool *empty)
{
    bool map = *p == '{';
    const uint8_t *first = mp_json_space(&t->c, p + 1);

    *empty = first < t->c.end && *first == (map ? '}' : ']');
    if (*empty) {
        commit_bytes(t, mp_put_byte(output_room(t, MP_HEAD_MAX), map ? 0x80 : 0x90));
        return first + 1;
    }
    if (!start_container(t, map, p)) return NULL;
    return map ? put_key(t, first) : first;
}

/* Closes all containers that end at p, after a value. Returns the place of the next value; sets *done at the end. */
MP_INLINE const uint8_t *
pass_ends(mp_json_packer *t, const uint8_t *p, bool *done)
{
    while (t->depth) {
        mp_json_frame *inner = top(t);
        bool map = inner->map != 0;

        p = mp_json_space(&t->c, p);
        if (p < t->c.end && *p == ',') {
            inner->n++;
            if (MP_UNLIKELY(t->limited) && !count_element(t, inner, p)) return NULL;
            p = mp_json_space(&t->c, p + 1);
            return map ? put_key(t, p) : p;
        }
        if (p == t->c.end || *p != (map ? '}' : ']')) {
            return mp_json_expected(&t->c, map ? "a comma or }" : "a comma or ]", p);
        }
        p = end_container(t, p + 1);
        if (!p) return NULL;
    }
    *done = true;
    return p;
}

static const uint8_t *
pack_text(mp_json_packer *t, const uint8_t *p)
{
    bool done = false;

    while (p && !done) {
        bool empty = true;

        if (p < t->c.end && (*p == '{' || *p == '[')) {
            p = begin_container(t, p, &empty);
        } else {
            p = put_scalar(t, p);
            t->pending = !p;
        }
        if (p && empty) p = pass_ends(t, p, &done);
    }
    return p;
}

static void
restart_packing(mp_json_packer *t)
{
    t->depth = 0;
    t->objects = 1;
    t->pending = t->repeated = false;
    mp_out_commit(&t->out.out, t->out.out.start + t->before);
    mp_out_commit(&t->frames.out, t->frames.out.start);
    mp_out_commit(&t->noted.noted.out, t->noted.noted.out.start);
}

/*
 * Fails at the second of two equal keys, which were noticed at the end of their map. Packs the text twice more: first
 * to find the key's offset in the output, then to fail there. Notes all keys, so that both outputs are the same.
 */
static const uint8_t *
read_again(mp_json_packer *t, const uint8_t *p)
{
    t->known = NULL;
    t->twice = 0;
    restart_packing(t);
    pack_text(t, p);
    restart_packing(t);
    return pack_text(t, p);
}

const uint8_t *
mp_json_pack(mp_json_packer *t, const uint8_t *p, bool whole)
{
    const uint8_t *after;

    t->before = size(t);
    t->twice = 0;
    restart_packing(t);
    after = pack_text(t, p);
    if (!after && t->twice) after = read_again(t, p);
    if (after && MP_UNLIKELY(t->repeated)) keep_last(t);
    if (!after || !whole) return after;
    after = mp_json_space(&t->c, after);
    return after == t->c.end ? after : mp_json_expected(&t->c, "the end of the text", after);
}

VALUE
mp_json_path(mp_json_packer *t)
{
    size_t place;
    VALUE packed;

    if (!t->depth) return rb_utf8_str_new_cstr("$");
    if (t->pending) commit_bytes(t, mp_put_byte(output_room(t, MP_HEAD_MAX), 0xc0));
    place = t->pending ? size(t) - 1 : top(t)->head;
    while (t->depth) {
        mp_json_frame *inner = top(t);
        size_t before = size(t);

        put_container_head(t, inner);
        if (place > inner->head) place += size(t) - before;
        mp_out_commit(&t->frames.out, (uint8_t *)inner);
        t->depth--;
    }
    packed = rb_str_new((const char *)t->out.out.start + t->before, (long)(size(t) - t->before));
    return mp_error_path_of(packed, 0, place - t->before);
}
