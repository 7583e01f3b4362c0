/* A Record that is being loaded: finds the field of each key, and skips, keeps or refuses unknown keys. */
#include "record/record_walk.h"

#include "base/error.h"
#include "record/load_scalar.h"
#include "record/record_error.h"
#include "unpack/objects.h"

/* --- keys ------------------------------------------------------------------------------------------- */

const mp_field_key *
mp_record_search_key(mp_loader *l, const mp_field_table *keys)
{
    const uint8_t *at = l->d.at;
    mp_wire_row row = mp_loader_row(l);
    mp_key key;

    if (row.kind == MP_STR) {
        uint32_t n = mp_row_count(at, row);

        return mp_field_table_text(keys, mp_loader_payload(l, row, n), n);
    }
    mp_loader_skip(l);
    key = mp_key_read(at, l->d.at);
    return mp_field_table_find(keys, &key);
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
    bool tag;

    if (record->unknown == MP_UNKNOWN_SKIP ||
        (record->unknown == MP_UNKNOWN_INTO && mp_record_dump_only_key(l, walk, key_at))) {
        mp_loader_skip(l);
        return false;
    }
    l->d.at = key_at;
    key = load_unknown_key(l, walk);
    walk->place.key = key;
    tag = mp_record_tag_key_p(walk, key);
    if (tag || record->unknown == MP_UNKNOWN_RAISE) {
        if (!tag) mp_record_unknown_key(l, key_at);
        l->d.at = value_at;
        mp_loader_skip(l);
        return false;
    }
    if (record->rest) {
        l->d.at = key_at;
        return true;
    }
    mp_loader_push(l, key);
    mp_loader_push(l, mp_load_any(l)); /* they stay above the fields' values until the object is made */
    return false;
}

/* --- duplicate fields -------------------------------------------------------------------------------- */

bool
mp_record_skip_second(mp_loader *l, const mp_record_walk *walk)
{
    const mp_options *options = mp_loader_options(l);

    if (options->unique_keys) mp_decoder_raise(&l->d, MP_E_DUPLICATE_KEY, walk->at);
    if (options->first_key) mp_loader_skip(l);
    return options->first_key;
}
