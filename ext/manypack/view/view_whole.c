/* The methods of a View about its object as a whole: its type, value, bytes and Codec. */
#include "pack/canonical_form.h"
#include "unpack/decode.h"
#include "view/view.h"
#include "view/view_index.h"

static VALUE cView, sym_codec;
static ID id_to_ary, id_deconstruct, id_to_hash, id_deconstruct_keys, id_hash_by;

/*
 * call-seq: view.type -> Symbol
 *
 * Returns the type of the object, in the words of the MessagePack specification: +:map+, +:array+, +:str+, +:bin+,
 * +:integer+, +:float+, +:boolean+, +:nil+ or +:ext+. Only the View of a whole message can be of another type than
 * +:map+ and +:array+.
 *
 *   Manypack::View.new("\x90").type #=> :array
 */
static VALUE
rb_view_type(VALUE self)
{
    return mp_kind_symbol(mp_view_kind(self));
}

/*
 * call-seq: view.respond_to?(name, include_all = false) -> true or false
 *
 * Returns false for +:deconstruct+ and +:to_ary+ unless it is a View of an array, and for +:deconstruct_keys+ and
 * +:to_hash+ unless it is a View of a map; otherwise what Object#respond_to? returns. Pattern matching and conversions
 * ask this first, and an object has no other way to say that it is no Array or no Hash.
 *
 *   Manypack::View.new("\x90").respond_to?(:deconstruct_keys) #=> false
 */
static VALUE
rb_view_respond_to_p(int argc, VALUE *argv, VALUE self)
{
    ID name;

    rb_check_arity(argc, 1, 2);
    name = rb_check_id(&argv[0]);
    if (name == id_to_ary || name == id_deconstruct) return mp_view_kind(self) == MP_ARRAY ? Qtrue : Qfalse;
    if (name == id_to_hash || name == id_deconstruct_keys) return mp_view_kind(self) == MP_MAP ? Qtrue : Qfalse;
    return rb_call_super(argc, argv);
}

/* Raises if a whole message exceeds the Codec's limits. */
static void
check_message(VALUE message, const mp_codec *codec)
{
    size_t size = (size_t)RSTRING_LEN(message);

    mp_view_check_size(message, 0, size, &codec->options);
    if (codec->options.limited) mp_view_check_part(message, 0, size, codec);
}

/* The Codec of a View, changed by options. If they include a Codec, options that it does not set stay the View's. */
static VALUE
changed_codec(VALUE own, VALUE options)
{
    VALUE changed = mp_codec_with_options(own, options, MP_UNPACKS | MP_WITH_CODEC);

    return NIL_P(rb_hash_lookup(options, sym_codec)) ? changed : mp_codec_overlaid(own, changed);
}

/*
 * call-seq: view.value(**options) -> object
 *
 * Unpacks the object. Returns and raises what Manypack.unpack does for its bytes, but a DecodeError has the offset in
 * the message. The options are those of View.new without +check+, and hold for the whole message; those that neither
 * they nor their +codec+ set are the View's own.
 *
 *   view = Manypack::View.new(Manypack.pack({"user" => {"id" => 1}}))
 *   view["user"].value                       #=> {"id" => 1}
 *   view["user"].value(symbolize_keys: true) #=> {id: 1}
 */
static VALUE
rb_view_value(int argc, VALUE *argv, VALUE self)
{
    VALUE source, codec, value;
    size_t end;

    rb_check_arity(argc, 0, rb_keyword_given_p());
    source = mp_view_data(self)->source;
    codec = mp_view_data(self)->codec;
    if (argc) {
        codec = changed_codec(codec, argv[0]);
        check_message(source, mp_codec_get(codec));
    }
    end = mp_view_data(self)->offset;
    value = mp_decode_part(source, &end, mp_codec_get(codec));
    mp_view_ended(self, end);
    RB_GC_GUARD(codec);
    return value;
}

