/* Bytes to VALUE: one loop with explicit frames. */
#include "unpack/decode.h"

#include "core/utf8.h"
#include "core/wire.h"
#include "unpack/ext.h"
#include "unpack/key_flood.h"
#include "unpack/nesting.h"
#include "unpack/objects.h"

/*
 * RuntimeError if somebody changed the source: the rest of the bytes is gone. Ruby calls eql?, which a program may have
 * redefined, if two keys of different classes have similar hashes. The end may be that of a part of a frozen source.
 */
MP_INLINE void
check_source(const mp_decoder *d)
{
    if (MP_LIKELY((const uint8_t *)RSTRING_PTR(d->source) == d->start) &&
        MP_LIKELY(RSTRING_LEN(d->source) == d->end - d->start || RB_OBJ_FROZEN_RAW(d->source))) {
        return;
    }
    rb_raise(rb_eRuntimeError, "the String was modified during unpacking");
}

/* LimitError if a head declares more than the limits allow. Called before the object is counted or read. */
MP_INLINE void
check_limits(mp_decoder *d, mp_kind kind, uint32_t n, const uint8_t *at)
{
    mp_status status = mp_limits_pass(&d->codec->options.limits, kind, n, &d->tree.objects);

    if (MP_UNLIKELY(status != MP_OK)) mp_decoder_raise_limit(d, status, at);
}

static bool
nan_p(VALUE number)
{
    double value = rb_float_value(number);

    return value != value;
}

/*
 * Makes the Hash of a map that ends at `offset`. User code may run. LimitError if too many of the keys have the same
 * hash.
 */
static MP_NOINLINE VALUE
hash_by_calls(mp_decoder *d, size_t n, const VALUE *values, size_t end)
{
    mp_decoder_call call = mp_decoder_leave(d);
    int exceeded = d->tree.keys_may_collide ? mp_same_hash_exceeded(n, values) : 0;
    VALUE hash;

    if (exceeded) mp_raise_same_hash((size_t)exceeded, end);
    hash = mp_hash_new(d, n, values);
    mp_decoder_check_return(d, call);
    return hash;
}

/* mp_decoder_own_source for a container that is a key, whose head is at p: Ruby calls #hash of its elements. */
static MP_NOINLINE const uint8_t *
own_key_source(mp_decoder *d, const uint8_t *p)
{
    mp_nesting_check_key(d, p);
    return mp_decoder_own_source(d, p);
}

/*
 * mp_decoder_own_source for a number that is a key and ends at payload. If two Bignums or two Floats are equal, Ruby
 * calls eql?, which a program may have redefined.
 */
static MP_NOINLINE const uint8_t *
own_number_key_source(mp_decoder *d, const uint8_t *payload, VALUE number)
{
    return RB_SPECIAL_CONST_P(number) ? payload : mp_decoder_own_source(d, payload);
}

/* True if the options allow a str with that payload. */
MP_INLINE bool
text_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t n)
{
    return !limited || !options->strict_utf8 || mp_utf8_valid_p(p, n);
}

/* True if p, where mp_ahead_p is true, is at a fixstr that no limit can refuse. */
MP_INLINE bool
short_str_p(const mp_options *options, bool limited, const uint8_t *p, uint32_t *n)
{
    if (limited && options->limits.string < MP_FIXSTR_MAX) return false;
    return mp_fixstr_ahead_p(p, n) && text_p(options, limited, p + 1, *n);
}

/* The Integer at p, where mp_ahead_p is true. */
MP_INLINE VALUE
integer_in_row(const mp_options *options, const uint8_t *p, mp_wire_row row)
{
    int64_t n = mp_int_ahead(p, row);
    bool above = (n < 0) & (row.kind == MP_UINT);

    if (MP_LIKELY(FIXABLE(n) & !above)) return LONG2FIX((long)n);
    return mp_number(options, above ? ULL2NUM((uint64_t)n) : LL2NUM(n));
}

/*
 * A fast path, because arrays often hold nothing but numbers: decodes up to n of them and stops at any other object, at
 * a NaN, and near the end of the source. Returns how many it decoded, and moves *at past them. Not inline, because in
 * the loop below it would take the registers from everything else.
 */
