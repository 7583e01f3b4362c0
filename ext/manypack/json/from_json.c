/* Manypack.from_json and Codec#from_json, and the texts of an io for lib/manypack/json.rb. */
#include "json/from_json.h"

#include "base/io.h"
#include "json/json_error.h"
#include "pack/canonical_form.h"
#include "pack/packer.h"

static ID id_from_json;

/* --- one text ---------------------------------------------------------------------------------------- */

/* Sets up a packer for n bytes that do not change. Uses known if the text is long enough. */
static void
text_packer_init(mp_json_packer *t, const mp_codec *codec, const uint8_t *start, size_t n, mp_known_keys *known)
{
    const mp_options *options = &codec->options;

    t->c = (mp_json_cursor){.end = start + n, .readable = start + n, .nan = mp_json_flag(options, MP_JSON_NAN)};
    t->codec = codec;
    t->start = start;
    t->max_depth = mp_unpack_max_depth(options);
    t->maps = 0;
    t->limited = options->limited;
    t->compatible = options->compatibility_mode;
    t->last_key = mp_json_flag(options, MP_JSON_DUPLICATE_KEY);
    t->limit = MP_OK;
    t->odd = false;
    t->known = n >= MP_KNOWN_LEAST && !t->last_key ? known : NULL;
    if (t->known) mp_known_keys_init(known, start);
    mp_window_init(&t->frames);
    mp_json_noted_init(&t->noted);
    mp_window_init_result(&t->out, n);
}

/* Keeps alive the Strings that only these structs refer to. */
#define GUARD_PACKER(t, known) \
    RB_GC_GUARD((t).out.string), RB_GC_GUARD((t).frames.string), RB_GC_GUARD((t).noted.noted.string), \
    RB_GC_GUARD((known).decoded.string)

/* True if the bytes of a String count as UTF-8 without being converted. */
static bool
utf8_p(VALUE text)
{
    int encoding = rb_enc_get_index(text);

    return encoding == mp_utf8_index || encoding == mp_binary_index || encoding == mp_usascii_index;
}

VALUE
mp_json_utf8(VALUE text)
{
    if (MP_UNLIKELY(!utf8_p(text))) text = rb_str_encode(text, rb_enc_from_encoding(mp_utf8), 0, Qnil);
    return rb_str_new_frozen(text);
}

NORETURN(static void raise_max_bytes(const mp_codec *codec, const uint8_t *start, const uint8_t *at,
                                     mp_json_origin origin));

/* Raises LimitError for the first byte beyond max_bytes. `origin` is the position of start. */
static void
raise_max_bytes(const mp_codec *codec, const uint8_t *start, const uint8_t *at, mp_json_origin origin)
{
    mp_json_packer t = {.codec = codec, .start = start, .limit = MP_OK};

    mp_json_fail(&t.c, MP_JSON_LIMIT, at);
    mp_json_raise(&t, origin);
}

/* Packs n bytes that do not change, with `zeros` after them. */
static VALUE
packed_text(const uint8_t *start, size_t n, size_t zeros, const mp_codec *codec)
{
    bool canonical = codec->options.canonical;
    mp_json_origin origin = {.stream = false};
    VALUE codec_object = codec->object, packed;
    mp_known_keys known;
    mp_json_packer t;

    if (MP_UNLIKELY(n > codec->options.max_bytes)) {
        raise_max_bytes(codec, start, start + codec->options.max_bytes, origin);
    }
    if (MP_UNLIKELY(n >= UINT32_MAX)) rb_raise(rb_eRangeError, "a JSON text may have up to 4 GB");
    known.decoded.string = 0;
    text_packer_init(&t, codec, start, n, &known);
    t.c.readable += zeros;
    if (!mp_json_pack(&t, mp_json_space(&t.c, t.start), true)) mp_json_raise(&t, origin);
    packed = mp_window_result(&t.out);
    GUARD_PACKER(t, known);
    RB_GC_GUARD(codec_object);
    return MP_UNLIKELY(canonical) ? mp_canonical_packed(packed) : packed;
}

VALUE
mp_json_packed(VALUE text, const mp_codec *codec)
{
    VALUE packed = packed_text((const uint8_t *)RSTRING_PTR(text), (size_t)RSTRING_LEN(text), 0, codec);

    RB_GC_GUARD(text);
    return packed;
}

