/* Counts map keys with the same hash, by a Hash from hashes to the indices of keys. */
#include "unpack/key_flood.h"

#include "base/error.h"

static bool
plain_p(VALUE key)
{
    return RB_SPECIAL_CONST_P(key) || RB_BUILTIN_TYPE(key) == T_STRING || RB_BUILTIN_TYPE(key) == T_SYMBOL;
}

static bool
container_p(VALUE key)
{
    return !RB_SPECIAL_CONST_P(key) && (RB_BUILTIN_TYPE(key) == T_ARRAY || RB_BUILTIN_TYPE(key) == T_HASH);
}

/* True if at most `most` of the keys at these places are different. All these keys have the same hash. */
static bool
few_different_p(VALUE places, const VALUE *values, int most)
{
    VALUE different[MP_SAME_HASH_MAX];
    int count = 0, i;
    long at;

    for (at = 0; at < RARRAY_LEN(places); at++) {
        VALUE key = values[FIX2LONG(RARRAY_AREF(places, at))];

        for (i = 0; i < count && !rb_eql(key, different[i]); i++) continue;
        if (i < count) continue;
        if (count == most) return false;
        different[count++] = key;
    }
    return true;
}

typedef struct {
    const VALUE *values;
    int exceeded; /* the exceeded limit; 0 if none */
} hash_check;

static int
check_places(VALUE hash, VALUE places, VALUE arg)
{
    hash_check *check = (hash_check *)arg;
    VALUE first;
    int most;

    if (FIXNUM_P(places)) return ST_CONTINUE;
    first = check->values[FIX2LONG(RARRAY_AREF(places, 0))];
    most = container_p(first) ? MP_SAME_HASH_CONTAINERS_MAX : MP_SAME_HASH_MAX;
    if (RARRAY_LEN(places) <= most || few_different_p(places, check->values, most)) return ST_CONTINUE;
    check->exceeded = most;
    return ST_STOP;
}

int
mp_same_hash_exceeded(size_t n, const VALUE *values)
{
    bool many = n > MP_SAME_HASH_MAX * 2;
    VALUE seen = 0; /* from a hash to the place of its key, or to an Array of the places of its keys */
    hash_check check = {.values = values, .exceeded = 0};
    size_t at;

    if (n <= MP_SAME_HASH_CONTAINERS_MAX * 2) return 0;
    for (at = 0; at < n; at += 2) {
        VALUE hash, places, place = LONG2FIX((long)at);

        if (plain_p(values[at]) || (!many && !container_p(values[at]))) continue;
        if (!seen) seen = rb_obj_hide(rb_hash_new());
        hash = rb_hash(values[at]);
        places = rb_hash_lookup2(seen, hash, Qundef);
        if (places == Qundef) rb_hash_aset(seen, hash, place);
        else if (FIXNUM_P(places)) rb_hash_aset(seen, hash, rb_obj_hide(rb_ary_new_from_args(2, places, place)));
        else rb_ary_push(places, place);
    }
    if (seen) rb_hash_foreach(seen, check_places, (VALUE)&check);
    RB_GC_GUARD(seen);
    return check.exceeded;
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