/*
 * call-seq:
 *   view.to_h(**options) -> Hash
 *   view.to_h { |element| ... } -> Hash
 *   view.to_h { |key, value| ... } -> Hash
 *
 * Returns View#value of a map, a Hash with plain objects. With a block it is a Hash of the pairs that the block returns
 * for what View#each yields; a View of an array needs a block. The options are those of View#value. To make Hashes of
 * all maps of an array, call View#value of the array: that makes no View for each.
 *
 * Raises ShapeError for a View of anything else, what View#value raises, and with a block LimitError for more different
 * keys with the same hash than Manypack.unpack allows.
 *
 *   view = Manypack::View.new(Manypack.pack({"user" => {"id" => 1}}))
 *   view.to_h                       #=> {"user" => {"id" => 1}}
 *   view.to_h(symbolize_keys: true) #=> {user: {id: 1}}
 */
static VALUE
rb_view_to_h(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 0, rb_keyword_given_p());
    if (rb_block_given_p()) {
        VALUE arguments[2] = {rb_block_proc(), argc ? argv[0] : Qnil};

        return rb_funcallv(self, id_hash_by, 2, arguments);
    }
    mp_view_expect(self, MP_MAP);
    return rb_view_value(argc, argv, self);
}

/* A new String of the View's bytes. */
static VALUE
copied_bytes(VALUE self)
{
    mp_slice slice = mp_view_slice(self);
    VALUE source = slice.source, copy = rb_str_new(RSTRING_PTR(source) + slice.offset, (long)slice.size);

    RB_GC_GUARD(source); /* otherwise compaction may move it before its bytes are copied */
    return copy;
}

/*
 * call-seq: view.bytes -> String
 *
 * Returns the packed bytes as they are in the message. Raises a DecodeError if the object is incomplete or malformed.
 * The String may share the memory of the message, and then keeps all of it alive: to keep a small part of a large
 * message, call <code>view.detach.bytes</code>.
 *
 *   Manypack::View.new(Manypack.pack({"ids" => [1, 2]}))["ids"].bytes #=> "\x92\x01\x02"
 */
static VALUE
rb_view_bytes(VALUE self)
{
    mp_slice slice;

    /* Sharing the bytes would mark the source as shared, and another Ractor might do so at the same time. */
    if (RB_OBJ_FROZEN(self)) return copied_bytes(self);
    slice = mp_view_slice(self);
    return rb_str_subseq(slice.source, (long)slice.offset, (long)slice.size);
}

/*
 * call-seq: view.detach -> view
 *
 * Returns a View of a copy of its bytes, which no longer keeps the whole message alive. Raises a DecodeError if the
 * object is incomplete or malformed.
 *
 *   view = Manypack::View.new(Manypack.pack({"log" => "x" * 1_000_000, "user" => {"id" => 1}}))
 *   user = view["user"].detach
 *   user["id"] #=> 1
 */
static VALUE
rb_view_detach(VALUE self)
{
    return mp_view_whole(copied_bytes(self), mp_view_data(self)->codec);
}

/*
 * call-seq: view.bytesize -> Integer
 *
 * Returns the number of packed bytes. Raises a DecodeError if the object is incomplete or malformed.
 *
 *   Manypack::View.new("\x92\x01\x02").bytesize #=> 3
 */
static VALUE
rb_view_bytesize(VALUE self)
{
    return SIZET2NUM(mp_view_slice(self).size);
}

/*
 * call-seq: view.canonical? -> true or false
 *
 * Returns true if the bytes are in canonical form, which <code>Manypack.pack(object, canonical: true)</code> writes. A
 * value has only one such form. Raises a DecodeError if the object is incomplete or malformed.
 *
 *   Manypack::View.new("\x92\x01\x02").canonical?     #=> true
 *   Manypack::View.new("\x92\x01\xCC\x02").canonical? #=> false
 */
