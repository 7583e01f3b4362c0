/* The methods of a View that iterate over or count its elements, pairs or keys. */
#include "codec/codec.h"
#include "view/view.h"

/* The value at the cursor. Moves the cursor past it. */
static VALUE
next_value(mp_peek *peek, mp_cursor *cursor, VALUE view)
{
    size_t offset = cursor->at;

    mp_peek_check(peek, mp_cursor_next(cursor));
    return mp_view_value_at(peek, view, offset, cursor->at);
}

/* The map key at the cursor. Moves the cursor past it. */
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
    return UINT2NUM(mp_view_head(self).n);
}

/*
 * call-seq: view.size -> Integer
 *
 * Returns the number of pairs of a map, or of elements of an array, that its head declares. Raises ShapeError for a
 * View of anything else.
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
    mp_cursor cursor;
    mp_peek peek;

    RETURN_SIZED_ENUMERATOR(self, 0, NULL, view_size);
    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_FOR_ALL));
    while (cursor.left) {
        VALUE key = cursor.kind == MP_MAP ? next_key(&peek, &cursor) : Qundef;
        VALUE value = next_value(&peek, &cursor, self);

        rb_yield(key == Qundef ? value : rb_assoc_new(key, value));
        mp_peek_refresh(&peek);
    }
    mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    return self;
}

/*
 * An Array of a map's keys, of its values, or of both in turn. Sets *end to the offset after the map. ShapeError for a
 * View of anything else.
 */
static VALUE
objects_of(VALUE self, bool keys, bool values, size_t *end)
{
    VALUE objects = rb_ary_new();
    mp_cursor cursor;
    mp_peek peek;

    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_FOR_ALL));
    if (cursor.kind != MP_MAP) mp_peek_raise_shape(&peek, "a map", cursor.head);
    while (cursor.left) {
        if (keys) rb_ary_push(objects, next_key(&peek, &cursor));
        else mp_peek_check(&peek, mp_cursor_next(&cursor));
        mp_peek_refresh(&peek);
        if (values) rb_ary_push(objects, next_value(&peek, &cursor, self));
        else mp_peek_check(&peek, mp_cursor_next(&cursor));
        mp_peek_refresh(&peek);
    }
    mp_view_ended(self, cursor.at);
    *end = cursor.at;
    mp_peek_end(&peek);
    return objects;
}

/*
 * call-seq: view.keys -> Array
 *
 * Returns the keys of a map, in its order. Raises ShapeError for a View of anything else.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1, "tags" => []})).keys #=> ["id", "tags"]
 */
static VALUE
rb_view_keys(VALUE self)
{
    size_t end;

    return objects_of(self, true, false, &end);
}

/*
 * call-seq: view.values -> Array
 *
 * Returns the values of a map, in its order: containers as Views, other values unpacked. Raises ShapeError for a View
 * of anything else.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1, "name" => "Ada"})).values #=> [1, "Ada"]
 */
static VALUE
rb_view_values(VALUE self)
{
    size_t end;

    return objects_of(self, false, true, &end);
}

/* --- Arrays -------------------------------------------------------------------------------------------- */

/* An Array of the elements of an array, or the pairs of a map, at the cursor. */
static VALUE
elements_of(mp_peek *peek, mp_cursor *cursor, VALUE view)
{
    VALUE elements = rb_ary_new();

    while (cursor->left) {
        VALUE key = cursor->kind == MP_MAP ? next_key(peek, cursor) : Qundef;
        VALUE value = next_value(peek, cursor, view);

        rb_ary_push(elements, key == Qundef ? value : rb_assoc_new(key, value));
        mp_peek_refresh(peek);
    }
    return elements;
}

/* Arrays of fewer elements are not scanned for containers first. */
#define FEW 8

/* Moves the cursor to the end of an array without containers, which can be built at once. False for other arrays. */
static bool
skip_elements(mp_peek *peek, mp_cursor *cursor)
{
    const mp_options *options = &peek->codec->options;
    mp_cursor leaf = *cursor;

    if (leaf.kind != MP_ARRAY || leaf.left < FEW || options->freeze || options->shareable) return false;
    while (leaf.left) {
        if (leaf.at >= peek->look.size || mp_container_p(mp_peek_kind(peek, leaf.at))) return false;
        if (mp_cursor_next(&leaf) != MP_OK) return false;
    }
    *cursor = leaf;
    return true;
}

/*
 * call-seq: view.elements -> Array: what View#each yields
 *
 * A head may declare more elements than follow, so the Array grows as the elements come.
 */
