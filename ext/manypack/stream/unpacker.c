/* Manypack::Unpacker: the Ruby class over a stream. unpacker_read.c does the reading. */
#include "stream/unpacker.h"

#include "base/error.h"
#include "base/io.h"
#include "stream/unpack_io.h"
#include "stream/unpacker_object.h"
#include "stream/unpacker_read.h"

static VALUE sym_as, sym_view, sym_collect;
static ID id_load, id_collecting, id_loader, id_codec_of_loader, id_loader_knowing, id_strict;

/* If buffer is 0, the Unpacker makes one when it needs it. For `as`, see mp_stream_more. */
static void
unpacker_init(VALUE self, const mp_codec *codec, VALUE as, VALUE buffer)
{
    mp_stream *u = mp_typed_data(self);

    if (MP_UNLIKELY(as != 0)) RB_OBJ_WRITE(self, &mp_stream_grown(u)->as, as);
    mp_unpacker_set_codec(self, codec);
    if (buffer) mp_unpacker_set_buffer(self, buffer);
    u->open = true;
}

/* Removes the option `as` from the Hash and returns it in the form of mp_stream_more.as. */
static VALUE
take_as(VALUE *options)
{
    VALUE as = NIL_P(*options) ? Qundef : rb_hash_lookup2(*options, sym_as, Qundef);

    if (MP_LIKELY(as == Qundef)) return 0;
    *options = rb_hash_dup(*options);
    rb_hash_delete(*options, sym_as);
    if (RTEST(rb_hash_delete(*options, sym_collect))) as = rb_funcall(mp_mArguments, id_collecting, 1, as);
    if (NIL_P(as)) return 0;
    if (as == sym_view) return Qtrue;
    if (rb_respond_to(as, id_load)) return as;
    rb_raise(rb_eTypeError, "as must be :view or an object that responds to load, got %" PRIsVALUE
             "; Manypack::Type[...] makes one of a class, an Array or a Hash", rb_obj_class(as));
}

/*
 * Makes the loader for `as` with these options and with the Codec, unless the Codec is only Unpacker.new's default.
 * Views need no loader, because they use the Unpacker's Codec.
 */
static VALUE
loader_with(VALUE as, VALUE codec_object, VALUE options, int api)
{
    if (as == Qtrue) return as;
    return rb_funcall(mp_mArguments, id_loader, 3, as, api & MP_WITH_CODEC ? Qnil : codec_object, options);
}

/* The Codec whose limits apply to the stream: a Type's own, which already includes the options of `front`. */
static VALUE
codec_of_loader(VALUE as, VALUE front)
{
    return as == Qtrue ? front : rb_funcall(mp_mArguments, id_codec_of_loader, 2, as, front);
}

/* The arguments (io = nil, options = nil) of a new Unpacker. */
typedef struct {
    VALUE io, options, as;
    mp_codec codec;
} arguments;

static void
scan_arguments(arguments *a, int argc, const VALUE *argv, VALUE codec_object, int api)
{
    mp_scan_io_options(argc, argv, &a->io, &a->options);
    mp_check_source(a->io, api);
    a->as = take_as(&a->options);
    api |= MP_UNPACKS | MP_WITH_BUFFER | MP_WITH_AS;
    if (a->as) { /* Views need a Codec object with the options */
        VALUE front = mp_codec_with_options(codec_object, a->options, api | MP_LOOKS);
        a->as = loader_with(a->as, codec_object, a->options, api);
        a->codec = *mp_codec_get(codec_of_loader(a->as, front));
        a->codec.options.of_gem = mp_codec_get(front)->options.of_gem || mp_lenient_p(api);
    } else {
        mp_codec_override(&a->codec, codec_object, a->options, api);
    }
}

/* The Buffer that the arguments ask for; 0 if they need no particular one. */
static VALUE
buffer_for(const arguments *a)
{
    if (NIL_P(a->io) && mp_buffer_options_default_p(a->options)) return 0;
    return mp_buffer_new(a->io, a->options, a->codec.options.of_gem);
}

VALUE
mp_unpacker_with_codec(VALUE codec_object, int argc, const VALUE *argv, int api)
{
    arguments a;
    VALUE self;

    scan_arguments(&a, argc, argv, codec_object, api);
    self = mp_unpacker_allocate(mp_class_of(&mp_cUnpacker, a.codec.options.of_gem));
    unpacker_init(self, &a.codec, a.as, buffer_for(&a));
    return self;
}

