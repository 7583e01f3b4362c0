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
 * call-seq: view.span(key) -> [start, value, finish] or nil
 *
 * Returns the offsets of a pair, of its value, and of its end. For an element of an array the first two are the same.
 */
static VALUE
rb_view_span(VALUE self, VALUE key)
{
    VALUE offsets[3] = {Qnil, Qnil, Qnil};
    mp_cursor opened, cursor;
    mp_peek peek;
    bool found;

    opened = cursor = mp_peek_open(&peek, mp_view_peek(self, &peek));
    peek.unique_keys = true; /* otherwise, after one pair is removed, another with the same key would remain */
    peek.text_keys = true;
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

/* call-seq: view.part(start, finish) -> object: the value between two offsets of the message that View#span returned */
static VALUE
rb_view_part(VALUE self, VALUE start, VALUE finish)
{
    size_t from = NUM2SIZET(start), to = NUM2SIZET(finish);
    VALUE value;
    mp_peek peek;

    mp_view_peek_once(self, &peek);
    check_part(&peek, from, to);
    value = mp_view_value_at(&peek, mp_view_root(self), from, to);
    mp_peek_end(&peek);
    return value;
}

/* call-seq: view.head_size -> Integer: number of bytes in the head of a container */
static VALUE
rb_view_head_size(VALUE self)
{
    mp_cursor cursor;
    mp_peek peek;
    size_t offset;

    offset = mp_view_peek(self, &peek);
    cursor = mp_peek_open(&peek, offset);
    mp_peek_end(&peek);
    return SIZET2NUM(cursor.at - offset);
}

/* call-seq: view.append_to(string, from, to) -> string: appends the bytes of the message between two offsets */
static VALUE
rb_view_append_to(VALUE self, VALUE string, VALUE from, VALUE to)
{
    size_t start = NUM2SIZET(from), end = NUM2SIZET(to);
    mp_peek peek;

    Check_Type(string, T_STRING);
    mp_view_peek(self, &peek);
    if (start != end) check_part(&peek, start, end);
    rb_str_cat(string, (const char *)peek.look.bytes + start, (long)(end - start));
    mp_peek_end(&peek);
    return string;
}

/*
 * call-seq: view.placed(path) { ... } -> object
 *
 * Returns what the block returns. Prepends the path, a String, to the path of its packing errors.
 */
static VALUE
rb_view_placed(VALUE self, VALUE path)
{
    int state;
    VALUE result = rb_protect(rb_yield, Qundef, &state);

    if (MP_LIKELY(!state)) return result;
    if (mp_pack_error_p(mp_user_error())) mp_raise_pack_error_below(mp_user_error(), path);
    rb_jump_tag(state);
}

void
Init_manypack_splice(void)
{
    VALUE cView = mp_const("Manypack::View");

    rb_define_private_method(cView, "span", rb_view_span, 1);
    rb_define_private_method(cView, "part", rb_view_part, 2);
    rb_define_private_method(cView, "placed", rb_view_placed, 1);
    rb_define_private_method(cView, "head_size", rb_view_head_size, 0);
    rb_define_private_method(cView, "append_to", rb_view_append_to, 3);
}
