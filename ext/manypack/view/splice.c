/* For Manypack::View::Splice: finds places in the bytes and copies bytes. */
#include "base/error.h"
#include "base/user_code.h"
#include "view/view.h"

/* The offset of the key whose value is at the offset `value`. The cursor has just opened the map. */
static size_t
key_before(mp_peek *peek, mp_cursor cursor, size_t value)
{
    size_t key;

    do {
        key = cursor.at;
        mp_peek_check(peek, mp_cursor_next(&cursor));
        if (cursor.at == value) return key;
        mp_peek_check(peek, mp_cursor_next(&cursor));
    } while (true);
}

/*
 * call-seq: Internal.span(view, key) -> [start, value, finish] or nil
 *
 * Returns the offsets of a pair, of its value, and of its end. For an element of an array the first two are the same.
 */
static VALUE
rb_internal_span(VALUE self, VALUE view, VALUE key)
{
    VALUE offsets[3] = {Qnil, Qnil, Qnil};
    mp_cursor opened, cursor;
    mp_peek peek;
    bool found;

    opened = cursor = mp_peek_open(&peek, mp_view_peek(view, &peek));
    peek.unique_keys = true; /* otherwise, after one pair is removed, another with the same key would remain */
    found = (cursor.kind == MP_MAP || RB_FIXNUM_P(key)) && mp_peek_find(&peek, &cursor, key);
    if (found) {
        offsets[0] = SIZET2NUM(cursor.kind == MP_MAP ? key_before(&peek, opened, cursor.at) : cursor.at);
        offsets[1] = SIZET2NUM(cursor.at);
        offsets[2] = SIZET2NUM(mp_peek_over(&peek, cursor.at));
    }
    mp_peek_end(&peek);
    return found ? rb_ary_new_from_values(3, offsets) : Qnil;
}

/* RangeError unless start and end delimit bytes of the message. */
static void
check_part(const mp_peek *peek, size_t start, size_t end)
{
    if (start >= end || end > peek->look.size) rb_raise(rb_eRangeError, "no such part of the bytes");
}

/* call-seq: Internal.part(view, start, finish) -> object: the value between two offsets that Internal.span returned */
static VALUE
rb_internal_part(VALUE self, VALUE view, VALUE start, VALUE finish)
{
    size_t from = NUM2SIZET(start), to = NUM2SIZET(finish);
    VALUE value;
    mp_peek peek;

    mp_view_peek_once(view, &peek);
    check_part(&peek, from, to);
    value = mp_view_value_at(&peek, mp_view_root(view), from, to);
    mp_peek_end(&peek);
    return value;
}

/* call-seq: Internal.head_size(view) -> Integer: number of bytes in the head of a container */
static VALUE
rb_internal_head_size(VALUE self, VALUE view)
{
    mp_cursor cursor;
    mp_peek peek;
    size_t offset;

    offset = mp_view_peek(view, &peek);
    cursor = mp_peek_open(&peek, offset);
    mp_peek_end(&peek);
    return SIZET2NUM(cursor.at - offset);
}

/*
 * call-seq: Internal.append_to(view, string, from, to) -> string
 *
 * Appends the bytes of the View's message between two offsets to the String.
 */
static VALUE
rb_internal_append_to(VALUE self, VALUE view, VALUE string, VALUE from, VALUE to)
{
    size_t start = NUM2SIZET(from), end = NUM2SIZET(to);
    mp_peek peek;

    Check_Type(string, T_STRING);
    mp_view_peek(view, &peek);
    if (start != end) check_part(&peek, start, end);
    rb_str_cat(string, (const char *)peek.look.bytes + start, (long)(end - start));
    mp_peek_end(&peek);
    return string;
}

/*
 * call-seq: Internal.placed(path) { ... } -> object
 *
 * Returns what the block returns. Prepends the text of the path to the path of its packing errors.
 */
static VALUE
rb_internal_placed(VALUE self, VALUE path)
{
    int state;
    VALUE result = rb_protect(rb_yield, Qundef, &state);

    if (MP_LIKELY(!state)) return result;
    if (mp_pack_error_p(mp_user_error())) {
        mp_raise_pack_error_below(mp_user_error(), rb_obj_as_string(path));
    }
    rb_jump_tag(state);
}

void
Init_manypack_splice(void)
{
    MP_DEFINE_INTERNAL("span", rb_internal_span, 2);
    MP_DEFINE_INTERNAL("part", rb_internal_part, 3);
    MP_DEFINE_INTERNAL("placed", rb_internal_placed, 1);
    MP_DEFINE_INTERNAL("head_size", rb_internal_head_size, 1);
    MP_DEFINE_INTERNAL("append_to", rb_internal_append_to, 4);
}