/* call-seq: Internal.unpacker_of_bytes(codec, io) -> unpacker: it reads each message as its bytes, a frozen String */
static VALUE
rb_internal_unpacker_of_bytes(VALUE module, VALUE codec, VALUE io)
{
    const mp_codec *checked = mp_codec_get(codec);
    VALUE self = mp_unpacker_allocate(mp_cUnpacker.own);

    mp_check_source(io, MP_OWN);
    unpacker_init(self, checked, Qnil, NIL_P(io) ? 0 : mp_buffer_new(io, Qnil, false));
    RB_GC_GUARD(codec);
    return self;
}

/* How many bytes an error examines to name the format that they look like. */
enum { LIKENESS_BYTES = 4096 };

NORETURN(static void raise_extra_bytes(VALUE buffer, size_t offset, VALUE obj));

/* Raises the error for bytes after the object. Names another format only if the object is the first byte. */
static void
raise_extra_bytes(VALUE buffer, size_t offset, VALUE obj)
{
    mp_bytes *bytes = &mp_buffer_get(buffer)->bytes;
    size_t size = bytes->size;
    VALUE input = 0;

    if (offset == 1 && RB_FIXNUM_P(obj)) {
        input = rb_str_new(NULL, 1);
        RSTRING_PTR(input)[0] = (char)FIX2LONG(obj);
        rb_str_append(input, mp_bytes_to_s(buffer, bytes, size < LIKENESS_BYTES ? size : LIKENESS_BYTES));
    }
    mp_raise_extra_bytes(size, offset, input);
}

/* call-seq: Internal.error_of?(unpacker, error) -> true if the error is about bytes that it has read */
static VALUE
rb_internal_error_of_p(VALUE module, VALUE unpacker, VALUE error)
{
    mp_unpacker_checked(unpacker);
    return mp_error_of_p(error, unpacker) ? Qtrue : Qfalse;
}

/* --- Manypack::Unpacker ----------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Unpacker.new(io = nil, options = nil) -> unpacker
 *
 * Creates an Unpacker for the bytes that you feed it, or for an io. options is a Hash with options of Manypack.unpack
 * and Manypack::Buffer.new; limits apply to each object of the stream. One more option decides what read and each
 * return for an object:
 *
 * as:: :view returns a View of each object, with the same options. Anything with <code>load(bytes)</code> gets the
 *      bytes of each object, a frozen String, and its result is returned. Before that, only heads and lengths are
 *      checked, with the limits of a Type unless options or codec set others. If load raises a DecodeError, its offset
 *      becomes the offset in the stream, and the next read continues with the next object
 *
 * Raises TypeError for an io that cannot be read from, and TypeError, RangeError or ArgumentError for invalid or
 * unknown options.
 *
 *   unpacker = Manypack::Unpacker.new(symbolize_keys: true)
 *   unpacker.feed_each("\x81\xA1a\x01\x81") { |object| p object } # {a: 1}
 *   unpacker.feed_each("\xA1b\x02") { |object| p object }         # {b: 2}
 *
 *   Manypack::Unpacker.new(as: :view).feed("\x92\x01\x02").read[1] #=> 2
 */
static VALUE
rb_unpacker_initialize(int argc, VALUE *argv, VALUE self)
{
    mp_stream *u;
    VALUE buffer;
    arguments a;
    int api;

    rb_check_frozen(self);
    if (argc) mp_refuse_block(self);
    u = mp_unpacker_checked(self);
    api = mp_api_of_object(self, &mp_cUnpacker);
    scan_arguments(&a, argc, argv, mp_codec_by_default(api), api | MP_WITH_CODEC);
    buffer = buffer_for(&a);
    /* Check this last: asking the io what it responds to may run user code, which may initialize the Unpacker. */
    if (u->codec.object) rb_raise(rb_eRuntimeError, "Unpacker is already initialized");
    unpacker_init(self, &a.codec, a.as, buffer);
    return self;
}

/* The Buffer of an Unpacker over a body, which refuses all use. */
static VALUE
refusing_buffer(VALUE self, mp_stream_more *more)
{
    VALUE buffer = more->refusing;

    if (buffer) return buffer;
    buffer = mp_buffer_new(Qnil, Qnil, ((const mp_stream *)mp_typed_data(self))->codec.options.of_gem);
    mp_loan_take(&mp_buffer_get(buffer)->loan);
    mp_buffer_set_unpacker(buffer, self);
    RB_OBJ_WRITE(self, &more->refusing, buffer);
    return buffer;
}

