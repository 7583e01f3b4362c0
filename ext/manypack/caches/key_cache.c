/* The cold half of the key cache: makes keys that are not cached. A str key of a map becomes a frozen String here. */
#include "caches/key_cache.h"

#include "core/utf8.h"

/* Interned, because since Ruby 4.0 an interned String may store its hash, which Hashes would otherwise recompute. */
static VALUE
string_new(const uint8_t *p, size_t len)
{
    VALUE string = rb_enc_interned_str((const char *)p, (long)len, mp_utf8);

    /* Another Ractor may have the same interned String: do not write to it needlessly. */
    return RB_OBJ_SHAREABLE_P(string) ? string : mp_obj_set_shareable(string);
}

/* A Symbol that can be collected: rb_intern and the like would keep a stranger's keys forever. */
static VALUE
symbol_new(const uint8_t *p, size_t len)
{
    VALUE symbol;

    if (!mp_utf8_valid_p(p, len)) return 0;
    symbol = rb_check_symbol_cstr((const char *)p, (long)len, mp_utf8);
    return NIL_P(symbol) ? rb_str_intern(rb_enc_interned_str((const char *)p, (long)len, mp_utf8)) : symbol;
}

static VALUE
key_new(const uint8_t *p, size_t len, mp_string_kind kind)
{
    return kind == MP_KEY_SYMBOL ? symbol_new(p, len) : string_new(p, len);
}

VALUE
mp_key_cache_search(mp_key_cache *cache, const uint8_t *p, size_t len, mp_string_kind kind)
{
    const mp_string_entry *found;
    mp_string_entry key;

    if (len - 1 >= MP_KEY_MAX) return key_new(p, len, kind);
    key = mp_string_describe(p, len, kind);
    found = mp_string_search(&cache->table, &key, p, len);
    if (found) return found->object;
    key.object = key_new(p, len, kind);
    if (key.object) mp_string_keep(&cache->table, &key);
    return key.object;
}