/* A text up to SHORT bytes is copied to the C stack: faster than making a frozen String, and with room for AHEAD. */
enum { SHORT = 256, AHEAD = MP_JSON_NUMBER_AHEAD };

static VALUE
from_json(VALUE text, const mp_codec *codec)
{
    uint8_t copy[SHORT + AHEAD];
    size_t n = (size_t)RSTRING_LEN(text);

    if (n > SHORT || MP_UNLIKELY(!utf8_p(text))) return mp_json_packed(mp_json_utf8(text), codec);
    memcpy(copy, RSTRING_PTR(text), n);
    memset(copy + n, 0, AHEAD);
    return packed_text(copy, n, AHEAD, codec);
}

/* Writes packed bytes to an io. A Packer gets its own from lib/manypack/json.rb. */
static VALUE
written_to(VALUE packed, VALUE out)
{
    if (NIL_P(out)) return packed;
    mp_check_sink(out, MP_OWN);
    mp_io_write_all(out, packed, MP_OWN);
    return Qnil;
}

/* from_json with the arguments (source, out = nil, **options) of a method that has this Codec. */
static VALUE
from_json_with(int argc, const VALUE *argv, VALUE codec_object, int api)
{
    VALUE source, out, options, text;
    mp_codec codec;

    rb_scan_args(argc, argv, "11:", &source, &out, &options);
    text = rb_check_string_type(source);
    mp_codec_override(&codec, codec_object, options, api | MP_FROM_JSON);
    if (NIL_P(text) || mp_packer_p(out)) {
        codec_object = mp_codec_with_options(codec_object, options, api | MP_FROM_JSON);
        return rb_funcall(mp_mArguments, id_from_json, 3, codec_object, source, out);
    }
    return written_to(from_json(text, &codec), out);
}

/*
 * call-seq:
 *   Manypack.from_json(text, **options) -> String
 *   Manypack.from_json(io, **options) -> String
 *   Manypack.from_json(source, out, **options) -> nil
 *
 * Packs a JSON text, without building its objects: the bytes are those of <code>pack(JSON.parse(text))</code>. Takes
 * the JSON of RFC 8259 and nothing else: no comments, no comma at the end, no byte order mark.
 *
 * source:: a String with one text, in UTF-8 or bytes that are UTF-8; or an io, whose bytes are one text. With +out+, an
 *          io may have any number of texts, such as JSON Lines: see Manypack.foreach_json
 * out:: a Packer, or an io, which receives the bytes. If source is a String, nothing is written unless its text is
 *       valid. If it is an io, each text before an error is written, and the error says how many there were
 * codec:: a Codec with the options and ext types, which the other options change for this call (default: none, and the
 *         types of DefaultFactory)
 * allow_nan:: take NaN, Infinity and -Infinity, and numbers above all Floats, which become Infinity (default false)
 * allow_duplicate_key:: keep the last value of a key that comes twice in an object, as JSON.parse does with the same
 *                       option; otherwise such a key is an error, as in json 3 (default false)
 * max_depth:: maximum nesting of arrays and objects that are not empty (default 128)
 * max_bytes:: maximum bytes of a text
 * max_objects:: maximum number of values and keys
 * max_map_size:: maximum pairs of an object
 * max_array_size:: maximum elements of an array
 * max_string_bytes:: maximum bytes of a string
 * untrusted:: the limits of Manypack.unpack for a text that is not trusted (default false)
 * compatibility_mode:: write the format as it was before 2013, as Manypack.pack does (default false)
 * canonical:: write the canonical form, as Manypack.pack does (default false)
 *
 * A number with a point or an exponent becomes the nearest Float. An Integer of more than 64 bits is an error unless an
 * ext type packs it: <code>register_common(:bigint)</code> on a Factory.
 *
 * Raises JSONError, StackError above max_depth, or LimitError above another limit. Each includes DecodeError and has
 * the line and the column in characters, the offset in bytes of UTF-8, whatever encoding the String has, and the path,
 * which is "$" for a text above max_bytes. Raises TypeError for a source that cannot be read, and ArgumentError,
 * TypeError or RangeError for unknown or invalid options, and for a text of 4 GB. A String that is not valid in an
 * encoding other than UTF-8 raises the EncodingError of String#encode.
 *
 *   Manypack.from_json('{"id": 1}')                          #=> "\x81\xA2id\x01"
 *   Manypack::View.new(Manypack.from_json('{"id": 1}'))["id"] #=> 1
 */