static VALUE
rb_view_canonical_p(VALUE self)
{
    mp_slice slice = mp_view_slice(self);
    uint32_t max_depth = mp_unpack_max_depth(&mp_codec_get(mp_view_data(self)->codec)->options);

    return mp_canonical_p(slice.source, slice.offset, slice.offset + slice.size, max_depth) ? Qtrue : Qfalse;
}

/*
 * call-seq: view.offset -> Integer
 *
 * Returns the offset of the View's first byte in the message.
 *
 *   Manypack::View.new(Manypack.pack({"ids" => [1, 2]}))["ids"].offset #=> 5
 */
static VALUE
rb_view_offset(VALUE self)
{
    return SIZET2NUM(mp_view_data(self)->offset);
}

/*
 * call-seq: view.eql?(other) -> true or false
 *
 * Returns true for a View of the same bytes with an equal Codec. One value may have several encodings, whose bytes
 * differ: see View#== and View#canonical?.
 *
 *   Manypack::View.new("\x92\x01\x02").eql?(Manypack::View.new("\x92\x01\x02")) #=> true
 */
static VALUE
rb_view_eql_p(VALUE self, VALUE other)
{
    mp_slice ours, theirs;

    if (self == other) return Qtrue;
    if (!RTEST(rb_obj_is_kind_of(other, cView))) return Qfalse;
    ours = mp_view_slice(self);
    theirs = mp_view_slice(other);
    if (ours.size != theirs.size) return Qfalse;
    if (memcmp(RSTRING_PTR(ours.source) + ours.offset, RSTRING_PTR(theirs.source) + theirs.offset, ours.size)) {
        return Qfalse;
    }
    return rb_equal(mp_view_data(self)->codec, mp_view_data(other)->codec);
}

/*
 * call-seq: view.hash -> Integer
 *
 * Returns a hash of the bytes, the same for Views that are +eql?+.
 *
 *   Manypack::View.new("\x01").hash == Manypack::View.new("\x01").hash #=> true
 */
static VALUE
rb_view_hash(VALUE self)
{
    mp_slice slice = mp_view_slice(self);

    return ST2FIX(rb_memhash(RSTRING_PTR(slice.source) + slice.offset, (long)slice.size));
}

/*
 * call-seq: view.codec -> Codec
 *
 * Returns the Codec, which has the options and ext types by which values are unpacked.
 *
 *   Manypack::View.new("\x90", symbolize_keys: true).codec #=> #<Manypack::Codec symbolize_keys: true>
 */
static VALUE
rb_view_codec(VALUE self)
{
    return mp_view_data(self)->codec;
}

void
Init_manypack_view_whole(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    sym_codec = ID2SYM(rb_intern("codec"));
    id_to_ary = rb_intern("to_ary");
    id_deconstruct = rb_intern("deconstruct");
    id_to_hash = rb_intern("to_hash");
    id_deconstruct_keys = rb_intern("deconstruct_keys");
    id_hash_by = rb_intern("hash_by");
    cView = rb_define_class_under(mManypack, "View", rb_cObject);
    rb_define_method(cView, "type", rb_view_type, 0);
    rb_define_method(cView, "respond_to?", rb_view_respond_to_p, -1);
    rb_define_method(cView, "value", rb_view_value, -1);
    rb_define_method(cView, "to_h", rb_view_to_h, -1);
    rb_define_method(cView, "bytes", rb_view_bytes, 0);
    rb_define_method(cView, "detach", rb_view_detach, 0);
    rb_define_method(cView, "bytesize", rb_view_bytesize, 0);
    rb_define_method(cView, "canonical?", rb_view_canonical_p, 0);
    rb_define_method(cView, "offset", rb_view_offset, 0);
    rb_define_method(cView, "eql?", rb_view_eql_p, 1);
    rb_define_method(cView, "hash", rb_view_hash, 0);
    rb_define_method(cView, "codec", rb_view_codec, 0);
}
