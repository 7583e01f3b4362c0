/* Finds values in a message by key or index, and builds single objects of it, without building their containers. */
#include "view/peek.h"

#include "base/error.h"
#include "unpack/decode.h"
#include "view/view_index.h"

void
mp_peek_refresh(mp_peek *peek)
{
    peek->look.bytes = (const uint8_t *)RSTRING_PTR(peek->message);
    if (peek->index) peek->look.tape = mp_view_index_tape(peek->index, peek->message);
}

void
mp_peek_init(mp_peek *peek, VALUE message, VALUE codec, VALUE index)
{
    mp_walk *walk = &peek->look.walk;

    peek->message = message;
    peek->codec_object = codec;
    peek->codec = mp_codec_get(codec);
    peek->index = index;
    peek->memory = 0;
    peek->in_turn = false;
    peek->alone = peek->outermost = false;
    peek->look.bytes = (const uint8_t *)RSTRING_PTR(message);
    peek->look.size = (size_t)RSTRING_LEN(message);
    peek->look.tape = index ? mp_view_index_tape(index, message) : NULL;
    walk->left = peek->places;
    walk->max_depth = mp_unpack_max_depth(&peek->codec->options);
    if (!index && walk->max_depth >= MP_PEEK_PLACES) {
        walk->left = ALLOCV_N(uint64_t, peek->memory, walk->max_depth + 1);
        mp_peek_refresh(peek);
    }
}

void
mp_peek_raise(const mp_peek *peek, mp_status status)
{
    const uint8_t *start = peek->look.bytes;

    mp_raise_status(status, (mp_blame){.start = start, .at = start + peek->look.blame, .end = start + peek->look.size,
                                       .message = mp_message_whole(peek->message)});
}

void
mp_peek_ended(const mp_peek *peek, size_t end)
{
    size_t size = peek->look.size;

    if (end < size) mp_raise_extra_bytes(size - end, end, peek->message);
}

VALUE
mp_kind_symbol(mp_kind kind)
{
    static const char *const names[] = {
        [MP_NIL] = "nil", [MP_FALSE] = "boolean", [MP_TRUE] = "boolean", [MP_FIXINT] = "integer",
        [MP_UINT] = "integer", [MP_INT] = "integer", [MP_FLOAT32] = "float", [MP_FLOAT64] = "float",
        [MP_STR] = "str", [MP_BIN] = "bin", [MP_EXT] = "ext", [MP_ARRAY] = "array", [MP_MAP] = "map",
    };

    return ID2SYM(rb_intern(names[kind]));
}

void
mp_peek_raise_shape(const mp_peek *peek, const char *expected, size_t offset)
{
    VALUE found = mp_kind_symbol(mp_peek_kind(peek, offset));

    mp_raise_shape(expected, found, offset, mp_message_whole(peek->message));
}

void
mp_peek_open(mp_peek *peek, mp_cursor *cursor, size_t offset)
{
    mp_peek_check(peek, mp_cursor_open(cursor, &peek->look, offset));
    peek->outermost = peek->alone && !offset;
    if (MP_UNLIKELY(!mp_container_p(cursor->kind))) mp_peek_raise_shape(peek, "a map or an array", offset);
}

size_t
mp_peek_over(mp_peek *peek, size_t offset)
{
    mp_cursor cursor = {.look = &peek->look, .at = offset, .left = 1};
    mp_status status;

    peek->look.walk.max_depth++; /* the walk counts the level in which it begins as a container */
    status = mp_cursor_next(&cursor);
    peek->look.walk.max_depth--;
    mp_peek_check(peek, status);
    return cursor.at;
}

/* --- objects ---------------------------------------------------------------------------------------- */

VALUE
mp_peek_object(mp_peek *peek, size_t offset)
{
    const mp_options *options = &peek->codec->options;
    const uint8_t *p = peek->look.bytes + offset;
    VALUE obj = options->limited ? Qundef : mp_decode_short(options, &p, peek->look.bytes + peek->look.size);

    if (obj == Qundef) obj = mp_decode_part(peek->message, &offset, peek->codec);
    mp_peek_refresh(peek);
    return obj;
}

