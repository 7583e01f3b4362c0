/* A Record that is being loaded: finds the field of each key, and skips, keeps or refuses unknown keys. */
#include "record/record_walk.h"

#include "base/error.h"
#include "core/utf8.h"
#include "record/lazy_record.h"
#include "record/load_scalar.h"
#include "record/record_error.h"
#include "unpack/key_flood.h"
#include "unpack/objects.h"

/* --- keys ------------------------------------------------------------------------------------------- */

/* Finds the key with a text. A bin is the same key as a str if it is ASCII, as it is in a Hash. NULL without one. */
static const mp_field_key *
search_text(const mp_field_table *keys, mp_wire_row row, const uint8_t *payload, uint32_t n)
{
    if (row.kind == MP_BIN && !mp_ascii_p(payload, n)) return NULL;
    return mp_field_table_text(keys, payload, n);
}

const mp_field_key *
mp_record_search_key(mp_loader *l, const mp_field_table *keys)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);

    if (row.kind == MP_STR || row.kind == MP_BIN) {
        uint32_t n = mp_row_count(at, row);

        return search_text(keys, row, mp_loader_payload(l, row, n), n);
    }
    mp_loader_skip(l);
    if (row.kind == MP_UINT && mp_row_uint(at, row) > INT64_MAX) return NULL;
    if (row.kind == MP_UINT) return mp_field_table_number(keys, (int64_t)mp_row_uint(at, row));
    if (row.kind != MP_INT && row.kind != MP_FIXINT) return NULL;
    return mp_field_table_number(keys, mp_row_sint(at, row));
}

/* --- unknown keys ----------------------------------------------------------------------------------- */

/* Loads a key that is no str or bin, under the limits of unpacking for keys, because a Hash hashes all of the key. */
static VALUE
load_other_key(mp_loader *l, mp_record_walk *walk)
{
    uint32_t limit = l->d.max_depth, in_key = l->depth + MP_KEY_DEPTH_MAX, outer_keys = l->d.outer_keys;
    VALUE key;

    l->d.outer_keys++;
    if (in_key < limit) l->d.max_depth = in_key;
    key = mp_load_any(l);
    l->d.outer_keys = outer_keys;
    l->d.max_depth = limit;
    if (!RB_INTEGER_TYPE_P(key)) walk->keys_may_collide = true;
    return key;
}

/* Loads a key as unpacking makes it. */
static VALUE
load_unknown_key(mp_loader *l, mp_record_walk *walk)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);
    VALUE key;

    if (row.kind == MP_BIN) {
        uint32_t n = mp_row_count(at, row);

        return mp_bin_key_new(&l->d, mp_loader_payload(l, row, n), n);
    }
    if (row.kind != MP_STR) return load_other_key(l, walk);
    key = mp_load_cached(l, row, mp_loader_options(l)->symbolize_keys ? MP_KEY_SYMBOL : MP_KEY_STRING);
    if (!key) mp_decoder_raise(&l->d, MP_E_UTF8, at);
    return key;
}

bool
mp_record_tag_key_p(const mp_record_walk *walk, VALUE key)
{
    const mp_tag_key *tag = walk->tag_keys;

    if (RB_SYMBOL_P(key)) key = rb_sym2str(key);
    while (tag && !rb_eql(tag->key, key)) tag = tag->up;
    return tag || (!NIL_P(walk->record->tag_key) && rb_eql(walk->record->tag_key, key));
}

/* Finds the dump_only field with the key at key_at; NULL without one. Does not move. */
const mp_field_key *
mp_record_dump_only_key(mp_loader *l, const mp_record_walk *walk, const uint8_t *key_at)
{
    const mp_field_table *table = &walk->record->dump_only;
    const uint8_t *at = l->d.at;
    const mp_field_key *key;

    if (!table->count) return NULL;
    l->d.at = key_at;
    key = mp_record_search_key(l, table);
    l->d.at = at;
    return key;
}

bool
mp_record_unknown_pair(mp_loader *l, mp_record_walk *walk, const uint8_t *key_at)
{
    const mp_record *record = walk->record;
    const uint8_t *value_at = l->d.at;
    VALUE key;

    if (record->unknown == MP_UNKNOWN_SKIP ||
        (record->unknown == MP_UNKNOWN_INTO && mp_record_dump_only_key(l, walk, key_at))) {
        mp_loader_skip(l);
        return false;
    }
    l->d.at = key_at;
    key = load_unknown_key(l, walk);
    walk->place.key = key;
    if (mp_record_tag_key_p(walk, key) || record->unknown == MP_UNKNOWN_RAISE) {
        if (!mp_record_tag_key_p(walk, key)) mp_record_unknown_key(l, key_at);
        l->d.at = value_at;
        mp_loader_skip(l);
        return false;
    }
    if (record->rest) {
        l->d.at = key_at;
        return true;
    }
    mp_loader_push(l, key);
    mp_loader_push(l, mp_load_any(l)); /* they stay above the fields' values until mp_record_take_rest */
    return false;
}

/* Makes the Hash of n words, starting at `first`. Keys other than Strings, Symbols and Integers may run user code. */
static VALUE
rest_new(mp_loader *l, const mp_record_walk *walk, size_t n, size_t first)
{
    int exceeded;

    if (MP_LIKELY(!walk->keys_may_collide)) return mp_hash_new(&l->d, n, l->d.stack.values + first);
    exceeded = mp_same_hash_exceeded(n, l->d.stack.values + first);
    if (exceeded) mp_raise_same_hash((size_t)exceeded, mp_decoder_offset(&l->d, l->d.at));
    return mp_hash_new(&l->d, n, l->d.stack.values + first);
}