/*
 * call-seq: unpacker.buffer -> Buffer
 *
 * Returns the Buffer with the bytes that were fed and are not unpacked yet. The Buffer of an Unpacker for the body of
 * an ext refuses all use.
 *
 * You may clear it, or read, skip or write out its bytes. The Unpacker then forgets an object that it has read in part,
 * and its next read starts with the next byte. Such calls raise RuntimeError while a method of the Unpacker reads.
 *
 *   Manypack::Unpacker.new.feed("\x01\x02").buffer.size #=> 2
 */
static VALUE
rb_unpacker_buffer(VALUE self)
{
    const mp_stream *u = mp_stream_get(self);

    return mp_buffer_show(u->body ? refusing_buffer(self, u->more) : mp_unpacker_buffer(self));
}

static VALUE
feed(VALUE self, VALUE string)
{
    const mp_stream *u;
    VALUE buffer;

    string = mp_packed_bytes(string);
    u = mp_stream_for_change(self);
    if (!u->buffer && mp_unpacker_take_first(self, string)) return self;
    buffer = MP_LIKELY(u->buffer != 0) ? u->buffer : mp_unpacker_buffer(self);
    mp_buffer_for_change(buffer);
    mp_buffer_feed(buffer, string);
    return self;
}

/*
 * call-seq:
 *   unpacker.feed(string) -> unpacker
 *   unpacker.feed_reference(string) -> unpacker
 *
 * Appends the bytes of a String. A short String is copied, a long String is referenced with its current content. Raises
 * TypeError for anything that is not a String, and RuntimeError while the Unpacker is in use.
 *
 *   Manypack::Unpacker.new.feed("\x92\x01").feed("\x02").read #=> [1, 2]
 */
static VALUE
rb_unpacker_feed(VALUE self, VALUE string)
{
    mp_refuse_block(self);
    return feed(self, string);
}

/*
 * call-seq:
 *   unpacker.read -> object
 *   unpacker.unpack -> object
 *
 * Returns the next object. Raises EOFError if there is none, and TruncatedError, which is an EOFError, too, if it is
 * incomplete: feed the rest and read again, or reset.
 *
 * After any other error, the next read skips the whole top-level object that failed and continues with the next object.
 * If the Unpacker cannot know where that starts, every read raises the same error until reset: after 0xc1, after too
 * much nesting, and after an exceeded limit, except max_bytes when the object is complete.
 *
 * If a Fiber abandons a read, in a handler or while it waits for the io, the Unpacker stays in use and raises
 * RuntimeError.
 *
 *   Manypack::Unpacker.new.feed("\x92\x01\x02").read #=> [1, 2]
 */
static VALUE
rb_unpacker_read(VALUE self)
{
    return mp_unpacker_read(self, mp_stream_for_read(self));
}

/*
 * call-seq: unpacker.full_unpack -> object
 *
 * Returns the only object in the input. Reads an io to its end. Raises the errors of read, TruncatedError if there is
 * none, and MalformedFormatError if more bytes follow.
 *
 *   Manypack::Unpacker.new.feed("\x91\x01").full_unpack #=> [1]
 */
static VALUE
rb_unpacker_full_unpack(VALUE self)
{
    VALUE obj;
    mp_stream *u;

    mp_refuse_block(self);
    u = mp_stream_for_change(self);
    if (mp_unpacker_leaves_rest(u)) return mp_unpacker_read_one(self, mp_buffer_get(u->buffer)->io);
    if (u->position == MP_AT_OBJECT && mp_unpacker_end_p(self)) mp_stream_raise_truncated(u);
    obj = mp_unpacker_read(self, mp_stream_for_read(self));
    if (mp_unpacker_end_p(self)) return obj;
    if (mp_stream_as(mp_stream_get(self)) == Qtrue) obj = rb_funcall(obj, rb_intern("value"), 0); /* of a View */
    u = mp_stream_get(self);
    raise_extra_bytes(mp_unpacker_buffer(self), u->origin, obj);
}

static VALUE
each_object(VALUE self, bool strict)
{
    mp_stream_for_change(self);
    mp_unpacker_each(self, strict);
    return Qnil;
}

/* True if each was called with strict: true. */
static bool
strict_p(int argc, const VALUE *argv)
{
    VALUE options, strict;

    rb_scan_args(argc, argv, ":", &options);
    if (NIL_P(options)) return false;
    rb_get_kwargs(options, &id_strict, 0, 1, &strict);
    return strict != Qundef && RTEST(strict);
}

