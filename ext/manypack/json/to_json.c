/* Manypack.to_json and Codec#to_json: JSON of packed bytes. */
#include "base/error.h"
#include "base/io.h"
#include "codec/codec.h"
#include "json/json_write.h"
#include "json/powers_of_ten.h"
#include "view/view.h"
#include "view/view_index.h"

static ID id_json_stream;

/* --- errors ------------------------------------------------------------------------------------------ */

static VALUE
words_for_key(mp_kind kind)
{
    const char *name = mp_kind_name(kind);

    if (kind == MP_ARRAY || kind == MP_MAP) return rb_sprintf("JSON has no %s as a key: a key is a String", name);
    return rb_sprintf("JSON has no %s as a key: a key is a String; stringify_keys: true makes one", name);
}

static VALUE
words_for_ext(int type)
{
    if (type == MP_TIMESTAMP_TYPE) {
        return rb_str_new_cstr("JSON has no timestamp; timestamp: true writes it as a String (RFC 3339)");
    }
    return rb_sprintf("JSON has no ext type %d; ext: :base64 or ext: :hex writes its bytes as a String", type);
}

/* Describes a value that JSON cannot express, and names the option that allows it. */
static VALUE
words_for(const mp_json_writer *w, const uint8_t *p)
{
    mp_head head = {.kind = MP_NEVER};

    mp_head_read(p, w->end, &head);
    if (head.kind == MP_BIN) {
        return rb_str_new_cstr("JSON has no bin; bin: :base64 or bin: :hex writes it as a String");
    }
    if (head.kind == MP_EXT) return words_for_ext(head.ext_type);
    if (w->at_key) return words_for_key(head.kind);
    return rb_sprintf("JSON has no %" PRIsVALUE "; allow_nan: true writes it",
                      rb_obj_as_string(DBL2NUM(mp_row_real(p, MP_WIRE[*p]))));
}

NORETURN(static void raise_json_refused(const mp_json_writer *w, mp_status status, mp_blame blame));

static void
raise_json_refused(const mp_json_writer *w, mp_status status, mp_blame blame)
{
    if (status == MP_E_JSON) {
        mp_raise_not_in_json(words_for(w, blame.at), blame.origin + (size_t)(blame.at - blame.start), blame.message);
    }
    if (status == MP_E_DUPLICATE_KEY) {
        mp_raise_malformed("a map has the same key twice; allow_duplicate_key: true writes both",
                           blame.origin + (size_t)(blame.at - blame.start), blame.message);
    }
    mp_raise_status(status, blame);
}

/* --- one message ------------------------------------------------------------------------------------- */

/* Raises the error of unpacking if the options of a codec refuse the message. */
static void
check_options(mp_slice slice, const mp_codec *codec)
{
    size_t max_bytes = codec->options.max_bytes;
    mp_message message = {.source = slice.source, .start = slice.offset};

    if (MP_UNLIKELY(slice.size > max_bytes)) mp_raise_max_bytes(max_bytes, slice.size, max_bytes, message);
    if (MP_LIKELY(!codec->options.limited)) return;
    mp_view_check_part(slice.source, slice.offset, slice.offset + slice.size, codec);
}

/* Writes a message whose bytes are at start; the slice says where they came from, for errors. */
static void
write_packed_bytes(mp_json_writer *w, const uint8_t *start, size_t readable, mp_slice slice, const mp_codec *codec)
{
    const uint8_t *p = start, *end = start + slice.size;
    mp_status status;

    mp_json_writer_init(w, codec, end, readable);
    mp_window_init_result(&w->text, slice.size + slice.size / 4 + MP_JSON_ROOM);
    status = mp_json_write(w, &p);
    if (MP_UNLIKELY(status != MP_OK)) {
        mp_blame blame = mp_blame_of(start, p, end, 0);

        blame.message = (mp_message){.source = slice.source, .start = slice.offset};
        raise_json_refused(w, status, blame);
    }
    if (MP_UNLIKELY(p != end)) mp_raise_extra_bytes((size_t)(end - p), (size_t)(p - start), slice.source);
}

/* A shorter message is copied to the C stack: faster than making a frozen String, and with room for AHEAD. */
enum { SHORT = 256 };