static VALUE
bin_key(const mp_options *options, const mp_head *head)
{
    VALUE key = rb_str_new((const char *)head->payload, (long)head->n);

    if (options->symbolize_keys) return rb_str_intern(key);
    RB_OBJ_FREEZE(key);
    return options->shareable ? mp_obj_set_shareable(key) : key;
}

static VALUE
str_key_at(mp_ractor *ractor, const mp_peek *peek, const mp_head *head, size_t offset)
{
    mp_string_kind kind = peek->codec->options.symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING;
    VALUE key = mp_string_cache_fetch(&ractor->keys, head->payload, head->n, kind);

    if (!key) mp_raise_malformed_symbol(head->payload, head->n, offset, mp_message_whole(peek->message));
    return key;
}

VALUE
mp_peek_key(mp_peek *peek, size_t offset)
{
    const mp_options *options = &peek->codec->options;
    mp_ractor *ractor = mp_ractor_current(); /* first: it may allocate */
    mp_head head;
    VALUE key;

    mp_peek_refresh(peek);
    mp_peek_check(peek, mp_head_read(peek->look.bytes + offset, peek->look.bytes + peek->look.size, &head));
    switch (head.kind) {
      case MP_STR: key = str_key_at(ractor, peek, &head, offset); break;
      case MP_BIN: key = bin_key(options, &head); break;
      default:
        key = mp_peek_object(peek, offset);
        return RB_TYPE_P(key, T_STRING) ? rb_str_new_frozen(key) : key; /* frozen, as a Hash stores it */
    }
    mp_peek_refresh(peek);
    return key;
}

/* --- keys ------------------------------------------------------------------------------------------- */

static bool
integer_key(VALUE integer, mp_key *key)
{
    uint64_t absolute = 0;
    int sign;

    if (RB_FIXNUM_P(integer)) {
        *key = mp_key_sint(FIX2LONG(integer));
        return true;
    }
    sign = rb_integer_pack(integer, &absolute, 1, sizeof(absolute), 0, INTEGER_PACK_NATIVE_BYTE_ORDER);
    *key = sign > 0 ? mp_key_uint(absolute) : mp_key_sint((int64_t)(0 - absolute));
    return sign == 1 || (sign == -1 && absolute <= (uint64_t)INT64_MAX + 1);
}

bool
mp_simple_key(VALUE obj, mp_key *key)
{
    if (RB_SYMBOL_P(obj)) obj = rb_sym2str(obj);
    if (RB_TYPE_P(obj, T_STRING)) {
        int index = ENCODING_GET(obj);

        *key = (mp_key){.kind = index == mp_binary_index ? MP_BIN : MP_STR,
                        .bytes = (const uint8_t *)RSTRING_PTR(obj), .n = (size_t)RSTRING_LEN(obj)};
        return index == mp_binary_index || index == mp_utf8_index || rb_enc_str_asciionly_p(obj);
    }
    if (RB_INTEGER_TYPE_P(obj)) return integer_key(obj, key);
    if (RB_FLOAT_TYPE_P(obj)) {
        *key = mp_key_real(RFLOAT_VALUE(obj));
        return !mp_key_nan_p(key);
    }
    *key = mp_key_special(NIL_P(obj) ? MP_NIL : obj == Qtrue ? MP_TRUE : MP_FALSE);
    return NIL_P(obj) || obj == Qtrue || obj == Qfalse;
}

/*
 * True for a Symbol if str keys become Strings, and for a String if they become Symbols. obj stands for the str, unless
 * the map has an ext key that unpacks to obj itself.
 */
static bool
stands_for_text_p(const mp_peek *peek, VALUE obj)
{
    return peek->codec->options.symbolize_keys ? RB_TYPE_P(obj, T_STRING) : RB_SYMBOL_P(obj);
}