static MP_NOINLINE size_t
decode_numbers(const mp_decoder *d, const uint8_t **at, VALUE *values, size_t n)
{
    const mp_options *options = &d->codec->options;
    const uint8_t *p = *at, *end = d->end;
    size_t i;

    for (i = 0; i < n && mp_ahead_p(p, end); i++) {
        mp_wire_row row = mp_row_ahead(p);

        if (row.kind == MP_FLOAT64 || row.kind == MP_FLOAT32) {
            double value = mp_row_real(p, row);
            if (MP_UNLIKELY(value != value)) break;
            values[i] = mp_number(options, DBL2NUM(value));
        } else if (row.kind >= MP_FIXINT && row.kind <= MP_INT) {
            values[i] = integer_in_row(options, p, row);
        } else {
            break;
        }
        p += row.head;
    }
    *at = p;
    return i;
}

/*
 * The offset of the map whose head is at p, as a Fixnum for the stack of values, and back. A Fixnum lacks one bit, so
 * the offset counts from the start of the message, which never needs all bits; an offset into the whole input may.
 */
MP_INLINE VALUE
map_mark(const mp_decoder *d, const uint8_t *p)
{
    return (VALUE)(mp_decoder_offset(d, p) - d->message) << 1 | 1;
}

static MP_NOINLINE size_t
map_offset(const mp_decoder *d, VALUE mark)
{
    return d->message + (size_t)(mark >> 1);
}

/* --- the loop --------------------------------------------------------------------------------------- */

/* A plain decoder stops before it calls user code or raises. Once plain is false, it continues with that object. */
MP_INLINE bool
stops_p(const mp_decoder *d, const bool resumable)
{
    return resumable && d->plain;
}

/* Stores the loop's place in the tree, which it keeps in locals, and in the bytes: decoding can continue from there. */
MP_INLINE void
commit(mp_decoder *d, uint64_t left, size_t base, size_t count, uint32_t depth, const uint8_t *at)
{
    d->tree.left = left;
    d->tree.base = base;
    d->tree.count = count;
    d->tree.depth = depth;
    d->at = at;
    d->committed = true;
}

/*
 * Decodes from d->at until an object is complete or the bytes end inside one: that is Qundef if resumable, and the next
 * call continues there, or else TruncatedError. resumable and limited are constants in each caller.
 *
 * Where an error can be raised after which decoding may continue, the place is committed first: d->at is after the
 * object to blame, and the tree counts that object as still to come.
 */
