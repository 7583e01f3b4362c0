/* The face: Manypack.pack, Manypack.unpack, and the same methods of a Codec. */
#include "manypack.h"

#include "base/error.h"
#include "base/io.h"
#include "pack/canonical_form.h"
#include "pack/encode.h"
#include "pack/packer.h"
#include "redefined.h"
#include "stream/unpack_io.h"
#include "stream/unpacker.h"
#include "unpack/decode.h"


static VALUE
pack_whole(VALUE obj, const mp_codec *codec)
{
    bool canonical = codec->options.canonical; /* read first: user code may replace the codec */
    VALUE packed = mp_encode_whole(obj, codec);

    return MP_UNLIKELY(canonical) ? mp_canonical_packed(packed) : packed;
}

VALUE
mp_pack(VALUE obj, VALUE io, const mp_codec *codec, int api)
{
    mp_codec to_io;

    if (NIL_P(io)) return pack_whole(obj, codec);
    mp_check_sink(io, api);
    to_io = *codec;
    to_io.options.to_io = true;
    mp_io_write_all(io, pack_whole(obj, &to_io), api);
    return Qnil;
}

NORETURN(static void raise_no_source(VALUE source, int api));

/* If mp_lenient_p, calls read, as the msgpack gem does, to raise its NoMethodError. */
static void
raise_no_source(VALUE source, int api)
{
    if (mp_lenient_p(api)) rb_funcall(source, rb_intern("read"), 1, INT2FIX(1));
    rb_raise(rb_eTypeError, "expected a String or an IO, got %" PRIsVALUE "%s", rb_obj_class(source),
             RB_TYPE_P(source, T_HASH) || RB_TYPE_P(source, T_ARRAY) ? ": Manypack.pack makes a String of it" : "");
}

VALUE
mp_unpack(VALUE source, const mp_codec *codec, int api)
{
    VALUE codec_object = codec->object, string, obj; /* keeps the codec alive if user code replaces it */

    if (MP_LIKELY(RB_TYPE_P(source, T_STRING))) {
        obj = mp_decode_whole(source, codec);
    } else if (NIL_P(source) && mp_lenient_p(api)) { /* an EOFError, as in the msgpack gem */
        mp_raise_no_data();
    } else if (mp_io_p(source)) {
        obj = mp_unpack_io(source, codec);
    } else {
        if (NIL_P(source)) rb_raise(rb_eTypeError, "expected a String or an IO, got nil");
        string = rb_check_string_type(source);
        if (NIL_P(string)) raise_no_source(source, api);
        obj = mp_decode_whole(string, codec);
    }
    RB_GC_GUARD(codec_object);
    return obj;
}

VALUE
mp_unpack_with(VALUE source, VALUE codec_object, VALUE options, int api)
{
    mp_codec codec;

    if (RB_TYPE_P(options, T_HASH) && rb_hash_lookup2(options, ID2SYM(rb_intern("as")), Qundef) != Qundef) {
        return rb_funcall(mp_mArguments, rb_intern("unpack_as"), 4, source, api & MP_WITH_CODEC ? Qnil : codec_object,
                          options, mp_lenient_p(api) ? Qtrue : Qfalse);
    }
    mp_codec_override(&codec, codec_object, options, api | MP_UNPACKS | MP_WITH_AS);
    return mp_unpack(source, &codec, api);
}

/* --- Manypack --------------------------------------------------------------------------------------- */

/*
 * The Factory whose methods must be called, because the call is MessagePack's and one of them is redefined; else 0. The
 * call takes 1 to `most` arguments.
 */
MP_INLINE VALUE
factory_to_call(VALUE self, int argc, const VALUE *argv, int most)
{
    VALUE factory = MP_LIKELY(self == mp_mManypack) ? 0 : mp_redefined_default();

    if (MP_LIKELY(!factory)) return 0;
    rb_check_arity(argc, 1, most);
    return mp_called_by_methods_p(argc - 1, argv + 1) ? factory : 0;
}