/* Finds a key before the offset `end` by building and comparing the keys that are arrays, maps or exts. */
static size_t
find_object(mp_peek *peek, mp_cursor *cursor, size_t end, VALUE obj)
{
    bool first = mp_peek_which(&peek->codec->options) == MP_FIND_FIRST;
    size_t value = 0;

    while (cursor->left && cursor->at < end) {
        size_t key = cursor->at;
        mp_kind kind;
        bool same;

        mp_peek_check(peek, mp_cursor_next(cursor));
        kind = mp_peek_kind(peek, key);
        same = (kind == MP_EXT || mp_container_p(kind)) && rb_eql(mp_peek_object(peek, key), obj);
        mp_peek_refresh(peek);
        if (same) value = cursor->at;
        if (same && first) return value;
        mp_peek_check(peek, mp_cursor_next(cursor));
    }
    return value;
}

/*
 * Continues the search among keys that are arrays, maps and exts. `value` is the offset that the core found, or 0. An
 * ext may unpack to an equal key, and that key may be the one that counts.
 */
static size_t
find_other(mp_peek *peek, mp_cursor *cursor, size_t value, VALUE obj)
{
    bool first = mp_peek_which(&peek->codec->options) == MP_FIND_FIRST;
    mp_cursor end = *cursor;
    size_t other;

    mp_peek_open(peek, cursor, cursor->head);
    other = find_object(peek, cursor, value && first ? value : SIZE_MAX, obj);
    if (other && (first || other > value)) return other;
    *cursor = end;
    return value;
}

/*
 * Finds a key in the table, if there is one, or by skipping all pairs in front of it. Returns the offset of its value,
 * or 0. Both ways notice extra bytes after the message, unless they stop at the first of equal keys.
 */
static size_t
find_simple(mp_peek *peek, mp_cursor *cursor, const mp_key_table *table, const mp_key *key)
{
    mp_find_which which = mp_peek_which(&peek->codec->options);
    size_t value = 0;

    if (table) value = mp_key_table_find(table, peek->look.bytes, peek->look.size, key);
    else mp_peek_check(peek, mp_find(cursor, key, which, &value));
    if (peek->outermost && !(value && which == MP_FIND_FIRST)) {
        mp_peek_ended(peek, table ? peek->look.tape->at : cursor->at);
    }
    return value;
}

static bool
find_key(mp_peek *peek, mp_cursor *cursor, VALUE obj)
{
    bool others = mp_ext_keys_p(peek->codec), last = others && stands_for_text_p(peek, obj), simple;
    const mp_key_table *table = NULL;
    size_t value = 0;
    mp_key key;

    if (peek->index && !peek->in_turn) {
        table = mp_view_index_keys(peek->index, peek->message, cursor->head, cursor->left / 2,
                                   mp_peek_which(&peek->codec->options));
        mp_peek_refresh(peek);
    }
    simple = mp_simple_key(obj, &key); /* last, because making the table allocates */
    others = (others || !simple) && (!table || table->others);
    if (simple && !last) value = find_simple(peek, cursor, table, &key);
    if (others) value = find_other(peek, cursor, value, obj);
    if (simple && last && !value) {
        mp_simple_key(obj, &key); /* again, because comparing objects may have moved the bytes of obj */
        value = find_simple(peek, cursor, table, &key);
    }
    RB_GC_GUARD(obj);
    if (value) cursor->at = value;
    return value != 0;
}

static bool
find_element(mp_peek *peek, mp_cursor *cursor, VALUE key)
{
    int64_t size = (int64_t)cursor->left, n;

    if (MP_UNLIKELY(!RB_FIXNUM_P(key))) {
        key = rb_check_to_integer(key, "to_int");
        mp_peek_refresh(peek);
        if (NIL_P(key)) mp_peek_raise_shape(peek, "a map", cursor->head);
    }
    n = NUM2LL(key);
    if (n < 0) n += size;
    if (n < 0 || n >= size) return false;
    mp_peek_check(peek, peek->index ? mp_view_index_go(peek->index, cursor, (uint32_t)n)
                                    : mp_cursor_skip(cursor, (uint64_t)n));
    return true;
}

bool
mp_peek_find(mp_peek *peek, mp_cursor *cursor, VALUE key)
{
    bool found = cursor->kind == MP_MAP ? find_key(peek, cursor, key) : find_element(peek, cursor, key);

    if (MP_LIKELY(!found || cursor->at < peek->look.size)) return found;
    peek->look.blame = cursor->at;
    mp_peek_raise(peek, MP_E_TRUNCATED);
}
