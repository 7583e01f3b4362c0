/* The methods of a View that go through its elements, pairs or keys, and count them. */
#include "codec/codec.h"
#include "unpack/key_flood.h"
#include "view/view.h"

/* The value at the cursor. Moves the cursor past it. */
static VALUE
next_value(mp_peek *peek, mp_cursor *cursor, VALUE root)
{
    size_t offset = cursor->at;

    mp_peek_check(peek, mp_cursor_next(cursor));
    return mp_view_value_at(peek, root, offset, cursor->at);
}

/* The same for a map key. */
static VALUE
next_key(mp_peek *peek, mp_cursor *cursor)
{
    size_t offset = cursor->at;

    mp_peek_check(peek, mp_cursor_next(cursor));
    return mp_peek_key(peek, offset);
}

static VALUE
view_size(VALUE self, VALUE args, VALUE enumerator)
{
    mp_cursor cursor;
    mp_peek peek;

    cursor = mp_peek_open(&peek, mp_view_peek(self, &peek));
    mp_peek_end(&peek);
    return ULL2NUM(cursor.kind == MP_MAP ? cursor.left / 2 : cursor.left);
}

/*
 * call-seq: view.size -> Integer
 *
 * Returns the number of pairs of a map, or of elements of an array, that its head declares. Raises TypeError for a View
 * of anything else.
 *
 *   Manypack::View.new(Manypack.pack([1, 2, 3])).size #=> 3
 */
static VALUE
rb_view_size(VALUE self)
{
    return view_size(self, Qnil, Qnil);
}

/*
 * call-seq:
 *   view.each { |element| ... } -> view
 *   view.each { |key, value| ... } -> view
 *   view.each -> Enumerator
 *
 * Yields the elements of an array, or the pairs of a map. Containers are yielded as Views, other values are unpacked. A
 * View is Enumerable. Raises what View#[] raises.
 *
 *   view = Manypack::View.new(Manypack.pack([{"id" => 1}, {"id" => 2}]))
 *   view.map { |row| row["id"] } #=> [1, 2]
 */
static VALUE
rb_view_each(VALUE self)
{
    VALUE root = mp_view_root(self);
    mp_cursor cursor;
    mp_peek peek;

    RETURN_SIZED_ENUMERATOR(self, 0, NULL, view_size);
    cursor = mp_peek_open(&peek, mp_view_peek(self, &peek));
    while (cursor.left) {
        VALUE key = cursor.kind == MP_MAP ? next_key(&peek, &cursor) : Qundef;
        VALUE value = next_value(&peek, &cursor, root);

        mp_peek_leave(&peek);
        rb_yield(key == Qundef ? value : rb_assoc_new(key, value));
        mp_peek_refresh(&peek);
    }
    mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    return self;
}

/* Opens a map. TypeError for a View of anything else. */
static mp_cursor
open_map(mp_peek *peek, VALUE self)
{
    mp_cursor cursor = mp_peek_open(peek, mp_view_peek(self, peek));

    if (cursor.kind != MP_MAP) rb_raise(rb_eTypeError, "expected a map, got array");
    return cursor;
}

/*
 * call-seq: view.keys -> Array
 *
 * Returns the keys of a map, in its order. Raises TypeError for a View of anything else.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1, "tags" => []})).keys #=> ["id", "tags"]
 */
static VALUE
rb_view_keys(VALUE self)
{
    VALUE keys = rb_ary_new();
    mp_cursor cursor;
    mp_peek peek;

    cursor = open_map(&peek, self);
    while (cursor.left) {
        rb_ary_push(keys, next_key(&peek, &cursor));
        mp_peek_check(&peek, mp_cursor_next(&cursor));
    }
    mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    return keys;
}

/*
 * call-seq: view.values -> Array
 *
 * Returns the values of a map, in its order: containers as Views, other values unpacked. Raises TypeError for a View of
 * anything else.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1, "name" => "Ada"})).values #=> [1, "Ada"]
 */
static VALUE
rb_view_values(VALUE self)
{
    VALUE values = rb_ary_new(), root = mp_view_root(self);
    mp_cursor cursor;
    mp_peek peek;

    cursor = open_map(&peek, self);
    while (cursor.left) {
        mp_peek_check(&peek, mp_cursor_next(&cursor));
        rb_ary_push(values, next_value(&peek, &cursor, root));
        mp_peek_refresh(&peek);
    }
    mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    return values;
}

/* A hidden Array with the keys and values of a map, in turn. Sets *end to the offset after the map. */
static VALUE
keys_and_values(VALUE self, size_t *end)
{
    VALUE objects = rb_obj_hide(rb_ary_new()), root = mp_view_root(self);
    mp_cursor cursor;
    mp_peek peek;

    cursor = open_map(&peek, self);
    while (cursor.left) {
        VALUE pair[2];

        pair[0] = next_key(&peek, &cursor);
        pair[1] = next_value(&peek, &cursor, root);
        rb_ary_cat(objects, pair, 2); /* both together: a handler may return twice */
        mp_peek_refresh(&peek);
    }
    mp_view_ended(self, cursor.at);
    *end = cursor.at;
    mp_peek_end(&peek);
    return objects;
}

/* call-seq: view.pairs -> Hash: with the pair that View#[] finds of equal keys. LimitError as in unpacking */
static VALUE
rb_view_pairs(VALUE self)
{
    bool last = mp_view_last_key_p(self);
    size_t end;
    VALUE objects = keys_and_values(self, &end), hash;
    long i;

    mp_same_hash_check(objects, end);
    hash = rb_hash_new();
    for (i = 0; i < RARRAY_LEN(objects); i += 2) {
        VALUE key = RARRAY_AREF(objects, i);

        if (last || rb_hash_lookup2(hash, key, Qundef) == Qundef) rb_hash_aset(hash, key, RARRAY_AREF(objects, i + 1));
    }
    return hash;
}

void
Init_manypack_view_each(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cView;

    cView = rb_define_class_under(mManypack, "View", rb_cObject);
    rb_define_method(cView, "size", rb_view_size, 0);
    rb_define_method(cView, "each", rb_view_each, 0);
    rb_define_method(cView, "keys", rb_view_keys, 0);
    rb_define_method(cView, "values", rb_view_values, 0);
    rb_define_private_method(cView, "pairs", rb_view_pairs, 0);
}