void
mp_record_take_rest(mp_loader *l, mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    size_t first = walk->first + record->count, n = l->count - first;
    VALUE rest;

    if (record->into == MP_FIELD_NONE || mp_record_values(l, walk)[record->into] != Qundef) return;
    rest = rest_new(l, walk, n, first);
    mp_record_set(l, walk, record->into, rest);
    l->count = first;
}

/* --- duplicate and missing fields ------------------------------------------------------------------- */

bool
mp_record_skip_second(mp_loader *l, const mp_record_walk *walk)
{
    const mp_options *options = mp_loader_options(l);

    if (options->unique_keys) mp_decoder_raise(&l->d, MP_E_DUPLICATE_KEY, walk->at);
    if (options->first_key) mp_loader_skip(l);
    return options->first_key;
}

/*
 * True if the class's own constructor has a default for a missing field, and the Record has none. A positional default
 * counts only if all arguments after it are missing, too.
 */
static bool
own_default_p(const mp_record *record, mp_constructor constructor, const VALUE *values, uint32_t field)
{
    const mp_field *one = &record->fields[field], *other = record->fields;
    uint32_t i;

    if (!constructor.optional || one->default_value != Qundef) return false;
    if (!RTEST(rb_ary_includes(constructor.optional, one->name))) return false;
    for (i = 0; constructor.build == MP_BUILD_NEW && i < record->count; i++, other++) {
        if (other->slot > one->slot && (values[i] != Qundef || other->default_value != Qundef)) return false;
    }
    return true;
}

/* Reports missing fields without a default. */
static MP_NOINLINE void
check_missing(mp_loader *l, const mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    mp_constructor constructor = mp_instance_constructor(record);
    const VALUE *values = mp_record_values(l, walk);
    uint32_t i, tag = walk->tag_keys != NULL; /* of an array, its first element */

    for (i = 0; i < record->count; i++) {
        if (values[i] != Qundef || record->fields[i].default_value != Qundef) continue;
        if (l->eager && record->fields[i].load_only) continue;
        if (!own_default_p(record, constructor, values, i)) mp_record_missing(l, i, i + tag, walk->at);
    }
    RB_GC_GUARD(constructor.optional);
}

void
mp_record_set_defaults(mp_loader *l, const mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    VALUE *values;
    uint32_t i;

    check_missing(l, walk);
    values = mp_record_values(l, walk);
    for (i = 0; i < record->count; i++) {
        if (values[i] == Qundef && !record->fields[i].called) values[i] = record->fields[i].default_value;
    }
}

void
mp_record_call_defaults(mp_loader *l, const mp_record_walk *walk)
{
    const mp_record *record = walk->record;
    uint32_t i;

    for (i = 0; i < record->count; i++) {
        VALUE value;

        if (!record->fields[i].called || mp_record_values(l, walk)[i] != Qundef) continue;
        value = rb_funcall(record->fields[i].default_value, rb_intern("call"), 0);
        value = mp_seal_foreign(mp_loader_options(l), value);
        mp_record_values(l, walk)[i] = value;
    }
}

/* --- lazily ----------------------------------------------------------------------------------------- */

void
mp_record_skip_pairs(mp_loader *l, mp_record_walk *walk, uint32_t n,
                     void replaced(mp_loader *l, mp_record_walk *walk, uint32_t field))
{
    for (; n; n--) {
        const uint8_t *key_at = l->d.at;
        const mp_field_key *key = mp_record_next_key(l, walk);

        if (MP_UNLIKELY(!key)) {
            mp_record_unknown_pair(l, walk, key_at);
            continue;
        }
        if (MP_UNLIKELY(mp_record_values(l, walk)[key->field] != Qundef)) {
            if (mp_record_skip_second(l, walk)) continue;
            replaced(l, walk, key->field);
        }
        mp_record_set(l, walk, key->field, LONG2FIX((long)(l->d.at - l->d.start)));
        mp_loader_skip(l);
    }
}

/* Makes the message and the Type shareable, too. That calls freeze on defaults in the Type, which may be user code. */
static VALUE
seal_lazy(mp_loader *l, VALUE lazy)
{
    if (MP_UNLIKELY(mp_loader_options(l)->shareable)) mp_seal_foreign(mp_loader_options(l), lazy);
    return lazy; /* it is frozen already */
}

VALUE
mp_record_make_lazy(mp_loader *l, const mp_record_walk *walk)
{
    size_t end = (size_t)(l->d.at - l->d.start);
    mp_lazy_record part = {.message = l->d.source, .type = l->type, .codec = l->d.codec->object,
                           .start = (uint32_t)(walk->at - l->d.start), .end = (uint32_t)end};

    if (MP_UNLIKELY(walk->missing)) check_missing(l, walk);
    if (MP_UNLIKELY(mp_loader_errors_kept(l) != walk->errors)) return Qnil;
    if (end > UINT32_MAX) rb_raise(rb_eRangeError, "a lazy Record must be in the first 4 GiB of its message");
    if (walk->record->views) part.view = mp_load_view_root(l);
    return seal_lazy(l, mp_lazy_record_new(walk->record, &part, mp_record_values(l, walk)));
}
