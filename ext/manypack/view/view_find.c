/* The methods of a View that find the value of a key or at an index. */
#include "unpack/objects.h"
#include "view/view.h"

static ID id_dig, id_select, id_all_pairs;

/* --- finding ---------------------------------------------------------------------------------------- */

/* call-seq: view.find_key(key) -> object or nil: view[key], but a Range or a Path is an ordinary key */
static VALUE
rb_view_find_key(VALUE self, VALUE key)
{
    VALUE found = Qnil;
    mp_cursor cursor;
    mp_peek peek;

    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE));
    if (mp_peek_find(&peek, &cursor, key)) found = mp_view_value_at(&peek, self, cursor.at, 0);
    mp_peek_end(&peek);
    return found;
}

/*
 * call-seq:
 *   view[key] -> object or nil
 *   view[range] -> Array or nil
 *   view[path] -> object, Array or nil
 *
 * Returns the value of a key in a map, or the element at an index of an array. A container is returned as a View, any
 * other value is unpacked. Returns nil if there is none. An index may be negative. A Symbol and a String of the same
 * text find the same key. If a map has a key twice, the last counts.
 *
 * For a Range of indices it returns an Array of these elements, as Array#[] does. For a Path it returns the value that
 * the Path finds; if it can find several (Path#all?), an Array of all.
 *
 * Raises ShapeError unless the View is of a map or, for an index, of an array, and a DecodeError where the bytes are
 * invalid.
 *
 *   view = Manypack::View.new(Manypack.pack({"ids" => [1, 2, 3]}))
 *   view["ids"][-1]    #=> 3
 *   view[:ids][1..]    #=> [2, 3]
 *   view["name"]       #=> nil
 *   view[Manypack::Path.new("$.ids[0]")] #=> 1
 */
static VALUE
rb_view_aref(VALUE self, VALUE key)
{
    if (RB_SPECIAL_CONST_P(key) || RB_TYPE_P(key, T_STRING)) return rb_view_find_key(self, key);
    return rb_funcallv(self, id_select, 1, &key); /* it may run user code: nothing of the View is read yet */
}

/* --- several at once ---------------------------------------------------------------------------------- */

/*
 * For finding several keys: builds the keys that must be compared as objects once, instead of for each search. Returns
 * a Hash from these keys to the offsets of their values.
 */
static VALUE
offsets_of_object_keys(VALUE self)
{
    VALUE keys = rb_obj_hide(rb_ary_new());
    mp_cursor cursor;
    mp_peek peek;

    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_ONCE));
    while (cursor.left) {
        size_t at = cursor.at;
        mp_kind kind = mp_peek_kind(&peek, at);

        mp_peek_check(&peek, mp_cursor_next(&cursor));
        if (kind == MP_EXT || mp_container_p(kind)) {
            rb_ary_push(keys, mp_peek_key(&peek, at));
            rb_ary_push(keys, SIZET2NUM(cursor.at));
            mp_peek_refresh(&peek);
        }
        mp_peek_check(&peek, mp_cursor_next(&cursor));
    }
    if (peek.outermost) mp_peek_ended(&peek, cursor.at);
    mp_peek_end(&peek);
    return mp_view_hash(self, keys, cursor.at);
}

/* True for an object that can equal only keys that are arrays, maps or exts, and for NaN, which equals no key. */
static bool
object_key_p(VALUE obj)
{
    if (RB_FLOAT_TYPE_P(obj)) return RFLOAT_VALUE(obj) != RFLOAT_VALUE(obj);
    return RB_TYPE_P(obj, T_ARRAY) || RB_TYPE_P(obj, T_HASH) ||
           (!RB_SPECIAL_CONST_P(obj) && RBASIC_CLASS(obj) == mp_cExtensionValue);
}

static VALUE
found_value(VALUE self, VALUE offsets, VALUE key)
{
    VALUE offset = rb_hash_lookup(offsets, key), value;
    mp_peek peek;

    if (NIL_P(offset)) return Qnil;
    mp_view_peek(self, &peek, MP_LOOK_ONCE);
    value = mp_view_value_at(&peek, self, NUM2SIZET(offset), 0);
    mp_peek_end(&peek);
    return value;
}

/*
 * call-seq: view.values_at(*keys) -> Array
 *
 * Returns an Array of what View#[] finds for each key or index. Raises what View#[] raises.
 *
 *   view = Manypack::View.new(Manypack.pack({"id" => 1, "name" => "Ada"}))
 *   view.values_at("name", "id", "x") #=> ["Ada", 1, nil]
 */