/* Writes the message. Afterwards w->text has its JSON. */
static void
write_message(mp_json_writer *w, mp_slice slice, const mp_codec *codec)
{
    uint8_t copy[SHORT + MP_JSON_AHEAD];

    if (slice.size <= SHORT && !codec->options.limited && slice.size <= codec->options.max_bytes) {
        memcpy(copy, RSTRING_PTR(slice.source) + slice.offset, slice.size);
        memset(copy + slice.size, 0, MP_JSON_AHEAD);
        write_packed_bytes(w, copy, MP_JSON_AHEAD, slice, codec);
    } else {
        slice.source = rb_str_new_frozen(slice.source);
        check_options(slice, codec);
        write_packed_bytes(w, (const uint8_t *)RSTRING_PTR(slice.source) + slice.offset, 0, slice, codec);
    }
    RB_GC_GUARD(slice.source);
}

static VALUE
json_string(mp_json_writer *w)
{
    VALUE text = rb_enc_associate_index(mp_window_result(&w->text), mp_utf8_index);

    RB_GC_GUARD(w->text.string);
    RB_GC_GUARD(w->frames.string);
    RB_GC_GUARD(w->keys.noted.string);
    return text;
}

/* The bytes of a String or a View. */
static mp_slice
slice_of(VALUE source)
{
    if (!RB_TYPE_P(source, T_STRING)) return mp_view_slice(source);
    return (mp_slice){.source = source, .size = (size_t)RSTRING_LEN(source)};
}

NORETURN(static void raise_no_bytes(VALUE source));

static void
raise_no_bytes(VALUE source)
{
    rb_raise(rb_eTypeError, "expected a String, a View or an IO, got %" PRIsVALUE "%s",
             NIL_P(source) ? rb_str_new_cstr("nil") : rb_obj_as_string(rb_obj_class(source)),
             RB_TYPE_P(source, T_HASH) || RB_TYPE_P(source, T_ARRAY) ? ": Manypack.pack makes a String of it" : "");
}

static VALUE
to_json(VALUE source, VALUE io, const mp_codec *codec)
{
    VALUE codec_object = codec->object, string = source, text;
    mp_json_writer w;

    if (!RB_TYPE_P(source, T_STRING) && !mp_view_p(source)) {
        if (mp_io_p(source)) {
            return rb_funcall(mp_mArguments, id_json_stream, 3, source, io, mp_codec_made_of(codec, 0));
        }
        string = rb_check_string_type(source);
        if (NIL_P(string)) raise_no_bytes(source);
    }
    if (!NIL_P(io)) mp_check_sink(io, MP_OWN);
    write_message(&w, slice_of(string), codec);
    text = json_string(&w);
    RB_GC_GUARD(codec_object);
    if (NIL_P(io)) return text;
    mp_io_write_all(io, text, MP_OWN);
    return Qnil;
}

/* to_json with the arguments (source, io = nil, **options) of a method that has this Codec. */
static VALUE
to_json_with(int argc, const VALUE *argv, VALUE codec_object, int api)
{
    VALUE io, options;
    mp_codec codec;

    rb_check_arity(argc, 1, 3);
    mp_scan_io_options(argc - 1, argv + 1, &io, &options);
    mp_codec_override(&codec, codec_object, options, api | MP_TO_JSON);
    return to_json(argv[0], io, &codec);
}

/* Appends the JSON of a message and a line end to a String; nothing if it raises. */
static VALUE
rb_internal_append_json(VALUE self, VALUE text, VALUE bytes, VALUE codec)
{
    mp_json_writer w;

    Check_Type(text, T_STRING);
    Check_Type(bytes, T_STRING);
    write_message(&w, slice_of(bytes), mp_codec_get(codec));
    rb_str_buf_cat(text, (const char *)w.text.out.start, (long)mp_out_size(&w.text.out));
    rb_str_buf_cat(text, "\n", 1);
    RB_GC_GUARD(w.text.string);
    RB_GC_GUARD(w.frames.string);
    RB_GC_GUARD(w.keys.noted.string);
    RB_GC_GUARD(codec);
    return Qnil;
}

