/* The value cache: where it lives, how it grows, what it does about a String that it does not have. */
#include "value_cache.h"

/* So many misses are free at first, and again whenever so many Strings have passed by. */
enum { FREE_MISSES = 64, PASSING_BY = 512 };

MP_STATIC_ASSERT(value_cache_begins_with_its_table, offsetof(mp_value_cache, table) == 0);

static rb_ractor_local_key_t cache_key;

mp_value_cache *
mp_value_cache_get(void)
{
    mp_value_cache *cache = mp_string_cache_get(cache_key, sizeof(mp_value_cache));

    if (MP_UNLIKELY(cache->credit == 0)) cache->credit = FREE_MISSES; /* a new one: no search leaves it at 0 */
    return cache;
}

static void
keep(mp_value_cache *cache, mp_string_entry value)
{
    mp_string_table *table = &cache->table;

    if (++cache->kept > mp_string_table_size(table) && mp_string_table_grow(table, mp_string_place)) cache->kept = 0;
    *mp_string_place(table, &value) = value;
}

VALUE
mp_value_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    VALUE string;

    if (kind == MP_VALUE_INTERNED) return rb_enc_interned_str((const char *)p, (long)len, mp_utf8);
    string = rb_enc_str_new((const char *)p, (long)len, mp_utf8);
    RB_OBJ_FREEZE(string);
    return mp_obj_set_shareable(string);
}

/* A String that is in its place, or was put there; whether to look is decided. */
static VALUE
find_or_keep(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry value = mp_string_describe(p, len, kind);
    const mp_string_entry *place = mp_string_place(&cache->table, &value);

    if (mp_string_same_p(place, &value) && mp_string_whole_p(place, p, len)) return mp_value_hit(cache, place);
    if (--cache->credit == 0) cache->credit = -PASSING_BY;
    value.object = mp_value_new(p, len, kind);
    keep(cache, value);
    return value.object;
}

VALUE
mp_value_cache_search(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (cache->credit > 0) return find_or_keep(cache, p, len, kind);
    if (++cache->credit == 0) cache->credit = FREE_MISSES;
    return mp_value_new(p, len, kind);
}

void
Init_manypack_value_cache(void)
{
    cache_key = mp_string_cache_key();
}