static VALUE
rb_manypack_from_json(int argc, VALUE *argv, VALUE self)
{
    if (MP_LIKELY(argc == 1 && RB_TYPE_P(argv[0], T_STRING))) return from_json(argv[0], mp_default_codec());
    mp_refuse_block(self);
    return from_json_with(argc, argv, mp_default_codec()->object, MP_WITH_CODEC);
}

/*
 * call-seq:
 *   codec.from_json(source, out = nil, **options) -> String or nil
 *
 * Packs a JSON text like Manypack.from_json, with the options and ext types of the codec, and raises the same errors.
 * The options change those of the codec for this call.
 *
 *   Manypack::Codec.new(allow_nan: true).from_json("[NaN]") #=> "\x91\xCB\x7F\xF8\x00\x00\x00\x00\x00\x00"
 */
static VALUE
rb_codec_from_json(int argc, VALUE *argv, VALUE self)
{
    if (MP_LIKELY(argc == 1 && RB_TYPE_P(argv[0], T_STRING))) return from_json(argv[0], mp_codec_get(self));
    mp_refuse_block(self);
    return from_json_with(argc, argv, self, MP_OWN);
}

/* --- many texts -------------------------------------------------------------------------------------- */

/* The state of packing the texts of one String in turn. The texts before `done` are packed. */
typedef struct {
    mp_json_packer t;
    mp_json_origin origin;
    mp_json_origin place; /* place in the io of the text that is yielded, which starts at `from` */
    const uint8_t *from;
    const uint8_t *done;
    bool last; /* no more bytes come */
    bool each; /* yields the bytes of each text; otherwise the output has those of all */
    bool places; /* yields its line, its text, and its place in the io, too */
} text_run;

/*
 * True if the text that ended at p is complete: a number or word at the end may continue in the next bytes. Sets the
 * fault if the text is followed by anything that is not allowed there.
 */
static bool
complete_p(text_run *run, const uint8_t *p)
{
    mp_json_cursor *c = &run->t.c;
    uint8_t last = p[-1];

    if (c->lines) {
        const uint8_t *rest = mp_json_space(c, p);
        if (rest == c->end || *rest == '\n') return true;
        mp_json_expected(c, "the end of the line", rest);
        return false;
    }
    if (last == ']' || last == '}' || last == '"') return true;
    if (p == c->end ? run->last : *p <= ' ' || *p == '[' || *p == '{' || *p == '"') return true;
    mp_json_expected(c, "the end of the text", p);
    return false;
}

static void
check_text_size(const text_run *run, const uint8_t *from, const uint8_t *to)
{
    const mp_codec *codec = run->t.codec;
    size_t most = codec->options.max_bytes;

    if ((size_t)(to - from) > most) raise_max_bytes(codec, run->t.start, from + most, run->origin);
}

static VALUE
origin_array(const mp_json_origin *origin)
{
    return rb_ary_new_from_args(4, SIZET2NUM(origin->offset), SIZET2NUM(origin->line), SIZET2NUM(origin->column),
                                SIZET2NUM(origin->texts));
}

/* Yields the bytes of the text from p to `done`. */
static void
yield_text(text_run *run, const uint8_t *p)
{
    mp_out *out = &run->t.out.out;
    VALUE values[4] = {rb_str_new((const char *)out->start, (long)mp_out_size(out)), Qnil, Qnil, Qnil};

    mp_out_commit(out, out->start);
    if (run->places) {
        mp_json_pass(&run->place, run->from, p);
        run->from = p;
        run->place.texts = run->origin.texts - 1;
        values[1] = SIZET2NUM(run->place.line + 1);
        values[2] = rb_utf8_str_new((const char *)p, run->done - p);
        values[3] = origin_array(&run->place);
    }
    rb_yield_values2(run->places ? 4 : 1, values);
}

/* Gives the text that was packed last its canonical form. */
static void
make_canonical(mp_json_packer *t)
{
    mp_out *out = &t->out.out;
    VALUE packed = rb_str_new((const char *)out->start + t->before, (long)(mp_out_size(out) - t->before));

    packed = mp_canonical_packed(packed);
    mp_out_commit(out, out->start + t->before);
    mp_out_write(out, RSTRING_PTR(packed), (size_t)RSTRING_LEN(packed));
    RB_GC_GUARD(packed);
}