/*
 * call-seq:
 *   unpacker.each(strict: false) { |object| ... } -> nil
 *   unpacker.each(strict: false) -> Enumerator
 *
 * Yields each object, and ends in silence if the bytes end inside an object, as in the msgpack gem: feed the rest and
 * call each again. With <code>strict: true</code>, it raises TruncatedError there; you can still feed the rest and call
 * it again. Raises the other errors of read.
 *
 *   Manypack::Unpacker.new.feed("\x01\x02").each.to_a #=> [1, 2]
 *
 *   Manypack::Unpacker.new.feed("\x01\x92\x02").each(strict: true).to_a
 *   # raises TruncatedError: unexpected end of input, at byte 3
 */
static VALUE
rb_unpacker_each(int argc, VALUE *argv, VALUE self)
{
    bool strict = strict_p(argc, argv);

    RETURN_SIZED_ENUMERATOR_KW(self, argc, argv, 0, rb_keyword_given_p());
    return each_object(self, strict);
}

/*
 * call-seq:
 *   unpacker.feed_each(string) { |object| ... } -> nil
 *   unpacker.feed_each(string) -> Enumerator
 *
 * Calls feed and then each, with the errors of both.
 *
 *   Manypack::Unpacker.new.feed_each("\x01\x02").to_a #=> [1, 2]
 */
static VALUE
rb_unpacker_feed_each(VALUE self, VALUE string)
{
    RETURN_ENUMERATOR(self, 1, &string);
    feed(self, string);
    return each_object(self, false);
}

/*
 * call-seq: unpacker.position -> Integer
 *
 * Returns the offset after the last complete object that was read or skipped. It counts from the first byte that was
 * ever fed, or from the last reset. The next object starts there, even if it is incomplete, or if its error
 * has ended the reading. After read_array_header and read_map_header, elements count as objects.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x91\x01\x92\x02")
 *   unpacker.each { |object| p object } # [1]
 *   unpacker.position #=> 2
 */
static VALUE
rb_unpacker_position(VALUE self)
{
    return SIZET2NUM(mp_stream_position(mp_stream_get(self)));
}

/*
 * call-seq: unpacker.pending? -> true or false
 *
 * Returns true if reading has begun the object at position and has not reached its end. Fed bytes that no method has
 * tried to read do not count.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x91\x01\x92\x02")
 *   unpacker.each.to_a #=> [[1]]
 *   unpacker.pending?  #=> true
 */
static VALUE
rb_unpacker_pending_p(VALUE self)
{
    return mp_stream_pending_p(mp_stream_get(self)) ? Qtrue : Qfalse;
}

/*
 * call-seq: Internal.start_at(unpacker, offset, bytes, start, size) -> unpacker
 *
 * Makes a new Unpacker read `size` bytes from `start` of a String, whose first byte has this offset. A frozen String is
 * not copied. An error has a path even if all bytes of its message were read. For lib/manypack/parallel/worker.rb.
 */
static VALUE
rb_internal_start_at(VALUE self, VALUE unpacker, VALUE offset, VALUE bytes, VALUE start, VALUE size)
{
    size_t origin = NUM2SIZET(offset), at = NUM2SIZET(start), len = NUM2SIZET(size);
    mp_stream *u;

    mp_unpacker_checked(unpacker);
    u = mp_stream_get(unpacker);
    Check_Type(bytes, T_STRING);
    bytes = rb_str_new_frozen(bytes);
    if (u->buffer || at > (size_t)RSTRING_LEN(bytes) || len > (size_t)RSTRING_LEN(bytes) - at) {
        rb_raise(rb_eArgError, "expected a new Unpacker and a part of a String");
    }
    u->origin = origin;
    u->fed = u->keeps_piece = true;
    u->piece.at = at;
    u->piece.len = len;
    RB_OBJ_WRITE(unpacker, &u->piece.str, bytes);
    return unpacker;
}

/*
 * call-seq: unpacker.skip -> nil
 *
 * Skips the next object, or the rest of an object that was read in part, without building objects or calling handlers.
 * Raises EOFError if no byte of it has come, and TruncatedError if it is incomplete. Then feed the rest and skip again,
 * or just read on: read, each, skip_nil, read_array_header and read_map_header first skip the rest of that object.
 * reset forgets it. Raises MalformedFormatError, StackError and LimitError as read does, but looks only at head bytes:
 * it does not check the content of a str, a timestamp or an ext, or the keys of a map.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x91\x01\x02")
 *   unpacker.skip #=> nil
 *   unpacker.read #=> 2
 */