MP_INLINE VALUE
decode_loop(mp_decoder *d, const bool resumable, const bool limited)
{
    const mp_options *const options = &d->codec->options;
    const uint8_t *p = d->at;
    const mp_string_kind key_kind = options->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING;
    const bool frozen = options->freeze || options->shareable;
    uint64_t left = d->tree.left;
    size_t base = d->tree.base, count = d->tree.count;
    uint32_t depth = d->tree.depth;
    VALUE *values = d->stack.values;
    size_t capacity = d->stack.capacity;

    for (;;) {
        mp_wire_row row;
        const uint8_t *payload;
        uint32_t n;
        VALUE obj;

        if (MP_LIKELY(mp_ahead_p(p, d->end))) {
            /* A fast path from a short key to its value: no map ends between them, and nothing has to be dispatched. */
            if (mp_left_key_p(left) && short_str_p(options, limited, p, &n) && MP_LIKELY(count < capacity)) {
                obj = mp_key_cache_fetch(&d->ractor->keys, p + 1, n, key_kind);
                if (MP_LIKELY(obj)) {
                    values[count++] = obj;
                    left -= MP_LEFT_ONE;
                    p += 1 + n;
                    if (!mp_ahead_p(p, d->end)) continue;
                    if (short_str_p(options, limited, p, &n)) {
                        obj = mp_str_new(d, frozen, p + 1, n);
                        p += 1 + n;
                        goto complete;
                    }
                }
            }
            row = mp_row_ahead(p);
        } else if (MP_UNLIKELY(mp_row_read(p, d->end, &row) != MP_OK)) {
            goto truncated;
        }
        payload = p + row.head;

        switch ((mp_kind)row.kind) {
          case MP_FIXINT:
            obj = INT2FIX((int)mp_row_sint(p, row));
            break;
          case MP_STR:
            n = mp_row_count(p, row);
            if (limited) check_limits(d, MP_STR, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) goto truncated;
            if (!text_p(options, limited, payload, n)) {
                commit(d, left, base, count, depth, payload + n);
                mp_decoder_raise(d, MP_E_UTF8, p);
            }
            if (mp_left_key_p(left)) {
                obj = mp_key_cache_fetch(&d->ractor->keys, payload, n, key_kind);
                if (MP_UNLIKELY(!obj)) {
                    if (stops_p(d, resumable)) goto stopped;
                    commit(d, left, base, count, depth, payload + n);
                    mp_raise_malformed_symbol(payload, n, mp_decoder_offset(d, p), mp_decoder_message(d));
                }
            } else if (MP_LIKELY(n < MP_SHARE_MIN) || !mp_payload_to_share_p(d, payload, n)) {
                obj = mp_str_new(d, frozen, payload, n);
            } else {
                p = mp_decoder_own_source(d, p);
                payload = p + row.head;
                obj = mp_payload_shared(d, payload, n, mp_utf8);
            }
            payload += n;
            break;
          case MP_MAP:
          case MP_ARRAY:
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (stops_p(d, resumable)) goto stopped;
                d->tree.depth = depth;
                d->tree.base = base;
                p = own_key_source(d, p);
                payload = p + row.head;
            }
            n = mp_row_count(p, row);
            if (limited) check_limits(d, (mp_kind)row.kind, n, p);
            if (n) {
                if (MP_UNLIKELY(depth + d->outer_depth >= d->tree.depth_limit)) {
                    if (stops_p(d, resumable)) goto stopped;
                    d->tree.depth = depth;
                    d->tree.base = base;
                    mp_nesting_check_depth(d, p);
                }
                if (MP_UNLIKELY(count + MP_FRAME_WORDS + limited > capacity)) {
                    mp_decoder_grow_stack(d, count);
                    values = d->stack.values;
                    capacity = d->stack.capacity;
                }
                if (limited && row.kind == MP_MAP) values[count++] = map_mark(d, p);
                mp_frame_put(&values[count], left, base);
                depth++;
                base = count += MP_FRAME_WORDS;
                p = payload;
                if (row.kind == MP_MAP) {
                    mp_decoder_ractor(d); /* because keys are looked up in d->ractor unchecked */
                    left = mp_left_of_map(n);
                } else {
                    size_t room = capacity - count;
                    size_t numbers = decode_numbers(d, &p, &values[count], n < room ? n : room);

                    count += numbers;
                    left = mp_left_of_array(n) - MP_LEFT_ONE * numbers;
                    if (mp_left_none_p(left)) goto full;
                }
                continue;
            }
            obj = row.kind == MP_MAP ? mp_hash_new(d, 0, values) : mp_array_new(options, 0, values);
            break;
          case MP_NIL:
            obj = Qnil;
            break;
          case MP_FALSE:
            obj = Qfalse;
            break;
          case MP_TRUE:
            obj = Qtrue;
            break;
          case MP_UINT:
            obj = mp_number(options, ULL2NUM(mp_row_uint(p, row)));
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj) && stops_p(d, resumable)) goto stopped;
                payload = own_number_key_source(d, payload, obj);
            }
            break;
          case MP_INT:
            obj = mp_number(options, LL2NUM(mp_row_sint(p, row)));
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj) && stops_p(d, resumable)) goto stopped;
                payload = own_number_key_source(d, payload, obj);
            }
            break;
          case MP_FLOAT32:
          case MP_FLOAT64:
            obj = mp_float_new(d, mp_row_real(p, row));
            /* Enclosing maps check their keys, which can raise. */
            if (MP_UNLIKELY(d->tree.keys_may_collide) && stops_p(d, resumable)) goto stopped;
            if (MP_UNLIKELY(mp_left_key_p(left))) {
                if (!RB_SPECIAL_CONST_P(obj) && stops_p(d, resumable)) goto stopped;
                payload = own_number_key_source(d, payload, obj);
                p = payload - row.head;
            }
            if (limited && options->unique_keys && nan_p(obj)) {
                commit(d, left, base, count, depth, payload);
                if (mp_left_key_p(left) || mp_decoder_open_keys(d).nesting) {
                    mp_raise_malformed("a map key is or contains NaN", mp_decoder_offset(d, p), mp_decoder_message(d));
                }
                d->committed = false;
            }
            break;
          case MP_BIN:
            n = mp_row_count(p, row);
            if (limited) check_limits(d, MP_BIN, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) goto truncated;
            if (mp_left_key_p(left)) {
                obj = mp_bin_key_new(d, payload, n);
            } else if (n < MP_SHARE_MIN || !mp_payload_to_share_p(d, payload, n)) {
                obj = mp_bin_new(options, payload, n);
            } else {
                p = mp_decoder_own_source(d, p);
                payload = p + row.head;
                obj = mp_payload_shared(d, payload, n, rb_ascii8bit_encoding());
            }
            payload += n;
            break;
          case MP_EXT:
            if (stops_p(d, resumable)) goto stopped;
            n = mp_row_ext_count(p, row);
            if (limited) check_limits(d, MP_EXT, n, p);
            if (MP_UNLIKELY(!mp_payload_present_p(payload, n, d->end))) goto truncated;
            /* The handler, the #hash of a key, the #freeze of a shareable Time or Time.at may be user code. */
            if (mp_left_key_p(left) || d->codec->types ||
                (options->timestamp && (options->shareable || sizeof(time_t) < sizeof(int64_t)))) {
                p = mp_decoder_own_source(d, p);
                payload = p + row.head;
            }
            commit(d, left, base, count, depth, payload + n);
            obj = mp_ext_new(d, mp_row_ext_type(p, row), payload, n, p);
            d->committed = false;
            payload += n;
            break;
          default:
            if (stops_p(d, resumable)) goto stopped;
            mp_decoder_raise(d, MP_E_BAD_HEAD, p);
        }
        p = payload;

      complete:
        /* The object is complete, and so is every container whose last object it was. */
        for (;;) {
            size_t n_objects, first;
            bool map;

            if (MP_UNLIKELY(count == capacity)) {
                mp_decoder_grow_stack(d, count);
                values = d->stack.values;
                capacity = d->stack.capacity;
            }
            values[count++] = obj;
            left -= MP_LEFT_ONE;
            if (MP_LIKELY(!mp_left_none_p(left))) break;
            if (depth == 0) { /* it is not in a container */
                left = mp_left_of_array(1);
                count--;
                commit(d, left, base, count, depth, p);
                return obj;
            }

          full:
            first = base;
            n_objects = count - base;
            map = mp_left_map_p(left);
            depth--;
            count = first - MP_FRAME_WORDS;
            left = mp_frame_left(&values[count]);
            base = mp_frame_base(&values[count]);
            if (limited && map) count--;
            if (!map) {
                obj = mp_array_new(options, n_objects, values + first);
                continue;
            }
            if (resumable) commit(d, left, base, count, depth, p);
            if (MP_UNLIKELY(d->may_call)) obj = hash_by_calls(d, n_objects, values + first, mp_decoder_offset(d, p));
            else obj = mp_hash_new(d, n_objects, values + first);
            if (!resumable) check_source(d);
            if (limited && options->unique_keys && RHASH_SIZE(obj) != n_objects / 2) {
                mp_raise_malformed("a map has the same key twice", map_offset(d, values[count]), mp_decoder_message(d));
            }
            if (resumable) d->committed = false;
        }
    }

  stopped:
    d->stopped = true;
    goto suspended;

  truncated:
    if (!resumable) mp_decoder_raise(d, MP_E_TRUNCATED, p);

  suspended:
    commit(d, left, base, count, depth, p);
    return Qundef;
}