static VALUE
rb_view_elements(VALUE self)
{
    VALUE elements;
    mp_cursor cursor;
    mp_peek peek;
    size_t at;

    at = mp_view_peek(self, &peek, MP_LOOK_FOR_ALL);
    mp_peek_open(&peek, &cursor, at);
    elements = skip_elements(&peek, &cursor) ? mp_peek_object(&peek, at) : elements_of(&peek, &cursor, self);
    mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    return elements;
}

/*
 * call-seq: view.to_ary -> Array or nil
 *
 * Returns an Array of an array's elements, so that Ruby treats the View as the Array that it stands for: a block with
 * several parameters and <code>a, b = view</code> take it apart, and Array#flatten, Array#+ and +puts+ use its
 * elements. Returns nil for a View of anything else, which Ruby then does not take apart.
 *
 * Where a program takes many short arrays apart and uses most of their elements, <code>view.value.each</code> is
 * faster: it makes no View of each.
 *
 *   name, age = Manypack::View.new(Manypack.pack(["Ada", 36]))
 *   name #=> "Ada"
 */
static VALUE
rb_view_to_ary(VALUE self)
{
    return mp_view_kind(self) == MP_ARRAY ? rb_view_elements(self) : Qnil;
}

/* --- include? ------------------------------------------------------------------------------------------ */

/* True for a str or bin at `at` that has the bytes of the String. */
static bool
same_text_p(const mp_peek *peek, size_t at, VALUE string)
{
    mp_head head;

    if (mp_head_read(peek->look.bytes + at, peek->look.bytes + peek->look.size, &head) != MP_OK) return true;
    return head.n == (size_t)RSTRING_LEN(string) && !memcmp(head.payload, RSTRING_PTR(string), head.n);
}

/* False if the head or text of the element at `at` rules out that it equals object. Exts may unpack to anything. */
static bool
possible_p(const mp_peek *peek, size_t at, VALUE object)
{
    mp_kind kind = mp_peek_kind(peek, at);

    if (kind == MP_EXT) return true;
    switch (rb_type(object)) {
      case T_STRING: return (kind == MP_STR || kind == MP_BIN) && same_text_p(peek, at, object);
      case T_HASH: return kind == MP_MAP;
      case T_ARRAY: return kind == MP_ARRAY;
      case T_FIXNUM:
      case T_BIGNUM:
      case T_FLOAT: return kind >= MP_FIXINT && kind <= MP_FLOAT64;
      default: return true;
    }
}

/* Moves the cursor past the first element that equals an object. False if there is none. */
static bool
element_p(mp_peek *peek, mp_cursor *cursor, VALUE view, VALUE object)
{
    bool built = RB_TYPE_P(object, T_HASH) || RB_TYPE_P(object, T_ARRAY); /* comparing would unpack a View anyway */
    bool found = false;

    while (cursor->left && !found) {
        size_t at = cursor->at;
        VALUE element;

        mp_peek_check(peek, mp_cursor_next(cursor));
        if (!possible_p(peek, at, object)) continue;
        element = built ? mp_peek_object(peek, at) : mp_view_value_at(peek, view, at, cursor->at);
        found = RTEST(rb_equal(element, object));
        mp_peek_refresh(peek);
    }
    return found;
}

/*
 * call-seq: view.include?(object) -> true or false
 *
 * Returns true if a map has the key, as Hash#include? does, or if an array has the element. Raises what View#[] raises.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1})).include?("id") #=> true
 */
static VALUE
rb_view_include_p(VALUE self, VALUE object)
{
    mp_cursor cursor;
    mp_peek peek;
    bool found;

    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE));
    if (cursor.kind == MP_MAP) found = mp_peek_find(&peek, &cursor, object);
    else found = element_p(&peek, &cursor, self, object);
    if (!found && cursor.kind == MP_ARRAY) mp_view_ended(self, cursor.at);
    mp_peek_end(&peek);
    RB_GC_GUARD(object);
    return found ? Qtrue : Qfalse;
}

/* --- Hashes ------------------------------------------------------------------------------------------- */

/* call-seq: view.pairs -> Hash: of equal keys, it has the one that View#[] finds. LimitError as in unpacking */
static VALUE
rb_view_pairs(VALUE self)
{
    size_t end;
    VALUE objects = rb_obj_hide(objects_of(self, true, true, &end)); /* hidden: keys run user code */

    return mp_view_hash(self, objects, end);
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
    rb_define_method(cView, "to_ary", rb_view_to_ary, 0);
    rb_define_method(cView, "include?", rb_view_include_p, 1);
    rb_define_method(cView, "member?", rb_view_include_p, 1);
    rb_define_private_method(cView, "elements", rb_view_elements, 0);
    rb_define_private_method(cView, "pairs", rb_view_pairs, 0);
}