static VALUE
rb_unpacker_skip(VALUE self)
{
    mp_unpacker_skip(self);
    return Qnil;
}

/*
 * call-seq: unpacker.skip_nil -> true or false
 *
 * Skips the next object if it is nil. Returns true if it was nil. Raises EOFError if there are no bytes.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\xC0\x01")
 *   unpacker.skip_nil #=> true
 *   unpacker.skip_nil #=> false
 */
static VALUE
rb_unpacker_skip_nil(VALUE self)
{
    return mp_unpacker_skip_nil(self);
}

/*
 * call-seq: unpacker.read_array_header -> Integer
 *
 * Reads the header of an array and returns the number of its elements, which come next. Raises UnexpectedTypeError for
 * any other object, which it does not consume, EOFError if there is none, TruncatedError if the header is incomplete,
 * and LimitError above max_array_size or max_map_size: then every read raises that error until reset.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x92\x01\x02")
 *   unpacker.read_array_header #=> 2
 *   unpacker.read #=> 1
 */
static VALUE
rb_unpacker_read_array_header(VALUE self)
{
    return mp_unpacker_read_header(self, MP_ARRAY);
}

/*
 * call-seq: unpacker.read_map_header -> Integer
 *
 * Reads the header of a map and returns the number of its pairs; keys and values come next, in turn. Raises the errors
 * of read_array_header.
 *
 *   Manypack::Unpacker.new.feed("\x81\xA1a\x01").read_map_header #=> 1
 */
static VALUE
rb_unpacker_read_map_header(VALUE self)
{
    return mp_unpacker_read_header(self, MP_MAP);
}

/*
 * call-seq: unpacker.reset -> nil
 *
 * Discards all bytes and errors. Raises RuntimeError while the Unpacker is in use.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x92\x01")
 *   unpacker.reset #=> nil
 *   unpacker.feed("\x02").read #=> 2
 */
static VALUE
rb_unpacker_reset(VALUE self)
{
    mp_stream *u = mp_stream_get(self);

    if (u->running || u->body) mp_stream_raise_in_use(u);
    if (u->buffer) mp_buffer_clear(u->buffer); /* the Buffer may be TORN */
    u->piece = (mp_piece){.str = 0};
    mp_stream_restart(u);
    return Qnil;
}

/*
 * call-seq: unpacker.symbolize_keys? -> true or false
 *
 * Returns true if the option symbolize_keys is set.
 *
 *   Manypack::Unpacker.new(symbolize_keys: true).symbolize_keys? #=> true
 */
static VALUE
rb_unpacker_symbolize_keys_p(VALUE self)
{
    return mp_stream_get(self)->codec.options.symbolize_keys ? Qtrue : Qfalse;
}

/*
 * call-seq: unpacker.freeze? -> true or false
 *
 * Returns true if the objects that are read are frozen, by the option freeze or shareable.
 *
 *   Manypack::Unpacker.new(freeze: true).freeze? #=> true
 */
static VALUE
rb_unpacker_freeze_p(VALUE self)
{
    const mp_options *options = &mp_stream_get(self)->codec.options;

    return options->freeze || options->shareable ? Qtrue : Qfalse;
}

/*
 * call-seq: unpacker.allow_unknown_ext? -> true or false
 *
 * Returns true if the option allow_unknown_ext is set.
 *
 *   Manypack::Unpacker.new(allow_unknown_ext: true).allow_unknown_ext? #=> true
 */
static VALUE
rb_unpacker_allow_unknown_ext_p(VALUE self)
{
    return mp_stream_get(self)->codec.options.allow_unknown_ext ? Qtrue : Qfalse;
}

/* The Unpacker must not be running: a running decoder uses the old types, which only the old Codec keeps alive. */
static void
unpacker_set_types(VALUE self, mp_stream *u, VALUE codec)
{
    u->codec.types = mp_codec_get(codec)->types;
    RB_OBJ_WRITE(self, &u->codec.object, codec);
}