/*
 * call-seq:
 *   Manypack.to_json(source, io = nil, **options) -> String or nil
 *
 * Returns packed bytes as JSON, a UTF-8 String, without building objects in between. The text is what
 * <code>JSON.generate</code> of the json gem writes for the unpacked object, with the shortest digits of each Float.
 *
 * source:: a String with exactly one object, or a View; or anything with <code>readpartial</code> or <code>read</code>:
 *          each of its messages becomes a line (JSON Lines). Memory holds one message and its text
 * io:: anything with <code>write</code> or <code><<</code>; receives the text, and nil is returned
 * codec:: a Codec with the options, which the other options change for this call
 * bin:: <code>:base64</code> or <code>:hex</code> to write a bin as a String
 * ext:: the same for the bytes of an ext; or <code>:name</code> to write an object such as
 *       <code>{"Point":"AQI="}</code>: the name of the class that the codec has for the ext, or its type if there is no
 *       class, and the bytes in base64
 * timestamp:: write ext type -1 as a String, as RFC 3339 has it: "2026-11-29T19:45:00Z" (default false)
 * stringify_keys:: write nil, booleans and numbers that are keys as <code>to_s</code> does (default false)
 * allow_nan:: write NaN, Infinity and -Infinity, which JSON does not have (default false)
 * allow_duplicate_key:: write a map that has the same key twice as it is (default false)
 * ascii_only:: escape characters beyond ASCII (default false)
 * script_safe:: escape the slash, U+2028 and U+2029, for text in a script element of HTML (default false)
 * pretty:: write what <code>JSON.pretty_generate</code> writes (default false)
 * max_depth:: maximum nesting of containers that are not empty, 1 to 100000 (default 128; readers of JSON often allow
 *             100)
 *
 * The limits of Manypack.unpack and +untrusted+ are options, too.
 *
 * Raises UnexpectedTypeError for a value that JSON does not have and no option allows; the message names the option,
 * the path and the offset. Raises MalformedFormatError for a str that is not valid UTF-8, for a map with the same key
 * twice and for malformed bytes, other DecodeErrors as Manypack.unpack does, and ArgumentError, RangeError or TypeError
 * for invalid or unknown options. A single message is written to io whole or not at all; of a stream, whole lines are
 * written before an error, which says how many.
 *
 *   Manypack.to_json("\x81\xA2id\x01")                        #=> "{\"id\":1}"
 *   Manypack.to_json(Manypack.pack({1 => "a".b}), stringify_keys: true, bin: :hex) #=> "{\"1\":\"61\"}"
 *
 *   File.open("events.jsonl", "w") { |out| Manypack.to_json(File.open("events.msgpack", "rb"), out) }
 */
static VALUE
rb_manypack_to_json(int argc, VALUE *argv, VALUE self)
{
    if (MP_LIKELY(argc == 1)) return to_json(argv[0], Qnil, mp_default_codec_for(mp_api_of(self)));
    mp_refuse_block(self);
    return to_json_with(argc, argv, mp_default_codec()->object, mp_api_of(self) | MP_WITH_CODEC);
}

/*
 * call-seq:
 *   codec.to_json(source, io = nil, **options) -> String or nil
 *
 * Returns packed bytes as JSON, as Manypack.to_json does, with the options of the codec, and raises the same errors.
 * The options change those of the codec for this call.
 *
 *   Manypack::Codec.new(pretty: true).to_json("\x91\x01") #=> "[\n  1\n]"
 */
static VALUE
rb_codec_to_json(int argc, VALUE *argv, VALUE self)
{
    if (MP_LIKELY(argc == 1)) return to_json(argv[0], Qnil, mp_codec_get(self));
    mp_refuse_block(self);
    return to_json_with(argc, argv, self, MP_OWN);
}

void
Init_manypack_to_json(void)
{
    VALUE mManypack = rb_define_module("Manypack");
    VALUE cCodec = rb_define_class_under(mManypack, "Codec", rb_cObject);

    mp_powers_of_ten_init();
    id_json_stream = rb_intern("json_stream");
    rb_define_singleton_method(mManypack, "to_json", rb_manypack_to_json, -1);
    rb_define_method(cCodec, "to_json", rb_codec_to_json, -1);
    MP_DEFINE_INTERNAL("append_json", rb_internal_append_json, 3);
}