VALUE
mp_decode_on(mp_decoder *d)
{
    return d->codec->options.limited ? decode_loop(d, true, true) : decode_loop(d, true, false);
}

/* A function of its own, so that the loop without limits gets better code in mp_decode_whole. */
static MP_NOINLINE VALUE
decode_whole_limited(mp_decoder *d)
{
    return decode_loop(d, false, true);
}

VALUE
mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end)
{
    mp_wire_row row;
    const uint8_t *payload;
    uint32_t n;
    VALUE obj;

    if (mp_row_read(*p, end, &row) != MP_OK) return Qundef;
    payload = *p + row.head;
    switch ((mp_kind)row.kind) {
      case MP_FIXINT:
        obj = INT2FIX((int)mp_row_sint(*p, row));
        break;
      case MP_INT:
        obj = mp_number(options, LL2NUM(mp_row_sint(*p, row)));
        break;
      case MP_UINT:
        obj = mp_number(options, ULL2NUM(mp_row_uint(*p, row)));
        break;
      case MP_FLOAT32:
      case MP_FLOAT64:
        obj = mp_number(options, DBL2NUM(mp_row_real(*p, row)));
        break;
      case MP_NIL:
        obj = Qnil;
        break;
      case MP_FALSE:
        obj = Qfalse;
        break;
      case MP_TRUE:
        obj = Qtrue;
        break;
      case MP_STR:
        n = mp_row_count(*p, row);
        if (n >= MP_SHARE_MIN || !mp_payload_present_p(payload, n, end) || options->freeze || options->shareable) {
            return Qundef;
        }
        obj = rb_enc_str_new((const char *)payload, n, mp_utf8);
        payload += n;
        break;
      case MP_ARRAY:
      case MP_MAP:
        if (mp_row_count(*p, row) || options->freeze || options->shareable) return Qundef;
        obj = row.kind == MP_MAP ? rb_hash_new() : rb_ary_new();
        break;
      default:
        return Qundef;
    }
    *p = payload;
    return obj;
}