/*
 * call-seq:
 *   Manypack.pack(object, io = nil, **options) -> String or nil
 *   Manypack.dump(object, io = nil, **options) -> String or nil
 *
 * Packs an object: nil, true, false, Integer (64 bits), Float, String, Symbol, Array, Hash, ExtensionValue, or anything
 * that responds to <code>to_msgpack(packer)</code>. Numbers and lengths take their shortest form. A String, or the name
 * of a Symbol, becomes a bin if its encoding is BINARY, otherwise a str, transcoded to UTF-8 if necessary. Returns a
 * binary String, or nil with an io.
 *
 * object:: the object
 * io:: anything with <code>write</code> or <code><<</code>, except a String; receives the bytes
 * codec:: a Codec with the ext types and options, which the other options change for this call (default: none, and the
 *         types of DefaultFactory)
 * timestamp:: pack Time and Timestamp as ext type -1 (default false); a registered ext type for Time takes precedence
 * max_depth:: maximum nesting of containers that are not empty, 1 to 100000 (default 128, as in unpack). The bytes
 *             of a View are copied, however deeply they are nested
 * compatibility_mode:: write the format as it was before 2013: no bin, no str8, and the bytes of Strings of any
 *                      encoding unchanged (default false)
 * canonical:: write the same bytes for the same value, to sign, hash and compare: Hashes in the order of their keys,
 *             Floats as float32 if nothing is lost, one NaN. docs/canonical.md has the rules (default false)
 * default:: a Proc, or anything with +call+, that gets each object which could not be packed, and returns what is
 *           packed in its place. Its exceptions pass through. If it returns the object itself, the error is the
 *           same as without it
 *
 * The options may also be a Hash. An option that has an effect only on unpacking raises ArgumentError; a Codec takes
 * the options of both.
 *
 * Raises NoMethodError, with the object as its receiver, for an object that cannot be packed; RangeError for an Integer
 * of more than 64 bits; NestingError for data that is nested too deeply or contains itself; EncodingError for text that
 * cannot be transcoded; and RuntimeError for a container that changes while it is packed. The messages tell the place:
 * <code>$.users[3].avatar</code>. With canonical, an object that has no canonical form raises ArgumentError (the same
 * key twice, a NaN in a key, a malformed timestamp) or EncodingError (text that is not valid UTF-8).
 *
 * Raises TypeError for an io that cannot be written to, and RangeError, TypeError or ArgumentError for invalid or
 * unknown options.
 *
 *   Manypack.pack({"id" => 1})          #=> "\x81\xA2id\x01"
 *   Manypack.pack([1, 2], StringIO.new) #=> nil
 *
 *   Manypack.pack({"b" => 2, "a" => 1}, canonical: true) == Manypack.pack({"a" => 1, "b" => 2}) #=> true
 */
static VALUE
rb_manypack_pack(int argc, VALUE *argv, VALUE self)
{
    VALUE io, options, factory = factory_to_call(self, argc, argv, 3);
    mp_codec codec;

    if (MP_UNLIKELY(factory != 0)) {
        VALUE rest[2] = {argc > 1 ? argv[1] : Qnil, argc > 2 ? argv[2] : Qnil};
        return mp_pack_by_methods(factory, argv[0], 2, rest);
    }
    if (MP_LIKELY(argc == 1)) return mp_encode_whole(argv[0], mp_default_codec_for(mp_api_of(self)));
    rb_check_arity(argc, 1, 3);
    mp_refuse_block(self);
    mp_scan_io_options(argc - 1, argv + 1, &io, &options);
    mp_codec_override(&codec, mp_default_codec()->object, options, mp_api_of(self) | MP_PACKS | MP_WITH_CODEC);
    return mp_pack(argv[0], io, &codec, mp_api_of(self));
}

