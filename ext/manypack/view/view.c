/* Manypack::View: reads values out of packed bytes without unpacking the rest. */
#include "view/view.h"

#include "base/error.h"
#include "base/io.h"
#include "caches/ractor.h"
#include "unpack/key_flood.h"
#include "view/view_index.h"

/* Messages of at least this size get an Index on the first look: usually that costs less than walking twice. */
#define INDEX_AT_ONCE (64 << 10)

static VALUE cView, sym_check;

static void
view_mark(void *ptr)
{
    const mp_view *view = ptr;

    rb_gc_mark_movable(view->source);
    rb_gc_mark_movable(view->codec);
    rb_gc_mark_movable(view->root);
    rb_gc_mark_movable(view->index);
}

static void
view_compact(void *ptr)
{
    mp_view *view = ptr;

    view->source = rb_gc_location(view->source);
    view->codec = rb_gc_location(view->codec);
    view->root = rb_gc_location(view->root);
    view->index = rb_gc_location(view->index);
}

static size_t
view_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(mp_view));
}

static const rb_data_type_t view_type = {
    .wrap_struct_name = "Manypack::View",
    .function = {.dmark = view_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = view_memsize, .dcompact = view_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* The pointer is valid while the caller has the object on its stack. TypeError for an object of another class. */
static mp_view *
view_get(VALUE self)
{
    bool ours = RB_TYPE_P(self, T_DATA) && RTYPEDDATA_P(self) && RTYPEDDATA_TYPE(self) == &view_type;

    return MP_LIKELY(ours) ? mp_typed_data(self) : rb_check_typeddata(self, &view_type);
}

/* --- peeking ---------------------------------------------------------------------------------------- */

VALUE
mp_view_root(VALUE self)
{
    VALUE root = view_get(self)->root;

    return root ? root : self;
}

/*
 * True if the first look into a View makes its Index. Many programs look once, near the start, where an Index costs
 * more than it saves. In a long message the Index saves more, unless looks may stop at the first of equal keys.
 */
static bool
index_at_once_p(const mp_view *view, mp_look_for what)
{
    if (what != MP_LOOK_FOR_ONE) return what == MP_LOOK_FOR_MANY;
    return RSTRING_LEN(view->source) >= INDEX_AT_ONCE && mp_codec_get(view->codec)->options.last_key;
}

/*
 * Returns the Index that another View of the same bytes has made, or makes one: by default at the second look at these
 * bytes, through any View. Qtrue if the next look must make it; 0 if the message can have none.
 */
static VALUE
index_find(const mp_view *view, mp_look_for what)
{
    uint32_t max_depth = mp_unpack_max_depth(&mp_codec_get(view->codec)->options);
    mp_latest *latest = &mp_ractor_seldom()->latest;
    VALUE index = mp_latest_index(latest, view->source, max_depth);
    bool second = index == Qtrue || view->index == Qtrue;

    if (!RB_SPECIAL_CONST_P(index)) return index;
    index = second || index_at_once_p(view, what) ? mp_view_index_new(view->source, max_depth) : Qtrue;
    mp_latest_remember(latest, view->source, max_depth, index);
    return index;
}

/* The Index that all Views of a message share, for a look; 0 if it has none, or none yet. */
static VALUE
index_for(VALUE root, mp_look_for what)
{
    mp_view *view = mp_view_data(root);
    VALUE index = view->index;

    if (!RB_SPECIAL_CONST_P(index)) return index;
    if (what == MP_LOOK_ONCE || RB_OBJ_FROZEN(root) || RSTRING_LEN(view->source) < MP_VIEW_INDEX_MIN) return 0;
    if (index == Qnil) return 0;
    index = what == MP_LOOK_FOR_ALL && !index ? Qtrue : index_find(view, what);
    RB_OBJ_WRITE(root, &view->index, index ? index : Qnil);
    return RB_SPECIAL_CONST_P(index) ? 0 : index;
}

size_t
mp_view_peek(VALUE self, mp_peek *peek, mp_look_for what)
{
    mp_view *view = view_get(self);
    VALUE index = view->index;

    if (MP_UNLIKELY(RB_SPECIAL_CONST_P(index))) {
        index = index_for(mp_view_root(self), what);
        if (index && !RB_OBJ_FROZEN(self)) RB_OBJ_WRITE(self, &view->index, index); /* for its parts */
    }
    mp_peek_init(peek, view->source, view->codec, index);
    peek->alone = view->end == MP_VIEW_END_OF_SOURCE;
    return view->offset;
}

void
mp_view_ended(VALUE self, size_t end)
{
    mp_view *view = view_get(self);
    size_t size = (size_t)RSTRING_LEN(view->source);

    if (view->end == MP_VIEW_END_OF_SOURCE && end < size) mp_raise_extra_bytes(size - end, end, view->source);
    if (!RB_OBJ_FROZEN(self)) view->end = end;
}

/* --- parts ------------------------------------------------------------------------------------------ */

/*
 * Freezes a new View or makes it shareable if the options say so. frozen: its root is frozen, so the View must be, too.
 */
static VALUE
seal(VALUE self, const mp_options *options, bool frozen)
{
    if (options->freeze || options->shareable || frozen) RB_OBJ_FREEZE(self);
    return options->shareable ? mp_obj_set_shareable(self) : self;
}

/* Ractor.new, Ractor#send and Marshal call this, too, to copy an object. */
static VALUE
view_allocate(VALUE klass)
{
    rb_raise(rb_eTypeError, "a %" PRIsVALUE " is made by View.new; to give one to a Ractor, freeze it, or pass its "
             "bytes", klass);
}

/* The fields are set before anything else can allocate, so they need no write barrier. */
static VALUE
view_new(VALUE source, VALUE codec, VALUE root, size_t offset, size_t end)
{
    mp_view *view;
    VALUE self = TypedData_Make_Struct(cView, mp_view, &view_type, view);

    *view = (mp_view){.source = source, .codec = codec, .root = root, .offset = offset, .end = end};
    if (root && !RB_SPECIAL_CONST_P(mp_view_data(root)->index)) view->index = mp_view_data(root)->index;
    return self;
}

VALUE
mp_view_value_at(mp_peek *peek, VALUE view, size_t offset, size_t end)
{
    VALUE value = mp_peek_fixnum(peek, offset), root;

    if (value != Qundef) return value;
    if (!mp_container_p(mp_peek_kind(peek, offset))) return mp_peek_object(peek, offset);
    root = view ? mp_view_root(view) : view_new(peek->message, peek->codec_object, 0, 0, 0);
    if (!offset && !end) end = mp_view_data(root)->end;
    value = view_new(peek->message, peek->codec_object, root, offset, end);
    return seal(value, &peek->codec->options, RB_OBJ_FROZEN(root));
}

/* --- making Views ----------------------------------------------------------------------------------- */

/* True for a frozen binary String (not of a subclass) without instance variables. */
static bool
message_already_p(VALUE bytes)
{
    return RB_TYPE_P(bytes, T_STRING) && RB_OBJ_FROZEN_RAW(bytes) && ENCODING_GET(bytes) == mp_binary_index &&
           RBASIC_CLASS(bytes) == rb_cString && !rb_ivar_count(bytes);
}

VALUE
mp_view_message(VALUE bytes)
{
    VALUE message;

    if (message_already_p(bytes)) return bytes;
    bytes = mp_packed_bytes(bytes);
    message = rb_str_new_frozen(bytes);
    if (message_already_p(message)) return message;
    message = rb_str_subseq(message, 0, RSTRING_LEN(message));
    rb_enc_associate_index(message, mp_binary_index);
    return rb_obj_freeze(message);
}

void
mp_view_check_size(VALUE message, size_t start, size_t end, const mp_options *options)
{
    size_t size = end - start;

    if (size > options->max_bytes) {
        mp_raise_max_bytes(options->max_bytes, size, start + options->max_bytes, mp_message_whole(message));
    }
    if (!size) {
        const uint8_t *none = (const uint8_t *)"";

        mp_raise_status(MP_E_TRUNCATED, (mp_blame){.start = none, .at = none, .end = none,
                                                   .message = mp_message_whole(message)});
    }
}

/* Makes the Index of the message. DecodeError unless the message is well formed. */
static void
index_finish(VALUE root)
{
    mp_view *view = view_get(root);
    VALUE index;
    mp_peek peek;
    size_t end;

    index = index_for(root, MP_LOOK_FOR_MANY);
    if (index) {
        end = mp_view_index_end(index, view->source);
    } else {
        mp_peek_init(&peek, view->source, view->codec, 0);
        end = mp_peek_over(&peek, 0);
        mp_peek_end(&peek);
    }
    mp_view_ended(root, end);
}

/* Freezes the complete Index of a root. From now on looks write nothing, so Ractors may share the View. */
static void
index_freeze(VALUE root)
{
    mp_view *view = view_get(root);

    if (RB_SPECIAL_CONST_P(view->index)) return;
    mp_view_index_freeze(view->index, view->source, mp_peek_which(&mp_codec_get(view->codec)->options));
}

/*
 * Checks a message and returns its Index or 0. If `checked`, also refuses a map with the same key twice, unless the
 * user set duplicate_keys to :last or :first.
 */
static VALUE
index_checked(VALUE message, VALUE codec, bool checked)
{
    mp_codec strict = *mp_codec_get(codec);
    VALUE index;

    if (checked && !mp_options_set_p(&strict.options, offsetof(mp_options, unique_keys))) {
        strict.options.unique_keys = strict.options.limited = true;
    }
    index = mp_view_index_checked(message, &strict);
    RB_GC_GUARD(codec);
    return index;
}

VALUE
mp_view_of_message(VALUE bytes, VALUE codec, bool checked)
{
    VALUE message = mp_view_message(bytes), self, index;
    const mp_options *options = &mp_codec_get(codec)->options;

    mp_view_check_size(message, 0, (size_t)RSTRING_LEN(message), options);
    if (options->shareable) {
        mp_codec_check_shareable(codec);
        message = rb_ractor_make_shareable(message);
    }
    self = view_new(message, codec, 0, 0, MP_VIEW_END_OF_SOURCE);
    if (checked || options->limited || options->shareable) {
        index = index_checked(message, codec, checked);
        RB_OBJ_WRITE(self, &view_get(self)->index, index ? index : Qnil);
        view_get(self)->end = (size_t)RSTRING_LEN(message);
    } else if (options->freeze) {
        index_finish(self);
    }
    if (options->freeze || options->shareable) index_freeze(self);
    return seal(self, options, false);
}

VALUE
mp_view_root_for(VALUE origin, VALUE message, VALUE codec)
{
    const mp_options *options = &mp_codec_get(codec)->options;
    VALUE self;

    if (!options->freeze && !options->shareable) return origin ? origin : view_new(message, codec, 0, 0, 0);
    if (options->shareable) {
        mp_codec_check_shareable(codec);
        message = rb_ractor_make_shareable(message);
    }
    self = view_new(message, codec, 0, 0, 0);
    if (!origin) origin = self;
    index_finish(origin);
    if (origin != self) RB_OBJ_WRITE(self, &view_get(self)->index, view_get(origin)->index);
    index_freeze(self);
    return seal(self, options, false);
}

VALUE
mp_view_part(VALUE root, size_t offset, size_t end, VALUE codec)
{
    VALUE self = view_new(view_get(root)->source, codec, root, offset, end);

    return seal(self, &mp_codec_get(codec)->options, RB_OBJ_FROZEN(root));
}

/*
 * call-seq: View.new(bytes, check: false, **options) -> view
 *
 * Returns a View of the one object in a String of packed bytes, which is not copied unless it is short.
 *
 * check:: true to refuse at once what Manypack.unpack would refuse with the same options, including trailing bytes,
 *         and, unless +duplicate_keys+ is set, maps that have a key twice (default false)
 * options:: those of Manypack.unpack. Those that refuse messages, such as +max_objects+ or +untrusted+, check
 *           everything at once; so does +shareable+, which makes the View and all Views from it shareable
 *
 * Of two equal keys the last one counts, as in unpacking, so that all readers of a message see the same value. A
 * search therefore reads its map to the end, unless <code>duplicate_keys: :error</code> or +untrusted+ has made sure
 * that no map has a key twice, or <code>duplicate_keys: :first</code> says that the first one counts.
 *
 * If you read most of a message of a few hundred bytes, Manypack.unpack costs less: a View pays if much stays unread.
 * Options cost as much as a look at a small message: for many such messages, give each View the same
 * <code>codec: Codec.new(**options)</code>.
 *
 * Raises TypeError for anything but a String, ArgumentError, RangeError or TypeError for invalid or unknown options,
 * TruncatedError for an empty String, and other DecodeErrors where everything is checked.
 *
 *   Manypack::View.new("\x92\x01\x02")[1] #=> 2
 */
static VALUE
rb_view_s_new(int argc, VALUE *argv, VALUE klass)
{
    VALUE codec = mp_default_codec()->object, options = Qnil, check;
    bool plain = argc == 1 && RB_TYPE_P(argv[0], T_STRING);

    if (MP_UNLIKELY(!plain) && rb_keyword_given_p()) options = argv[--argc];
    rb_check_arity(argc, 1, 1);
    mp_refuse_block(klass);
    if (NIL_P(options)) return mp_view_of_message(argv[0], codec, false);
    codec = mp_codec_with_options(codec, options, MP_UNPACKS | MP_LOOKS | MP_WITH_CODEC | MP_WITH_CHECK);
    check = rb_hash_lookup(options, sym_check);
    if (RTEST(check) && check != Qtrue) rb_funcall(mp_mArguments, rb_intern("check_flag"), 1, check); /* raises */
    return mp_view_of_message(argv[0], codec, RTEST(check));
}

/* call-seq: Internal.view_over(bytes, codec, check) -> view */
static VALUE
rb_internal_view_over(VALUE self, VALUE bytes, VALUE codec, VALUE checked)
{
    return mp_view_of_message(bytes, codec, RTEST(checked));
}

VALUE
mp_view_whole(VALUE bytes, VALUE codec)
{
    VALUE made = mp_view_of_message(bytes, codec, false);
    mp_view *view = view_get(made);

    view->end = (size_t)RSTRING_LEN(view->source);
    return made;
}

/* --- its object ------------------------------------------------------------------------------------- */

/* The offset after a View's object. Without an Index, the first call walks over the object. */
static size_t
end_of(VALUE self)
{
    const mp_view *view = view_get(self);
    mp_peek peek;
    size_t end;

    if (view->end && view->end != MP_VIEW_END_OF_SOURCE) return view->end;
    end = mp_peek_over(&peek, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE));
    mp_peek_end(&peek);
    mp_view_ended(self, end);
    return end;
}

bool
mp_view_p(VALUE obj)
{
    return rb_typeddata_is_kind_of(obj, &view_type);
}

mp_slice
mp_view_slice(VALUE self)
{
    size_t end = end_of(self);
    const mp_view *view = view_get(self);

    return (mp_slice){.source = view->source, .offset = view->offset, .size = end - view->offset};
}

mp_kind
mp_view_kind(VALUE self)
{
    const mp_view *view = view_get(self);
    mp_kind kind = (mp_kind)MP_WIRE[(uint8_t)RSTRING_PTR(view->source)[view->offset]].kind;
    mp_peek peek;

    if (MP_UNLIKELY(kind == MP_NEVER)) mp_peek_over(&peek, mp_view_peek(self, &peek, MP_LOOK_FOR_ONE)); /* raises */
    return kind;
}

void
mp_view_expect(VALUE self, mp_kind kind)
{
    const mp_view *view;
    mp_kind found = mp_view_kind(self);

    if (found == kind) return;
    view = view_get(self);
    mp_raise_shape(kind == MP_MAP ? "a map" : "an array", mp_kind_symbol(found), view->offset,
                   mp_message_whole(view->source));
}

/* call-seq: expect_map(view) -> nil: raises ShapeError for a View of anything but a map */
static VALUE
rb_internal_expect_map(VALUE internal, VALUE view)
{
    mp_view_expect(view, MP_MAP);
    return Qnil;
}

/* call-seq: expect_array(view) -> nil: the same for an array */
static VALUE
rb_internal_expect_array(VALUE internal, VALUE view)
{
    mp_view_expect(view, MP_ARRAY);
    return Qnil;
}

mp_head
mp_view_head(VALUE self)
{
    const mp_view *view = view_get(self);
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(view->source);
    mp_cursor cursor;
    mp_head head;
    mp_peek peek;

    if (mp_head_read(bytes + view->offset, bytes + RSTRING_LEN(view->source), &head) != MP_OK ||
        !mp_container_p(head.kind)) mp_peek_open(&peek, &cursor, mp_view_peek(self, &peek, MP_LOOK_ONCE)); /* raises */
    return head;
}

/*
 * call-seq: view.read_by(codec) -> view
 *
 * Returns a View of the same object with another Codec. Its options hold for the whole message.
 */
static VALUE
rb_view_read_by(VALUE self, VALUE codec)
{
    const mp_view *view = view_get(self);
    size_t offset = view->offset, end = view->end;

    return mp_view_part(mp_view_of_message(view->source, codec, false), offset, end, codec);
}

/*
 * call-seq: view.freeze -> view
 *
 * Freezes the View, and the View of the whole message, whose index it makes. A frozen View is shareable between
 * Ractors if its Codec is. Raises a DecodeError if the message is not well formed.
 *
 *   Ractor.shareable?(Manypack::View.new("\x92\x01\x02").freeze) #=> true
 */
static VALUE
rb_view_freeze(VALUE self)
{
    VALUE root = mp_view_root(self);

    if (!RB_OBJ_FROZEN(root)) {
        index_finish(root);
        index_freeze(root);
        rb_obj_freeze(root);
    }
    return rb_obj_freeze(self);
}

/* call-seq: view.copy -> view: not frozen, of the same object in the same message */
static VALUE
rb_view_copy(VALUE self)
{
    const mp_view *view = view_get(self);

    return view_new(view->source, view->codec, mp_view_root(self), view->offset, view->end);
}

bool
mp_view_last_key_p(VALUE self)
{
    return mp_codec_get(view_get(self)->codec)->options.last_key;
}

VALUE
mp_view_hash(VALUE self, VALUE pairs, size_t end)
{
    bool last = mp_view_last_key_p(self);
    VALUE hash;
    long i;

    mp_same_hash_check(pairs, end);
    hash = rb_hash_new();
    for (i = 0; i < RARRAY_LEN(pairs); i += 2) {
        VALUE key = RARRAY_AREF(pairs, i);

        if (last || rb_hash_lookup2(hash, key, Qundef) == Qundef) rb_hash_aset(hash, key, RARRAY_AREF(pairs, i + 1));
    }
    return hash;
}

void
Init_manypack_view(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    sym_check = ID2SYM(rb_intern("check"));
    cView = rb_define_class_under(mManypack, "View", rb_cObject);
    rb_gc_register_mark_object(cView);
    rb_define_alloc_func(cView, view_allocate);
    rb_include_module(cView, rb_mEnumerable);
    mp_foreign_set_slices(&view_type, mp_view_slice);

    rb_define_singleton_method(cView, "new", rb_view_s_new, -1);
    rb_define_method(cView, "freeze", rb_view_freeze, 0);
    rb_define_private_method(cView, "read_by", rb_view_read_by, 1);
    rb_define_private_method(cView, "copy", rb_view_copy, 0);
    MP_DEFINE_INTERNAL("expect_map", rb_internal_expect_map, 1);
    MP_DEFINE_INTERNAL("expect_array", rb_internal_expect_array, 1);
    MP_DEFINE_INTERNAL("view_over", rb_internal_view_over, 3);
}
