/* The cold half of the value cache: makes Strings that are not cached, and decides when the cache is bypassed. */
#include "caches/value_cache.h"

/* The credit at first, and again each time after BYPASSING Strings have bypassed the cache. */
enum { FREE_MISSES = 64, BYPASSING = 512 };

void
mp_value_cache_init(mp_value_cache *cache)
{
    mp_cache_table_init(&cache->table);
    cache->credit = FREE_MISSES;
}

VALUE
mp_value_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    VALUE string;

    if (kind == MP_VALUE_FROZEN) return rb_enc_interned_str((const char *)p, (long)len, mp_utf8);
    string = rb_enc_str_new((const char *)p, (long)len, mp_utf8);
    RB_OBJ_FREEZE(string);
    return mp_obj_set_shareable(string);
}

/* The String from any of its places, or a new one, which is cached. */
static VALUE
find_or_keep(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    mp_string_entry value = mp_string_describe(p, len, kind);
    const mp_string_entry *found = mp_string_search(&cache->table, &value, p, len);

    if (found) return mp_value_cache_hit(cache, found);
    if (--cache->credit == 0) cache->credit = -BYPASSING;
    value.object = mp_value_new(p, len, kind);
    mp_string_keep(&cache->table, &value);
    return value.object;
}

VALUE
mp_value_cache_search(mp_value_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    if (cache->credit > 0) return find_or_keep(cache, p, len, kind);
    if (++cache->credit == 0) cache->credit = FREE_MISSES;
    return mp_value_new(p, len, kind);
}