/* Basis of register_type in lib/manypack/unpacker.rb. */
static VALUE
rb_unpacker_register_type_internal(VALUE self, VALUE type, VALUE klass, VALUE handler)
{
    mp_stream *u = mp_stream_for_change(self);
    VALUE as = mp_stream_as(u), codec;

    rb_check_frozen(self);
    codec = as ? codec_of_loader(as, u->codec.object) : u->codec.object; /* a Type may know more types by now */
    codec = mp_codec_with_type(codec, type, klass, Qnil, handler, Qnil);
    if (as && as != Qtrue) as = rb_funcall(mp_mArguments, id_loader_knowing, 2, as, codec);
    u = mp_stream_for_change(self);
    unpacker_set_types(self, u, codec);
    if (as) RB_OBJ_WRITE(self, &u->more->as, as);
    return Qnil;
}

/* call-seq: unpacker.types -> codec with the Unpacker's ext types */
static VALUE
rb_unpacker_types(VALUE self)
{
    return mp_stream_get(self)->codec.object;
}

static VALUE
rb_unpacker_registered_types_internal(VALUE self)
{
    return mp_codec_unpackers(mp_stream_get(self)->codec.object);
}

/*
 * Document-class: Manypack::Unpacker
 *
 * Unpacks a stream of objects. The stream may stop at any byte: feed the rest later, or let the Unpacker read it from
 * the io. Only one method may read at a time: a call in the middle of another raises RuntimeError.
 *
 * An Unpacker is Enumerable: <code>first</code>, <code>lazy</code> and the other methods start at the next object.
 */
void
Init_manypack_unpacker(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cUnpacker = rb_define_class_under(mManypack, "Unpacker", rb_cObject);

    mp_two_classes(&mp_cUnpacker, cUnpacker);
    rb_define_alloc_func(cUnpacker, mp_unpacker_allocate);
    mp_undef_copies(cUnpacker);
    rb_include_module(cUnpacker, rb_mEnumerable);
    sym_as = ID2SYM(rb_intern("as"));
    sym_view = ID2SYM(rb_intern("view"));
    sym_collect = ID2SYM(rb_intern("collect"));
    id_collecting = rb_intern("collecting");
    id_load = rb_intern("load");
    id_loader = rb_intern("loader");
    id_codec_of_loader = rb_intern("codec_of_loader");
    id_loader_knowing = rb_intern("loader_knowing");
    id_strict = rb_intern("strict");

    rb_define_method(cUnpacker, "initialize", rb_unpacker_initialize, -1);
    rb_define_method(cUnpacker, "buffer", rb_unpacker_buffer, 0);
    rb_define_method(cUnpacker, "feed", rb_unpacker_feed, 1);
    rb_define_method(cUnpacker, "feed_reference", rb_unpacker_feed, 1);
    rb_define_method(cUnpacker, "read", rb_unpacker_read, 0);
    rb_define_method(cUnpacker, "unpack", rb_unpacker_read, 0);
    rb_define_method(cUnpacker, "full_unpack", rb_unpacker_full_unpack, 0);
    rb_define_method(cUnpacker, "each", rb_unpacker_each, -1);
    rb_define_method(cUnpacker, "feed_each", rb_unpacker_feed_each, 1);
    rb_define_method(cUnpacker, "position", rb_unpacker_position, 0);
    rb_define_method(cUnpacker, "pending?", rb_unpacker_pending_p, 0);
    rb_define_method(cUnpacker, "skip", rb_unpacker_skip, 0);
    rb_define_method(cUnpacker, "skip_nil", rb_unpacker_skip_nil, 0);
    rb_define_method(cUnpacker, "read_array_header", rb_unpacker_read_array_header, 0);
    rb_define_method(cUnpacker, "read_map_header", rb_unpacker_read_map_header, 0);
    rb_define_method(cUnpacker, "reset", rb_unpacker_reset, 0);
    rb_define_method(cUnpacker, "symbolize_keys?", rb_unpacker_symbolize_keys_p, 0);
    rb_define_method(cUnpacker, "freeze?", rb_unpacker_freeze_p, 0);
    rb_define_method(cUnpacker, "allow_unknown_ext?", rb_unpacker_allow_unknown_ext_p, 0);
    rb_define_private_method(cUnpacker, "register_type_internal", rb_unpacker_register_type_internal, 3);
    rb_define_private_method(cUnpacker, "types", rb_unpacker_types, 0);
    rb_define_private_method(cUnpacker, "registered_types_internal", rb_unpacker_registered_types_internal, 0);
    MP_DEFINE_INTERNAL("error_of?", rb_internal_error_of_p, 2);
    MP_DEFINE_INTERNAL("unpacker_of_bytes", rb_internal_unpacker_of_bytes, 2);
    MP_DEFINE_INTERNAL("start_at", rb_internal_start_at, 5);
}