/*
 * call-seq:
 *   Manypack.unpack(source, **options) -> object
 *
 * Unpacks one object. A str becomes a UTF-8 String, a bin a BINARY String. String keys of a map are frozen.
 *
 * source:: a String with exactly one object; or anything with <code>readpartial</code> or <code>read</code>. From an io
 *          only one object is read, and the next call reads the next object
 * as:: :view returns a View, after the heads and lengths of the whole object were checked; a Type, a Record or a class
 *      that has a Record loads the object; anything else with <code>load(bytes)</code> gets the bytes, and its result
 *      is returned (default: objects)
 * codec:: a Codec with the ext types and options, which the other options change for this call (default: none, and the
 *         types of DefaultFactory)
 * symbolize_keys:: str and bin map keys become Symbols (default false)
 * freeze:: every object is frozen, and equal Strings are one object (default false). If few Strings are equal, this
 *          takes three times as long as +shareable+, which also freezes everything, but does not look for equal ones
 * shareable:: every object is frozen and shareable between Ractors; a short str that was unpacked before may be the
 *             same String again (default false)
 * allow_unknown_ext:: an unknown ext becomes an ExtensionValue instead of raising (default false)
 * timestamp:: ext type -1 becomes a Time (default false)
 * max_depth:: maximum nesting of containers that are not empty, 1 to 100000 (default 128)
 * max_bytes:: maximum bytes of input (no default, like the limits below)
 * max_objects:: maximum number of objects: containers, elements, keys and values all count
 * max_map_size:: maximum pairs of a map
 * max_array_size:: maximum elements of an array
 * max_string_bytes:: maximum bytes of a str or bin, including map keys
 * max_ext_bytes:: maximum bytes of an ext
 * utf8:: :strict rejects a str that is not valid UTF-8 (default :accept)
 * duplicate_keys:: :error rejects a map with the same key twice, or with a NaN in a key (default :last: the last one
 *                  wins)
 * untrusted:: for untrusted input: <code>max_depth: 32, max_bytes: 1_048_576, max_objects: 100_000,
 *             max_map_size: 1_000, max_array_size: 10_000, max_string_bytes: 262_144, max_ext_bytes: 4_096,
 *             utf8: :strict, duplicate_keys: :error</code>, each unless you set it yourself, and timestamps in the
 *             years 1 to 9999 only (default false)
 *
 * Limits are checked against declared sizes, before the content has arrived. No option changes these limits: a map may
 * have at most 16 different keys with the same hash value, such as NaNs, and at most 4 of them may be containers; at
 * most 4 container keys may be nested in each other; and a key may be at most 32 containers deep.
 *
 * The options may also be a Hash. An option that has an effect only on packing raises ArgumentError; a Codec takes the
 * options of both.
 *
 * Every error that the input causes includes DecodeError and has its byte offset and path: TruncatedError (an EOFError)
 * if the input ends too early, MalformedFormatError, StackError above max_depth, LimitError above another
 * limit, and UnknownExtTypeError. Raises TypeError for a source that cannot be read, and RangeError, TypeError or
 * ArgumentError for invalid or unknown options.
 *
 *   Manypack.unpack("\x81\xA2id\x01")                       #=> {"id" => 1}
 *   Manypack.unpack("\x81\xA2id\x01", symbolize_keys: true) #=> {id: 1}
 *   Manypack.unpack("\x81\xA2id\x01", untrusted: true)      #=> {"id" => 1}
 *   Manypack.unpack("\x81\xA2id\x01", as: :view)["id"]      #=> 1
 */
static VALUE
rb_manypack_unpack(int argc, VALUE *argv, VALUE self)
{
    VALUE factory = factory_to_call(self, argc, argv, 2);

    if (MP_UNLIKELY(factory != 0)) {
        return mp_unpack_by_methods(factory, argv[0], argc == 2 ? argv[1] : Qnil, "feed_reference");
    }
    if (MP_LIKELY(argc == 1)) return mp_unpack(argv[0], mp_default_codec_for(mp_api_of(self)), mp_api_of(self));
    rb_check_arity(argc, 1, 2);
    mp_refuse_block(self);
    return mp_unpack_with(argv[0], mp_default_codec()->object, argv[1], mp_api_of(self) | MP_WITH_CODEC);
}

/*
 * call-seq: Manypack.load(source, **options) -> object or nil
 *
 * Unpacks as Manypack.unpack does, and without options returns nil for nil: so Manypack can be the coder of an
 * attribute of ActiveRecord, where nil is an empty column. Options and errors are those of Manypack.unpack.
 *
 *   Manypack.load("\x91\x01") #=> [1]
 *   Manypack.load(nil)        #=> nil
 */
static VALUE
rb_manypack_load(int argc, VALUE *argv, VALUE self)
{
    if (argc == 1 && NIL_P(argv[0]) && mp_api_of(self) == MP_OWN) return Qnil;
    return rb_manypack_unpack(argc, argv, self);
}

/*
 * call-seq: Manypack.canonical?(bytes) -> true or false
 *
 * Returns true if the bytes are exactly one object in canonical form, which Manypack.pack writes with <code>canonical:
 * true</code>. Check this before you check a signature or a hash of the bytes. Returns false for anything else,
 * including malformed bytes, more than 100,000 nested containers, and keys that are nested deeper than Manypack.unpack
 * allows. Raises TypeError unless bytes is a String.
 *
 *   Manypack.canonical?("\x82\xA1a\x01\xA1b\x02") #=> true
 *   Manypack.canonical?("\x82\xA1b\x02\xA1a\x01") #=> false
 */
static VALUE
rb_manypack_canonical_p(VALUE self, VALUE bytes)
{
    bytes = mp_packed_bytes(bytes);
    return mp_canonical_p(bytes, 0, (size_t)RSTRING_LEN(bytes), MP_MAX_MAX_DEPTH) ? Qtrue : Qfalse;
}

/*
 * call-seq: Manypack.canonicalize(bytes) -> String
 *
 * Returns the canonical form of one packed object, without unpacking it. docs/canonical.md has the rules.
 *
 * bytes:: a String with exactly one object
 *
 * Raises TypeError unless bytes is a String. Other errors include DecodeError and have the byte offset: TruncatedError,
 * StackError above 100,000 nested containers and for keys nested deeper than Manypack.unpack allows, and
 * MalformedFormatError for other malformed bytes and for an object that has no canonical form, such as a map with the
 * same key twice.
 *
 *   Manypack.canonicalize("\x82\xA1b\xCC\x02\xA1a\x01") #=> "\x82\xA1a\x01\xA1b\x02"
 */