VALUE
mp_decode_inside(mp_decoder *d, size_t count, uint32_t depth)
{
    d->tree = (mp_tree){.left = mp_left_of_array(1), .base = count, .count = count, .depth_limit = d->max_depth,
                        .objects = 1};
    d->outer_depth = depth;
    return d->codec->options.limited ? decode_whole_limited(d) : decode_loop(d, false, false);
}

/* Decodes the object at an offset of a String. The decoder is after it then, and d->source has to be kept alive. */
static VALUE
decode_at(mp_decoder *d, VALUE source, size_t offset)
{
    VALUE obj;

    mp_decoder_source(d, source, (const uint8_t *)RSTRING_PTR(source), (size_t)RSTRING_LEN(source));
    d->at += offset;
    obj = MP_UNLIKELY(d->codec->options.limited) ? decode_whole_limited(d) : decode_loop(d, false, false);
    mp_ext_keep_unpacker(d);
    mp_decoder_cleanup(d);
    return obj;
}

VALUE
mp_decode_whole(VALUE source, const mp_codec *codec)
{
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    if (MP_UNLIKELY((size_t)RSTRING_LEN(source) > codec->options.max_bytes)) {
        mp_raise_max_bytes(codec->options.max_bytes, (size_t)RSTRING_LEN(source), codec->options.max_bytes,
                           mp_message_whole(source));
    }
    mp_decoder_init(&d, codec, &words);
    obj = decode_at(&d, source, 0);
    if (MP_UNLIKELY(d.at != d.end)) {
        mp_raise_extra_bytes((size_t)(d.end - d.at), mp_decoder_offset(&d, d.at), source);
    }
    RB_GC_GUARD(d.source);
    return obj;
}

VALUE
mp_decode_part(VALUE source, size_t *offset, const mp_codec *codec)
{
    mp_value_words words;
    mp_decoder d;
    VALUE obj;

    mp_decoder_init(&d, codec, &words);
    obj = decode_at(&d, source, *offset);
    *offset = mp_decoder_offset(&d, d.at);
    RB_GC_GUARD(d.source);
    return obj;
}