static VALUE
rb_view_values_at(int argc, VALUE *argv, VALUE self)
{
    VALUE values = rb_ary_new_capa(argc), offsets = 0;
    bool several = argc > 1 && mp_view_kind(self) == MP_MAP;
    int i;

    for (i = 0; i < argc; i++) {
        bool object = several && object_key_p(argv[i]);

        if (object && !offsets) offsets = offsets_of_object_keys(self);
        rb_ary_push(values, object ? found_value(self, offsets, argv[i]) : rb_view_aref(self, argv[i]));
    }
    RB_GC_GUARD(offsets);
    return values;
}

/* Digs for the remaining keys in an object that is not a container, as Hash#dig does. */
static VALUE
dig_object(mp_peek *peek, size_t offset, int argc, const VALUE *argv)
{
    VALUE obj = mp_peek_object(peek, offset);

    if (NIL_P(obj)) return Qnil;
    if (rb_respond_to(obj, id_dig)) return rb_funcallv(obj, id_dig, argc, argv);
    mp_peek_raise_shape(peek, "a map or an array", offset);
}

/* Opens the container at an offset, inside `opened` containers that are open already. */
static void
open_step(mp_peek *peek, mp_cursor *cursor, size_t offset, int opened)
{
    mp_peek_open(peek, cursor, offset);
    if (opened && MP_UNLIKELY(!--peek->look.walk.max_depth) && cursor->left) mp_peek_raise(peek, MP_E_DEPTH);
}

/*
 * Follows keys, one after the other, from the object at an offset. `opened` is the number of containers that the peek
 * has open around it.
 */
static VALUE
dig(mp_peek *peek, VALUE view, size_t offset, int opened, int argc, const VALUE *argv)
{
    int i;

    for (i = 0; i < argc; i++) {
        mp_cursor cursor;

        if (!mp_container_p(mp_peek_kind(peek, offset))) return dig_object(peek, offset, argc - i, argv + i);
        open_step(peek, &cursor, offset, i + opened);
        if (!mp_peek_find(peek, &cursor, argv[i])) return Qnil;
        offset = cursor.at;
    }
    return mp_view_value_at(peek, view, offset, 0);
}

/* --- digging in one pass ------------------------------------------------------------------------------ */

/* A pass takes at most this many steps. The rest are searched for afterwards. */
#define STEPS_OF_A_PASS 16

/* A step of a pass: an index in an array, or the key in a map. */
typedef struct {
    mp_cursor cursor; /* in the container */
    mp_key key;
    VALUE index;
} dig_step;

/* Opens the container at an offset for the nth step. False if a pass cannot take it. */
static bool
begin_step(mp_peek *peek, dig_step *step, size_t offset, int n, VALUE object)
{
    mp_kind kind = mp_peek_kind(peek, offset);

    if (kind == MP_ARRAY ? !RB_FIXNUM_P(object) : kind != MP_MAP || !mp_simple_key(object, &step->key)) return false;
    step->index = object;
    open_step(peek, &step->cursor, offset, n);
    return true;
}

/* Moves on to the element, or to the next value of the key. False if there is none. */
static bool
take_step(mp_peek *peek, dig_step *step)
{
    mp_cursor *cursor = &step->cursor;
    size_t value;

    if (cursor->kind == MP_ARRAY) return mp_peek_find(peek, cursor, step->index);
    if (mp_peek_next_value(peek, cursor, &step->key, &value)) {
        if (value == peek->look.size) mp_peek_over(peek, value); /* raises */
        return true;
    }
    if (peek->alone && !cursor->head) mp_peek_ended(peek, cursor->at);
    return false;
}

/* Continues n steps to the end of their outermost map. False if a map has the step's key again. */
static bool
keys_come_once_p(mp_peek *peek, dig_step *steps, int n, bool found)
{
    dig_step *outermost = steps, *step = steps + n - 1;

    while (outermost <= step && outermost->cursor.kind != MP_MAP) outermost++;
    if (outermost > step) return true;
    if (found) mp_peek_check(peek, mp_cursor_next(&step->cursor));
    while (true) {
        mp_cursor *cursor = &step->cursor;

        if (cursor->kind == MP_ARRAY) mp_peek_check(peek, mp_cursor_skip(cursor, cursor->left));
        else if (take_step(peek, step)) return false;
        if (step-- == outermost) return true;
        step->cursor.at = cursor->at;
        step->cursor.left--;
        peek->look.walk.max_depth++;
    }
}

/*
 * Digs in one pass over the bytes, even if the last of equal keys counts. Searching each map to its end first would
 * read the value again for each map around it. So this takes the first of equal keys, and searches to the ends only if
 * a map has the key again.
 */