/* Packs one text after another. Returns at the first that is incomplete, or at an invalid one if others were packed. */
static void
pack_texts(text_run *run)
{
    mp_json_packer *t = &run->t;
    const uint8_t *p;

    while ((p = mp_scan_space(run->done, t->c.end)) < t->c.end) {
        const uint8_t *after = mp_json_pack(t, p, false);

        if (!after || !complete_p(run, after)) {
            check_text_size(run, p, t->c.ended ? t->c.end : p);
            if (t->c.ended && !run->last) break;
            if (run->done > t->start) break;
            mp_json_raise(t, run->origin);
        }
        check_text_size(run, p, after);
        if (MP_UNLIKELY(t->codec->options.canonical)) make_canonical(t);
        run->done = after;
        run->origin.texts++;
        if (run->each) yield_text(run, p);
    }
    if (p == t->c.end) run->done = p;
    else mp_out_commit(&t->out.out, t->out.out.start + t->before);
}

/*
 * call-seq: Internal.codec_for_json(codec, options, writes) -> codec
 *
 * Returns the Codec, or the one in options[:codec], with the other options changed: those of a method that writes JSON
 * if `writes`, and otherwise of one that reads it.
 */
static VALUE
rb_internal_codec_for_json(VALUE self, VALUE codec, VALUE options, VALUE writes)
{
    mp_codec_get(codec); /* raises for anything else */
    Check_Type(options, T_HASH);
    return mp_codec_with_options(codec, RHASH_EMPTY_P(options) ? Qnil : options,
                                 MP_WITH_CODEC | (RTEST(writes) ? MP_TO_JSON : MP_FROM_JSON));
}

/*
 * call-seq: Internal.json_texts(codec, bytes, lines, last, origin, places) -> [String, Integer, Array, true or false]
 *
 * Packs all complete texts in a String; if `lines`, each line is one text. `last` says that no more bytes come. Returns
 * the bytes of all texts; how many bytes of the String are done; the origin of the next text: offset, lines, columns
 * and texts before it; and true if a text is `odd`. With a block it yields the bytes of each text instead, and if
 * `places` its line, its text and its origin, too.
 */
static VALUE
rb_internal_json_texts(VALUE self, VALUE codec_object, VALUE bytes, VALUE lines, VALUE last, VALUE origin, VALUE places)
{
    const mp_codec *codec = mp_codec_get(codec_object);
    mp_known_keys known;
    VALUE packed;
    text_run run;

    Check_Type(origin, T_ARRAY);
    StringValue(bytes);
    bytes = rb_str_new_frozen(bytes);
    if ((size_t)RSTRING_LEN(bytes) >= UINT32_MAX) rb_raise(rb_eRangeError, "a JSON text may have up to 4 GB");
    known.decoded.string = 0;
    text_packer_init(&run.t, codec, (const uint8_t *)RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes), &known);
    run.origin = (mp_json_origin){
        .offset = NUM2SIZET(rb_ary_entry(origin, 0)), .line = NUM2SIZET(rb_ary_entry(origin, 1)),
        .column = NUM2SIZET(rb_ary_entry(origin, 2)), .texts = NUM2SIZET(rb_ary_entry(origin, 3)), .stream = true,
    };
    run.place = run.origin;
    run.from = run.done = run.t.start;
    run.last = RTEST(last);
    run.each = rb_block_given_p();
    run.places = RTEST(places);
    run.t.c.lines = RTEST(lines);
    if (run.t.c.lines && !run.last) {
        while (run.t.c.end > run.t.start && run.t.c.end[-1] != '\n') run.t.c.end--;
        run.t.c.readable = run.t.c.end;
    }
    pack_texts(&run);
    mp_json_pass(&run.origin, run.t.start, run.done);
    packed = mp_window_result(&run.t.out);
    GUARD_PACKER(run.t, known);
    RB_GC_GUARD(bytes);
    RB_GC_GUARD(codec_object);
    return rb_ary_new_from_args(4, packed, SIZET2NUM((size_t)(run.done - run.t.start)), origin_array(&run.origin),
                                run.t.odd ? Qtrue : Qfalse);
}

/* call-seq: Internal.max_bytes(codec) -> Integer */
static VALUE
rb_internal_max_bytes(VALUE self, VALUE codec)
{
    return SIZET2NUM(mp_codec_get(codec)->options.max_bytes);
}