static VALUE
rb_manypack_canonicalize(VALUE self, VALUE bytes)
{
    bytes = mp_packed_bytes(bytes);
    return mp_canonical_string(bytes, 0, (size_t)RSTRING_LEN(bytes), MP_MAX_MAX_DEPTH);
}

/* --- Manypack::Codec -------------------------------------------------------------------------------- */

/*
 * call-seq:
 *   codec.pack(object, io = nil, **options) -> String or nil
 *   codec.dump(object, io = nil, **options) -> String or nil
 *
 * Packs like Manypack.pack, with the options and ext types of the codec, and raises the same errors. The options change
 * those of the codec for this call.
 *
 *   Manypack::Codec.new.pack([1]) #=> "\x91\x01"
 */
static VALUE
rb_codec_pack(int argc, VALUE *argv, VALUE self)
{
    VALUE io, options;
    mp_codec codec;

    if (MP_LIKELY(argc == 1)) return mp_pack(argv[0], Qnil, mp_codec_get(self), MP_OWN);
    rb_check_arity(argc, 1, 3);
    mp_refuse_block(self);
    mp_scan_io_options(argc - 1, argv + 1, &io, &options);
    mp_codec_override(&codec, self, options, MP_PACKS);
    return mp_pack(argv[0], io, &codec, MP_OWN);
}

/*
 * call-seq:
 *   codec.unpack(source, **options) -> object
 *
 * Unpacks like Manypack.unpack, with the options and ext types of the codec, and raises the same errors. The options
 * change those of the codec for this call.
 *
 *   Manypack::Codec.new(symbolize_keys: true).unpack("\x81\xA1a\x01") #=> {a: 1}
 */
static VALUE
rb_codec_unpack(int argc, VALUE *argv, VALUE self)
{
    if (MP_LIKELY(argc == 1)) return mp_unpack(argv[0], mp_codec_get(self), MP_OWN);
    rb_check_arity(argc, 1, 2);
    mp_refuse_block(self);
    return mp_unpack_with(argv[0], self, argv[1], MP_OWN);
}

/*
 * call-seq: codec.load(source, **options) -> object or nil
 *
 * Unpacks as Codec#unpack does, and without options returns nil for nil, as Manypack.load does.
 *
 *   Manypack::Codec.new.load(nil) #=> nil
 */
static VALUE
rb_codec_load(int argc, VALUE *argv, VALUE self)
{
    return argc == 1 && NIL_P(argv[0]) ? Qnil : rb_codec_unpack(argc, argv, self);
}

/*
 * call-seq: codec.packer(io = nil, options = nil) -> Packer
 *
 * Creates a Packer with the options and ext types of the codec. Arguments and errors are those of Packer.new.
 *
 *   Manypack::Codec.new.packer.write(1).to_s #=> "\x01"
 */
static VALUE
rb_codec_packer(int argc, VALUE *argv, VALUE self)
{
    mp_refuse_block(self);
    return mp_packer_with_codec(self, argc, argv, MP_OWN);
}

/*
 * call-seq: codec.unpacker(io = nil, options = nil) -> Unpacker
 *
 * Creates an Unpacker with the options and ext types of the codec. Arguments and errors are those of Unpacker.new.
 *
 *   Manypack::Codec.new.unpacker.feed("\x01").read #=> 1
 */
static VALUE
rb_codec_unpacker(int argc, VALUE *argv, VALUE self)
{
    mp_refuse_block(self);
    return mp_unpacker_with_codec(self, argc, argv, MP_OWN);
}

void
Init_manypack_face(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cCodec = rb_define_class_under(mManypack, "Codec", rb_cObject);
    rb_define_module_function(mManypack, "pack", rb_manypack_pack, -1);
    rb_define_module_function(mManypack, "dump", rb_manypack_pack, -1);
    rb_define_module_function(mManypack, "unpack", rb_manypack_unpack, -1);
    rb_define_module_function(mManypack, "load", rb_manypack_load, -1);
    rb_define_singleton_method(mManypack, "canonical?", rb_manypack_canonical_p, 1);
    rb_define_singleton_method(mManypack, "canonicalize", rb_manypack_canonicalize, 1);

    rb_define_method(cCodec, "pack", rb_codec_pack, -1);
    rb_define_method(cCodec, "dump", rb_codec_pack, -1);
    rb_define_method(cCodec, "unpack", rb_codec_unpack, -1);
    rb_define_method(cCodec, "load", rb_codec_load, -1);
    rb_define_method(cCodec, "packer", rb_codec_packer, -1);
    rb_define_method(cCodec, "unpacker", rb_codec_unpacker, -1);
}