static VALUE
dig_once(mp_peek *peek, VALUE view, size_t start, int argc, const VALUE *argv)
{
    size_t max_depth = peek->look.walk.max_depth, offset = start;
    bool found = !mp_ext_keys_p(peek->codec);
    dig_step steps[STEPS_OF_A_PASS];
    int n = 0;

    while (found && n < argc && n < STEPS_OF_A_PASS && begin_step(peek, &steps[n], offset, n, argv[n])) {
        found = take_step(peek, &steps[n]);
        offset = steps[n++].cursor.at;
    }
    if (!n) return dig(peek, view, start, 0, argc, argv);
    if (peek->codec->options.last_key && !keys_come_once_p(peek, steps, n, found)) {
        peek->look.walk.max_depth = max_depth;
        return dig(peek, view, start, 0, argc, argv);
    }
    if (!found) return Qnil;
    peek->look.walk.max_depth = max_depth - (size_t)(n - 1);
    return dig(peek, view, offset, n, argc - n, argv + n);
}

/* True for a String that starts like the text of a Path, or has an index in brackets. */
static bool
path_text_p(VALUE key)
{
    const char *text = RSTRING_PTR(key), *end = text + RSTRING_LEN(key), *p;

    if (end - text > 1 && text[0] == '$' && (text[1] == '.' || text[1] == '[')) return true;
    for (p = text; p < end; p++) {
        const char *digits = p + 1;

        if (*p != '[') continue;
        while (++p < end && ((*p >= '0' && *p <= '9') || (*p == '*' && p == digits))) continue;
        if (p < end && *p == ']' && p > digits) return true;
    }
    return false;
}

static VALUE rb_view_key_p(VALUE self, VALUE key);

/*
 * Called when dig finds nothing for a single String. A missing key is nil, but passing a whole path instead of its
 * steps is a mistake: ArgumentError.
 */
static MP_NOINLINE VALUE
nothing_by_text(VALUE self, VALUE key)
{
    mp_peek peek;
    mp_kind kind;

    if (!path_text_p(key)) return Qnil;
    kind = mp_peek_kind(&peek, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE));
    mp_peek_end(&peek);
    if (kind != MP_MAP || RTEST(rb_view_key_p(self, key))) return Qnil;
    rb_raise(rb_eArgError, "there is no key %+" PRIsVALUE ": dig takes a step as each argument, as in "
             "dig(\"users\", 0, \"name\"); View#dig_many, View#query and Path take a path", key);
}

/* Digs in a View. */
static VALUE
dig_steps(VALUE self, int argc, const VALUE *argv)
{
    VALUE found;
    mp_peek peek;
    size_t offset;

    rb_check_arity(argc, 1, UNLIMITED_ARGUMENTS);
    offset = mp_view_peek(self, &peek, argc > STEPS_OF_A_PASS ? MP_LOOK_FOR_MANY : MP_LOOK_FOR_ONE);
    found = peek.index ? dig(&peek, self, offset, 0, argc, argv) : dig_once(&peek, self, offset, argc, argv);
    mp_peek_end(&peek);
    return found;
}

static VALUE
dig_in(VALUE self, int argc, const VALUE *argv)
{
    VALUE found = dig_steps(self, argc, argv);

    return NIL_P(found) && argc == 1 && RB_TYPE_P(argv[0], T_STRING) ? nothing_by_text(self, argv[0]) : found;
}

/*
 * call-seq: view.dig(key, *keys) -> object or nil
 *
 * Follows keys and indices, one by one, and returns the value they lead to, or nil. Makes no View for each step.
 * Raises ShapeError if a step leads into a value of another shape, and a DecodeError where the bytes are invalid.
 * Raises ArgumentError for options, because a View has its own, and for a single key such as <code>"$.users"</code> or
 * <code>"users[0].name"</code> that is not there: View#dig_many and View#query take paths.
 *
 *   view = Manypack::View.new(Manypack.pack({"users" => [{"name" => "Ada"}]}))
 *   view.dig("users", 0, "name") #=> "Ada"
 */
static VALUE
rb_view_dig(int argc, VALUE *argv, VALUE self)
{
    if (MP_UNLIKELY(rb_keyword_given_p())) rb_raise(rb_eArgError, "a View has its own options; dig takes keys");
    return dig_in(self, argc, argv);
}

/*
 * call-seq: view.key?(key) -> true or false
 *
 * Returns true if a map has the key, or an array has the index. Raises what View#[] raises.
 *
 *   Manypack::View.new(Manypack.pack({"id" => nil})).key?("id") #=> true
 */
static VALUE
rb_view_key_p(VALUE self, VALUE key)
{
    mp_cursor cursor;
    mp_peek peek;
    bool found;

    mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE));
    found = mp_peek_find(&peek, &cursor, key);
    mp_peek_end(&peek);
    return found ? Qtrue : Qfalse;
}

