/* Counts different map keys with the same hash. */
#include "unpack/key_flood.h"

#include "base/error.h"

static bool
plain_key_p(VALUE key)
{
    return RB_SPECIAL_CONST_P(key) || RB_BUILTIN_TYPE(key) == T_STRING || RB_BUILTIN_TYPE(key) == T_SYMBOL;
}

static bool
container_key_p(VALUE key)
{
    return !RB_SPECIAL_CONST_P(key) && (RB_BUILTIN_TYPE(key) == T_ARRAY || RB_BUILTIN_TYPE(key) == T_HASH);
}

/*
 * Adds a key to a Hash from hashes to Arrays of the different keys that have them. Returns the limit that these keys
 * exceed now, or 0.
 */
static int
count_key(VALUE seen, VALUE key)
{
    VALUE hash = rb_hash(key), keys = rb_hash_lookup2(seen, hash, Qundef);
    int most;
    long i;

    if (keys == Qundef) {
        rb_hash_aset(seen, hash, rb_obj_hide(rb_ary_new_from_args(1, key)));
        return 0;
    }
    for (i = 0; i < RARRAY_LEN(keys); i++) {
        if (rb_eql(key, RARRAY_AREF(keys, i))) return 0;
    }
    rb_ary_push(keys, key);
    most = container_key_p(RARRAY_AREF(keys, 0)) ? MP_SAME_HASH_CONTAINERS_MAX : MP_SAME_HASH_MAX;
    return RARRAY_LEN(keys) > most ? most : 0;
}

int
mp_same_hash_exceeded(size_t n, const VALUE *values)
{
    bool many = n > MP_SAME_HASH_MAX * 2;
    int exceeded = 0;
    VALUE seen = 0;
    size_t at;

    if (n <= MP_SAME_HASH_CONTAINERS_MAX * 2) return 0;
    for (at = 0; at < n && !exceeded; at += 2) {
        if (plain_key_p(values[at]) || (!many && !container_key_p(values[at]))) continue;
        if (!seen) seen = rb_obj_hide(rb_hash_new());
        exceeded = count_key(seen, values[at]);
    }
    RB_GC_GUARD(seen);
    return exceeded;
}

void
mp_same_hash_check(VALUE objects, size_t offset)
{
    int exceeded = mp_same_hash_exceeded((size_t)RARRAY_LEN(objects), RARRAY_CONST_PTR(objects));

    RB_GC_GUARD(objects); /* otherwise compaction may move it */
    if (exceeded) mp_raise_same_hash((size_t)exceeded, offset);
}

/*
 * call-seq: Arguments.check_key_hashes(keys, offset) -> nil
 *
 * Raises the LimitError that unpacking a map with these keys would raise, with the given offset. For Ruby code that
 * makes a Hash or a Set of a stranger's keys.
 */
static VALUE
rb_arguments_s_check_key_hashes(VALUE self, VALUE keys, VALUE offset)
{
    VALUE objects;
    long i;

    Check_Type(keys, T_ARRAY);
    objects = rb_obj_hide(rb_ary_new_capa(RARRAY_LEN(keys) * 2));
    for (i = 0; i < RARRAY_LEN(keys); i++) {
        rb_ary_push(objects, RARRAY_AREF(keys, i));
        rb_ary_push(objects, Qnil);
    }
    mp_same_hash_check(objects, NUM2SIZET(offset));
    return Qnil;
}

void
Init_manypack_key_flood(void)
{
    rb_define_singleton_method(mp_mArguments, "check_key_hashes", rb_arguments_s_check_key_hashes, 2);
}