/* call-seq: Internal.read_more(io, size, bytes) -> true or false: appends to bytes; false at the end of the io */
static VALUE
rb_internal_read_more(VALUE self, VALUE io, VALUE size, VALUE bytes)
{
    mp_io_end end = {.of_any_class = false};
    size_t n = NUM2SIZET(size);
    VALUE piece = mp_io_read(io, mp_io_way_of(io), n, n, 0, &end);

    if (NIL_P(piece)) return Qfalse;
    StringValue(bytes);
    rb_str_cat(bytes, RSTRING_PTR(piece), RSTRING_LEN(piece));
    RB_GC_GUARD(piece);
    return Qtrue;
}

/* call-seq: Internal.write_all(io, packed) -> nil */
static VALUE
rb_internal_write_all(VALUE self, VALUE io, VALUE packed)
{
    StringValue(packed);
    mp_need_sink(io, MP_OWN);
    return written_to(packed, io);
}

/* The states of a search for the end of a text. */
enum { BEFORE, SCALAR, STRING, INSIDE, INSIDE_STRING };

/* True for the bytes of numbers and words. */
static bool
scalar_byte_p(uint8_t byte)
{
    uint8_t letter = byte | 0x20;

    if ((byte >= '0' && byte <= '9') || (letter >= 'a' && letter <= 'z')) return true;
    return byte == '.' || byte == '-' || byte == '+';
}

/*
 * call-seq: Internal.json_end(bytes, from, state) -> [true or false, Integer, Integer]
 *
 * Continues the search for the end of the text at the start of a String, from an offset on. Returns true if it found
 * the end, or if there is only white space; the offset that it has reached; and the state to continue with: depth * 8 +
 * one of the states above. The first state is 0.
 */
static VALUE
rb_internal_json_end(VALUE self, VALUE bytes, VALUE from, VALUE state_before)
{
    size_t state = NUM2SIZET(state_before), depth = state >> 3, start = NUM2SIZET(from);
    const uint8_t *p, *end;
    uint64_t high = 0;
    bool found = false;

    StringValue(bytes);
    if (start > (size_t)RSTRING_LEN(bytes)) rb_raise(rb_eRangeError, "no such part of the String");
    p = (const uint8_t *)RSTRING_PTR(bytes) + start;
    end = (const uint8_t *)RSTRING_END(bytes);
    state &= 7;
    while (p < end && !found) {
        uint8_t byte = *p;

        if (state == STRING || state == INSIDE_STRING) {
            p = mp_scan_text(p, end, &high);
            if (p == end || (*p == '\\' && end - p < 2)) break;
            byte = *p;
            p += byte == '\\' ? 2 : 1;
            if (byte != '"') continue;
            found = state == STRING;
            state = INSIDE;
            continue;
        }
        if (state == SCALAR && !scalar_byte_p(byte)) break;
        p++;
        if (byte == '"') state = state == BEFORE ? STRING : INSIDE_STRING;
        else if (byte == '[' || byte == '{') state = INSIDE, depth++;
        else if (state == INSIDE && (byte == ']' || byte == '}')) found = !--depth;
        else if (state == BEFORE && byte > ' ') state = SCALAR;
    }
    if (state == BEFORE || (state == SCALAR && p < end)) found = true;
    start = (size_t)(p - (const uint8_t *)RSTRING_PTR(bytes));
    return rb_ary_new_from_args(3, found ? Qtrue : Qfalse, SIZET2NUM(start), SIZET2NUM(depth << 3 | state));
}

void
Init_manypack_from_json(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cCodec = rb_define_class_under(mManypack, "Codec", rb_cObject);

    id_from_json = rb_intern("json_of");
    rb_define_singleton_method(mManypack, "from_json", rb_manypack_from_json, -1);
    rb_define_method(cCodec, "from_json", rb_codec_from_json, -1);
    MP_DEFINE_INTERNAL("codec_for_json", rb_internal_codec_for_json, 3);
    MP_DEFINE_INTERNAL("json_texts", rb_internal_json_texts, 6);
    MP_DEFINE_INTERNAL("max_bytes", rb_internal_max_bytes, 1);
    MP_DEFINE_INTERNAL("read_more", rb_internal_read_more, 3);
    MP_DEFINE_INTERNAL("write_all", rb_internal_write_all, 2);
    MP_DEFINE_INTERNAL("json_end", rb_internal_json_end, 3);
}