/* A Hash of the pairs with the names in a pattern. */
static VALUE
find_names(VALUE self, VALUE names)
{
    VALUE pairs = rb_hash_new();
    mp_cursor opened;
    mp_peek peek;
    long i;

    mp_peek_open(&peek, &opened, mp_view_peek(self, &peek, RARRAY_LEN(names) > 1 ? MP_LOOK_FOR_MANY : MP_LOOK_FOR_ONE));
    for (i = 0; i < RARRAY_LEN(names); i++) { /* anew each time: user code may change the Array */
        VALUE name = RARRAY_AREF(names, i);
        mp_cursor cursor = opened;

        if (!mp_peek_find(&peek, &cursor, name)) continue;
        rb_hash_aset(pairs, name, mp_view_value_at(&peek, self, cursor.at, 0));
        mp_peek_refresh(&peek);
    }
    mp_peek_end(&peek);
    RB_GC_GUARD(names);
    return pairs;
}

/*
 * call-seq: view.deconstruct_keys(names) -> Hash
 *
 * Returns the pairs that a pattern names, for pattern matching. The names are an Array of Symbols, which also match
 * keys that are Strings, or +nil+ for all pairs (<code>**rest</code>). Other Views do not match hash patterns.
 *
 * Each branch of a <code>case</code> looks for its names anew. Where several branches differ by one value, such as a
 * type, <code>case view["type"]</code> with <code>when</code> is faster.
 *
 *   Manypack::View.new(Manypack.pack({"id" => 1, "name" => "Ada"})) => {id:}
 *   id #=> 1
 */
static VALUE
rb_view_deconstruct_keys(VALUE self, VALUE names)
{
    if (NIL_P(names)) return rb_funcallv(self, id_all_pairs, 0, NULL);
    Check_Type(names, T_ARRAY);
    return RARRAY_LEN(names) ? find_names(self, names) : rb_hash_new();
}

/* Digs in a message without checking it first. Makes no View. */
static VALUE
dig_message(VALUE bytes, VALUE codec, int argc, const VALUE *argv)
{
    VALUE message = mp_view_message(bytes), found;
    mp_peek peek;

    mp_view_check_size(message, 0, (size_t)RSTRING_LEN(message), &mp_codec_get(codec)->options);
    mp_peek_init(&peek, message, codec, 0);
    peek.alone = true;
    found = dig_once(&peek, 0, 0, argc, argv);
    mp_peek_end(&peek);
    if (!NIL_P(found) || argc != 1 || !RB_TYPE_P(argv[0], T_STRING) || !path_text_p(argv[0])) return found;
    return nothing_by_text(mp_view_of_message(message, codec, false), argv[0]);
}

/* Digs in a message with options. If they can refuse a message, checks the whole message first. */
static VALUE
dig_with(VALUE bytes, VALUE hash, int argc, const VALUE *argv)
{
    VALUE codec = mp_codec_with_options(mp_default_codec()->object, hash, MP_UNPACKS | MP_LOOKS | MP_WITH_CODEC);
    const mp_options *options = &mp_codec_get(codec)->options;

    rb_check_arity(argc, 1, UNLIMITED_ARGUMENTS);
    if (!options->limited && !options->freeze && !options->shareable) return dig_message(bytes, codec, argc, argv);
    return dig_in(mp_view_of_message(bytes, codec, false), argc, argv);
}

/*
 * call-seq: Manypack.dig(bytes, key, *keys, **options) -> object or nil
 *
 * Follows keys and indices in packed bytes, one by one, and returns the value they lead to, or nil. Use it for a
 * single look instead of View#dig, whose errors it raises. The options are those of View.new, except +check+.
 *
 *   Manypack.dig(Manypack.pack({"users" => [{"name" => "Ada"}]}), "users", 0, "name") #=> "Ada"
 */
static VALUE
rb_manypack_dig(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 2, UNLIMITED_ARGUMENTS);
    if (rb_keyword_given_p()) return dig_with(argv[0], argv[argc - 1], argc - 2, argv + 1);
    return dig_message(argv[0], mp_default_codec()->object, argc - 1, argv + 1);
}

void
Init_manypack_view_find(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cView;

    id_dig = rb_intern("dig");
    id_select = rb_intern("select_by");
    id_all_pairs = rb_intern("all_pairs");
    cView = rb_define_class_under(mManypack, "View", rb_cObject);
    rb_define_module_function(mManypack, "dig", rb_manypack_dig, -1);
    rb_define_method(cView, "[]", rb_view_aref, 1);
    rb_define_method(cView, "values_at", rb_view_values_at, -1);
    rb_define_method(cView, "dig", rb_view_dig, -1);
    rb_define_method(cView, "key?", rb_view_key_p, 1);
    rb_define_method(cView, "deconstruct_keys", rb_view_deconstruct_keys, 1);
    rb_define_private_method(cView, "find_key", rb_view_find_key, 1);
}
