/* Makes the objects that cost more than a call; objects.h has the cheap ones. */
#include "unpack/objects.h"

VALUE mp_array_frozen_flags;

VALUE
mp_seal_foreign(const mp_options *options, VALUE obj)
{
    if (options->shareable) return rb_ractor_make_shareable(obj);
    return options->freeze ? rb_obj_freeze(obj) : obj;
}

MP_NOINLINE VALUE
mp_frozen_str_new(mp_decoder *d, const uint8_t *p, uint32_t n)
{
    mp_string_kind kind = d->codec->options.shareable ? MP_VALUE_SHAREABLE : MP_VALUE_FROZEN;

    return mp_string_cache_fetch(&mp_decoder_ractor(d)->values, p, n, kind);
}

VALUE
mp_bin_new(const mp_options *options, const uint8_t *p, uint32_t n)
{
    if (options->freeze && !options->shareable) {
        return rb_enc_interned_str((const char *)p, n, rb_ascii8bit_encoding());
    }
    return mp_seal(options, rb_str_new((const char *)p, n));
}

VALUE
mp_bin_key_new(const mp_decoder *d, const uint8_t *p, uint32_t n)
{
    VALUE key = rb_str_new((const char *)p, n);

    if (d->codec->options.symbolize_keys) return rb_str_intern(key);
    RB_OBJ_FREEZE(key);
    return mp_seal(&d->codec->options, key);
}

MP_NOINLINE bool
mp_payload_to_share_p(const mp_decoder *d, const uint8_t *p, uint32_t n)
{
    const uint8_t *bytes;
    long len;

    if (!d->source || RB_OBJ_SHAREABLE_P(d->source)) return false;
    if (d->codec->options.freeze || d->codec->options.shareable) return false;
    bytes = (const uint8_t *)RSTRING_PTR(d->source);
    len = RSTRING_LEN(d->source);
    return p + n == bytes + len && n >= len / 2;
}

VALUE
mp_payload_shared(const mp_decoder *d, const uint8_t *p, uint32_t n, rb_encoding *encoding)
{
    VALUE shared = rb_str_subseq(d->source, (long)(p - (const uint8_t *)RSTRING_PTR(d->source)), (long)n);

    rb_enc_associate(shared, encoding);
    return shared;
}

VALUE
mp_array_new(const mp_options *options, size_t n, const VALUE *values)
{
    return mp_seal_array(options, rb_ary_new_from_values((long)n, values));
}

static MP_NOINLINE VALUE
large_hash_new(mp_decoder *d, size_t n, const VALUE *values)
{
    if (n > 2 * MP_ROW_PAIRS_MAX) return mp_hash_of_new_keys(n, values);
    return mp_hash_of_row(&mp_decoder_ractor(d)->rows, n, values);
}

VALUE
mp_hash_new(mp_decoder *d, size_t n, const VALUE *values)
{
    VALUE hash;

    if (n < 2 * MP_ROW_PAIRS_MIN) {
        hash = rb_hash_new();
        rb_hash_bulk_insert((long)n, values, hash);
    } else {
        hash = large_hash_new(d, n, values);
    }
    return mp_seal(&d->codec->options, hash);
}

/* The flags that freezing gives a new Array of n elements; 0 if it changes more than that. */
static VALUE
frozen_flags(long n)
{
    VALUE array = rb_ary_new_capa(n), added;
    struct RBasic before, after;

    while (RARRAY_LEN(array) < n) rb_ary_push(array, Qnil);
    memcpy(&before, RBASIC(array), sizeof(before));
    RB_OBJ_FREEZE(array);
    memcpy(&after, RBASIC(array), sizeof(after));
    added = after.flags & ~before.flags;
    before.flags |= added;
    return memcmp(&before, &after, sizeof(before)) ? 0 : added;
}

/* Tries Arrays of several sizes: elements may be in slots of different sizes, or outside. */
void
Init_manypack_objects(void)
{
    const long lengths[] = {0, 1, 3, 4, 8, 10, 18, 38, 78, 100, 1000};
    VALUE flags = frozen_flags(2);
    size_t i;

    if (sizeof(VALUE) < sizeof(uint64_t)) return; /* the shape has no room in the flags */
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (frozen_flags(lengths[i]) != flags) return;
    }
    mp_array_frozen_flags = flags;
}
